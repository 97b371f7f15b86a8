"""Handed-over documents as tidy tables: what they hold, what became of must-haves, every violation (rule E4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.columns import described, fitted
from verifyplan.documents.rows import document_rows, finding_rows, gap_rows, must_have_rows, task_rows
from verifyplan.documents.checks.check import Report, check
from verifyplan.documents.columns import DOCUMENT_TABLES
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.tree import Tree, repository_root
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.text import counted, did_you_mean


@dataclass(frozen=True)
class DocumentTables:
    """The tables of a set of documents; `columns(name)` says what is in one.

    Every table has all its columns, whatever documents there are; what a document does not say is missing.
    """

    documents: pd.DataFrame
    must_haves: pd.DataFrame
    tasks: pd.DataFrame
    findings: pd.DataFrame
    gaps: pd.DataFrame
    violations: pd.DataFrame

    @staticmethod
    def columns(table: str) -> pd.DataFrame:
        """The columns of a table with their types and meanings; InputError for a table that there is not.

        >>> DocumentTables.columns("gaps").loc["fix", "meaning"]
        'of a verification: the suggested fix'
        """
        if table not in DOCUMENT_TABLES:
            message = f"{table!r} is no table{did_you_mean(table, DOCUMENT_TABLES)}"
            raise InputError(Problem("table", message, f"use {one_of(DOCUMENT_TABLES)}"))
        return described(DOCUMENT_TABLES[table])

    def __repr__(self) -> str:
        """How many rows there are of each."""
        names = (field.name for field in fields(self))
        sizes = (counted(len(getattr(self, name)), name.removesuffix("s").replace("_", "-")) for name in names)
        return f"DocumentTables({', '.join(sizes)})"


def frame(path: str | Path, *, strict: bool = False) -> DocumentTables:
    """All documents of a file, a phase or a `.planning` folder as tidy tables, with what the check finds in them.

    `strict` is that of `check`. Raises InputError as `load` does. Source: rules D1-D3, E4.
    """
    return tables_of(check(path, strict=strict))


def tables_of(report: Report) -> DocumentTables:
    """The tables of documents that are loaded and checked already."""
    tree = Tree(report.path, report.documents, report.others)
    there: dict[str, Iterable[dict[str, Any]]] = {
        "documents": document_rows(tree, report.violations),
        "must_haves": (row for phase in tree.phases for row in must_have_rows(phase)),
        "tasks": (row for plan in tree.of(PlanDocument) for row in task_rows(plan)),
        "findings": (row for note in tree.of(ResearchNote) for row in finding_rows(note)),
        "gaps": (row for document in tree for row in gap_rows(document)),
        "violations": ({**vars(found), "times": len(found.lines) or 1} for found in report.violations),
    }
    root = repository_root(report.path) or Path(report.path)
    return DocumentTables(**{name: _table(name, given, root.absolute()) for name, given in there.items()})


def _table(name: str, given: Iterable[dict[str, Any]], root: Path) -> pd.DataFrame:
    every = [{key: _relative(value, root) if key in _PATHS else value for key, value in row.items()} for row in given]
    columns = DOCUMENT_TABLES[name]
    return fitted(columns, {c.name: [row.get(c.name) for row in every] for c in columns}, f"table {name}")


_PATHS = frozenset({"path", "summary_path", "verification_path"})


def _relative(path: str | None, root: Path) -> str | None:
    """A path as it is from the repository, or from the folder that was named; one outside stays as it is."""
    if not path:
        return path
    place = Path(path).absolute()
    return place.relative_to(root).as_posix() if place != root and place.is_relative_to(root) else path

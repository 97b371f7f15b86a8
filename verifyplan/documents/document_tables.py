"""Return documents as tidy tables: their contents, the states of must-haves, every violation (rule E4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any, get_args

import pandas as pd

from verifyplan.columns import Column, Columns, described, fitted
from verifyplan.documents.checks.catalogue import Violation, ViolationSeverity
from verifyplan.documents.checks.check import Report, check
from verifyplan.documents.kinds.execution_summary import CLAIM_STATES, ExecutionSummary
from verifyplan.documents.kinds.plan import IMPLIED_MODEL, MUST_HAVES, TASK_TYPES, MustHave, PlanDocument
from verifyplan.documents.kinds.research_note import CONFIDENCES, KNOWN_LEVELS, ResearchNote
from verifyplan.documents.kinds.verification import MustHaveResult, VerificationDocument, open_gaps
from verifyplan.documents.reading.comparing import matched, wording
from verifyplan.documents.reading.document import KINDS, Document
from verifyplan.documents.reading.phrases import StatusMeaning
from verifyplan.documents.tree import Phase, Tree, milestone_of, repository_root
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted, did_you_mean

CONFIDENCE_ORDER = tuple(reversed(CONFIDENCES))
"""From the lowest to the highest, as tables are sorted."""

_PATH = Column("path", "text", "the document", key=True)
_POSITION = Column("position", "whole", "its place in the document, from 1", key=True)
_PHASE = Column("phase", "text", "the folder that the document lies in, as a rule the phase")
_MILESTONE = Column("milestone", "text", "the milestone that the phase was archived with; missing for current phases")
_PLAN = Column("plan_id", "text", "the id of the plan that it is or reports on, as the plan writes it")
_LINE = Column("line", "whole", "its line in the document")
_PLACE = (_POSITION, _PHASE, _MILESTONE)

DOCUMENT_TABLES: dict[str, Columns] = {
    "documents": (
        _PATH,
        Column("kind", KINDS, "which of the nine documents it is"),
        Column("form", "text", "the form it is held to: contract, or the name of another known form"),
        _PHASE,
        _MILESTONE,
        _PLAN,
        Column("status", "text", "the status that its frontmatter states"),
        Column("confidence", CONFIDENCE_ORDER, "of research: how sure it is as a whole"),
        Column("attempt", "whole", "of a verification: which attempt it is"),
        Column("n_lines", "whole", "lines of the file"),
        Column("n_tasks", "whole", "tasks; missing but in plans"),
        Column(
            "n_must_haves", "whole", "must-haves of a plan, of a summary those it reports, of a verification its rows"
        ),
        Column("n_findings", "whole", "findings; missing but in research notes"),
        Column("n_gaps", "whole", "gaps; missing but in research notes and verifications"),
        Column("n_errors", "whole", "violations that are errors"),
        Column("n_warnings", "whole", "violations that are warnings"),
        Column("n_infos", "whole", "violations that only inform"),
    ),
    "must_haves": (
        Column("path", "text", "the plan", key=True),
        *_PLACE,
        _PLAN,
        Column("kind", tuple(MUST_HAVES.values()), "an observable truth, an artifact, or a connection"),
        Column("text", "text", "what must hold, as the plan says it"),
        Column("file", "text", "the file that it is about; missing where it names none"),
        _LINE,
        Column("summary_path", "text", "the summary of the plan; missing where there is none"),
        Column("claimed", CLAIM_STATES, "what the summary says of it; missing where it does not name it"),
        Column("verification_path", "text", "the verification that has a row for it; missing where none has"),
        Column("outcome", get_args(StatusMeaning), "what the verification found; missing where it has no row for it"),
        Column("evidence", "text", "the evidence that the verification gives"),
    ),
    "tasks": (
        Column("path", "text", "the plan", key=True),
        *_PLACE,
        _PLAN,
        Column("task_id", "text", "the task's id; missing where it has none"),
        Column("name", "text", "what is to be done"),
        Column("type", TASK_TYPES, "one of the five types; missing where it states none of them"),
        Column("complexity", tuple(IMPLIED_MODEL), "simple, medium or complex; missing where it states none of them"),
        Column("model", tuple(IMPLIED_MODEL.values()), "the model that the complexity implies"),
        Column("tdd", "yesno", "whether tests come first; missing where it does not say"),
        Column("files", "names", "the files that the task names"),
        Column("verify", "text", "how it is verified; missing where it does not say"),
        Column("done", "text", "the observable outcome; missing where it does not say"),
        _LINE,
    ),
    "findings": (
        Column("path", "text", "the research note", key=True),
        *_PLACE,
        Column("text", "text", "what was found"),
        Column("source_level", KNOWN_LEVELS, "where it is from, S0 the surest; missing where it does not say"),
        Column("confidence", CONFIDENCE_ORDER, "how sure it is; missing where it does not say"),
        Column("speculative", "yesno", "whether it is marked [SPECULATIVE]"),
        _LINE,
    ),
    "gaps": (
        Column("path", "text", "the verification or research note", key=True),
        *_PLACE,
        Column("kind", ("verification", "research-note"), "what found the gap"),
        Column("text", "text", "what is missing"),
        Column("evidence", "text", "of a verification: what shows it"),
        Column("fix", "text", "of a verification: the suggested fix"),
        _LINE,
    ),
    "violations": (
        Column("path", "text", "the document"),
        _LINE,
        Column("rule", "text", "the rule that is broken"),
        Column("severity", get_args(ViolationSeverity), "how much it weighs"),
        Column("times", "whole", "how often; a rule that is broken many times in a document is reported once"),
        Column("message", "text", "what is wrong"),
        Column("fix", "text", "what to do"),
    ),
}
"""Every table of DocumentTables, by name."""


@with_field_docs
@dataclass(frozen=True)
class DocumentTables:
    """The tables of a set of documents; `columns(name)` says what is in one.

    Every table has all its columns, whatever documents there are; what a document does not say is missing.
    """

    documents: pd.DataFrame
    """One row a document: its kind, form and title."""
    must_haves: pd.DataFrame
    """One row a must-have of a plan, and whether it was verified."""
    tasks: pd.DataFrame
    """One row a task of a plan."""
    findings: pd.DataFrame
    """One row a finding of a research note."""
    gaps: pd.DataFrame
    """One row a gap of a verification."""
    violations: pd.DataFrame
    """One row a rule that a document breaks."""

    @staticmethod
    def columns(table: str) -> pd.DataFrame:
        """Return the columns of a table with their types and meanings; InputError for an unknown table.

        >>> DocumentTables.columns("gaps").loc["fix", "meaning"]
        'of a verification: the suggested fix'
        """
        if table not in DOCUMENT_TABLES:
            message = f"there is no table {table!r}{did_you_mean(table, DOCUMENT_TABLES)}"
            raise InputError(Problem("table", message, f"use {one_of(DOCUMENT_TABLES)}"))
        return described(DOCUMENT_TABLES[table])

    def __repr__(self) -> str:
        """Return the number of rows of each table."""
        names = (field.name for field in fields(self))
        sizes = (counted(len(getattr(self, name)), name.removesuffix("s").replace("_", "-")) for name in names)
        return f"DocumentTables({', '.join(sizes)})"


def frame(path: str | Path, *, strict: bool = False) -> DocumentTables:
    """Return all documents of a file, a phase or a `.planning` folder as tidy tables, with the violations in them.

    `strict` is that of `check`. Raises InputError as `load` does.

    >>> import tempfile, verifyplan as vp
    >>> frame(vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels"))
    DocumentTables(8 documents, 10 must-haves, 4 tasks, 6 findings, 3 gaps, 6 violations)
    """
    return tables_of(check(path, strict=strict))


def tables_of(report: Report) -> DocumentTables:
    """Return the tables of documents that are loaded and checked already.

    Paths are relative to the repository, or to the folder that was checked; a path outside of it stays as it is.
    """
    tree = Tree(report.path, report.documents, report.others)
    rows: dict[str, Iterable[dict[str, Any]]] = {
        "documents": _document_rows(tree, report.violations),
        "must_haves": (
            row for phase in tree.phases for plan in phase.plans for row in _located(plan, _must_haves(phase, plan))
        ),
        "tasks": (row for plan in tree.of(PlanDocument) for row in _located(plan, _tasks(plan))),
        "findings": (
            row for note in tree.of(ResearchNote) for row in _located(note, (f._asdict() for f in note.findings))
        ),
        "gaps": (row for document in tree for row in _located(document, _gaps(document))),
        "violations": ({**vars(each), "times": len(each.lines) or 1} for each in report.violations),
    }
    root = (repository_root(report.path) or Path(report.path)).absolute()
    tables = {}
    for name, columns in DOCUMENT_TABLES.items():
        every = list(rows[name])
        values = {column.name: [_value(row, column, root) for row in every] for column in columns}
        tables[name] = fitted(columns, values, f"table {name}")
    return DocumentTables(**tables)


def _value(row: dict[str, Any], column: Column, root: Path) -> Any:
    """Return a cell: a path relative to `root`, a word that the column does not allow as missing."""
    value = row.get(column.name)
    if isinstance(column.kind, tuple) and value not in column.kind:
        return None
    if value and column.name in ("path", "summary_path", "verification_path"):
        place = Path(value).absolute()
        return place.relative_to(root).as_posix() if place != root and place.is_relative_to(root) else value
    return value


def _located(document: Document, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows about a document with where they are from, and their positions from 1."""
    folder = PurePath(document.path).parent
    place = {"path": document.path, "kind": document.kind, "plan_id": getattr(document, "plan", None)}
    place |= {"phase": folder.name, "milestone": milestone_of(str(folder)) or None}
    return [{**place, "position": position, **row} for position, row in enumerate(rows, 1)]


def _document_rows(tree: Tree, violations: Sequence[Violation]) -> Iterator[dict[str, Any]]:
    """Yield a row for each document, with the number of its violations."""
    broken = Counter((violation.path, violation.severity) for violation in violations)
    plans = {summary.path: phase.plan_of(summary) for phase in tree.phases for summary in phase.summaries}
    for document in tree:
        row = {
            "form": document.form,
            "plan_id": getattr(plans.get(document.path) or document, "plan", None),
            "status": getattr(document, "status", None),
            "confidence": getattr(document, "confidence", None),
            "attempt": getattr(document, "attempt", None),
            "n_lines": len(document.source.lines),
            **_counts(document),
            **{f"n_{severity}s": broken[document.path, severity] for severity in ("error", "warning", "info")},
        }
        yield from _located(document, [row])


def _counts(document: Document) -> dict[str, Any]:
    if isinstance(document, PlanDocument):
        return {"n_tasks": len(document.tasks), "n_must_haves": len(document.must_haves.all())}
    if isinstance(document, ExecutionSummary):
        return {"n_must_haves": len(document.must_haves)}
    if isinstance(document, VerificationDocument):
        return {"n_must_haves": len(document.results), "n_gaps": len(_gaps(document))}
    if isinstance(document, ResearchNote):
        return {"n_findings": len(document.findings), "n_gaps": len(_gaps(document))}
    return {}


def _must_haves(phase: Phase, plan: PlanDocument) -> Iterator[dict[str, Any]]:
    """Yield the must-haves of a plan, with what its summary and the phase's verification say of each."""
    must_haves, summary = plan.must_haves.all(), phase.summary_of(plan)
    claims = summary.must_haves if summary else ()
    places = matched([must_have.text for must_have in must_haves], [claim.text for claim in claims])
    for must_have, at, result in zip(must_haves, places, _results(must_haves, phase.latest), strict=True):
        yield {
            "kind": must_have.kind,
            "text": must_have.text,
            "file": must_have.path or None,
            "line": must_have.line,
            "summary_path": summary and summary.path,
            "claimed": None if at is None else claims[at].state,
            **result,
        }


def _results(must_haves: Sequence[MustHave], latest: Sequence[VerificationDocument]) -> list[dict[str, Any]]:
    """Return the result of each must-have in the last verifications: in the table of must-haves, or of its kind."""
    results = [(verification, result) for verification in latest for result in verification.results]
    places = matched([must_have.text for must_have in must_haves], [result.text for _, result in results])
    by_kind = {
        (kind, _name_of(result.text)): (verification, result)
        for verification in reversed(latest)
        for kind, rows in (("artifact", verification.artifact_results), ("key_link", verification.link_results))
        for result in reversed(rows)
    }
    found = [
        results[at] if at is not None else by_kind.get((must_have.kind, _name_of(must_have.text)))
        for must_have, at in zip(must_haves, places, strict=True)
    ]
    return [_result(*each) if each else {} for each in found]


def _name_of(text: str) -> str:
    """Return what names an artifact or key link: its file, or its two ends, without what it provides."""
    return wording(text.partition(": ")[0])


def _result(verification: VerificationDocument, result: MustHaveResult) -> dict[str, Any]:
    let_pass = result.outcome != "passed" and verification.counts_as_passed(result)
    return {
        "verification_path": verification.path,
        "outcome": "override" if let_pass else result.outcome,
        "evidence": result.evidence or None,
    }


def _tasks(plan: PlanDocument) -> Iterator[dict[str, Any]]:
    for task in plan.tasks:
        row = {name: getattr(task, name) for name in ("type", "complexity", "tdd", "line")}
        texts = {"name": task.name, "verify": task.text("verify"), "done": task.text("done")}
        yield {**row, **_filled(texts), "task_id": task.id, "model": task.implied_model, "files": list(task.files)}


def _gaps(document: Document) -> list[dict[str, Any]]:
    """Return the gaps of a verification in detail, else those of its frontmatter; of a research note its own."""
    if isinstance(document, VerificationDocument):
        return [
            {"text": gap.title, **_filled({"evidence": gap.evidence, "fix": gap.fix}), "line": gap.line}
            for gap in document.gap_details
        ] or [{"text": gap.text, "line": gap.line} for gap in open_gaps(document.source.front)]
    return [gap._asdict() for gap in document.gaps] if isinstance(document, ResearchNote) else []


def _filled(texts: dict[str, str]) -> dict[str, str | None]:
    """Return texts with what is empty missing."""
    return {name: text or None for name, text in texts.items()}

"""Handed-over documents as tidy tables: what they hold, what became of must-haves, every violation (rule E4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from verifyplan.columns import described, fitted
from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.checks.check import Report, check
from verifyplan.documents.document_columns import DOCUMENT_TABLES, SOURCE_LEVELS, SURENESS
from verifyplan.documents.kinds.execution_summary import CLAIM_STATES, ExecutionSummary
from verifyplan.documents.kinds.plan import TASK_TYPES, MustHave, PlanDocument, implied_model
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.kinds.verification import MustHaveResult, VerificationDocument, counts_as_passed, open_gaps
from verifyplan.documents.reading.comparing import matched, wording
from verifyplan.documents.reading.document import Document
from verifyplan.documents.tree import Phase, Tree, milestone_of, repository_root
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.text import counted, did_you_mean


def document_rows(tree: Tree, violations: Sequence[Violation]) -> Iterator[dict[str, Any]]:
    """A row for each document, with how much the check found in it."""
    broken = Counter((found.path, found.severity) for found in violations)
    plans = {summary.path: phase.plan_of(summary) for phase in tree.phases for summary in phase.summaries}
    for document in tree:
        yield {
            "path": document.path,
            "kind": document.kind,
            "form": document.form,
            "phase": _phase(document),
            "milestone": _milestone(document),
            "plan_id": getattr(plans.get(document.path) or document, "plan", None),
            "status": getattr(document, "status", None),
            "confidence": _known(getattr(document, "confidence", None), SURENESS),
            "attempt": getattr(document, "attempt", None),
            "n_lines": len(document.source.lines),
            **_counts(document),
            **{f"n_{severity}s": broken[document.path, severity] for severity in ("error", "warning", "info")},
        }


def _counts(document: Document) -> dict[str, Any]:
    if isinstance(document, PlanDocument):
        return {"n_tasks": len(document.tasks), "n_must_haves": len(document.must_haves.all())}
    if isinstance(document, ExecutionSummary):
        return {"n_must_haves": len(document.must_haves)}
    if isinstance(document, VerificationDocument):
        return {"n_must_haves": len(document.results), "n_gaps": len(list(gap_rows(document)))}
    if isinstance(document, ResearchNote):
        return {"n_findings": len(document.findings), "n_gaps": len(list(gap_rows(document)))}
    return {}


def must_have_rows(phase: Phase) -> Iterator[dict[str, Any]]:
    """A row for each must-have of a phase's plans, with what its summary and its verification say of it."""
    for plan in phase.plans:
        wanted = plan.must_haves.all()
        summary = phase.summary_of(plan)
        told = _claims([one.text for one in wanted], summary)
        found = _results(wanted, phase.latest)
        for position, (one, claim, result) in enumerate(zip(wanted, told, found, strict=True), 1):
            yield {
                "path": plan.path,
                "position": position,
                "phase": phase.name,
                "milestone": phase.milestone or None,
                "plan_id": plan.plan,
                "kind": one.kind,
                "text": one.text,
                "file": one.path or None,
                "line": one.line,
                "summary_path": summary and summary.path,
                **claim,
                **result,
            }


def _claims(texts: list[str], summary: ExecutionSummary | None) -> list[dict[str, Any]]:
    """What a summary says of each must-have."""
    claims = summary.must_haves if summary else ()
    places = matched(texts, [claim.text for claim in claims])
    return [{} if at is None else {"claimed": _known(claims[at].state, CLAIM_STATES)} for at in places]


def _results(wanted: Sequence[MustHave], latest: Sequence[VerificationDocument]) -> list[dict[str, Any]]:
    """Return what the last verifications found of each must-have, in the table of must-haves or in that of its kind."""
    given = [(verification, result) for verification in latest for result in verification.results]
    places = matched([one.text for one in wanted], [result.text for _, result in given])
    beside = {
        (kind, _head(result.text)): (verification, result)
        for verification in reversed(latest)
        for kind, results in (("artifact", verification.artifact_results), ("key_link", verification.link_results))
        for result in reversed(results)
    }
    found = [
        given[at] if at is not None else beside.get((one.kind, _head(one.text)))
        for one, at in zip(wanted, places, strict=True)
    ]
    return [_result(*there) if there else {} for there in found]


def _head(text: str) -> str:
    """Return what of an artifact or key link names it: its file, or its two ends, without what it provides."""
    return wording(text.partition(": ")[0])


def _result(verification: VerificationDocument, result: MustHaveResult) -> dict[str, Any]:
    let_pass = result.outcome != "passed" and counts_as_passed(result, verification.overrides)
    return {
        "verification_path": verification.path,
        "outcome": "override" if let_pass else result.outcome,
        "evidence": result.evidence or None,
    }


def task_rows(plan: PlanDocument) -> Iterator[dict[str, Any]]:
    """A row for each task of a plan."""
    for position, task in enumerate(plan.tasks, 1):
        model = implied_model(task)
        yield {
            "path": plan.path,
            "position": position,
            "phase": _phase(plan),
            "milestone": _milestone(plan),
            "plan_id": plan.plan,
            "task_id": task.id,
            "name": task.name or None,
            "type": _known(task.type, TASK_TYPES),
            "complexity": task.complexity if model else None,
            "model": model,
            "tdd": task.tdd,
            "files": list(task.files),
            "verify": task.text("verify") or None,
            "done": task.text("done") or None,
            "line": task.line,
        }


def finding_rows(note: ResearchNote) -> Iterator[dict[str, Any]]:
    """A row for each finding of a research note."""
    for position, finding in enumerate(note.findings, 1):
        yield {
            "path": note.path,
            "position": position,
            "phase": _phase(note),
            "milestone": _milestone(note),
            "text": finding.text,
            "source_level": _known(finding.source_level, SOURCE_LEVELS),
            "confidence": _known(finding.confidence, SURENESS),
            "speculative": finding.speculative,
            "line": finding.line,
        }


def gap_rows(document: Document) -> Iterator[dict[str, Any]]:
    """A row for each gap: of a verification those told in detail, else those of its frontmatter; of a note its own."""
    told: list[dict[str, Any]] = []
    if isinstance(document, VerificationDocument):
        told = [
            {"text": gap.title, "evidence": gap.evidence or None, "fix": gap.fix or None, "line": gap.line}
            for gap in document.gap_details
        ] or [{"text": gap.text, "line": gap.line} for gap in open_gaps(document.source.front)]
    elif isinstance(document, ResearchNote):
        told = [{"text": gap.text, "line": gap.line} for gap in document.gaps]
    for position, row in enumerate(told, 1):
        yield {
            "path": document.path,
            "position": position,
            "phase": _phase(document),
            "milestone": _milestone(document),
            "kind": document.kind,
            **row,
        }


def _phase(document: Document) -> str:
    return PurePath(document.path).parent.name


def _milestone(document: Document) -> str | None:
    return milestone_of(str(PurePath(document.path).parent)) or None


def _known(value: str | None, known: tuple[str, ...]) -> str | None:
    return value if value in known else None


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

"""The rows of the tables of handed-over documents, table by table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from verifyplan.documents.checks.across.wording import matched, wording
from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.columns import SOURCE_LEVELS, SURENESS
from verifyplan.documents.kinds.execution_summary import CLAIM_STATES, ExecutionSummary
from verifyplan.documents.kinds.gaps import open_gaps
from verifyplan.documents.kinds.plan import (
    TASK_TYPES,
    MustHave,
    PlanDocument,
    implied_model,
)
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.kinds.verification import MustHaveResult, VerificationDocument, counts_as_passed
from verifyplan.documents.phase import Phase, milestone_of
from verifyplan.documents.reading.base import Document
from verifyplan.documents.tree import Tree


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

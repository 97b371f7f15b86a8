"""Summaries and the plans that they report on: each has one, and provides what its plan does (SPEC D3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from verifyplan.documents.checking.across.wording import unmatched
from verifyplan.documents.checking.catalogue import violation
from verifyplan.documents.checking.violation import Violation
from verifyplan.documents.contracts.execution_summary import ExecutionSummary
from verifyplan.documents.contracts.phase import Phase
from verifyplan.documents.contracts.plan import PlanDocument
from verifyplan.documents.contracts.plan_ids import id_in_name
from verifyplan.documents.contracts.tree import Tree


def check_summaries(tree: Tree) -> Iterator[Violation]:
    """Summaries of no plan, second summaries of one, and what a complete one does not provide though its plan does.

    The plan is looked for in the summary's folder, by the `plan` field or else the file's name.
    Source: document 003, Executor -> Verifier: one summary a plan.
    """
    for phase in tree.phases:
        first: dict[str, ExecutionSummary] = {}
        for summary in phase.summaries:
            before = first.setdefault(phase.key_of(summary), summary)
            plan = phase.plan_of(summary)
            if before is not summary:
                yield _repeated(before, summary)
            if plan is None:
                yield _without_plan(phase, summary)
            elif summary.status == "complete" and "provides" in summary.source.front.values:
                yield from _provides(plan, summary)


def _repeated(before: ExecutionSummary, summary: ExecutionSummary) -> Violation:
    message = f"reports on the plan that {PurePath(before.path).name} reports on"
    line = summary.source.front.line("plan")
    return violation("tree/summary-repeated", summary.path, line, message, "keep one summary a plan")


def _without_plan(phase: Phase, summary: ExecutionSummary) -> Violation:
    message = f"reports on the plan {summary.plan or id_in_name(summary.path)!r}, which is not in {phase.name or '.'}"
    line = summary.source.front.line("plan")
    fix = "put the plan beside it, or write the plan's id as the plan does"
    return violation("tree/summary-without-plan", summary.path, line, message, fix)


def _provides(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    lacking, _ = unmatched(plan.provides, summary.provides)
    line = summary.source.front.line("provides")
    for at in lacking:
        message = f"is complete and does not provide {plan.provides[at]!r}, as {PurePath(plan.path).name} does"
        fix = "add it, or say under Deviations why not and write status: partial"
        yield violation("tree/provides-dropped", summary.path, line, message, fix)

"""The plan check within a plan run: its blockers, on their way into the pool of challenges (rules D4, D5)."""

from __future__ import annotations

from verifyplan.documents.bridges.challenges import challenges
from verifyplan.documents.dimensions.check import plan_check
from verifyplan.documents.dimensions.check_context import tasks_and_features
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem
from verifyplan.plans.plan import Plan
from verifyplan.runs.plan.active_run import ActiveRun
from verifyplan.runs.plan.admission import Proposal

RAISED_BY = "the plan check"


def blockers(hub: ActiveRun) -> list[Proposal]:
    """The challenges that a plan check raises in the first iteration, where the settings ask for one.

    They rest on the plan's text in the log alone, so that resume and replay raise the same. They count as the
    challenger's, whose cap they share: document 000 knows no other origin for what is wrong with a plan itself.
    """
    inputs = hub.state.inputs
    if not hub.settings.plan_check or hub.state.iteration != 1:
        return []
    document = _document(inputs.plan_text, inputs.plan_path)
    raised = challenges(plan_check(document), inputs.plan_name)
    return [Proposal(one, "challenger", raised_by=RAISED_BY) for one in raised]


def expect_tasks(plan: Plan) -> None:
    """InputError unless a plan is a PLAN document, with frontmatter or tasks: of any other the check says nothing."""
    document = _document(plan.text, plan.path)
    if not tasks_and_features(document) and not document.source.front.last:
        fix = "write its tasks as <task> elements, or leave plan_check out"
        raise InputError(Problem("plan_check", f"{plan.path!r} is no PLAN document: it has no tasks", fix))


def _document(text: str, path: str) -> PlanDocument:
    return PlanDocument.read(read_source(text, path))

"""D7, context compliance: what a person decided is honoured, and what was deferred is not planned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.dimensions.context import ContextItem, PhaseContext
from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.requirements import requirements_of
from verifyplan.documents.dimensions.scene import MAX_COMPARED, IssueFactory, PlanCheckContext
from verifyplan.documents.dimensions.wording import meaningful_words, share_of_meaning
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.text import counted

D7 = 7

SHOWN_DECISIONS = 5
"""Decisions that are shown to the judge for a phase; the rest are counted."""
FEWEST = 2
"""Words with meaning that a deferred idea must have for a task's name to say it."""

_FIRST = re.compile(r"\W{0,5}([A-Z][\w.]{0,30}(?:-[\w.]{1,30}){0,3}-\d{1,4}[a-z]?)\b")
_TOLD = re.compile(r"\b([A-Z][\w.]{0,30}(?:-[\w.]{1,30}){0,3}-\d{1,4}[a-z]?)\W{1,3}(?:is )?deferred\b")
"""A requirement that an idea begins with, and one of which it says that it is deferred."""


def context_compliance(scene: PlanCheckContext) -> Dimension:
    """Look for deferred ideas that a plan names by id, or a task by all of its words.

    A warning: a plan that names a requirement whose id begins a deferred idea, or of which one says that it is
    deferred, and that does not say so itself, as one that writes the deferral down does; a task whose name says all of
    a deferred idea. Words are no proof the other way: whether each decision is honoured, and no idea planned in other
    words, is for a judge, always. Without a CONTEXT.md nothing applies.
    Source: rule D4; the plan checkers of GSD and plan-build-run, dimension 7.
    """
    held = {phase: found for phase in scene.phases if (found := scene.contexts.get(scene.folder(phase)))}
    if not held:
        return Dimension(D7, "not-applicable", why_not="there is no CONTEXT.md")
    against = IssueFactory(scene, D7)
    issues = [issue for phase, context in held.items() for issue in _deferred_of_phase(against, phase, context)]
    judge = [line for phase, context in held.items() for line in _to_judge(phase, context)]
    return Dimension(D7, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _to_judge(phase: str, context: PhaseContext) -> Iterator[str]:
    name = f"{phase}: " if phase else ""
    if context.decisions:
        shown = "; ".join(f"{quoted(said.text)} (line {said.line})" for said in context.decisions[:SHOWN_DECISIONS])
        more = len(context.decisions) - SHOWN_DECISIONS
        rest = f"; and {more} more" if more > 0 else ""
        yield f"{name}whether {counted(len(context.decisions), 'locked decision')} are honoured: {shown}{rest}"
    if context.deferred:
        yield f"{name}whether any of {counted(len(context.deferred), 'deferred idea')} is planned in other words"


def _deferred_of_phase(against: IssueFactory, phase: str, context: PhaseContext) -> Iterator[Issue]:
    for idea in context.deferred[:MAX_COMPARED]:
        for at in against.scene.phases[phase]:
            yield from _deferred(against, at, idea)


def _deferred(against: IssueFactory, at: int, idea: ContextItem) -> Iterator[Issue]:
    plan = against.scene.plans[at]
    found = _FIRST.match(idea.text) or _TOLD.search(idea.text)
    key, ids = requirements_of(plan)
    if found and found[1] in ids and not _says_so(plan, found[1]):
        told = f"requirement {quoted(found[1])} is deferred (CONTEXT.md:{idea.line}) and planned"
        line = plan.source.front.line(key, ids.index(found[1]))
        yield against.plan(at, "warning", "deferred-planned", line, told, "leave it out of this phase")
        return
    if len(meaningful_words(idea.text)) < FEWEST:
        return
    for job in against.scene.jobs[at]:
        if share_of_meaning(idea.text, meaningful_words(job.task.name)) == 1:
            told = f"task {quoted(job.label)} says the deferred idea {quoted(idea.text)} (CONTEXT.md:{idea.line})"
            fix = "leave it out of this phase, or say that it was taken up"
            yield against.job(job, "warning", "deferred-spoken", "name", told, fix)
            return


def _says_so(plan: PlanDocument, requirement: str) -> bool:
    """Whether a plan itself says of a requirement that it is deferred."""
    return any(requirement in line and "defer" in line.lower() for line in plan.source.lines)

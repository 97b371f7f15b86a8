"""D7, context compliance: what a person decided is honoured, and what was deferred is not planned."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.dimensions.context import Context, Said
from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.scene import MOST, Against, Scene
from verifyplan.documents.dimensions.wording import meaning, shared
from verifyplan.words import counted

NUMBER = 7

SHOWN = 5
"""Decisions that are shown to the judge for a phase; the rest are counted."""
ALIKE, FEWEST = 0.8, 4
"""How much of a deferred idea one task must share to be taken to plan it, and of how many words at the least."""
UNSPOKEN = 0.15
"""How much of a decision the plans share at the most where they do not speak of it."""


def context_compliance(scene: Scene) -> Dimension:
    """Look for deferred ideas that a task plans, and for locked decisions of which no plan speaks.

    A blocker: a plan that names the id of a deferred requirement. A warning: a task that shares most words of a
    deferred idea, a decision that shares next to none with any plan. Words are no proof either way: whether each
    decision is honoured is for a judge, always. Without a CONTEXT.md nothing applies.
    Source: SPEC D4; the plan checkers of GSD and plan-build-run, dimension 7.
    """
    held = {phase: scene.contexts[phase] for phase in scene.phases if phase in scene.contexts}
    if not held:
        return Dimension(NUMBER, "not-applicable", why_not="there is no CONTEXT.md")
    against = Against(scene, NUMBER)
    issues = [issue for phase, context in held.items() for issue in _phase(against, phase, context)]
    judge = [line for phase, context in held.items() for line in _to_judge(phase, context)]
    return Dimension(NUMBER, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _to_judge(phase: str, context: Context) -> Iterator[str]:
    name = f"{phase}: " if phase else ""
    if context.decisions:
        shown = "; ".join(f"{quoted(said.text)} (line {said.line})" for said in context.decisions[:SHOWN])
        more = len(context.decisions) - SHOWN
        rest = f"; and {more} more" if more > 0 else ""
        yield f"{name}whether {counted(len(context.decisions), 'locked decision')} are honoured: {shown}{rest}"
    if context.deferred:
        yield f"{name}whether any of {counted(len(context.deferred), 'deferred idea')} is planned in other words"


def _phase(against: Against, phase: str, context: Context) -> Iterator[Issue]:
    positions = against.scene.phases[phase]
    texts = {at: meaning(against.scene.plans[at].text) for at in positions}
    for decision in context.decisions[:MOST] if against.scene.phases_whole else ():
        known = len(meaning(decision.text)) >= FEWEST
        if known and all(shared(decision.text, text) <= UNSPOKEN for text in texts.values()):
            told = f"no plan speaks of the locked decision {quoted(decision.text)} (CONTEXT.md:{decision.line})"
            fix = "plan it, or ask whether it still stands"
            yield against.phase(phase, "warning", "decision-unspoken", told, fix)
    for idea in context.deferred[:MOST]:
        for at in positions:
            yield from _deferred(against, at, idea)


def _deferred(against: Against, at: int, idea: Said) -> Iterator[Issue]:
    plan = against.scene.plans[at]
    for place, name in enumerate(plan.requirement_ids):
        if name in idea.text.replace(":", " ").replace("*", " ").split():
            told = f"requirement {quoted(name)} is deferred (CONTEXT.md:{idea.line}) and planned"
            line = against.scene.line(at, "requirement_ids", place)
            yield against.plan(at, "blocker", "deferred-planned", line, told, "leave it out of this phase")
            return
    if len(meaning(idea.text)) < FEWEST:
        return
    for job in against.scene.jobs[at]:
        if shared(idea.text, job.meaning) >= ALIKE:
            told = f"task {quoted(job.label)} may plan the deferred idea {quoted(idea.text)} (CONTEXT.md:{idea.line})"
            fix = "leave it out of this phase, or say that it was taken up"
            yield against.job(job, "warning", "deferred-spoken", "action", told, fix)
            return

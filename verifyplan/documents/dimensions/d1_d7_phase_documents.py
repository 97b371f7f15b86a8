"""D1, requirement coverage: every requirement of the phase is named by a plan, and no plan names one that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.dimensions.check_context import (
    MAX_COMPARED,
    Dimension,
    Issue,
    IssueFactory,
    PlanCheckContext,
    quoted,
)
from verifyplan.documents.dimensions.overlap import meaningful_words, share_of_meaning
from verifyplan.documents.dimensions.phase_documents import (
    ContextItem,
    PhaseContext,
    ids_in,
    is_id,
    knows,
    requirements_of,
)
from verifyplan.documents.dimensions.plan_graph import in_a_phase
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.text import counted

D1 = 1


def requirement_coverage(scene: PlanCheckContext) -> Dimension:
    """Hold the requirements that plans name against those of ROADMAP.md and REQUIREMENTS.md of their milestone.

    A warning: requirements of the phase that none of its plans names anywhere, and ids of their series that stand in
    neither document; each is told once for a phase or plan. Whether the tasks of a plan really meet the requirements
    that it names is for a judge, and so is a phase whose plans name none at all. Plans outside of phases (`quick`) have
    no requirements of a phase. Without any requirement nothing applies. Source: rule D4; document 003.
    """
    named = sum(len(requirements_of(scene.plans[at])[1]) for at in scene.asked)
    if not named and not any(_required(scene, phase) for phase in scene.phases):
        return Dimension(D1, "not-applicable", why_not="no plan names a requirement, and none is known of the phase")
    against = IssueFactory(scene, D1)
    judge = [f"whether the tasks meet the {counted(named, 'requirement')} that their plans name"] if named else []
    issues: list[Issue] = []
    if scene.known is None:
        judge.append("which requirements the phase has: neither ROADMAP.md nor REQUIREMENTS.md was given")
    else:
        issues += _unknown(against, scene.known)
        issues += _uncovered(against) if scene.phases_whole else ()
        judge += _silent(scene)
        if not scene.phases_whole:
            judge.append("whether the phase's other plans meet the rest of its requirements: they were not given")
    return Dimension(D1, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _required(scene: PlanCheckContext, phase: str) -> tuple[str, ...]:
    return scene.required.get(scene.folder(phase), ())


def _unknown(against: IssueFactory, known: frozenset[str]) -> Iterator[Issue]:
    stems = {_stem(name) for name in known if is_id(name)}
    for at, plan in enumerate(against.scene.plans):
        if not in_a_phase(plan):
            continue
        key, ids = requirements_of(plan)
        unknown = [name for name in ids if is_id(name) and _stem(name) in stems and not knows(known, name)]
        if unknown:
            stands = "stands" if len(unknown) == 1 else "stand"
            told = f"{_listed(unknown)} {stands} in neither ROADMAP.md nor REQUIREMENTS.md"
            fix = "name a requirement that exists, or add it there first"
            line = plan.source.front.line(key, ids.index(unknown[0]))
            yield against.plan(at, "warning", "requirement-unknown", line, told, fix)


def _stem(name: str) -> str:
    """An id without its number; ids of a stem that the documents do not use are kept elsewhere, as in a tracker."""
    return name.strip().rpartition("-")[0]


def _uncovered(against: IssueFactory) -> Iterator[Issue]:
    for phase in against.scene.phases:
        missing = _missing(against.scene, phase)
        if missing and _states_any(against.scene, phase):
            told = f"{_listed(missing)} of the phase {'is' if len(missing) == 1 else 'are'} named by none of its plans"
            fix = "add the tasks that are missing, and the ids to their plans"
            yield against.phase(phase, "warning", "requirement-uncovered", told, fix)


def _silent(scene: PlanCheckContext) -> Iterator[str]:
    for phase in scene.phases:
        if (missing := _missing(scene, phase)) and not _states_any(scene, phase):
            yield f"{phase}: whether its plans, which name no requirement, meet {_listed(missing)}"


def _missing(scene: PlanCheckContext, phase: str) -> tuple[str, ...]:
    """The requirements of a phase that its plans name nowhere; none where the frontmatter of a plan is damaged (D2)."""
    plans = [scene.plans[at] for at in scene.phases[phase]]
    if any(plan.source.front.problems for plan in plans):
        return ()
    named = {name.strip() for plan in plans for name in (*requirements_of(plan)[1], *ids_in(plan.text))}
    return tuple(name for name in _required(scene, phase) if name not in named)


def _states_any(scene: PlanCheckContext, phase: str) -> bool:
    """Whether any plan of a phase has a field for requirements, be it empty."""
    return any(requirements_of(scene.plans[at])[0] for at in scene.phases[phase])


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """Requirements in a sentence."""
    return f"requirement{'' if len(names) == 1 else 's'} {', '.join(quoted(name) for name in names)}"


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

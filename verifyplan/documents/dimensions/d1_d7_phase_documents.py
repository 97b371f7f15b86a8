"""D1 and D7: plans meet the requirements of their phase, and keep to the decisions in its CONTEXT.md (rule D4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verifyplan.documents.checks.catalogue import quoted
from verifyplan.documents.dimensions.check_context import (
    MAX_COMPARED,
    DimensionResult,
    Issue,
    PlanCheckContext,
)
from verifyplan.documents.dimensions.phase_documents import (
    ContextItem,
    PhaseContext,
    is_requirement_id,
    requirement_ids,
    requirements_of,
)
from verifyplan.documents.dimensions.plan_graph import in_a_phase
from verifyplan.documents.reading.comparing import meaningful_words, share_of_meaning
from verifyplan.text import counted

MAX_SHOWN_DECISIONS = 5
"""Decisions of a phase that are shown to the judge; the rest are counted."""

MIN_IDEA_WORDS = 2
"""Words with meaning that a deferred idea must have for a task's name to say it."""

_LEADING_ID = re.compile(r"\W{0,5}([A-Z][\w.]{0,30}(?:-[\w.]{1,30}){0,3}-\d{1,4}[a-z]?)\b")
_DEFERRED_ID = re.compile(r"\b([A-Z][\w.]{0,30}(?:-[\w.]{1,30}){0,3}-\d{1,4}[a-z]?)\W{1,3}(?:is )?deferred\b")
"""A requirement that an idea begins with, and one of which it says that it is deferred."""


def requirement_coverage(context: PlanCheckContext) -> DimensionResult:
    """Compare the requirements that plans name with those of ROADMAP.md and REQUIREMENTS.md of their milestone.

    A warning: requirements of the phase that none of its plans names anywhere, and ids of their series that are in
    neither document; each once for a phase or plan. Whether the tasks of a plan really meet the requirements
    that it names is for a judge, and so is a phase whose plans name none at all. Plans outside of phases (`quick`) have
    no requirements of a phase. Without any requirement nothing applies. Source: rule D4.
    """
    named = sum(len(requirements_of(context.plans[at])[1]) for at in context.reported)
    if not named and not any(_required(context, phase) for phase in context.phases):
        return DimensionResult.not_applicable(1, "no plan names a requirement, and none is known of the phase")
    judge = [f"whether the tasks meet the {counted(named, 'requirement')} that their plans name"] if named else []
    if context.known is None:
        judge.append("which requirements the phase has: neither ROADMAP.md nor REQUIREMENTS.md was given")
        return DimensionResult.of(1, (), judge)
    issues = list(_unknown_requirements(context, context.known))
    for phase, missing in ((phase, _missing_requirements(context, phase)) for phase in context.phases):
        if missing and not any(requirements_of(context.plans[at])[0] for at in context.phases[phase]):
            judge.append(f"{phase}: whether its plans, which name no requirement, meet {_listed(missing)}")
        elif missing and context.phases_whole:
            verb = "is" if len(missing) == 1 else "are"
            issues.append(context.of_phase(phase, "requirement-uncovered", requirements=_listed(missing), verb=verb))
    if not context.phases_whole:
        judge.append("whether the phase's other plans meet the rest of its requirements: they were not given")
    return DimensionResult.of(1, issues, judge)


def _required(context: PlanCheckContext, phase: str) -> tuple[str, ...]:
    return context.required.get(context.folder(phase), ())


def _unknown_requirements(context: PlanCheckContext, known: frozenset[str]) -> Iterator[Issue]:
    stems = {_stem(name) for name in known if is_requirement_id(name)}
    for at, plan in enumerate(context.plans):
        if not in_a_phase(plan):
            continue
        field, ids = requirements_of(plan)
        in_series = [name for name in ids if is_requirement_id(name) and _stem(name) in stems]
        unknown = [name for name in in_series if name.strip().strip(".") not in known]
        if unknown:
            line, verb = (
                plan.source.front.line(field, ids.index(unknown[0])),
                "stands" if len(unknown) == 1 else "stand",
            )
            yield context.of_plan(at, "requirement-unknown", line, requirements=_listed(unknown), verb=verb)


def _stem(name: str) -> str:
    """An id without its number; ids of a stem that the documents do not use are kept elsewhere, as in a tracker."""
    return name.strip().rpartition("-")[0]


def _missing_requirements(context: PlanCheckContext, phase: str) -> tuple[str, ...]:
    """The requirements of a phase that its plans name nowhere; none where the frontmatter of a plan is damaged (D2)."""
    plans = [context.plans[at] for at in context.phases[phase]]
    if any(plan.source.front.problems for plan in plans):
        return ()
    named = {name.strip() for plan in plans for name in (*requirements_of(plan)[1], *requirement_ids(plan.text))}
    return tuple(name for name in _required(context, phase) if name not in named)


def _listed(names: Sequence[str]) -> str:
    return f"requirement{'' if len(names) == 1 else 's'} {', '.join(quoted(name) for name in names)}"


def context_compliance(context: PlanCheckContext) -> DimensionResult:
    """Look for deferred ideas that a plan names by id, or a task by all of its words.

    A warning: a plan that names a requirement whose id begins a deferred idea, or of which one says that it is
    deferred, and that does not itself say that it is deferred; a task whose name says all of a deferred idea. Words
    prove nothing the other way: a judge must always say whether each decision is honoured, and whether an idea is
    planned in other words. Without a CONTEXT.md nothing applies.
    Source: rule D4; the plan checkers of GSD and plan-build-run, dimension 7.
    """
    decided = {phase: read for phase in context.phases if (read := context.contexts.get(context.folder(phase)))}
    if not decided:
        return DimensionResult.not_applicable(7, "there is no CONTEXT.md")
    issues = [
        issue
        for phase, read in decided.items()
        for idea in read.deferred[:MAX_COMPARED]
        for at in context.phases[phase]
        for issue in _planned_though_deferred(context, at, idea)
    ]
    return DimensionResult.of(7, issues, (line for phase, read in decided.items() for line in _to_judge(phase, read)))


def _to_judge(phase: str, decided: PhaseContext) -> Iterator[str]:
    name = f"{phase}: " if phase else ""
    if count := len(decided.decisions):
        shown = (f"{quoted(item.text)} (line {item.line})" for item in decided.decisions[:MAX_SHOWN_DECISIONS])
        rest = f"; and {count - MAX_SHOWN_DECISIONS} more" if count > MAX_SHOWN_DECISIONS else ""
        yield f"{name}whether {counted(count, 'locked decision')} are honoured: {'; '.join(shown)}{rest}"
    if decided.deferred:
        yield f"{name}whether any of {counted(len(decided.deferred), 'deferred idea')} is planned in other words"


def _planned_though_deferred(context: PlanCheckContext, at: int, idea: ContextItem) -> Iterator[Issue]:
    plan = context.plans[at]
    matched = _LEADING_ID.match(idea.text) or _DEFERRED_ID.search(idea.text)
    field, ids = requirements_of(plan)
    says_so = matched and any(matched[1] in line and "defer" in line.lower() for line in plan.source.lines)
    if matched and matched[1] in ids and not says_so:
        line = plan.source.front.line(field, ids.index(matched[1]))
        yield context.of_plan(at, "deferred-planned", line, requirement=matched[1], decided=idea.line)
        return
    if len(meaningful_words(idea.text)) < MIN_IDEA_WORDS:
        return
    for task in context.tasks[at]:
        if share_of_meaning(idea.text, meaningful_words(task.task.name)) == 1:
            yield context.of_task(task, "deferred-spoken", "name", idea=idea.text, decided=idea.line)
            return

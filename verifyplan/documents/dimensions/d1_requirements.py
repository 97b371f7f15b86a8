"""D1, requirement coverage: every requirement of the phase is named by a plan, and no plan names one that is none."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.names import in_a_phase
from verifyplan.documents.dimensions.requirements import ids_in, is_id, knows, requirements_of
from verifyplan.documents.dimensions.scene import IssueFactory, PlanCheckContext
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

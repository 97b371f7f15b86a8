"""D1, requirement coverage: every requirement of the phase is named by a plan, and no plan names one that is none."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.contracts.plan_ids import phase_number
from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.requirements import Requirements
from verifyplan.documents.dimensions.scene import Against, Scene
from verifyplan.words import counted

NUMBER = 1


def requirement_coverage(scene: Scene) -> Dimension:
    """Hold the requirements that plans name against those of ROADMAP.md and REQUIREMENTS.md.

    A blocker: a requirement of the phase that no plan names, an id that exists in neither document, a plan that names
    requirements and has no task. Whether the tasks of a plan really meet the requirements that it names is for a
    judge. Without those two documents only the last can be held; without any requirement nothing applies.
    Source: SPEC D4; document 003, "Planner -> Plan-Checker".
    """
    named = sum(len(scene.plans[at].requirement_ids) for at in scene.asked)
    required = scene.requirements
    if not named and (required is None or not any(_required(required, phase) for phase in scene.phases)):
        return Dimension(
            NUMBER, "not-applicable", why_not="no plan names a requirement, and none is known of the phase"
        )
    against = Against(scene, NUMBER)
    issues = [*_without_tasks(against)]
    judge = [f"whether the tasks meet the {counted(named, 'requirement')} that their plans name"] if named else []
    if required is None:
        judge.append("which requirements the phase has: neither ROADMAP.md nor REQUIREMENTS.md was given")
    else:
        issues += _unknown(against, required)
        issues += _uncovered(against, required) if scene.phases_whole else ()
        if not scene.phases_whole:
            judge.append("whether the phase's other plans meet the rest of its requirements: they were not given")
    return Dimension(NUMBER, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _required(required: Requirements, phase: str) -> tuple[str, ...]:
    return required.of_phase.get(phase_number(phase), ())


def _unknown(against: Against, required: Requirements) -> Iterator[Issue]:
    for at, plan in enumerate(against.scene.plans):
        for place, name in enumerate(plan.requirement_ids):
            if not required.knows(name):
                told = f"requirement {quoted(name)} stands in neither ROADMAP.md nor REQUIREMENTS.md"
                fix = "name a requirement that exists, or add it there first"
                line = against.scene.line(at, "requirement_ids", place)
                yield against.plan(at, "blocker", "requirement-unknown", line, told, fix)


def _uncovered(against: Against, required: Requirements) -> Iterator[Issue]:
    for phase, positions in against.scene.phases.items():
        if any(against.scene.plans[at].source.front.problems for at in positions):
            continue  # what a plan names whose frontmatter is damaged cannot be told (D2)
        named = {name.strip() for at in positions for name in against.scene.plans[at].requirement_ids}
        for requirement in _required(required, phase):
            if requirement not in named:
                told = f"requirement {requirement} of the phase is named by none of its plans"
                fix = f"add a task that meets {requirement}, and the id to its plan"
                yield against.phase(phase, "blocker", "requirement-uncovered", told, fix)


def _without_tasks(against: Against) -> Iterator[Issue]:
    for at, plan in enumerate(against.scene.plans):
        if plan.requirement_ids and not against.scene.jobs[at]:
            told = f"the plan names {counted(len(plan.requirement_ids), 'requirement')} and has no task to meet them"
            line = against.scene.line(at, "requirement_ids")
            yield against.plan(at, "blocker", "requirement-without-task", line, told, "add tasks, or leave the ids out")

"""Plans among each other: their ids, what they depend on, what they consume (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from verifyplan.documents.checks.across.wording import wording
from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.phase import Phase
from verifyplan.documents.reading.plan_ids import id_in_name, phase_number, plan_key
from verifyplan.documents.tree import Tree


def check_plans(tree: Tree) -> Iterator[Violation]:
    """Plan ids that are used twice in a phase, and dependencies and consumed items that no plan answers.

    A dependency may name a plan of its milestone by its id, within its phase also by its number alone, or a phase;
    what a plan consumes may come from an earlier milestone. Of a folder that is not a whole `.planning`, what may lie
    outside of it is not asked. Source: document 003, Planner -> Executor.
    """
    for phases in tree.milestones.values():
        known = frozenset(phase.key_of(plan) for phase in phases for plan in phase.plans)
        names = frozenset(name for phase in phases for name in _phase_names(phase))
        for phase in phases:
            yield from _check_plan_ids(phase)
            for plan in phase.plans:
                for at, name in enumerate(plan.depends_on):
                    if not _is_known(name, phase, known, names, whole=tree.whole):
                        yield _unknown_dependency(plan, at, name, phase)
    provided = frozenset(wording(item) for plan in tree.of(PlanDocument) for item in plan.provides)
    for plan in tree.of(PlanDocument) if tree.whole else ():
        yield from _check_consumed(plan, provided)


def _check_plan_ids(phase: Phase) -> Iterator[Violation]:
    first: dict[str, PlanDocument] = {}
    for plan in phase.plans:
        before = first.setdefault(phase.key_of(plan), plan)
        if before is not plan:
            message = (
                f"the plan's id {plan.plan or id_in_name(plan.path)!r} is that of {PurePath(before.path).name}, too"
            )
            line = plan.source.front.line("plan")
            yield violation("tree/plan-id-repeated", plan.path, line, message, "give each plan an id of its own")


def _is_known(name: str, phase: Phase, known: frozenset[str], phases: frozenset[str], *, whole: bool) -> bool:
    stem = id_in_name(name) if name.endswith(".md") else name
    key = plan_key(stem, phase.name)
    named = wording(stem.casefold().removeprefix("phase"))
    if key in known or named in phases:
        return True
    here = phase_number(phase.name)
    return not whole and not (here and key.startswith(f"{here}-"))


def _phase_names(phase: Phase) -> Iterator[str]:
    """What a dependency may call a phase: its folder, its number."""
    yield wording(phase.name)
    number = phase_number(phase.name)
    if number:
        yield wording(number)
        yield wording(phase.name.partition("-")[0])


def _unknown_dependency(plan: PlanDocument, at: int, name: str, phase: Phase) -> Violation:
    message = f"depends on {name!r}, which is no plan of its milestone"
    beside = [other.plan or id_in_name(other.path) for other in phase.plans[:_SHOWN] if other is not plan]
    fix = f"name a plan by its id, as {', '.join(beside) or '01-01'}, or take it out"
    return violation("tree/dependency-unknown", plan.path, plan.source.front.line("depends_on", at), message, fix)


_SHOWN = 8


def _check_consumed(plan: PlanDocument, provided: frozenset[str]) -> Iterator[Violation]:
    for at, item in enumerate(plan.consumes):
        if wording(item) not in provided:
            message = f"consumes {item!r}, which no plan of the tree provides"
            line = plan.source.front.line("consumes", at)
            fix = "name it as the plan that provides it does; leave it if it was there before"
            yield violation("tree/consumed-unprovided", plan.path, line, message, fix)

"""D3, dependency correctness: dependencies exist, form no circle, lie in earlier waves; plans of a wave keep apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from verifyplan.documents.dimensions.graph import Edge, Unmet, clean
from verifyplan.documents.dimensions.issue import Dimension, Issue, IssueSeverity, quoted
from verifyplan.documents.dimensions.names import phase_of
from verifyplan.documents.dimensions.scene import IssueFactory, PlanCheckContext
from verifyplan.documents.dimensions.wording import is_empty
from verifyplan.documents.reading.plan_ids import phase_number, plan_key
from verifyplan.documents.reading.tasks import files_of

D3 = 3

SHOWN = 5
"""Files that several plans of a wave modify, and that are named; the rest are counted."""

_PLAN = re.compile(r"(?!phase\b)[\w.]*-?[\w.-]*\d[\w.-]*", re.IGNORECASE)
"""The form of a plan's id; a dependency of any other form is for a judge."""


def dependency_correctness(scene: PlanCheckContext) -> Dimension:
    """Hold `depends_on`, `wave` and the files of all plans, their own lists and their tasks', against each other.

    A blocker, as the plan cannot begin: a dependency on no plan of the phase, a circle, a dependency in a later wave. A
    warning: a dependency in the same wave, two plans with one id, plans of one wave that modify the same files, and a
    dependency on a plan of another phase that is not known here. Info: a wave that is higher than the dependencies ask
    for, of a plan that shares no file with the waves between. Where the
    other plans were not given, and where a dependency names no plan (a phase, a sentence), whether it is met is left
    open. Source: rule D4; document 003.
    """
    against = IssueFactory(scene, D3)
    issues = [*_doubled(against), *_unmet(against), *_circles(against), *_waves(against), *_conflicts(against)]
    judge = [
        f"{_name(against, one.plan)}: whether {quoted(one.name)} is met, which names no plan" for one in _open(scene)
    ]
    if scene.graph.unmet and not scene.phases_whole:
        names = ", ".join(dict.fromkeys(quoted(one.name) for one in scene.graph.unmet))
        judge.append(f"whether the plans exist that this one depends on ({names}): no other plan was given")
    return Dimension(D3, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _open(scene: PlanCheckContext) -> Iterator[Unmet]:
    """The dependencies that name no plan, but a phase or something in words."""
    return (one for one in scene.graph.unmet if not _names_plan(scene, one) and not is_empty(one.name))


def _names_plan(scene: PlanCheckContext, one: Unmet) -> bool:
    """Whether a dependency has the form of a plan's id; a number alone that is a phase's names the phase."""
    name = one.name.strip()
    is_phase = name.isdecimal() and (name.lstrip("0") or "0") in scene.phase_numbers
    return _PLAN.fullmatch(name) is not None and not is_phase


def _name(against: IssueFactory, at: int) -> str:
    return against.scene.graph.nodes[at].plan_id


def _doubled(against: IssueFactory) -> Iterator[Issue]:
    first: dict[tuple[str, str], int] = {}
    for at, node in enumerate(against.scene.graph.nodes):
        there = first.setdefault((node.phase, plan_key(node.plan_id, node.phase)), at)
        if there != at:
            told = f"plan {quoted(node.plan_id)} has the id of another plan of its phase"
            line = against.scene.line(at, "plan")
            yield against.plan(at, "warning", "id-doubled", line, told, "give each plan an id of its own")


def _unmet(against: IssueFactory) -> Iterator[Issue]:
    if not against.scene.phases_whole:
        return
    for one in against.scene.graph.unmet:
        if not _names_plan(against.scene, one) or is_empty(one.name):
            continue
        plan = against.scene.plans[one.plan]
        key = plan_key(one.name, phase_of(plan))
        if key in against.scene.elsewhere:
            continue
        own = key.partition("-")[0] == phase_number(phase_of(plan)) or "-" not in key
        told = f"it depends on {quoted(one.name)}, and there is no such plan"
        line, fix = _line(against, one), "correct the id, or add the plan"
        if own or against.scene.all_phases:
            yield against.plan(one.plan, "blocker", "dependency-unknown", line, told, fix)
        else:
            told = f"it depends on {quoted(one.name)} of another phase, which is not known here"
            yield against.plan(one.plan, "warning", "dependency-elsewhere", line, told, fix)


def _line(against: IssueFactory, one: Unmet) -> int:
    return against.scene.line(one.plan, "depends_on", one.place)


def _circles(against: IssueFactory) -> Iterator[Issue]:
    for circle in against.scene.graph.circles:
        names = ", ".join(_name(against, at) for at in circle)
        alone = len(circle) == 1
        told = f"plan {names} depends on itself" if alone else f"plans {names} depend on each other in a circle"
        line = against.scene.line(circle[0], "depends_on")
        fix = "leave the dependency out that is not needed to begin"
        yield against.plan(circle[0], "blocker", "dependency-circle", line, told, fix)


def _waves(against: IssueFactory) -> Iterator[Issue]:
    graph = against.scene.graph
    within = [edge for edge in graph.edges if not edge.across]
    wrong = {edge.after: edge for edge in reversed(within) if _is_early(against, edge)}
    waiting = {one.plan for one in graph.unmet}  # for plans whose wave is not known
    allowed: dict[int, int] = {}
    for edge in within:
        allowed[edge.after] = max(allowed.get(edge.after, 1), graph.nodes[edge.before].wave + 1)
    for at, node in enumerate(graph.nodes):
        if node.derived is None or node.declared is None:
            continue  # a circle is told of as one; what states no wave gets the derived one
        line = against.scene.line(at, "wave")
        if at in wrong:
            before = wrong[at].before
            wave = graph.nodes[before].wave
            told = f"it is in wave {node.declared} and depends on {_name(against, before)} of wave {wave}"
            fix = f"put it into wave {max(node.derived, wave + 1)}"
            severity: IssueSeverity = "blocker" if node.declared < wave else "warning"
            yield against.plan(at, severity, "wave-too-early", line, told, fix)
        elif at not in waiting and node.declared != allowed.get(at, 1) and not _shares(against, at, allowed.get(at, 1)):
            told = f"it is in wave {node.declared}, while its dependencies allow wave {allowed.get(at, 1)}"
            fix = "correct the wave, or name the plan that it waits for"
            yield against.plan(at, "info", "wave-too-late", line, told, fix)


def _shares(against: IssueFactory, at: int, first: int) -> bool:
    """Whether a plan has a file in common with one of the waves from `first` to its own, for which it may wait."""
    nodes = against.scene.graph.nodes
    own = nodes[at]
    between = (n for n in nodes if n.phase == own.phase and first <= n.wave < own.wave)
    return any(not set(own.files).isdisjoint(node.files) for node in between)


def _is_early(against: IssueFactory, edge: Edge) -> bool:
    nodes = against.scene.graph.nodes
    before, after = nodes[edge.before], nodes[edge.after]
    return edge.before != edge.after and after.wave <= before.wave


def _conflicts(against: IssueFactory) -> Iterator[Issue]:
    """Files that plans of one wave share, told once for the same plans."""
    shared: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for conflict in against.scene.graph.conflicts:
        shared[conflict.plans].append(conflict.file)
    for plans, files in shared.items():
        names = ", ".join(_name(against, at) for at in plans)
        last = plans[-1]
        wave = against.scene.graph.nodes[last].wave
        more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
        told = f"plans {names} of wave {wave} all modify {', '.join(map(quoted, files[:SHOWN]))}{more}"
        fix = "make one depend on the other and put it into a later wave"
        yield against.plan(last, "warning", "wave-file-conflict", _file_line(against, last, files[0]), told, fix)


def _file_line(against: IssueFactory, at: int, file: str) -> int:
    """Where a plan says that it modifies a file: in its own list, else in the first task that names it."""
    listed = [clean(path) for path in against.scene.plans[at].files_modified]
    if file in listed:
        return against.scene.line(at, "files_modified", listed.index(file))
    lines = (line for task in against.scene.plans[at].tasks for line, path in files_of(task) if clean(path) == file)
    return next(lines, against.scene.line(at, "files_modified"))

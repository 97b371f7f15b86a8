"""D3, dependency correctness: dependencies exist, form no circle, lie in earlier waves; plans of a wave keep apart."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.contracts.plan_ids import phase_number, plan_key
from verifyplan.documents.dimensions.graph import Edge, Unmet
from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.names import phase_of
from verifyplan.documents.dimensions.scene import Against, Scene

NUMBER = 3


def dependency_correctness(scene: Scene) -> Dimension:
    """Hold `depends_on`, `wave` and `files_modified` of all plans against each other.

    A blocker: a dependency on no plan of the phase, a circle, a dependency in the same or a later wave, two plans with
    one id, two plans of one wave that modify the same file. A warning: a wave higher than the dependencies ask for,
    and a dependency on a plan of another phase that is not known here. Where the other plans were not given, whether
    a dependency exists is left open. Source: SPEC D4; document 003.
    """
    against = Against(scene, NUMBER)
    issues = [*_doubled(against), *_unmet(against), *_circles(against), *_waves(against), *_conflicts(against)]
    judge = []
    if scene.graph.unmet and not scene.phases_whole:
        names = ", ".join(dict.fromkeys(quoted(one.name) for one in scene.graph.unmet))
        judge.append(f"whether the plans exist that this one depends on ({names}): no other plan was given")
    return Dimension(NUMBER, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _name(against: Against, at: int) -> str:
    return against.scene.graph.nodes[at].plan_id


def _doubled(against: Against) -> Iterator[Issue]:
    first: dict[tuple[str, str], int] = {}
    for at, node in enumerate(against.scene.graph.nodes):
        there = first.setdefault((node.phase, plan_key(node.plan_id, node.phase)), at)
        if there != at:
            told = f"plan {quoted(node.plan_id)} has the id of another plan of its phase"
            line = against.scene.line(at, "plan")
            yield against.plan(at, "blocker", "id-doubled", line, told, "give each plan an id of its own")


def _unmet(against: Against) -> Iterator[Issue]:
    if not against.scene.phases_whole:
        return
    for one in against.scene.graph.unmet:
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


def _line(against: Against, one: Unmet) -> int:
    return against.scene.line(one.plan, "depends_on", one.place)


def _circles(against: Against) -> Iterator[Issue]:
    for circle in against.scene.graph.circles:
        names = ", ".join(_name(against, at) for at in circle)
        alone = len(circle) == 1
        told = f"plan {names} depends on itself" if alone else f"plans {names} depend on each other in a circle"
        line = against.scene.line(circle[0], "depends_on")
        fix = "leave the dependency out that is not needed to begin"
        yield against.plan(circle[0], "blocker", "dependency-circle", line, told, fix)


def _waves(against: Against) -> Iterator[Issue]:
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
            yield against.plan(at, "blocker", "wave-too-early", line, told, fix)
        elif at not in waiting and node.declared != allowed.get(at, 1):
            told = f"it is in wave {node.declared}, while its dependencies allow wave {allowed.get(at, 1)}"
            fix = "correct the wave, or name the plan that it waits for"
            yield against.plan(at, "warning", "wave-too-late", line, told, fix)


def _is_early(against: Against, edge: Edge) -> bool:
    nodes = against.scene.graph.nodes
    before, after = nodes[edge.before], nodes[edge.after]
    return edge.before != edge.after and after.wave <= before.wave


def _conflicts(against: Against) -> Iterator[Issue]:
    for conflict in against.scene.graph.conflicts:
        names = ", ".join(_name(against, at) for at in conflict.plans)
        last = conflict.plans[-1]
        wave = against.scene.graph.nodes[last].wave
        told = f"plans {names} of wave {wave} all modify {quoted(conflict.file)}"
        place = against.scene.plans[last].files_modified.index(conflict.file)
        line = against.scene.line(last, "files_modified", place)
        fix = "make one depend on the other and put it into a later wave"
        yield against.plan(last, "blocker", "wave-file-conflict", line, told, fix)

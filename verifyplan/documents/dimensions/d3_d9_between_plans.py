"""D3, dependency correctness: dependencies exist, form no circle, lie in earlier waves; plans of a wave keep apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from verifyplan.documents.dimensions.check_context import (
    Dimension,
    Issue,
    IssueFactory,
    IssueSeverity,
    PlanCheckContext,
    quoted,
)
from verifyplan.documents.dimensions.d4_d6_must_haves import stated
from verifyplan.documents.dimensions.overlap import is_empty
from verifyplan.documents.dimensions.plan_graph import Edge, PlanNames, Unmet, clean, phase_of
from verifyplan.documents.kinds.plan import files_of
from verifyplan.documents.reading.comparing import phase_number, plan_key

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


D9 = 9

_FROM = re.compile(r"\s{0,3}\(?\bfrom\s+(?:plan\s+)?(?P<plan>[\w.-]{1,60})\)?\s{0,3}$", re.IGNORECASE)


def contracts_across_plans(scene: PlanCheckContext) -> Dimension:
    """Hold `provides` and `consumes` of all plans against each other.

    A blocker: an item that only plans of later waves provide. A warning: one that a plan of the same wave provides,
    that no plan provides, or that two provide; artifacts of one path with different exports. Plans of different waves
    may modify one file: the waves say which comes first. One plan that consumes nothing has no contract. Where the
    other plans were not given, what it consumes is left to a judge.
    Source: rule D4; plan-build-run's plan checker, dimension 9.
    """
    consumed = any(plan.consumes for plan in scene.plans)
    if not consumed and all(len(positions) < 2 for positions in scene.phases.values()):
        return Dimension(D9, "not-applicable", why_not="each phase has one plan, and none consumes anything")
    against = IssueFactory(scene, D9)
    issues = [*_provided_twice(against), *_shapes(against)]
    judge: tuple[str, ...] = ()
    if scene.phases_whole:
        issues += _consumed(against)
    elif consumed:
        judge = ("whether an earlier plan provides what this one consumes: no other plan was given",)
    if consumed and scene.phases_whole and not scene.others_known:
        judge = ("whether plans of other phases provide what no plan here does: they were not given",)
    return Dimension(D9, "needs-judgement" if judge else "checked", tuple(issues), judge)


def _item(text: str) -> str:
    """An item as it is compared: without the plan that it is said to come from, spaces, backticks and case."""
    return " ".join(_FROM.sub("", text).replace("`", "").casefold().split())


def _providers(scene: PlanCheckContext) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for at, plan in enumerate(scene.plans):
        for item in dict.fromkeys(_item(text) for text in plan.provides):
            found[item].append(at)
    return found


def _consumed(against: IssueFactory) -> Iterator[Issue]:
    scene, providers, names = against.scene, _providers(against.scene), PlanNames(against.scene.plans)
    for at, plan in enumerate(scene.plans):
        for place, text in enumerate(plan.consumes):
            line = scene.line(at, "consumes", place)
            said = _FROM.search(text)
            stated = names.position(said["plan"], plan) if said else None
            known = [one for one in providers.get(_item(text), []) if one != at]
            known = known or ([stated] if stated is not None else [])
            if not known and scene.others_known:
                told = f"it consumes {quoted(text)}, which no plan provides"
                fix = "let an earlier plan provide it, or say that it is there already"
                yield against.plan(at, "warning", "consumed-unprovided", line, told, fix)
            elif known and not any(_comes_before(scene, one, at) for one in known):
                told = f"it consumes {quoted(text)}, which {scene.graph.nodes[known[0]].plan_id} provides no earlier"
                fix = "depend on that plan, and come in a later wave"
                severity: IssueSeverity = "blocker" if _comes_after(scene, known, at) else "warning"
                yield against.plan(at, severity, "consumed-too-early", line, told, fix)


def _comes_after(scene: PlanCheckContext, providers: Sequence[int], at: int) -> bool:
    """Whether all providers are executed after a plan: it cannot have what it consumes."""
    return all(_comes_before(scene, at, one) for one in providers)


def _comes_before(scene: PlanCheckContext, before: int, after: int) -> bool:
    """Whether a plan is executed before another: in an earlier wave of its phase, or as a dependency of it."""
    one, other = scene.graph.nodes[before], scene.graph.nodes[after]
    if one.phase != other.phase:
        return list(scene.phases).index(one.phase) < list(scene.phases).index(other.phase)
    return one.wave < other.wave


def _provided_twice(against: IssueFactory) -> Iterator[Issue]:
    scene = against.scene
    for item, positions in _providers(scene).items():
        for before, at in pairwise(positions):
            if scene.graph.nodes[before].phase == scene.graph.nodes[at].phase:
                place = next(n for n, text in enumerate(scene.plans[at].provides) if _item(text) == item)
                told = f"it provides {quoted(item)}, as {scene.graph.nodes[before].plan_id} does"
                line = scene.line(at, "provides", place)
                yield against.plan(at, "warning", "provided-twice", line, told, "let one plan provide it")


def _shapes(against: IssueFactory) -> Iterator[Issue]:
    """Artifacts of one path that two plans of a phase describe with different exports."""
    scene = against.scene
    first: dict[tuple[str, str], tuple[int, frozenset[str]]] = {}
    for at, plan in enumerate(scene.plans):
        for line, artifact in stated(plan, "artifacts"):
            path, exports = _shape(artifact)
            there, known = first.setdefault((scene.graph.nodes[at].phase, path), (at, exports))
            if path and exports and there != at and not (known <= exports or exports <= known):
                told = f"artifact {quoted(path)} exports other names than in {scene.graph.nodes[there].plan_id}"
                yield against.plan(at, "warning", "shape-differs", line, told, "agree on one list of exports")


def _shape(artifact: Any) -> tuple[str, frozenset[str]]:
    """The path of an artifact and the names that it exports, where it states both."""
    exports = artifact.get("exports") if isinstance(artifact, dict) else None
    if not isinstance(exports, list):
        return "", frozenset()
    return str(artifact.get("path", "")), frozenset(str(name) for name in exports)

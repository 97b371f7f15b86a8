"""D9, contracts across plans: what a plan consumes, an earlier one provides; no two provide or shape the same thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from verifyplan.documents.dimensions.issue import Dimension, Issue, IssueSeverity, quoted
from verifyplan.documents.dimensions.links import stated
from verifyplan.documents.dimensions.names import PlanNames
from verifyplan.documents.dimensions.scene import IssueFactory, PlanCheckContext

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

"""D3 and D9: plans depend on plans that exist and come earlier, keep apart, and provide what others take (rule D4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from verifyplan.documents.checks.catalogue import quoted
from verifyplan.documents.dimensions.check_context import (
    DimensionResult,
    Issue,
    IssueSeverity,
    PlanCheckContext,
    must_have_entries,
)
from verifyplan.documents.dimensions.plan_graph import PlanNames, clean_path, phase_of
from verifyplan.documents.kinds.plan import files_of
from verifyplan.documents.reading.comparing import is_empty, phase_number, plan_key

MAX_SHOWN_FILES = 5
"""Files that several plans of a wave modify, and that are named; the rest are counted."""

_PLAN_ID = re.compile(r"(?!phase\b)[\w.]*-?[\w.-]*\d[\w.-]*", re.IGNORECASE)
"""The form of a plan's id; a dependency of any other form is for a judge."""

_FROM_PLAN = re.compile(r"\s{0,3}\(?\bfrom\s+(?:plan\s+)?(?P<plan>[\w.-]{1,60})\)?\s{0,3}$", re.IGNORECASE)


def dependency_correctness(context: PlanCheckContext) -> DimensionResult:
    """Compare `depends_on`, `wave` and the files of all plans, their own lists and their tasks', with each other.

    A blocker, as the plan cannot begin: a dependency on no plan of the phase, a cycle, a dependency in a later wave. A
    warning: a dependency in the same wave, two plans with one id, plans of one wave that modify the same files, and a
    dependency on a plan of another phase that is not known here. Info: a wave that is higher than the dependencies ask
    for, of a plan that shares no file with the waves between. Where the other plans were not given, and where a
    dependency names no plan (a phase, a sentence), whether it is met is left open. Source: rule D4.
    """
    graph = context.graph
    issues = [*_doubled_ids(context), *_unmet(context), *_cycles(context), *_waves(context), *_conflicts(context)]
    judge = [
        f"{graph.nodes[unmet.plan].plan_id}: whether {quoted(unmet.name)} is met, which names no plan"
        for unmet in graph.unmet
        if not _names_plan(context, unmet.name) and not is_empty(unmet.name)
    ]
    if graph.unmet and not context.phases_whole:
        names = ", ".join(dict.fromkeys(quoted(unmet.name) for unmet in graph.unmet))
        judge.append(f"whether the plans exist that this one depends on ({names}): no other plan was given")
    return DimensionResult.of(3, issues, judge)


def _names_plan(context: PlanCheckContext, dependency: str) -> bool:
    """Whether a dependency has the form of a plan's id; a number alone that is a phase's names the phase."""
    name = dependency.strip()
    is_phase = name.isdecimal() and (name.lstrip("0") or "0") in context.phase_numbers
    return _PLAN_ID.fullmatch(name) is not None and not is_phase


def _doubled_ids(context: PlanCheckContext) -> Iterator[Issue]:
    first: dict[tuple[str, str], int] = {}
    for at, node in enumerate(context.graph.nodes):
        if first.setdefault((node.phase, plan_key(node.plan_id, node.phase)), at) != at:
            yield context.of_plan(at, "id-doubled", context.line(at, "plan"), plan=node.plan_id)


def _unmet(context: PlanCheckContext) -> Iterator[Issue]:
    for at, place, name in context.graph.unmet if context.phases_whole else ():
        phase = phase_of(context.plans[at])
        key = plan_key(name, phase)
        if not _names_plan(context, name) or is_empty(name) or key in context.other_plans:
            continue
        own = key.partition("-")[0] == phase_number(phase) or "-" not in key
        rule = "dependency-unknown" if own or context.all_phases else "dependency-elsewhere"
        yield context.of_plan(at, rule, context.line(at, "depends_on", place), name=name)


def _cycles(context: PlanCheckContext) -> Iterator[Issue]:
    graph = context.graph
    for cycle in graph.cycles:
        names = ", ".join(graph.nodes[at].plan_id for at in cycle)
        alone = len(cycle) == 1
        circle = f"plan {names} depends on itself" if alone else f"plans {names} depend on each other in a circle"
        line = context.line(cycle[0], "depends_on")
        yield context.of_plan(cycle[0], "dependency-circle", line, circle=circle)


def _waves(context: PlanCheckContext) -> Iterator[Issue]:
    graph = context.graph
    nodes = graph.nodes
    waiting = {unmet.plan for unmet in graph.unmet}  # for plans whose wave is not known
    wrong: dict[int, int] = {}  # for each plan the first that it depends on and that comes no earlier
    allowed: dict[int, int] = {}
    for edge in graph.edges:
        if not edge.across:
            allowed[edge.after] = max(allowed.get(edge.after, 1), nodes[edge.before].wave + 1)
            if edge.before != edge.after and nodes[edge.after].wave <= nodes[edge.before].wave:
                wrong.setdefault(edge.after, edge.before)
    for at, node in enumerate(nodes):
        if node.derived is None or node.declared is None:
            continue  # a cycle is an issue of its own; a plan that states no wave gets the derived one
        line, earliest = context.line(at, "wave"), allowed.get(at, 1)
        if at in wrong:
            before = nodes[wrong[at]]
            severity: IssueSeverity = "blocker" if node.declared < before.wave else "warning"
            values = {"before": before.plan_id, "before_wave": before.wave, "severity": severity}
            values |= {"wave": node.declared, "earliest": max(node.derived, before.wave + 1)}
            yield context.of_plan(at, "wave-too-early", line, **values)
        elif at not in waiting and node.declared != earliest and not _shares_file(context, at, earliest):
            yield context.of_plan(at, "wave-too-late", line, wave=node.declared, earliest=earliest)


def _shares_file(context: PlanCheckContext, at: int, first: int) -> bool:
    """Whether a plan has a file in common with one of the waves from `first` to its own, for which it may wait."""
    nodes = context.graph.nodes
    own = nodes[at]
    between = (n for n in nodes if n.phase == own.phase and first <= n.wave < own.wave)
    return any(not set(own.files).isdisjoint(node.files) for node in between)


def _conflicts(context: PlanCheckContext) -> Iterator[Issue]:
    """Files that plans of one wave share, in one issue for the same plans."""
    graph = context.graph
    shared: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for conflict in graph.conflicts:
        shared[conflict.plans].append(conflict.file)
    for plans, files in shared.items():
        names = ", ".join(graph.nodes[at].plan_id for at in plans)
        last = plans[-1]
        more = f" and {len(files) - MAX_SHOWN_FILES} more" if len(files) > MAX_SHOWN_FILES else ""
        shown = ", ".join(map(quoted, files[:MAX_SHOWN_FILES]))
        plan, line = context.plans[last], context.line(last, "files_modified")
        listed = [clean_path(path) for path in plan.files_modified]
        if files[0] in listed:
            line = context.line(last, "files_modified", listed.index(files[0]))
        else:  # the first task that names it
            named = (number for task in plan.tasks for number, path in files_of(task) if clean_path(path) == files[0])
            line = next(named, line)
        values = {"plans": names, "wave": graph.nodes[last].wave, "files": f"{shown}{more}"}
        yield context.of_plan(last, "wave-file-conflict", line, **values)


def contracts_across_plans(context: PlanCheckContext) -> DimensionResult:
    """Compare `provides` and `consumes` of all plans with each other.

    A blocker: an item that only plans of later waves provide. A warning: one that a plan of the same wave provides,
    that no plan provides, or that two provide; artifacts of one path with different exports. Plans of different waves
    may modify one file: the waves say which comes first. One plan that consumes nothing has no contract. Where the
    other plans were not given, what it consumes is left to a judge.
    Source: rule D4; plan-build-run's plan checker, dimension 9.
    """
    consumed = any(plan.consumes for plan in context.plans)
    if not consumed and all(len(positions) < 2 for positions in context.phases.values()):
        return DimensionResult.not_applicable(9, "each phase has one plan, and none consumes anything")
    providers: dict[str, list[int]] = defaultdict(list)
    for at, plan in enumerate(context.plans):
        for item in dict.fromkeys(map(_compared_item, plan.provides)):
            providers[item].append(at)
    issues = [*_provided_twice(context, providers), *_differing_exports(context)]
    judge: tuple[str, ...] = ()
    if context.phases_whole:
        issues += _consumed_too_early(context, providers)
    elif consumed:
        judge = ("whether an earlier plan provides what this one consumes: no other plan was given",)
    if consumed and context.phases_whole and not context.others_known:
        judge = ("whether plans of other phases provide what no plan here does: they were not given",)
    return DimensionResult.of(9, issues, judge)


def _compared_item(text: str) -> str:
    """An item as it is compared: without the plan that it is said to come from, spaces, backticks and case."""
    return " ".join(_FROM_PLAN.sub("", text).replace("`", "").casefold().split())


def _consumed_too_early(context: PlanCheckContext, providers: dict[str, list[int]]) -> Iterator[Issue]:
    names = PlanNames(context.plans)
    for at, plan in enumerate(context.plans):
        for place, text in enumerate(plan.consumes):
            line = context.line(at, "consumes", place)
            matched = _FROM_PLAN.search(text)
            stated = names.position(matched["plan"], plan) if matched else None
            known = [provider for provider in providers.get(_compared_item(text), []) if provider != at]
            known = known or ([stated] if stated is not None else [])
            if not known and context.others_known:
                yield context.of_plan(at, "consumed-unprovided", line, item=text)
            elif known and not any(_comes_before(context, provider, at) for provider in known):
                all_later = all(_comes_before(context, at, provider) for provider in known)
                values = {"item": text, "provider": context.graph.nodes[known[0]].plan_id}
                values |= {"severity": "blocker"} if all_later else {}
                yield context.of_plan(at, "consumed-too-early", line, **values)


def _comes_before(context: PlanCheckContext, before: int, after: int) -> bool:
    """Whether a plan is executed before another: in an earlier wave of its phase, or in an earlier phase."""
    one, other = context.graph.nodes[before], context.graph.nodes[after]
    if one.phase != other.phase:
        return list(context.phases).index(one.phase) < list(context.phases).index(other.phase)
    return one.wave < other.wave


def _provided_twice(context: PlanCheckContext, providers: dict[str, list[int]]) -> Iterator[Issue]:
    nodes = context.graph.nodes
    for item, positions in providers.items():
        for before, at in pairwise(positions):
            if nodes[before].phase == nodes[at].phase:
                place = list(map(_compared_item, context.plans[at].provides)).index(item)
                line = context.line(at, "provides", place)
                yield context.of_plan(at, "provided-twice", line, item=item, other=nodes[before].plan_id)


def _differing_exports(context: PlanCheckContext) -> Iterator[Issue]:
    """Artifacts of one path that two plans of a phase describe with different exports."""
    nodes = context.graph.nodes
    first: dict[tuple[str, str], tuple[int, frozenset[str]]] = {}
    for at, plan in enumerate(context.plans):
        for line, artifact in must_have_entries(plan, "artifacts"):
            stated = artifact.get("exports") if isinstance(artifact, dict) else None
            if not isinstance(stated, list):
                continue
            path, exports = str(artifact.get("path", "")), frozenset(map(str, stated))
            described, known = first.setdefault((nodes[at].phase, path), (at, exports))
            if path and exports and described != at and not (known <= exports or exports <= known):
                yield context.of_plan(at, "shape-differs", line, path=path, other=nodes[described].plan_id)

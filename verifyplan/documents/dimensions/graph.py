"""Plans, what they depend on, and the waves in which they can be executed, as one value (rule D4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.documents.dimensions.names import PlanNames, name_of, phases_of
from verifyplan.documents.dimensions.order import execution_order
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.typed import texts_of
from verifyplan.documents.walk import PLANNING
from verifyplan.plans.paths import is_glob

_REMARK = re.compile(r"\s[(#\N{EN DASH}\N{EM DASH}-]")


class PlanNode(NamedTuple):
    """A plan: its id, its phase, the wave that it states and the one that its dependencies give it."""

    plan_id: str
    phase: str
    title: str
    declared: int | None
    derived: int | None  # None where it stands in a circle, or behind one
    files: tuple[str, ...]
    path: str

    @property
    def wave(self) -> int:
        """The wave in which it is executed: the one that it states, else the derived one, else 1."""
        return self.declared or self.derived or 1


class Edge(NamedTuple):
    """A dependency: the positions of the plan that comes before and of the one that needs it."""

    before: int
    after: int
    across: bool = False  # whether the plans are of two phases; such a dependency counts for no wave


class Unmet(NamedTuple):
    """A dependency on what is none of the plans: whose it is, its place in `depends_on`, and how it is written."""

    plan: int
    place: int
    name: str


class Conflict(NamedTuple):
    """A file that several plans of one phase and wave modify, none of which depends on another: their positions."""

    file: str
    plans: tuple[int, ...]


class PlanGraph(NamedTuple):
    """Plans as nodes, dependencies as edges, and what cannot be: circles, conflicts, unmet dependencies."""

    nodes: tuple[PlanNode, ...]
    edges: tuple[Edge, ...]
    circles: tuple[tuple[int, ...], ...]
    conflicts: tuple[Conflict, ...]
    unmet: tuple[Unmet, ...]

    def needs(self) -> tuple[frozenset[int], ...]:
        """For each plan the positions of those that it states it depends on."""
        found: list[set[int]] = [set() for _ in self.nodes]
        for edge in self.edges:
            found[edge.after].add(edge.before)
        return tuple(frozenset(one) for one in found)

    def __str__(self) -> str:
        """The graph in a line for each phase and wave."""
        rows: dict[tuple[str, int], list[str]] = defaultdict(list)
        for node in self.nodes:
            rows[node.phase, node.wave].append(node.plan_id)
        return "\n".join(f"{phase or 'plans'}, wave {wave}: {', '.join(ids)}" for (phase, wave), ids in rows.items())


def plan_graph(plans: Sequence[PlanDocument]) -> PlanGraph:
    """The graph of the dependencies that plans state, with the waves that follow from them.

    A plan without dependencies in its own phase is in wave 1; the others come one after the highest that they depend
    on. Ids are matched leniently (`01-02`, `2`, `01-02-PLAN.md`); of plans with the same id the first is meant. A
    dependency on a plan of another phase is an edge that counts for no wave. In linear time. Source: rule D4.
    """
    names, phases = PlanNames(plans), phases_of(plans)
    edges, unmet = [], []
    for position, plan in enumerate(plans):
        for place, name in enumerate(plan.depends_on):
            found = names.position(name, plan)
            if found is None:
                unmet.append(Unmet(position, place, name))
            else:
                edges.append(Edge(found, position, phases[found] != phases[position]))
    needs: list[list[int]] = [[] for _ in plans]
    for edge in edges:
        if not edge.across:
            needs[edge.after].append(edge.before)
    ordered = execution_order(needs)
    nodes = tuple(map(_node, plans, phases, ordered.waves))
    distinct = tuple(dict.fromkeys(edges))
    stated = [bool({"wave", "depends_on"} & plan.source.front.values.keys()) for plan in plans]
    conflicts = [
        one
        for one in _conflicts(nodes, distinct, stated)
        if not all(one.file in _in_turn(plans[at]) for at in one.plans)
    ]
    return PlanGraph(nodes, distinct, ordered.circles, tuple(conflicts), tuple(unmet))


def _node(plan: PlanDocument, phase: str, derived: int | None) -> PlanNode:
    return PlanNode(name_of(plan), phase, _title(plan), _stated(plan), derived, _files(plan), plan.path)


def _files(plan: PlanDocument) -> tuple[str, ...]:
    """The files that a plan modifies, by its own list and by those of its tasks."""
    named = (*plan.files_modified, *(file for task in plan.tasks for file in task.files))
    return tuple(file for file in dict.fromkeys(map(clean, named)) if file)


def _in_turn(plan: PlanDocument) -> set[str]:
    """The files that a plan says are modified by one plan after the other, whatever the wave."""
    return set(map(clean, texts_of(plan.source.front, "sequential_files")))


def clean(path: str) -> str:
    """A path in the one form in which paths are compared, without a remark behind it.

    >>> clean("./src/a.py (new)"), clean("`src/b.py` - add the route")
    ('src/a.py', 'src/b.py')
    """
    return _REMARK.split(path.strip(), maxsplit=1)[0].strip("` ").removeprefix("./")


def _stated(plan: PlanDocument) -> int | None:
    """The wave that a plan states; one below 1 is none."""
    return plan.wave if plan.wave is not None and plan.wave >= 1 else None


def _title(plan: PlanDocument) -> str:
    """The first line of the objective, else the first task's name; blank if there is neither."""
    lines = (line.strip() for line in (plan.objective or "").splitlines())
    objective = next((line for line in lines if line), "")
    names = (element.text.strip() for task in plan.tasks if (element := task.get("name")) is not None)
    return objective or next(names, "")


def _conflicts(nodes: Sequence[PlanNode], edges: Sequence[Edge], ordered: Sequence[bool]) -> Iterator[Conflict]:
    """Files of several plans of a wave; a plan that states no order has no wave.

    Globs and folders are no file, and what lies in `.planning` is kept by whoever runs the plans.
    """
    joined = {(edge.before, edge.after) for edge in edges} | {(edge.after, edge.before) for edge in edges}
    by_file: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for position, node in enumerate(nodes):
        for file in node.files if ordered[position] else ():
            if not file.endswith("/") and not is_glob(file) and not file.startswith(f"{PLANNING}/"):
                by_file[node.phase, node.wave, file].append(position)
    for (_, _, file), positions in by_file.items():
        if len(positions) > 2 or (len(positions) == 2 and tuple(positions) not in joined):
            yield Conflict(file, tuple(positions))

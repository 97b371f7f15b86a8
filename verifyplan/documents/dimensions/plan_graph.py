"""The graph of plans: which plan an id means, what each depends on, and the waves of their execution (rule D4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import NamedTuple

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.front import texts_of
from verifyplan.documents.walk import PLANNING
from verifyplan.plans.code_names import is_glob

PHASES = "phases"
"""The end of the name of a folder of phases: `phases`, and `v1.1-phases` of a milestone that is archived."""

_REMARK = re.compile(r"\s[(#\N{EN DASH}\N{EM DASH}-]")
_TWO_NUMBERS = re.compile(r"\d{1,6}(?:\.\d{1,6})?-\d{1,6}[a-z]?(?=-)")


class PlanNode(NamedTuple):
    """A plan: its id, its phase, the wave that it states and the one that its dependencies give it."""

    plan_id: str
    phase: str
    title: str
    declared: int | None
    derived: int | None  # None for a plan in a cycle, or behind one
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
    """A dependency on none of the plans: the plan that has it, its place in `depends_on`, and how it is written."""

    plan: int
    place: int
    name: str


class Conflict(NamedTuple):
    """A file that several plans of one phase and wave modify, none of which depends on another: their positions."""

    file: str
    plans: tuple[int, ...]


class PlanGraph(NamedTuple):
    """Plans as nodes, dependencies as edges, and what cannot be: cycles, conflicts, unmet dependencies."""

    nodes: tuple[PlanNode, ...]
    edges: tuple[Edge, ...]
    cycles: tuple[tuple[int, ...], ...]
    conflicts: tuple[Conflict, ...]
    unmet: tuple[Unmet, ...]

    def needs(self) -> tuple[frozenset[int], ...]:
        """Return for each plan the positions of those that it states it depends on."""
        needed: list[set[int]] = [set() for _ in self.nodes]
        for edge in self.edges:
            needed[edge.after].add(edge.before)
        return tuple(map(frozenset, needed))

    def __str__(self) -> str:
        """Return the graph in a line for each phase and wave."""
        rows: dict[tuple[str, int], list[str]] = defaultdict(list)
        for node in self.nodes:
            rows[node.phase, node.wave].append(node.plan_id)
        return "\n".join(f"{phase or 'plans'}, wave {wave}: {', '.join(ids)}" for (phase, wave), ids in rows.items())


def plan_graph(plans: Sequence[PlanDocument]) -> PlanGraph:
    """Return the graph of the dependencies that plans state, with the waves that follow from them.

    A plan without dependencies in its own phase is in wave 1; the others come one after the highest that they depend
    on. Ids are matched leniently (`01-02`, `2`, `01-02-PLAN.md`); of plans with the same id the first is meant. A
    dependency on a plan of another phase is an edge that counts for no wave. In linear time. Source: rule D4.
    """
    names, phases = PlanNames(plans), phases_of(plans)
    edges, unmet = [], []
    needs: list[list[int]] = [[] for _ in plans]
    for position, plan in enumerate(plans):
        for place, name in enumerate(plan.depends_on):
            needed = names.position(name, plan)
            if needed is None:
                unmet.append(Unmet(position, place, name))
                continue
            edges.append(Edge(needed, position, phases[needed] != phases[position]))
            if not edges[-1].across:
                needs[position].append(needed)
    order = execution_order(needs)
    nodes = tuple(map(_node, plans, phases, order.waves))
    distinct = tuple(dict.fromkeys(edges))
    return PlanGraph(nodes, distinct, order.cycles, tuple(_conflicts(plans, nodes, distinct)), tuple(unmet))


def _node(plan: PlanDocument, phase: str, derived: int | None) -> PlanNode:
    lines = (line.strip() for line in (plan.objective or "").splitlines())
    objective = next((line for line in lines if line), "")
    names = (element.text.strip() for task in plan.tasks if (element := task.get("name")) is not None)
    declared = plan.wave if plan.wave is not None and plan.wave >= 1 else None
    listed = (*plan.files_modified, *(file for task in plan.tasks for file in task.files))
    files = tuple(file for file in dict.fromkeys(map(clean_path, listed)) if file)
    return PlanNode(name_of(plan), phase, objective or next(names, ""), declared, derived, files, plan.path)


def clean_path(path: str) -> str:
    """Return a path in the one form in which paths are compared, without a remark behind it.

    >>> clean_path("./src/a.py (new)"), clean_path("`src/b.py` - add the route")
    ('src/a.py', 'src/b.py')
    """
    return _REMARK.split(path.strip(), maxsplit=1)[0].strip("` ").removeprefix("./")


def _conflicts(plans: Sequence[PlanDocument], nodes: Sequence[PlanNode], edges: Sequence[Edge]) -> Iterator[Conflict]:
    """Files of several plans of a wave; a plan that states no order has no wave.

    Globs and folders are not files, and files in `.planning` are kept by the agent that runs the plans. Plans that
    all say that a file is modified by one after the other do not conflict, whatever the wave.
    """
    joined = {(edge.before, edge.after) for edge in edges} | {(edge.after, edge.before) for edge in edges}
    by_file: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for position, node in enumerate(nodes):
        ordered = {"wave", "depends_on"} & plans[position].source.front.values.keys()
        for file in node.files if ordered else ():
            if not file.endswith("/") and not is_glob(file) and not file.startswith(f"{PLANNING}/"):
                by_file[node.phase, node.wave, file].append(position)
    for (_, _, file), positions in by_file.items():
        several = len(positions) > 2 or (len(positions) == 2 and tuple(positions) not in joined)
        sequential = (texts_of(plans[at].source.front, "sequential_files") for at in positions)
        if several and not all(file in map(clean_path, files) for files in sequential):
            yield Conflict(file, tuple(positions))


class ExecutionOrder(NamedTuple):
    """Positions in an order: the wave of each, from 1, and the cycles, each as positions in ascending order."""

    waves: tuple[int | None, ...]
    cycles: tuple[tuple[int, ...], ...]


def execution_order(needs: Sequence[Sequence[int]]) -> ExecutionOrder:
    """Return the waves of things that need others: 1 for one that needs nothing, else one after the highest it needs.

    `needs[i]` are the positions that `i` needs; numbers that are not positions are left out. A position in a cycle, or
    one that needs such a position, has no wave (None). In linear time, however deep. Source: rule D4.

    >>> execution_order([[], [0], [0, 1]])
    ExecutionOrder(waves=(1, 2, 3), cycles=())
    >>> execution_order([[1], [0], [1], []])
    ExecutionOrder(waves=(None, None, None, 1), cycles=((0, 1),))
    """
    known = [sorted({other for other in others if 0 <= other < len(needs)}) for others in needs]
    needed_by: list[list[int]] = [[] for _ in known]
    for position, others in enumerate(known):
        for other in others:
            needed_by[other].append(position)
    return ExecutionOrder(_waves(known), tuple(_cycles(known, needed_by)))


def _waves(needs: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    sorter = TopologicalSorter(dict(enumerate(needs)))
    with suppress(CycleError):  # the positions before a cycle are still given out
        sorter.prepare()
    waves: list[int | None] = [None] * len(needs)
    wave = 1
    while ready := sorter.get_ready():
        for position in ready:
            waves[position] = wave
        sorter.done(*ready)
        wave += 1
    return tuple(waves)


def _cycles(needs: Sequence[Sequence[int]], needed_by: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The strongly connected components that are cycles, by Kosaraju's two walks, without recursion."""
    seen: set[int] = set()
    finished = [position for root in range(len(needs)) for position in _walk(needs, root, seen)]
    seen, cycles = set(), []
    for root in reversed(finished):
        component = _walk(needed_by, root, seen)
        if len(component) > 1 or (component and root in needs[root]):
            cycles.append(tuple(sorted(component)))
    return sorted(cycles)


def _walk(edges: Sequence[Sequence[int]], root: int, seen: set[int]) -> list[int]:
    """The positions that the root reaches and that were not seen before, in the order in which the walk leaves them."""
    if root in seen:
        return []
    seen.add(root)
    done, path = [], [(root, iter(edges[root]))]
    while path:
        position, others = path[-1]
        following = next((other for other in others if other not in seen), None)
        if following is None:
            done.append(position)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(edges[following])))
    return done


class PlanNames:
    """Finds the plan that a name in another plan means: one of the same phase, else milestone, else any."""

    def __init__(self, plans: Sequence[PlanDocument]) -> None:
        self._positions: dict[tuple[str, str, str], int] = {}
        for position, plan in enumerate(plans):
            phase, milestone = phase_of(plan), phases_folder(plan)
            if key := plan_key(name_of(plan), phase):
                for scope in ((milestone, phase), (milestone, ""), ("", "")):
                    self._positions.setdefault((*scope, key), position)
                for short in (key.rpartition("-")[2], *_two_numbers(key)):
                    self._positions.setdefault((milestone, phase, short), position)

    def position(self, name: str, reader: PlanDocument) -> int | None:
        """Return the position of the plan that `reader` means by a name; None if there is no such plan.

        A number alone means a plan of the reader's own phase. Of plans with the same id the first is meant.
        """
        phase, milestone = phase_of(reader), phases_folder(reader)
        bare = id_in_name(name if name.endswith(".md") else f"{name}.md")
        key = plan_key(bare, phase)
        near = [(milestone, phase, each) for each in (key, plan_key(bare), *_two_numbers(key))]
        candidates = (*near, (milestone, "", key), ("", "", key))
        return next((self._positions[each] for each in candidates if each in self._positions), None)


def _two_numbers(key: str) -> list[str]:
    """The two numbers that a plan's id begins with, where words follow them, as in `01-02-add-login`."""
    matched = _TWO_NUMBERS.match(key)
    return [matched[0]] if matched else []


def name_of(plan: PlanDocument) -> str:
    """Return a plan's id, else the one in its file's name."""
    return plan.plan or id_in_name(_path(plan).name) or _path(plan).name or "plan"


def phase_of(plan: PlanDocument) -> str:
    """Return the phase of a plan: the name of its folder, else the phase that it states."""
    return _path(plan).parent.name or plan.phase or ""


def phases_of(plans: Sequence[PlanDocument]) -> tuple[str, ...]:
    """Return the phase of each plan; where folders of two milestones have one name, with the folder above them.

    >>> from verifyplan.documents.loading import load_text
    >>> phases_of([load_text("", f"{folder}/01-a/PLAN-01.md") for folder in ("v1-phases", "v2-phases", "v2-phases")])
    ('v1-phases/01-a', 'v2-phases/01-a', 'v2-phases/01-a')
    """
    folders: dict[str, set[str]] = defaultdict(set)
    for plan in plans:
        folders[phase_of(plan)].add(phases_folder(plan))
    return tuple(
        f"{PurePosixPath(phases_folder(plan)).name}/{name}" if len(folders[name := phase_of(plan)]) > 1 else name
        for plan in plans
    )


def folder_of(plan: PlanDocument) -> str:
    """Return the folder of a plan."""
    return str(_path(plan).parent)


def phases_folder(plan: PlanDocument) -> str:
    """Return the folder of phases above a plan's own; phases of two milestones may have one number."""
    return str(_path(plan).parent.parent)


def in_a_phase(plan: PlanDocument) -> bool:
    """Return whether a plan belongs to a phase; one of `.planning/quick` and the like belongs to none.

    >>> from verifyplan.documents.loading import load_text
    >>> [in_a_phase(load_text("", f"{folder}/PLAN-01.md")) for folder in (".planning/quick/9-fix", "v1-phases/01-a")]
    [False, True]
    """
    above = _path(plan).parent.parent
    return PLANNING not in above.parts or above.name == PLANNING or above.name.endswith(PHASES)


def _path(plan: PlanDocument) -> PurePosixPath:
    return PurePosixPath(plan.path.replace("\\", "/"))

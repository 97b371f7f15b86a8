"""Plans, what they depend on, and the waves in which they can be executed, as one value (rule D4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.front import texts_of
from verifyplan.documents.walk import PLANNING
from verifyplan.plans.code_names import is_glob


class ExecutionOrder(NamedTuple):
    """Positions in an order: the wave of each, from 1, and the circles, each as positions in ascending order."""

    waves: tuple[int | None, ...]
    circles: tuple[tuple[int, ...], ...]


def execution_order(needs: Sequence[Sequence[int]]) -> ExecutionOrder:
    """The waves of things that need others: 1 where nothing is needed, else one more than the highest that is needed.

    `needs[i]` are the positions that `i` needs; numbers that are no position are left out. What stands in a circle, or
    needs something that does, has no wave (None). In linear time, however deep. Source: rule D4.

    >>> execution_order([[], [0], [0, 1]])
    ExecutionOrder(waves=(1, 2, 3), circles=())
    >>> execution_order([[1], [0], [1], []])
    ExecutionOrder(waves=(None, None, None, 1), circles=((0, 1),))
    """
    known = [sorted({other for other in others if 0 <= other < len(needs)}) for others in needs]
    return ExecutionOrder(_waves(known), tuple(_circles(known)))


def _waves(needs: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """Wave by wave: what needs nothing more is ready."""
    needed_by: list[list[int]] = [[] for _ in needs]
    for position, others in enumerate(needs):
        for other in others:
            needed_by[other].append(position)
    missing = [len(others) for others in needs]
    waves: list[int | None] = [None] * len(needs)
    ready, wave = [position for position, count in enumerate(missing) if not count], 1
    while ready:
        following = []
        for position in ready:
            waves[position] = wave
            for later in needed_by[position]:
                missing[later] -= 1
                if not missing[later]:
                    following.append(later)
        ready, wave = following, wave + 1
    return tuple(waves)


def _circles(needs: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The strongly connected components that are circles, by Kosaraju's two walks, without recursion."""
    backwards: list[list[int]] = [[] for _ in needs]
    for position, others in enumerate(needs):
        for other in others:
            backwards[other].append(position)
    seen: set[int] = set()
    finished = [position for root in range(len(needs)) for position in _walk(needs, root, seen)]
    seen, found = set(), []
    for root in reversed(finished):
        component = _walk(backwards, root, seen)
        if len(component) > 1 or (component and root in needs[root]):
            found.append(tuple(sorted(component)))
    return sorted(found)


def _walk(needs: Sequence[Sequence[int]], root: int, seen: set[int]) -> list[int]:
    """What can be reached from the root and was not seen before, in the order in which the walk is done with it."""
    if root in seen:
        return []
    seen.add(root)
    done, path = [], [(root, iter(needs[root]))]
    while path:
        position, others = path[-1]
        following = next((other for other in others if other not in seen), None)
        if following is None:
            done.append(position)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(needs[following])))
    return done


_TWO = re.compile(r"\d{1,6}(?:\.\d{1,6})?-\d{1,6}[a-z]?(?=-)")

PHASES = "phases"
"""The end of the name of a folder of phases: `phases`, and `v1.1-phases` of a milestone that is archived."""


def phase_of(plan: PlanDocument) -> str:
    """The phase that a plan belongs to: the folder that it lies in, else the phase that it states."""
    return _path(plan).parent.name or plan.phase or ""


def phases_of(plans: Sequence[PlanDocument]) -> tuple[str, ...]:
    """The phase of each plan; folders of one name in two milestones are told apart by the folder above them.

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
    """The folder that a plan lies in."""
    return str(_path(plan).parent)


def phases_folder(plan: PlanDocument) -> str:
    """The folder of phases in which a plan's own lies; phases of two milestones may have one number."""
    return str(_path(plan).parent.parent)


def in_a_phase(plan: PlanDocument) -> bool:
    """Whether a plan belongs to a phase; one of `.planning/quick` and the like belongs to none.

    >>> from verifyplan.documents.loading import load_text
    >>> [in_a_phase(load_text("", f"{folder}/PLAN-01.md")) for folder in (".planning/quick/9-fix", "v1-phases/01-a")]
    [False, True]
    """
    above = _path(plan).parent.parent
    return PLANNING not in above.parts or above.name == PLANNING or above.name.endswith(PHASES)


def name_of(plan: PlanDocument) -> str:
    """A plan's id, else what its file's name says of it."""
    return plan.plan or id_in_name(_path(plan).name) or _path(plan).name or "plan"


class PlanNames:
    """Finds the plan that a name means: one of the asker's phase, else of its milestone, else of any."""

    def __init__(self, plans: Sequence[PlanDocument]) -> None:
        self._found: dict[tuple[str, str, str], int] = {}
        for position, plan in enumerate(plans):
            phase, milestone = phase_of(plan), phases_folder(plan)
            if key := plan_key(name_of(plan), phase):
                for scope in ((milestone, phase), (milestone, ""), ("", "")):
                    self._found.setdefault((*scope, key), position)
                for short in (key.rpartition("-")[2], *_numbers(key)):
                    self._found.setdefault((milestone, phase, short), position)

    def position(self, name: str, asker: PlanDocument) -> int | None:
        """Where the plan stands that `asker` means by a name; None if there is no such plan.

        A number alone means a plan of the asker's own phase. Of plans with the same id the first is meant.
        """
        phase, milestone = phase_of(asker), phases_folder(asker)
        bare = id_in_name(name if name.endswith(".md") else f"{name}.md")
        key, alone = plan_key(bare, phase), plan_key(bare)
        near = [(milestone, phase, one) for one in (key, alone, *_numbers(key))]
        wanted = (*near, (milestone, "", key), ("", "", key))
        return next((self._found[one] for one in wanted if one in self._found), None)


def _numbers(key: str) -> list[str]:
    """The two numbers that a plan's id begins with, where words follow them, as in `01-02-add-login`."""
    found = _TWO.match(key)
    return [found[0]] if found else []


def _path(plan: PlanDocument) -> PurePosixPath:
    return PurePosixPath(plan.path.replace("\\", "/"))


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

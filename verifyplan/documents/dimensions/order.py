"""The order that dependencies allow: waves, and the circles in which nothing can begin (rule D4, dimension D3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ExecutionOrder(NamedTuple):
    """Positions in an order: the wave of each, from 1, and the circles, each as positions in ascending order."""

    waves: tuple[int | None, ...]
    circles: tuple[tuple[int, ...], ...]


def execution_order(needs: Sequence[Sequence[int]]) -> ExecutionOrder:
    """The waves of things that need others: 1 where nothing is needed, else one more than the highest that is needed.

    `needs[i]` are the positions that `i` needs; numbers that are no position are left out. What stands in a circle, or
    needs something that does, has no wave (None). In linear time, however deep. Source: rule D4.

    >>> execution_order([[], [0], [0, 1]])
    Order(waves=(1, 2, 3), circles=())
    >>> execution_order([[1], [0], [1], []])
    Order(waves=(None, None, None, 1), circles=((0, 1),))
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

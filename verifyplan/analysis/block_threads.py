"""Share blocks of votes among threads, each of which keeps the arrays that it works in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
P = TypeVar("P")
T = TypeVar("T")

MIN_THREADED_VOTES = 500_000
"""Tables with so many votes are counted by several threads."""

MAX_THREADS = 4


class Scratch:
    """Arrays that one thread works in, block after block, so that no memory is asked of the system for each block."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Any], Array] = {}

    def array(self, name: str, size: int, dtype: Any) -> Array:
        """Return the array of a name and type, with what was left in it, of some size."""
        kept = self._kept.get((name, dtype))
        if kept is None or len(kept) < size:
            kept = self._kept[name, dtype] = np.empty(size, dtype=dtype)
        return kept[:size]


def in_threads(work: Callable[[P, Scratch], T], parts: Sequence[P], n_votes: int) -> list[T]:
    """Return the work on each part, done by this thread and, if there are many votes, by others: numpy lets them run.

    Each thread takes the next part when it has done one.

    >>> in_threads(lambda part, scratch: part + 1, [1, 2, 3], 10**6)
    [2, 3, 4]
    """
    done: list[Any] = [None] * len(parts)
    left = iter(enumerate(parts))  # threads may share it, since a step is one operation of the interpreter

    def work_on() -> None:
        scratch = Scratch()
        for i, part in left:
            done[i] = work(part, scratch)

    n_threads = min(os.cpu_count() or 1, MAX_THREADS, len(parts)) if n_votes >= MIN_THREADED_VOTES else 1
    if n_threads <= 1:
        work_on()
        return done
    with ThreadPoolExecutor(n_threads - 1) as threads:
        others = [threads.submit(work_on) for _ in range(n_threads - 1)]
        work_on()
        for other in others:
            other.result()
    return done

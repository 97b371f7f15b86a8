"""Call a function for each part of a dataset or anything else: here, in several processes, on a cluster (rule E5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from verifyplan.errors import InputError, Problem

P = TypeVar("P")
T = TypeVar("T")


def map_parts(function: Callable[[P], T], parts: Sequence[P], client: Any = None) -> Iterator[T]:
    """Yield what a function returns for each part, in the order of the parts.

    Parts may be of any kind: the seeds of a simulation, tables to verify. Processes of this machine start anew, import
    the function by its name, and so need it in a .py file; a script guards its start by `if __name__ == "__main__":`.

    Args:
        function: a function of a part.
        parts: the parts, as from `Dataset.parts`.
        client: None calls it here; a number calls it in so many processes; a `distributed.Client` on the workers of a
            Dask cluster, where this library is installed and the dataset's address can be read; so does any other
            object whose `submit` returns futures, such as an executor of `concurrent.futures`.

    Raises:
        InputError: for any other client, and where a process ended before its part was done.

    >>> import verifyplan as vp
    >>> _ = vp.compile_dataset(vp.datasets.path("contract"), "memory://mapped")
    >>> list(map_parts(len, vp.load("memory://mapped").parts))
    [15]
    """
    if client is None:
        yield from map(function, parts)
    elif hasattr(client, "submit"):
        yield from _in_order(client, function, parts)
    elif isinstance(client, int) and not isinstance(client, bool) and client > 0:
        try:
            with ProcessPoolExecutor(client, get_context("spawn")) as pool:  # a fork would copy locks of other threads
                yield from _in_order(pool, function, parts)
        except BrokenProcessPool:
            message = "a process ended before its part was done; what it printed may say why"
            fix = (
                "use fewer processes if memory ran out, put the function into a .py file, begin what a script runs "
                'with `if __name__ == "__main__":`, or leave `client` out'
            )
            raise InputError(Problem("client", message, fix)) from None
    else:
        fix = "give None, a number of processes from 1, a distributed.Client or an executor"
        raise InputError(Problem("client", f"{client!r:.80} cannot be given parts", fix))


def _in_order(client: Any, function: Callable[[P], T], parts: Sequence[P]) -> Iterator[T]:
    """Yield the results of a client's futures, each forgotten once it is read; on an error none is begun any more."""
    waiting = deque(client.submit(function, part) for part in parts)
    try:
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()

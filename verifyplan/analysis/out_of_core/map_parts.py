"""Call a function for each part of a dataset or anything else: here, in several processes, on a cluster (rule E5)."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any, TypeVar
from warnings import catch_warnings, simplefilter

from verifyplan.analysis.out_of_core.connection import call_sent, connected, is_client
from verifyplan.errors import InputError, Problem
from verifyplan.text import counted

P = TypeVar("P")
T = TypeVar("T")

MAX_DEATHS = 3
"""A part whose process has ended so often is given up."""

_WAITING_FOR_A_PROCESS = 2


def map_parts(function: Callable[[P], T], parts: Sequence[P], client: Any = None, *, threads: int = 1) -> Iterator[T]:
    """Yield what a function returns for each part, in the order of the parts.

    A process that dies, as one that is killed for its memory, costs the parts that it had begun: another takes them,
    and calls the function again. Parts may be of any kind: the seeds of a simulation, tables to verify.

    Args:
        function: a function of a part. Other processes import it by its name, from a .py file; where cloudpickle is
            installed, as `verifyplan[dask]` brings it, they also take functions of a notebook, and lambdas.
        parts: the parts, as from `Dataset.parts`.
        client: None calls it in the connected cluster (`connect`), and else here; a number calls it in so many
            processes, 1 here; a `distributed.Client` on the workers of a Dask cluster, where this library is installed
            and the dataset's address can be read.
        threads: how many threads of this process call it, if it is called here: for functions of which most is reading
            and arithmetic of arrays, which do not wait for each other.

    Raises:
        InputError: for any other client; for a function that other processes cannot get; where no process can be
            started; and where a part has ended its process three times.

    >>> import verifyplan as vp
    >>> _ = vp.compile_dataset(vp.datasets.path("contract"), "memory://mapped")
    >>> list(map_parts(len, vp.load("memory://mapped").parts))
    [15]
    """
    if not is_client(client):
        fix = "give None, a number of processes from 1, or a distributed.Client"
        raise InputError(Problem("client", f"{client!r:.80} cannot be given parts", fix))
    used = connected() if client is None else client
    if used is None or used == 1:
        yield from map(function, parts) if threads < 2 or used else _in_threads(function, parts, threads)
    elif isinstance(used, int):
        yield from _in_processes(function, parts, used)
    else:
        with catch_warnings():
            simplefilter("ignore", UserWarning)  # of Dask, where a function brings large arrays
            shared = used.submit(_same, function, pure=False)  # sent once
        submit = partial(used.submit, call_sent, shared, pure=False)
        yield from _in_order(submit, parts, _WAITING_FOR_A_PROCESS * max(sum(used.ncores().values()), 1))


def _same(value: T) -> T:
    return value


_kept: list[Callable[[Any], Any]] = []


def _keep(packed: bytes) -> None:
    """Keep the function that this process was started for, which comes once; if it cannot be had, what says so."""
    try:
        _kept[:] = [pickle.loads(packed)]  # noqa: S301 -- by the process that started this
    except (AttributeError, ImportError) as error:
        _kept[:] = [partial(_refuse, error=_not_importable("the function", error))]


def _refuse(_: object, error: InputError) -> None:
    raise error


def _call_kept(part: bytes) -> Any:
    return call_sent(_kept[0], pickle.loads(part))  # noqa: S301 -- likewise


def _started() -> None:
    """Do nothing, in a process that could be started."""


def _packed(function: Callable[[Any], Any], dump: Callable[[Any], bytes]) -> bytes:
    """Return a function as bytes for another process; InputError where it cannot get there."""
    name = getattr(function, "__qualname__", None) or f"{function!r:.80}"
    try:
        packed = dump(function)
        main = import_module("__main__")
        if dump is pickle.dumps and not hasattr(main, "__file__") and b"__main__" in packed:
            raise AttributeError("is defined in a notebook or at a prompt")
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_importable(name, error) from None
    return packed


def _not_importable(name: str, error: Exception) -> InputError:
    fix = "put it into a .py file and import it, or leave `client` out, or install cloudpickle (verifyplan[dask])"
    return InputError(Problem(name, f"must be importable by another process ({error!s:.200})", fix))


def _in_order(submit: Callable[[Any], Any], parts: Sequence[Any], window: int) -> Iterator[Any]:
    """Yield results in order; only so many parts are begun before the first of them is done."""
    waiting: deque[Any] = deque()
    for part in parts:
        if len(waiting) == window:
            yield waiting.popleft().result()
        waiting.append(submit(part))
    while waiting:
        yield waiting.popleft().result()


def _in_threads(function: Callable[[Any], T], parts: Sequence[Any], n: int) -> Iterator[T]:
    pool = ThreadPoolExecutor(n)
    submit: Callable[[Any], Any] = partial(pool.submit, function)  # type: ignore[call-arg]
    try:
        yield from _in_order(submit, parts, _WAITING_FOR_A_PROCESS * n)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_processes(function: Callable[[Any], T], parts: Sequence[Any], n: int) -> Iterator[T]:
    """Yield results in order from a pool of processes; one that has broken is made anew, with what it had not done."""
    dump: Callable[[Any], bytes] = import_module("cloudpickle").dumps if find_spec("cloudpickle") else pickle.dumps
    packed = _packed(function, dump)
    done, deaths = 0, 0
    while done < len(parts):
        with ProcessPoolExecutor(n, get_context("spawn"), initializer=_keep, initargs=(packed,)) as pool:
            started = pool.submit(_started)
            submit = partial(_submit, pool, dump)
            try:
                for result in _in_order(submit, parts[done:], _WAITING_FOR_A_PROCESS * n):
                    yield result
                    done, deaths = done + 1, 0
            except BrokenProcessPool:
                deaths += 1
                if deaths < MAX_DEATHS and _succeeded(started):
                    continue
                raise _ended(parts[done], deaths, _succeeded(started)) from None
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _submit(pool: ProcessPoolExecutor, dump: Callable[[Any], bytes], part: Any) -> Future[Any]:
    return pool.submit(_call_kept, dump(part))


def _succeeded(started: Future[None]) -> bool:
    return started.done() and started.exception() is None


def _ended(part: object, deaths: int, is_started: bool) -> InputError:
    """Return the error of a part that has ended its processes, or of processes that never began."""
    if not is_started:
        message = "no process could be started; what it printed says why"
        fix = 'begin what a script runs with `if __name__ == "__main__":`, or leave `client` out'
        return InputError(Problem("client", message, fix))
    message = f"ended its process {counted(deaths, 'time')} (out of memory?)"
    return InputError(Problem(f"{part!r:.200}", message, "use fewer processes, or compile with smaller parts"))

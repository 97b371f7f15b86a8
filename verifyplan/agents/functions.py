"""Make workers and agents from plain or async functions (rule G1)."""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import inspect
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Never
from weakref import WeakKeyDictionary

from verifyplan.agents.base import Request
from verifyplan.errors import AgentError, InputError, Problem, SettingsError
from verifyplan.protocol.call import Item, Reply, WorkerRequest
from verifyplan.protocol.role_call import ROLES
from verifyplan.rules.answers import read_vote
from verifyplan.rules.going_on import FUNCTIONS
from verifyplan.text import did_you_mean

Function = Callable[..., Any]

MAX_THREADS = min(32, (os.cpu_count() or 1) + 4)
"""Plain functions that run at once, as many as asyncio's own pool of threads takes."""

_VOTE_FIX = (
    "return a verdict ('agree', 'supplement', 'disagree'; labels such as 'REFUTED' are read, too), or a mapping "
    "such as {'verdict': 'disagree', 'disagree_basis': 'counter-evidence', 'explanation': 'app.py:12 checks it'}"
)
_OTHERS_FIX = {"items_per_call": "give it to the run: crossverify(findings, workers, items_per_call=...)"}
_EVERY_WORKER, _SOURCE = "worker", "source_sha256"
"""In a description: the name of a function that plays every worker, and the digest of a function's source."""
_ROLE_FIX = "return a mapping as the role's answer has it, such as {'challenges': [...]}, or a Reply"


def from_function(
    function: Function | Mapping[str, Function], *, max_concurrency: int = 8, **others: Never
) -> FunctionBackend:
    """Return a backend whose workers, or agents, are functions.

    One function plays every worker. It is called with a finding (`finding_id`, `summary`, `evidence`), and with the
    whole request as well if it takes two arguments; it returns a verdict, or a mapping with `verdict`,
    `disagree_basis` and `explanation`. A mapping gives each worker, or each role of a plan run or a debate, its own
    function; a role's function is called with the request and returns the role's answer as a mapping, or a `Reply`
    with its usage. Functions may be async; then at most `max_concurrency` findings of a worker are asked about at once.
    A plain function is asked about one finding after the other, in a thread of its own for each worker.

    What a function returns wrongly ends the run at its first call, with a SettingsError that names the function; later
    it fails that finding alone, as an exception does (rule B8). Raises InputError for what is not a function, and
    SettingsError for another argument: `items_per_call` is one of `crossverify`.

    >>> import verifyplan as vp
    >>> def judge(finding):
    ...     return "agree" if "store.py" in finding.evidence else "disagree"
    >>> backend = vp.agents.from_function(judge)
    >>> claims = [
    ...     {"finding_id": name, "summary": f"{name} is safe", "evidence": name}
    ...     for name in ("store.py", "b.py")
    ... ]
    >>> run = vp.crossverify(claims, ["ann", "bob"], backend=backend, log_dir=None)
    >>> list(run.frames.findings["classification"])
    ['full-consensus', 'worker-unique']
    """
    if others:
        raise SettingsError(
            Problem(name, "is not an argument of from_function", _OTHERS_FIX.get(name, "leave it out"))
            for name in others
        )
    functions = dict(function) if isinstance(function, Mapping) else function
    named = functions.items() if isinstance(functions, dict) else [("function", functions)]
    problems = [
        Problem(str(name), f"must be a function, got a {type(value).__name__}", "give a plain or an async function")
        for name, value in named
        if not callable(value)
    ]
    if problems:
        raise InputError(problems)
    if max_concurrency < 1:
        raise InputError(Problem("max_concurrency", f"must be at least 1, got {max_concurrency}", "give 1 or more"))
    return FunctionBackend(functions, max_concurrency)


@dataclass
class _Asking:
    """A request that is being answered, and how many calls of plain functions have not begun for it."""

    not_begun: int


class FunctionBackend:
    """The backend that `from_function` makes."""

    def __init__(self, functions: Function | dict[str, Function], max_concurrency: int) -> None:
        self._functions = functions
        self._max_concurrency = max_concurrency
        self._answered: set[str] = set()
        self._asking: dict[int, _Asking] = {}  # by the id of the request
        self._threads: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    def describe(self) -> dict[str, Any]:
        """Name the functions in the log, each with a digest of its source where that can be read."""
        functions = self._functions if isinstance(self._functions, dict) else {_EVERY_WORKER: self._functions}
        return {"name": FUNCTIONS, "functions": {name: _identity(one) for name, one in functions.items()}}

    def check_worker(self, worker: str) -> str | None:
        """Return None if there is a function for a worker."""
        if not isinstance(self._functions, dict) or worker in self._functions:
            return None
        known = sorted(set(self._functions) - set(ROLES))
        return f"no function plays {worker!r}{did_you_mean(worker, known)}; functions are given for {', '.join(known)}"

    def will_reply(self, request: Request) -> bool:
        """Return whether plain functions run for a request, and none is left to be called."""
        asking = self._asking.get(id(request))
        return asking is not None and asking.not_begun == 0

    async def answer(self, request: Request) -> Reply:
        """Return what the function of a worker or a role returns, as a reply."""
        asking = _Asking(len(request.items) if isinstance(request, WorkerRequest) else 1)
        self._asking[id(request)] = asking
        try:
            return await self._reply(request, asking)
        finally:
            del self._asking[id(request)]

    async def _reply(self, request: Request, asking: _Asking) -> Reply:
        name = request.worker if isinstance(request, WorkerRequest) else request.role
        function = self._functions.get(name) if isinstance(self._functions, dict) else self._functions
        if function is None or (not isinstance(request, WorkerRequest) and not isinstance(self._functions, dict)):
            raise AgentError(f"no function plays {name!r}: give from_function a mapping that has {name!r}")
        if isinstance(request, WorkerRequest):
            return await self._votes(function, request, asking)
        result = await self._called(function, asking, request)
        if isinstance(result, Reply):
            return result
        if isinstance(result, Mapping):
            self._answered.add(_name(function))
            return Reply(value=dict(result))
        raise self._wrong(function, f"returned {result!r:.80} for {request.call_id}", _ROLE_FIX)

    async def _votes(self, function: Function, request: WorkerRequest, asking: _Asking) -> Reply:
        """Ask about each finding; failed calls are left out, and the failures recorded."""
        limit = asyncio.Semaphore(self._max_concurrency if inspect.iscoroutinefunction(function) else 1)
        failures: list[str] = []

        async def vote(item: Item) -> object:
            async with limit:
                try:
                    result = await self._called(function, asking, item, request)
                    if isinstance(reason := read_vote(result), str):
                        message = f"returned {result!r:.80} for {item.finding_id}: {reason}"
                        raise self._wrong(function, message, _VOTE_FIX)
                    self._answered.add(_name(function))
                    return result
                except SettingsError:
                    raise
                except Exception as error:  # any failure of the function costs this finding alone
                    failures.append(f"{_name(function)} failed on {item.finding_id}: {type(error).__name__}: {error}")
                    return None

        results = await asyncio.gather(*map(vote, request.items))
        votes = {
            item.finding_id: result for item, result in zip(request.items, results, strict=True) if result is not None
        }
        if not votes:
            raise AgentError(failures[0])
        return Reply(value={"votes": votes}, partial_failures=tuple(failures))

    def _wrong(self, function: Function, message: str, fix: str) -> Exception:
        """Return the error for a wrong result; it ends the run if the function never gave a right one."""
        if _name(function) in self._answered:
            return AgentError(message)
        return SettingsError(Problem(_name(function), message, fix))

    async def _called(self, function: Function, asking: _Asking, *arguments: object) -> object:
        """Call a function with as many of the arguments as it takes; a plain one in a thread, so others can run."""
        taken = arguments[: _arity(function, len(arguments))]
        if inspect.iscoroutinefunction(function):
            return await function(*taken)
        async with self._threads.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_THREADS)):
            asking.not_begun -= 1
            result = await _in_thread(function, *taken)
        return await result if inspect.isawaitable(result) else result


def changed_functions(recorded: Mapping[str, Any], present: Mapping[str, Any]) -> list[str]:
    """Return whose functions differ between two descriptions of backends, by their source, or by name without one.

    A lambda is not compared: its source is the whole statement around it, which a resumption writes otherwise.

    >>> versions = ({"ann": {"name": "study.judge", "source_sha256": digest}} for digest in "ab")
    >>> first, edited = ({"name": "function", "functions": functions} for functions in versions)
    >>> changed_functions(first, edited), changed_functions(first, first)
    (['ann'], [])
    """
    before, now = _functions_of(recorded), _functions_of(present)
    changed = []
    for name in before | now:
        first, second = before.get(name, before.get(_EVERY_WORKER)), now.get(name, now.get(_EVERY_WORKER))
        if first and second and not first["name"].endswith("<lambda>") and not second["name"].endswith("<lambda>"):
            key = _SOURCE if _SOURCE in first or _SOURCE in second else "name"
            if first.get(key) != second.get(key):
                changed.append(name)
    return changed


def _functions_of(description: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the functions that a description names, also those of the two roles of a debate."""
    functions: dict[str, dict[str, str]] = {}
    for backend in (description.get("architect"), description.get("builder"), description):
        if isinstance(backend, Mapping) and backend.get("name") == FUNCTIONS:
            functions |= backend["functions"]
    return functions


def _in_thread(function: Function, *arguments: object) -> asyncio.Future[Any]:
    """Call a function in a new thread, whose end neither the event loop nor the process waits for."""
    returned: Future[Any] = Future()
    returned.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def call() -> None:
        try:
            result = context.run(function, *arguments)
        except BaseException as error:
            returned.set_exception(error)
        else:
            returned.set_result(result)

    threading.Thread(target=call, name="function", daemon=True).start()
    return asyncio.wrap_future(returned)


def _arity(function: Function, most: int) -> int:
    """Return how many positional arguments a function takes, at most `most` and at least 1."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return most
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return max(1, min(most, len(positional)))


def _name(function: Function) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _identity(function: Function) -> dict[str, str]:
    """Return a function's name and, where its source can be read, a digest that tells versions of it apart."""
    identity = {"name": f"{getattr(function, '__module__', '?')}.{_name(function)}"}
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return identity
    return identity | {_SOURCE: hashlib.sha256(source.encode()).hexdigest()}

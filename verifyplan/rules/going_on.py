"""Write the command that goes on with a run, or the Python call where no command makes its backend (rules E2, E6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any, NamedTuple

from verifyplan.rules.failed_calls import FailureKind

DEFAULT_URL = "https://api.anthropic.com"
"""The endpoint that is asked where none is named."""
FUNCTIONS = "function"
"""The name, in a log, of a backend made of functions."""

_OPTIONS = {"max_cost": " --max-cost DOLLARS", "max_tokens": " --max-tokens TOKENS"}
"""How each limit is raised; the reason of a call that it kept back begins with its name (`engine/usage_limit.py`)."""
_ARGUMENTS = {"max_cost": ", max_cost=DOLLARS", "max_tokens": ", max_tokens=TOKENS"}
_BY_NAME = ("static", "anthropic", "scripted", "pair")
"""The backends that the command `resume` makes: a scripted one needs its script again."""


class LogPlace(NamedTuple):
    """Where a run's log lies, and which endpoint needs no name there."""

    path: str = "RUN"
    """RUN where there is none, or it is not known."""
    usual_url: str = DEFAULT_URL


NO_LOG = LogPlace()


def is_made_by_name(backend: Mapping[str, Any]) -> bool:
    """Return whether the command `resume` can make a backend by what a log says of it.

    >>> is_made_by_name({"name": "static"}), is_made_by_name({"name": "function"})
    (True, False)
    """
    roles = [role for role in map(backend.get, ("architect", "builder")) if isinstance(role, Mapping)]
    return backend.get("name", "static") in _BY_NAME and all(map(is_made_by_name, roles))


def how_to_go_on(
    log: LogPlace = NO_LOG,
    backend: Mapping[str, Any] | None = None,
    *,
    retry_failed: bool = False,
    kept_back: Iterable[str] = (),
) -> str:
    """Return the command that goes on with a run; `retry_failed` asks its failed calls again.

    `backend` is what the log says of it: its endpoint is named unless it is the usual one, for a key is sent to no
    endpoint because a log names it; of functions and classes, which no command makes, the Python call is returned.
    `kept_back` are the reasons of calls that a limit kept back, which must be raised.

    >>> local = {"name": "anthropic", "base_url": "http://localhost:8080"}
    >>> how_to_go_on(LogPlace("my runs/purge-001.jsonl"), local, retry_failed=True)
    "verifyplan resume 'my runs/purge-001.jsonl' --retry-failed --base-url http://localhost:8080"
    >>> how_to_go_on(LogPlace("runs/own-001.jsonl"), {"name": "function"})
    "vp.resume('runs/own-001.jsonl', backend=vp.agents.from_function(...))"
    >>> how_to_go_on(retry_failed=True, kept_back=["max_tokens: 812 of 500 were used before i1/challenger was called"])
    'verifyplan resume RUN --retry-failed --max-tokens TOKENS'
    """
    backend = backend or {}
    limits = {reason.split(":")[0].split()[0] for reason in kept_back if reason.strip()}
    if not is_made_by_name(backend):
        made = "vp.agents.from_function(...)" if backend.get("name") == FUNCTIONS else "..."
        more = "".join(argument for limit, argument in _ARGUMENTS.items() if limit in limits)
        again = ", retry_failed=True" if retry_failed else ""
        return f"vp.resume({log.path!r}, backend={made}{again}{more})"
    script = " --script SCRIPT" if backend.get("name") == "scripted" else ""
    again = " --retry-failed" if retry_failed else ""
    url = endpoint_of(backend)
    endpoint = f" --base-url {quote(url)}" if url not in (None, log.usual_url) else ""
    more = "".join(option for limit, option in _OPTIONS.items() if limit in limits)
    return f"verifyplan resume {quote(log.path)}{script}{again}{endpoint}{more}"


def endpoint_of(backend: Mapping[str, Any]) -> str | None:
    """Return the endpoint that a log names; of a debate, its builder's where both have one; None for none.

    >>> endpoint_of({"name": "pair", "architect": {"base_url": "http://localhost:8080"}, "builder": {"name": "static"}})
    'http://localhost:8080'
    """
    places = [backend, backend.get("builder"), backend.get("architect")]
    urls = [str(place["base_url"]) for place in places if isinstance(place, Mapping) and place.get("base_url")]
    return urls[0] if urls else None


def if_moved(kinds: Mapping[FailureKind, int], backend: Mapping[str, Any] | None) -> str:
    """Return what to do where no connection came about to an endpoint that may have moved; blank where none failed so.

    >>> if_moved({"connection": 2}, {"name": "anthropic", "base_url": "http://localhost:8080"})
    ' (if the endpoint has moved, give its new address by --base-url)'
    """
    url = endpoint_of(backend or {})
    may_have_moved = kinds.get("connection") and url not in (None, DEFAULT_URL)
    return " (if the endpoint has moved, give its new address by --base-url)" if may_have_moved else ""

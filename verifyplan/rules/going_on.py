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

CANNOT_BE_KEPT = "cannot be kept"
"""In the reason of a limit on what is unknown, which no higher limit mends."""
_OPTIONS = {"max_cost": " --max-cost DOLLARS", "max_tokens": " --max-tokens TOKENS"}
"""How each limit is raised; the reason of a call that it kept back begins with its name (`engine/usage_limit.py`)."""
_ARGUMENTS = {"max_cost": ", max_cost=DOLLARS", "max_tokens": ", max_tokens=TOKENS"}
_BY_NAME = ("static", "anthropic", "scripted", "pair")
"""The backends that the command `resume` makes: a scripted one needs its script again."""


class LogPlace(NamedTuple):
    """The place of a run's log, and the endpoint that a command need not name there."""

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

    `backend` is the log's description of the backend. The command names its endpoint unless that is the usual one,
    because a key is never sent to an endpoint only because a log names it. No command makes functions and classes: for
    these, the Python call is returned. `kept_back` are the reasons of calls that were kept back by a limit; the command
    raises these limits, where that helps.

    >>> local = {"name": "anthropic", "base_url": "http://localhost:8080"}
    >>> how_to_go_on(LogPlace("my runs/purge-001.jsonl"), local, retry_failed=True)
    "verifyplan resume 'my runs/purge-001.jsonl' --retry-failed --base-url http://localhost:8080"
    >>> how_to_go_on(LogPlace("runs/own-001.jsonl"), {"name": "function"})
    "vp.resume('runs/own-001.jsonl', backend=vp.agents.from_function(...))"
    >>> how_to_go_on(retry_failed=True, kept_back=["max_tokens: 812 of 500 were used before i1/challenger was called"])
    'verifyplan resume RUN --retry-failed --max-tokens TOKENS'
    """
    backend = backend or {}
    raised = (reason for reason in kept_back if reason.strip() and CANNOT_BE_KEPT not in reason)
    limits = {reason.split(":")[0].split()[0] for reason in raised}
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
    """Return the endpoint that a log names, in a debate that of the builder if both have one; None if there is none.

    >>> endpoint_of({"name": "pair", "architect": {"base_url": "http://localhost:8080"}, "builder": {"name": "static"}})
    'http://localhost:8080'
    """
    places = [backend, backend.get("builder"), backend.get("architect")]
    urls = [str(place["base_url"]) for place in places if isinstance(place, Mapping) and place.get("base_url")]
    return urls[0] if urls else None


def if_moved(kinds: Mapping[FailureKind, int], backend: Mapping[str, Any] | None) -> str:
    """Return what to do if calls found no connection to an endpoint that may have moved; blank if none failed so.

    >>> if_moved({"connection": 2}, {"name": "anthropic", "base_url": "http://localhost:8080"})
    ' (if the endpoint has moved, give its new address by --base-url)'
    """
    url = endpoint_of(backend or {})
    may_have_moved = kinds.get("connection") and url not in (None, DEFAULT_URL)
    return " (if the endpoint has moved, give its new address by --base-url)" if may_have_moved else ""

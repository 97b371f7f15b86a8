"""Say in a few words why calls failed, by how they ended and the reason that was recorded (rules A11, B8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Literal, get_args

from verifyplan.text import counted

FailureKind = Literal[
    "rate limit",
    "overloaded",
    "server error",
    "connection",
    "timeout",
    "budget",
    "request refused",
    "answer refused",
    "answer cut off",
    "context full",
    "unreadable answer",
    "other",
]
"""Why a call failed: what its endpoint answered, what was wrong with the answer, or how long it took."""
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)

_PATTERNS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))  # type: ignore[misc]
    for kind, pattern in (
        ("rate limit", r"answered 429|rate_limit_error"),
        ("overloaded", r"answered 529|overloaded_error"),
        ("context full", r"context is full|context.{0,40}(?:exceed|too (?:long|large))|prompt is too long"),
        ("server error", r"answered 5\d\d|api_error"),
        ("request refused", r"answered 4\d\d|invalid_request_error"),
        ("connection", r"connection failed|\w*Connect\w*Error"),
        ("answer refused", r"refused to answer"),
        ("answer cut off", r"cut off|broke off before its end|paused its turn|to its last turn"),
        ("unreadable answer", r"AnswerError|is no JSON|is no message|is damaged|outside its schema|not in its form"),
    )
)
"""The first pattern that is found in a reason names its kind; they fit the words of agents/anthropic."""

_OPTIONS = {"max_cost": " --max-cost DOLLARS", "max_tokens": " --max-tokens TOKENS"}
"""How each limit is raised; the reason of a call that it kept back begins with its name (`engine/usage_limit.py`)."""


def failure_kind(status: str, reason: str) -> FailureKind:
    """Return why a call failed; `other` for agents of one's own, whose reasons have any words.

    >>> failure_kind("error", "AgentError: the endpoint answered 429: rate_limit_error: slow down")
    'rate limit'
    >>> failure_kind("timeout", "no answer within 30 s"), failure_kind("error", "ValueError: no")
    ('timeout', 'other')
    """
    if status == "timeout" or status == "budget":
        return status  # type: ignore[return-value]
    return next((kind for kind, pattern in _PATTERNS if pattern.search(reason)), "other")


def how_to_retry(run: str = "RUN", *, kept_back: Iterable[str] = (), base_url: str | None = None) -> str:
    """Return the command that asks the failed calls of a run again.

    `kept_back` are the reasons of calls that a limit kept back, which must be raised; `base_url` if the endpoint must
    be named, for a key is sent to no endpoint because a log names it.

    >>> how_to_retry("runs/purge-001.jsonl", base_url="http://localhost:8080")
    'verifyplan resume runs/purge-001.jsonl --retry-failed --base-url http://localhost:8080'
    >>> how_to_retry(kept_back=["max_tokens: 812 tokens of 500 were used before i1/challenger was called"])
    'verifyplan resume RUN --retry-failed --max-tokens TOKENS'
    """
    used_up = {reason.split(":")[0].split()[0] for reason in kept_back if reason.strip()}
    more = "".join(option for limit, option in _OPTIONS.items() if limit in used_up)
    endpoint = f" --base-url {quote(base_url)}" if base_url else ""
    return f"verifyplan resume {quote(run)} --retry-failed{endpoint}{more}"


def failed_words(kinds: Mapping[FailureKind, int], n_calls: int) -> str:
    """Return how many calls failed and why, the most frequent kind first; blank for none.

    >>> failed_words({"timeout": 3, "rate limit": 9}, 40)
    '12 of 40 calls failed: 9 rate limit, 3 timeout'
    """
    failed = sum(kinds.values())
    if not failed:
        return ""
    by_kind = sorted((-kinds[kind], place, kind) for place, kind in enumerate(FAILURE_KINDS) if kinds.get(kind))
    why = ", ".join(f"{-n:,} {kind}" for n, _, kind in by_kind)
    return f"{failed:,} of {counted(n_calls, 'call')} failed: {why}"

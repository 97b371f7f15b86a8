"""Say in a few words why calls failed, by how they ended and the reason that was recorded (rules A11, B8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
_MEANING: dict[FailureKind, str] = {"budget": " (held back by a limit)"}
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
        (
            "unreadable answer",
            r"AnswerError|is (?:no|not) JSON|is (?:no|not a) message|is damaged|outside its schema|not in its form",
        ),
    )
)
"""The first pattern that is found in a reason names its kind; they fit the words of agents/anthropic."""


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


def failed_words(kinds: Mapping[FailureKind, int], n_calls: int) -> str:
    """Return how many calls failed and why, the most frequent kind first; blank for none.

    Calls that a limit of the run held back count as failed, and the words say what they are.

    >>> failed_words({"timeout": 3, "rate limit": 9}, 40)
    '12 of 40 calls failed: 9 rate limit, 3 timeout'
    """
    failed = sum(kinds.values())
    if not failed:
        return ""
    by_kind = sorted((-kinds[kind], place, kind) for place, kind in enumerate(FAILURE_KINDS) if kinds.get(kind))
    why = ", ".join(f"{-n:,} {kind}{_MEANING.get(kind, '')}" for n, _, kind in by_kind)
    return f"{failed:,} of {counted(n_calls, 'call')} failed: {why}"

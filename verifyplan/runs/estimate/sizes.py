"""The figures that an estimate rests on: characters of a token, lengths of answers, of thoughts and of web pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic_core import to_json

from verifyplan.protocol.call import WorkerRequest
from verifyplan.protocol.role_call import Role, RoleRequest

Asked = WorkerRequest | RoleRequest
"""The calls that are estimated: those of plan runs and cross runs. The length of a debate's diffs is unknown."""

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb, for English and code. Tokenizers differ: of the same text, one makes a third more than another."""

TYPICAL: Mapping[Role, int] = {
    "challenger": 1_500,  # five challenges of 240, four unknowns of 75
    "resolver": 400,  # four findings of 100
    "surface": 500,  # five contexts of 100
    "probe": 600,  # four risks of 150
    "domain-expert": 720,  # three challenges of 240
    "devils-advocate": 480,  # two challenges of 240
    "synthesizer": 900,  # eight resolutions of 100, a directive
    "score": 500,  # six scores of 80, with what they rest on
    "audit": 500,
}
"""Tokens of a role's answer: as many entries as it is asked for, with a sentence or two in each field."""

VOTE = 90
"""Tokens of one vote with its explanation."""

TOOL_CALL = 80
"""Tokens in which a model calls one tool, with a word on why."""

THOUGHTS = 4_000
"""Tokens that a model may think in a turn where it is left to it how long."""

LOOKED_UP = 20_000
"""Tokens of web pages in one look-up: what the backend lets a fetched page have at most."""

CUT = "would_be_cut"
"""Says in a message of a dry run whether an endpoint would have cut it off at `max_tokens`."""


class UsageProfile(NamedTuple):
    """How much a model is taken to say and to do."""

    at_once: int
    """Tool calls in one message; 0 for a model that calls none."""
    wording: int
    """How often as long as its stand-in's its answer is."""
    floor: int
    """How often as long as is typical its answer is at least."""
    thinking: float
    """The share of its allowance that it thinks for."""


BRIEF = UsageProfile(at_once=0, wording=1, floor=0, thinking=0.0)
"""Answers as the static agents do, which is brief, and looks at nothing."""
USUAL = UsageProfile(at_once=2, wording=2, floor=1, thinking=0.5)
"""Calls the tools that the static agents call, and words what they find twice as long, in typical lengths at least."""
FULL = UsageProfile(at_once=1, wording=1, floor=2, thinking=1.0)
"""Calls one tool after the other, and answers at length; for a stand-in that words its answers as a model would."""


def answer_tokens(request: Asked, text: str, body: Mapping[str, Any], profile: UsageProfile) -> int:
    """Return the tokens of a model's answer, uncut, where its stand-in answers `text`; thoughts included."""
    worded = profile.wording * len(text) // CHARACTERS_PER_TOKEN
    return max(worded, profile.floor * _typical(request)) + thought_tokens(body, profile)


def thought_tokens(body: Mapping[str, Any], profile: UsageProfile) -> int:
    """Tokens that a model thinks for in one turn: none where it is not asked to."""
    asked: Mapping[str, Any] = body.get("thinking") or {}
    allowed: int = asked.get("budget_tokens", THOUGHTS if asked.get("type") == "adaptive" else 0)
    return round(profile.thinking * allowed)


def characters(block: Mapping[str, Any]) -> int:
    """The characters of a block that a model reads: all texts in it, types and marks left out.

    >>> characters({"type": "text", "text": "four", "cache_control": {"type": "ephemeral"}})
    4
    """
    return sum(map(len, _texts({key: value for key, value in block.items() if key != "cache_control"})))


def written(value: object) -> int:
    """The characters of a definition, which a model reads as JSON."""
    return len(to_json(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key != "type":
                yield from _texts(one)


def _typical(request: Asked) -> int:
    return VOTE * len(request.items) if isinstance(request, WorkerRequest) else TYPICAL[request.role]

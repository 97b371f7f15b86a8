"""When a model may ask the web: where it was asked for, for what it serves, never with a key in it (rule A12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifyplan.agents.tools.arguments import Arguments
from verifyplan.agents.tools.wording import one_line
from verifyplan.protocol.research import UnknownType
from verifyplan.redaction import redact
from verifyplan.rules.budgets import ResearchMode, web_refusal

WebTool = Literal["WebSearch", "WebFetch"]

WEB_OFF = "web search is off: Anthropic(web=True)"
"""What a model is told where nobody asked for the web."""

TEMPORAL_WORDS = (
    *("deprecat", "obsolete", "outdated", "legacy", "end of life", "end of support", "eol", "lts", "sunset"),
    *("retire", "discontinu", "removed in", "will be removed", "removal", "breaking change", "changelog"),
    *("version", "upgrade", "migration guide", "successor", "superseded", "latest", "expir"),
)
"""Beginnings of words that show that a call of mode 3 asks about time."""

_TEMPORAL = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in TEMPORAL_WORDS)})")


@dataclass(frozen=True)
class WebRules:
    """What decides whether a web call is allowed: the research mode, the unknowns by id, and whether the web is on."""

    mode: ResearchMode
    unknowns: Mapping[str, UnknownType] = field(default_factory=dict)
    """Types of the unknowns that this call is about, by id."""
    enabled: bool = False


@dataclass(frozen=True)
class WebCall:
    """A web call that is allowed, for the conversation to make; `argument` is the query or the address."""

    tool: WebTool
    argument: str
    serves: str


def web_call_refusal(asked: Arguments, rules: WebRules | None) -> str:
    """Why a web call is refused; empty if it is allowed by what it serves. Budgets are not asked here.

    In mode 1, `serves` is the id of one unknown. In mode 3 its words, or those of the call, must speak of time.
    Source: rule A12.
    """
    if rules is None or not rules.enabled:
        return WEB_OFF
    serves = asked.purpose
    if rules.mode == "resolve" and serves and serves not in rules.unknowns:
        known = ", ".join(f"{name} ({kind})" for name, kind in sorted(rules.unknowns.items())) or "none"
        return f"{one_line(serves)} is no unknown of this task: {known}"
    unknown = rules.unknowns.get(serves)
    why = web_refusal(rules.mode, serves, unknown, is_temporal(f"{asked.argument} {serves}"))
    if why:
        return why
    return "" if redact(asked.argument) == asked.argument else "it holds what looks like a key, which goes nowhere"


def is_temporal(text: str) -> bool:
    """Whether some words speak of deprecation, versions, end of life and the like.

    >>> is_temporal("is boto2 deprecated?"), is_temporal("how does boto3 retry?")
    (True, False)
    """
    return bool(_TEMPORAL.search(re.sub(r"[\W_]+", " ", text.casefold())))

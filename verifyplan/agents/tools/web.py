"""Decide whether a model may make a web call: enabled, for a purpose, never with a key in it (rule A12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifyplan.agents.tools.definitions import Arguments
from verifyplan.agents.untrusted_text import one_line
from verifyplan.protocol.records import UnknownType
from verifyplan.redaction import redact
from verifyplan.rules.budgets import ResearchMode, web_refusal

WebTool = Literal["WebSearch", "WebFetch"]

WEB_OFF = "web search is off: Anthropic(web=True)"
"""The refusal where the web is not enabled."""

TEMPORAL_WORDS = (
    *("deprecat", "obsolete", "outdated", "legacy", "end of life", "end of support", "eol", "lts", "sunset"),
    *("retire", "discontinu", "removed in", "will be removed", "removal", "breaking change", "changelog"),
    *("version", "upgrade", "migration guide", "successor", "superseded", "latest", "expir"),
)
"""Beginnings of words that show that a call of research mode 3 asks about time."""

_TEMPORAL = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in TEMPORAL_WORDS)})")


@dataclass(frozen=True)
class WebRules:
    """The settings that decide on web calls: the research mode, the unknowns by id, and whether the web is on."""

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


def web_call_refusal(call: Arguments, rules: WebRules | None) -> str:
    """Return why a web call is refused; empty if its purpose allows it. Budgets are not checked here.

    In mode 1, `serves` is the id of one unknown. In mode 3 its words, or those of the call, must speak of time.
    Source: rule A12.
    """
    if rules is None or not rules.enabled:
        return WEB_OFF
    serves = call.purpose
    if rules.mode == "resolve" and serves and serves not in rules.unknowns:
        known = ", ".join(f"{name} ({kind})" for name, kind in sorted(rules.unknowns.items())) or "none"
        return f"{one_line(serves)} is no unknown of this task: {known}"
    unknown = rules.unknowns.get(serves)
    refused = web_refusal(rules.mode, serves, unknown, is_temporal(f"{call.argument} {serves}"))
    if refused:
        return refused
    return "" if redact(call.argument) == call.argument else "it holds what looks like a key, which goes nowhere"


def is_temporal(text: str) -> bool:
    """Return whether a text speaks of deprecation, versions, end of life and the like.

    >>> is_temporal("is boto2 deprecated?"), is_temporal("how does boto3 retry?")
    (True, False)
    """
    return bool(_TEMPORAL.search(re.sub(r"[\W_]+", " ", text.casefold())))

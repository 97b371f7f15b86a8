"""The turns of a call in plain words: what a model is sent, and what came back (rules E1, G1)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.protocol.event_run import TurnReplied, TurnSent
from verifyplan.reports.log_run import said, seconds
from verifyplan.reports.usage import used_told
from verifyplan.text import counted

TurnEvent = TurnSent | TurnReplied

_LATER = re.compile(r"/t(?!1$)\d+$")


def told_of_turn(event: TurnEvent) -> str:
    """One event in plain words; of what a model said, why it stopped."""
    if isinstance(event, TurnSent):
        return f"{said(event.call_id)}: {said(event.model)} is sent {' and '.join(_sent(event))}"
    source = "" if event.source == "live" else f", from {event.source}"
    source += f", in batch {said(event.batch)}" if event.batch else ""
    used = f"{used_told(event.usage)}{source}, {said(event.message.get('stop_reason') or 'broken off')}"
    return f"{said(event.call_id)}: replied after {seconds(event.duration_ms)}, {used}"


def _sent(event: TurnSent) -> Iterator[str]:
    """What a turn adds: the request and what was opened for it, or results of tools and our own words, or nothing."""
    first = not _LATER.search(event.call_id)
    results = len(event.tools) if first else sum(block.get("type") == "tool_result" for block in event.added)
    refused = sum(bool(use.refused) for use in event.tools)
    texts = [str(block.get("text") or "") for block in event.added if block.get("type") != "tool_result"]
    if first:
        yield "the request"
    elif not event.added:
        yield "nothing more"
    if results:
        yield f"{counted(results, 'result')} of tools{f' ({refused:,} refused)' if refused else ''}"
    if texts:
        yield f"these words: {said(' '.join(texts))}"

"""The events of a debate, in plain words."""

from __future__ import annotations

from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.reports.debate import DOES
from verifyplan.reports.log_run import said
from verifyplan.text import counted

DebateEvent = MessagePublished


def told_of_debate(event: DebateEvent) -> str:
    """One event in plain words; of a diff only how long it is."""
    message = event.message
    diff = f" (diff of {counted(len(event.diff.splitlines()), 'line')})" if event.diff is not None else ""
    risks = f"; {counted(len(message.risks), 'risk')}" if message.risks else ""
    return f"Turn {message.turn:,}: {message.role} {DOES[message.type]}{diff}: {said(message.content)}{risks}"

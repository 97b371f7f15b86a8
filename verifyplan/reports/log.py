"""A run log as people read it: one line an event, in plain words, for runs of every kind (rule E1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import DispatchClosed, FindingClassified, VoteCast, VoteRefused
from verifyplan.protocol.event_plan import IterationClosed, IterationStarted
from verifyplan.protocol.event_run import RunEnded, RunResumed, RunStarted, TurnReplied, TurnSent
from verifyplan.reports.log_cross import CrossEvent, told_of_votes
from verifyplan.reports.log_debate import DebateEvent, told_of_debate
from verifyplan.reports.log_plan import told_of_plan
from verifyplan.reports.log_run import RunEvent, told_of_run
from verifyplan.reports.log_turns import TurnEvent, told_of_turn
from verifyplan.reports.visible import one_line
from verifyplan.runlog.chain import Record

_OUTSIDE = (RunStarted, RunResumed, RunEnded, IterationStarted, IterationClosed)
"""What stands at the margin: how a run and its iterations begin and end."""
_WITHIN = (DispatchClosed, FindingClassified, VoteCast, VoteRefused, TurnSent, TurnReplied)
"""What belongs to a round of votes, or to a call."""


def log_text(records: Sequence[Record]) -> Iterator[str]:
    """A line for each record: its number, the time since the first record, and what happened.

    Events of an iteration are indented, those of a round of votes and the turns of a call once more. Long texts are
    cut; control characters are shown as codes. A time that cannot be read is shown as it is. Nothing is left out: one
    line per record.
    """
    start = _time(records[0].at) if records else None
    width = max(4, len(str(records[-1].seq))) if records else 4
    inside = False
    for record in records:
        if isinstance(record.event, _OUTSIDE):
            inside = False
        depth = inside + isinstance(record.event, _WITHIN)
        when = _since(start, record.at)
        yield f"{record.seq:>{width}} {when:>12}  {'  ' * depth}{told(record.event)}"
        inside = inside or isinstance(record.event, IterationStarted)


def told(event: Event) -> str:
    """An event in plain words, on one line."""
    if isinstance(event, RunEvent):
        return told_of_run(event)
    if isinstance(event, TurnEvent):
        return told_of_turn(event)
    if isinstance(event, CrossEvent):
        return told_of_votes(event)
    return told_of_debate(event) if isinstance(event, DebateEvent) else told_of_plan(event)


def _time(at: str) -> datetime | None:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return None


def _since(start: datetime | None, at: str) -> str:
    """Seconds since the start, as +0.31 s; the time as it is where either cannot be read."""
    now = _time(at)
    try:
        return f"{(now - start).total_seconds():+,.2f} s" if now and start else one_line(at, 40)
    except TypeError:  # one names a zone, the other none
        return one_line(at, 40)

"""The turns of a run's calls, by call, and their rows: agents that are models speak in turns (rules E1, E2, E4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from verifyplan.frames.log_index import Row, RunEvents, instant
from verifyplan.frames.rows import Rows
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import CallFailed, CallReplied
from verifyplan.protocol.event_turn import TurnReplied, TurnSent, call_of

_NUMBER = re.compile(r"/t(\d{1,9})(?:/w\d+)?$")


class Turn(NamedTuple):
    """One exchange of a call, as far as the log has it."""

    call_id: str
    sent: TurnSent | None
    replied: TurnReplied | None
    sent_at: str | None
    replied_at: str | None


def turns_by_call(story: RunEvents) -> dict[str, list[Turn]]:
    """The exchanges of each call that has any, in the order in which the log first names them."""
    if not story.of(TurnSent) and not story.of(TurnReplied):
        return {}
    sent: dict[str, tuple[TurnSent, str | None]] = {}
    replied: dict[str, tuple[TurnReplied, str | None]] = {}
    for record in story.records:
        if isinstance(record.event, TurnSent):
            sent[record.event.call_id] = record.event, instant(record.at)
        elif isinstance(record.event, TurnReplied):
            replied[record.event.call_id] = record.event, instant(record.at)
    calls: dict[str, list[Turn]] = {}
    for name in dict.fromkeys([*sent, *replied]):
        asked, came = sent.get(name, (None, None)), replied.get(name, (None, None))
        calls.setdefault(call_of(name), []).append(Turn(name, asked[0], came[0], asked[1], came[1]))
    return calls


def ends(story: RunEvents) -> dict[str, CallReplied | CallFailed]:
    """How each call ended, in the order in which they did."""
    return {event.call_id: event for event in story.events if isinstance(event, CallReplied | CallFailed)}


def added_usage(turns: Iterable[Turn]) -> Usage:
    """What the replies of these turns used, added up."""
    return sum((turn.replied.usage for turn in turns if turn.replied), Usage())


def usage_row(usage: Usage | None) -> Row:
    """The columns of what was used; all missing for None."""
    told: dict[str, Any] = dict.fromkeys(Usage.model_fields) if usage is None else usage.model_dump()
    return told | {"cost": None if told["cost"] is None else float(told["cost"])}


def turn_rows(story: RunEvents) -> Rows:
    """One row an exchange, call by call, in the order of the log; none for agents that do not speak in turns."""
    ended = ends(story)
    return {
        "turns": [
            _turn_row(story.run_id, turn, over=call in ended or turn is not turns[-1])
            for call, turns in turns_by_call(story).items()
            for turn in turns
        ]
    }


def _turn_row(run_id: str, turn: Turn, *, over: bool) -> Row:
    """One exchange; `over` tells whether its call went on, or ended, after it."""
    number = _NUMBER.search(turn.call_id)
    sent = turn.sent
    return {
        "run_id": run_id,
        "turn_id": turn.call_id,
        "call_id": call_of(turn.call_id),
        "turn": int(number[1]) if number else None,
        "model": sent.model if sent else None,
        "status": "completed" if turn.replied else "failed" if over else "in-flight",
        **_reply_row(turn.replied),
        "request_sha256": sent.request_sha256 if sent else None,
        "requested_at": turn.sent_at,
        "replied_at": turn.replied_at,
        "n_added": len(sent.added) if sent else None,
        "n_tools": len(sent.tools) if sent else None,
    }


def _reply_row(reply: TurnReplied | None) -> Row:
    return {
        "stop_reason": _message_text(reply, "stop_reason"),
        **usage_row(reply.usage if reply else None),
        "duration_ms": reply.duration_ms if reply else None,
        "source": reply.source if reply else None,
        "batch": reply.batch if reply else None,
        "message_id": _message_text(reply, "id"),
    }


def _message_text(reply: TurnReplied | None, name: str) -> str | None:
    """A field of the endpoint's message, which may hold anything; None for what is no text."""
    told = reply.message.get(name) if reply else None
    return told if isinstance(told, str) else None

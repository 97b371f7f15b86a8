"""The rows of calls and of the tools used in them, from the log of a run of any kind (rules A12, E1, E4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

from verifyplan.frames.log_events import Row, RunEvents, instant
from verifyplan.frames.runset import Rows
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event_cross import DispatchClosed
from verifyplan.protocol.event_plan import AgentFailed, EntryRefused
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested, TurnReplied, TurnSent, call_of
from verifyplan.protocol.role_call import Role
from verifyplan.rules.ballots import read_votes, unread_votes
from verifyplan.rules.debate import ROLE_OF_TYPE
from verifyplan.runlog.debate_state import fold_debate

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


Ended = CallReplied | CallFailed | None
"""How a call ended; None where the log ends before."""

_PLAN_ROLES = frozenset(get_args(Role))
_ROLE_OF_MESSAGE: dict[str, str] = {str(kind): role for kind, role in ROLE_OF_TYPE.items()}
_MESSAGE = re.compile(rf"t\d{{1,9}}/({'|'.join(ROLE_OF_TYPE)})")
_ITERATION = re.compile(r"i(\d{1,9})/")


def call_rows(story: RunEvents) -> Rows:
    """One row a call, in the order of requests, and one a tool use, in the order in which the calls ended."""
    asked = {event.call_id: event for event in story.of(CallRequested)}
    ended = ends(story)
    turns, times = turns_by_call(story), _times(story)
    faults = {event.call_id: "; ".join(parts) for event in story.of(CallReplied) if (parts := event.partial_failures)}
    faults |= _refused_entries(story) | {event.call_id: event.reason for event in story.of(AgentFailed)}
    faults |= _debate_faults(story) | _worker_faults(story, ended)
    calls = [
        {
            **_id_row(story.run_id, call_id),
            **_request_row(asked.get(call_id)),
            **_end_row(ended.get(call_id), turns.get(call_id, ()), faults.get(call_id)),
            "requested_at": times.get((call_id, False)),
            "replied_at": times.get((call_id, True)),
        }
        for call_id in dict.fromkeys([*asked, *ended])
    ]
    tools = [
        {"run_id": story.run_id, "call_id": call_id, "step": step, **use.model_dump()}
        for call_id in dict.fromkeys([*ended, *asked])
        for step, use in enumerate(tools_used(ended.get(call_id), turns.get(call_id, ())), start=1)
    ]
    return {"calls": calls, "tools": tools}


def _refused_entries(story: RunEvents) -> dict[str, str]:
    """How many entries of an agent's answer were refused, and why the first was, by call."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for event in story.of(EntryRefused):
        reasons[event.call_id].append(f"{event.field}/{event.position}: {event.reason}")
    return {name: f"{len(why)} of its entries refused, the first at {why[0]}" for name, why in reasons.items()}


def _worker_faults(story: RunEvents, ended: dict[str, CallReplied | CallFailed]) -> dict[str, str]:
    """What was wrong with workers' answers, by call: a dispatch of several calls tells it of all of them together."""
    calls: dict[str, list[CallReplied]] = defaultdict(list)
    for asked in story.of(CallRequested):
        if isinstance(end := ended.get(asked.call_id), CallReplied):
            calls[asked.worker].append(end)
    return {
        call.call_id: closed.reason
        for closed in story.of(DispatchClosed)
        if closed.reason is not None
        for call in calls[closed.worker]
        if re.fullmatch(rf"{re.escape(_call_of(closed))}(/p\d+)?", call.call_id)
        and (closed.status != "completed" or not _is_answer(call.value))
    }


def _debate_faults(story: RunEvents) -> dict[str, str]:
    """What was wrong with the answer that ended a debate; the last call is the one that failed."""
    asked, outcome = story.of(CallRequested), fold_debate(story.events).outcome
    if not asked or outcome is None or outcome.reason != "AGENT_FAILED":
        return {}
    last = asked[-1].call_id
    return {last: outcome.exit_reason.removeprefix(f"{last}: ")}


def _call_of(closed: DispatchClosed) -> str:
    """The id of a dispatch's call, or that under which its several calls stand."""
    if closed.part == "challenges":
        return f"i{closed.iteration}/panel/r{closed.round}/{closed.worker}"
    return f"{'p' if closed.part == 'plan-body' else 'r'}{closed.round}/{closed.worker}"


def _is_answer(value: object) -> bool:
    votes = read_votes(value)
    return not isinstance(votes, str) and unread_votes(votes) is None


def _times(story: RunEvents) -> dict[tuple[str, bool], str | None]:
    """When each call was asked (False) and ended (True)."""
    return {
        (record.event.call_id, not isinstance(record.event, CallRequested)): instant(record.at)
        for record in story.records
        if isinstance(record.event, CallRequested | CallReplied | CallFailed)
    }


def _id_row(run_id: str, call_id: str) -> Row:
    """What the id says of where a call stands: `i2/challenger`, `i2/panel/r1/ann`, `t2/verify`, `r1/ann/p2`."""
    if said := _MESSAGE.fullmatch(call_id):
        return {"run_id": run_id, "call_id": call_id, "iteration": 0, "role": _ROLE_OF_MESSAGE[said[1]]}
    told = _ITERATION.match(call_id)
    role = call_id[told.end() :].split("/")[0] if told else "worker"
    return {
        "run_id": run_id,
        "call_id": call_id,
        "iteration": int(told[1]) if told else 0,
        "role": role if role in _PLAN_ROLES else "worker",
    }


def _request_row(event: CallRequested | None) -> Row:
    return {
        "worker": event.worker if event else None,
        "items": list(event.items) if event else [],
        "request_sha256": event.request_sha256 if event else None,
    }


def _end_row(end: Ended, turns: Sequence[Turn], fault: str | None) -> Row:
    if isinstance(end, CallFailed):
        status: str = end.status
    else:
        status = "in-flight" if end is None else "completed"
    tools, usage = tools_used(end, turns), _usage(end, turns)
    return {
        "status": status,
        "duration_ms": end.duration_ms if end else None,
        **usage_row(usage),
        "model": ", ".join(dict.fromkeys(turn.sent.model for turn in turns if turn.sent)) or None,
        "n_turns": len(turns),
        "source": end.source if isinstance(end, CallReplied) else None,
        "reason": end.reason if isinstance(end, CallFailed) else fault,
        "n_tools": len(tools) if tools or usage else None,
    }


def _usage(end: Ended, turns: Sequence[Turn]) -> Usage | None:
    """What a call used; None where nobody counted: agents without turns tell it with their reply alone."""
    if isinstance(end, CallReplied):
        return end.usage
    if end is None:
        return added_usage(turns) if turns else None
    return end.usage if turns or end.usage.total or end.status == "budget" else None


def tools_used(end: Ended, turns: Sequence[Turn]) -> tuple[ToolUse, ...]:
    """Return the tool calls behind a call, also behind one that is in flight; refused ones included."""
    return end.tools if end else tuple(use for turn in turns if turn.sent for use in turn.sent.tools)

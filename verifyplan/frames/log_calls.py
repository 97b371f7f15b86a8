"""The rows of calls, of their turns and of the tools used in them, from the log of any run (rules A12, E1, E4).

Agents that are models speak in turns: each is one exchange with the endpoint.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, get_args

from pydantic_core import to_json

from verifyplan.frames.log_events import LogEvents, attributes, instant
from verifyplan.frames.runset import ColumnLists, TableLists
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event_cross import PLAN_BODY, DispatchClosed
from verifyplan.protocol.event_plan import AgentFailed, EntryRefused
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested, TurnReplied, TurnSent, call_of
from verifyplan.protocol.role_call import Role
from verifyplan.rules.answers import read_votes, unread_votes
from verifyplan.rules.debate import ROLE_OF_TYPE
from verifyplan.rules.failed_calls import failure_kind
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import CountedRecords
from verifyplan.runlog.debate_state import fold_debate

CallEnd = CallReplied | CallFailed

_PLAN_ROLES = frozenset(get_args(Role))
_ROLE_OF_MESSAGE: dict[str, str] = {str(kind): role for kind, role in ROLE_OF_TYPE.items()}
_MESSAGE = re.compile(rf"t\d{{1,9}}/({'|'.join(ROLE_OF_TYPE)})")
_ITERATION = re.compile(r"i(\d{1,9})/")
_USAGE = tuple(name for name in Usage.model_fields if name != "uncounted")
_TOOL_USE = tuple(ToolUse.model_fields)
_OF_SENT = ("model", "answer_form", "request_sha256")
_OF_REPLY = ("duration_ms", "source", "batch")
_IGNORED = ("schema_ignored", "json_fenced", "tools_unused")
_OF_CALLS = frozenset(("call-requested", "call-replied", "call-failed", "turn-sent", "turn-replied"))
_FIRST_TURN = "/t1"
_FENCED_JSON = re.compile(r"```\w*\s*\{")
_TURN_NUMBER = re.compile(r"/t(\d{1,9})(?:/w\d+)?$")


class Turn(NamedTuple):
    """One exchange of a call, as far as the log has it."""

    call_id: str
    sent: TurnSent | None
    replied: TurnReplied | None
    sent_at: str | None
    replied_at: str | None
    sent_before: TurnSent | None = None
    """What was sent before a reopening, of an exchange whose reply came after it."""

    @property
    def request(self) -> TurnSent | None:
        """The request, whenever it was sent."""
        return self.sent or self.sent_before


class ReopeningRecords(NamedTuple):
    """The records of calls that were asked in one reopening, or before any."""

    reopening: int
    records: Sequence[Record]
    counts: Callable[[str], bool]
    """Says of a call whether it counts as it was asked then."""


def parts_of(log: LogEvents) -> list[ReopeningRecords]:
    """Return the records of a log in parts in which no call is asked twice; one part, where nothing was reopened."""
    if log.all_records is log.records:
        return [
            ReopeningRecords(0, [record for record in log.records if record.event.type in _OF_CALLS], lambda _: True)
        ]
    counted = CountedRecords(log.all_records)
    parts: dict[int, list[Record]] = defaultdict(list)
    for position, record in enumerate(log.all_records):
        if record.event.type in _OF_CALLS and position not in counted.repeated_requests:
            parts[counted.reopenings.get(position, 0)].append(record)
    return [
        ReopeningRecords(number, parts[number], partial(counted.counts, reopening=number))
        for number in sorted(parts) or [0]
    ]


def turns_by_call(records: Iterable[Record], before: dict[str, TurnSent] | None = None) -> dict[str, list[Turn]]:
    """Return the exchanges of each call that has any, in the order in which the records first name them.

    `before` has what earlier parts of the log sent, and takes in what these records send.
    """
    before = {} if before is None else before
    sent: dict[str, tuple[TurnSent, str | None]] = {}
    replied: dict[str, tuple[TurnReplied, str | None]] = {}
    for record in records:
        event = record.event
        if event.type == "turn-sent":
            sent[event.call_id] = event, instant(record.at)
        elif event.type == "turn-replied":
            replied[event.call_id] = event, instant(record.at)
    calls: dict[str, list[Turn]] = {}
    for name in dict.fromkeys([*sent, *replied]):
        request, sent_at = sent.get(name, (None, None))
        reply, replied_at = replied.get(name, (None, None))
        calls.setdefault(call_of(name), []).append(Turn(name, request, reply, sent_at, replied_at, before.get(name)))
    before.update((name, request) for name, (request, _) in sent.items())
    return calls


def call_ends(records: Iterable[Record]) -> dict[str, CallEnd]:
    """Return how each call ended, in the order in which they did."""
    return {e.call_id: e for _, _, e in records if e.type in ("call-replied", "call-failed")}


def tools_used(end: CallEnd | None, turns: Sequence[Turn], *, of_turns: bool = False) -> tuple[ToolUse, ...]:
    """Return the tool calls behind a call, also behind one that is in flight; refused ones included.

    Those `of_turns` alone leave out what a call used before a reopening, from which it went on.
    """
    by_turns = tuple(use for turn in turns if turn.sent for use in turn.sent.tools)
    return by_turns if end is None or (of_turns and turns) else end.tools


def opened_for(sent: TurnSent | None) -> tuple[ToolUse, ...]:
    """Return the uses of Read that were made before the first message of a call, which shows what they opened."""
    return sent.tools if sent and sent.call_id.endswith(_FIRST_TURN) else ()


def n_opened(turns: Sequence[Turn]) -> int:
    """Return how many uses of Read were made before the first message of a call."""
    return sum(len(opened_for(turn.sent)) for turn in turns)


def _turn_columns(
    run_id: str, reopening: int, turns: Mapping[str, Sequence[Turn]], ended: Container[str]
) -> ColumnLists:
    """Return the columns of all exchanges of some calls; `ended` has the calls that ended."""
    every = [turn for of_call in turns.values() for turn in of_call]
    last = {of_call[-1].call_id for call, of_call in turns.items() if call not in ended}  # in flight without a reply
    sent, replies, ids = [turn.request for turn in every], [turn.replied for turn in every], [t.call_id for t in every]
    opened = [len(opened_for(turn.sent)) for turn in every]
    return {
        "run_id": [run_id] * len(every),
        "turn_id": ids,
        "call_id": [call for call, of_call in turns.items() for _ in of_call],
        "reopening": [reopening] * len(every),
        "turn": [int(number[1]) if (number := _TURN_NUMBER.search(turn)) else None for turn in ids],
        **{name: [getattr(each, name) if each else None for each in sent] for name in _OF_SENT},
        **{name: [getattr(each, name) if each else None for each in replies] for name in _OF_REPLY},
        "model_replied": [_message_text(reply, "model") for reply in replies],
        "status": [
            "completed" if turn.replied else "in-flight" if turn.call_id in last else "failed" for turn in every
        ],
        "stop_reason": [_message_text(reply, "stop_reason") for reply in replies],
        **_usage_columns([reply.usage if reply else None for reply in replies]),
        "message_id": [_message_text(reply, "id") for reply in replies],
        "reply_sha256": list(map(_reply_digest, replies)),
        "requested_at": [turn.sent_at for turn in every],
        "replied_at": [turn.replied_at for turn in every],
        "n_added": [len(each.added) if each else None for each in sent],
        "n_tools": [len(each.tools) - n if each else None for each, n in zip(sent, opened, strict=True)],
        "n_opened": [n if each else None for each, n in zip(sent, opened, strict=True)],
    }


def _message_text(reply: TurnReplied | None, name: str) -> str | None:
    """Return a field of the endpoint's message, which may hold anything; None for what is no text."""
    value = reply.message.get(name) if reply else None
    return value if isinstance(value, str) else None


def _reply_digest(reply: TurnReplied | None) -> str | None:
    """Return the digest of a reply's texts and tool calls, without their ids; None where it has none."""
    content = reply.message.get("content") if reply else None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    said = [
        block.get("text") if block.get("type") == "text" else [block.get("name"), block.get("input")]
        for block in blocks
        if block.get("type") in ("text", "tool_use")
    ]
    return hashlib.sha256(to_json(said)).hexdigest() if said else None


def _usage_columns(usages: Sequence[Usage | None]) -> ColumnLists:
    """Return the columns of what was used; all missing for None, and where nothing of it could be read."""
    usages = [None if usage is not None and usage.uncounted and not usage.total else usage for usage in usages]
    columns = {name: [getattr(usage, name) if usage else None for usage in usages] for name in _USAGE}
    return columns | {"cost": [None if cost is None else float(cost) for cost in columns["cost"]]}


def call_columns(log: LogEvents) -> TableLists:
    """Return the columns of calls, in the order of requests, of their turns, and of tool uses, as the calls ended.

    Turns come call by call, in the order of the log; agents that speak in no turns have none. A call that was asked
    again after a reopening has a row for each time.
    """
    faults, before = _faults(log), dict[str, TurnSent]()
    parts = [_columns_of(part, log, faults, before) for part in parts_of(log)]
    if len(parts) == 1:
        return parts[0]
    names = {table: list(columns) for table, columns in parts[0].items()}
    return {
        table: {name: [value for part in parts for value in part[table][name]] for name in columns}
        for table, columns in names.items()
    }


def _columns_of(
    part: ReopeningRecords, log: LogEvents, faults: Mapping[str, str], before: dict[str, TurnSent]
) -> TableLists:
    """Return the columns of one part of a log; `faults` are those of calls that count, `before` is of earlier parts."""
    requests: dict[str, CallRequested] = {}
    ended: dict[str, CallEnd] = {}
    requested_at: dict[str, str | None] = {}
    replied_at: dict[str, str | None] = {}
    for _, at, event in part.records:
        match event.type:
            case "call-requested":
                requests[event.call_id], requested_at[event.call_id] = event, instant(at)
            case "call-replied" | "call-failed":
                ended[event.call_id], replied_at[event.call_id] = event, instant(at)
    turns, is_later = turns_by_call(part.records, before), part.reopening > 0
    opened = {call_id: n_opened(of_call) for call_id, of_call in turns.items()}
    used = {
        call_id: tools_used(ended.get(call_id), turns.get(call_id, ()), of_turns=is_later)
        for call_id in dict.fromkeys([*ended, *requests])
    }
    ids = list(dict.fromkeys([*requests, *ended]))
    asked, ends, of_calls = list(map(requests.get, ids)), list(map(ended.get, ids)), [turns.get(i, ()) for i in ids]
    counts, places = list(map(part.counts, ids)), list(map(_place_of, ids))
    usages = [_usage(end, of_call, is_later) for end, of_call in zip(ends, of_calls, strict=True)]
    ignored = list(map(_ignored, of_calls))
    calls: ColumnLists = {
        "run_id": [log.run_id] * len(ids),
        "call_id": ids,
        "reopening": [part.reopening] * len(ids),
        "superseded": [not each for each in counts],
        "iteration": [iteration for iteration, _ in places],
        "role": [role for _, role in places],
        "worker": [request.worker if request else None for request in asked],
        "items": [list(request.items) if request else [] for request in asked],
        "request_sha256": [request.request_sha256 if request else None for request in asked],
        **_end_columns(ends, [faults.get(each) if count else None for each, count in zip(ids, counts, strict=True)]),
        **_usage_columns(usages),
        "model": [", ".join(dict.fromkeys(t.request.model for t in each if t.request)) or None for each in of_calls],
        "n_turns": list(map(len, of_calls)),
        "n_tools": [
            len(used[each]) - opened.get(each, 0) if used[each] or usage else None
            for each, usage in zip(ids, usages, strict=True)
        ],
        "n_opened": list(map(opened.get, ids)),
        **{name: [each[place] for each in ignored] for place, name in enumerate(_IGNORED)},
        "requested_at": list(map(requested_at.get, ids)),
        "replied_at": list(map(replied_at.get, ids)),
    }
    turn_columns = _turn_columns(log.run_id, part.reopening, turns, ended)
    return {"calls": calls, "turns": turn_columns, "tools": _tool_columns(log.run_id, part.reopening, used, opened)}


def _tool_columns(
    run_id: str, reopening: int, used: Mapping[str, Sequence[ToolUse]], opened: Mapping[str, int]
) -> ColumnLists:
    """Return the columns of the tool uses of each call, in their order."""
    uses = [use for of_call in used.values() for use in of_call]
    steps = [(call_id, step) for call_id, of_call in used.items() for step in range(1, len(of_call) + 1)]
    return {
        "run_id": [run_id] * len(uses),
        "call_id": [call_id for call_id, _ in steps],
        "reopening": [reopening] * len(uses),
        "step": [step for _, step in steps],
        **attributes(uses, *_TOOL_USE),
        "opened": [step <= opened.get(call_id, 0) for call_id, step in steps],
    }


@lru_cache(maxsize=10_000)  # runs of the same kind have the same ids
def _place_of(call_id: str) -> tuple[int, str]:
    """Return the iteration and role that a call's id names: `i2/challenger`, `i2/panel/r1/ann`, `t2/verify`."""
    if message := _MESSAGE.fullmatch(call_id):
        return 0, _ROLE_OF_MESSAGE[message[1]]
    iteration = _ITERATION.match(call_id)
    role = call_id[iteration.end() :].split("/")[0] if iteration else "worker"
    return int(iteration[1]) if iteration else 0, role if role in _PLAN_ROLES else "worker"


def _end_columns(ends: Sequence[CallEnd | None], faults: Sequence[str | None]) -> ColumnLists:
    failed = [end if end and end.type == "call-failed" else None for end in ends]
    return {
        "status": [
            "in-flight" if end is None else end.status if end.type == "call-failed" else "completed" for end in ends
        ],
        "duration_ms": [end.duration_ms if end else None for end in ends],
        "source": [end.source if end and end.type == "call-replied" else None for end in ends],
        "reason": [end.reason if end else fault for end, fault in zip(failed, faults, strict=True)],
        "failure": [failure_kind(end.status, end.reason) if end else None for end in failed],
    }


def _ignored(turns: Sequence[Turn]) -> tuple[bool | None, bool | None, bool | None]:
    """Return what an endpoint may have ignored: a schema, where a text is no bare object, perhaps fenced; tools."""
    own = [turn for turn in turns if turn.call_id.rpartition("/")[2].startswith("t")]  # a look at the web has no schema
    ended = [turn for turn in own if _message_text(turn.replied, "stop_reason") == "end_turn"]
    by_schema = [turn.replied for turn in ended if turn.request and turn.request.answer_form in ("schema", "both")]
    texts = [text for reply in by_schema if reply and (text := "".join(_texts(reply)).strip())]
    offered = any(turn.request.offered for turn in own if turn.request and turn.request.offered is not None)
    used = any(turn.request and turn.request.tools for turn in turns if turn is not turns[0])
    free = [text for text in texts if text[0] != "{"]
    return (
        bool(free) if texts else None,
        all(_FENCED_JSON.search(text) for text in free) if free else None,
        not used if offered and ended else None,
    )


def _texts(reply: TurnReplied) -> Iterator[str]:
    """Yield the texts of a message, which may hold anything."""
    content = reply.message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _usage(end: CallEnd | None, turns: Sequence[Turn], of_turns: bool) -> Usage | None:
    """Return what a call used; None where nobody counted: agents without turns tell it with their reply alone."""
    if end is None or (of_turns and turns):
        return sum((turn.replied.usage for turn in turns if turn.replied), Usage()) if turns else None
    if end.type == "call-replied":
        return end.usage
    return end.usage if turns or end.usage.total or end.status == "budget" else None


def _faults(log: LogEvents) -> dict[str, str]:
    """Return what was wrong with the answer of each call that has a fault."""
    faults = {event.call_id: "; ".join(parts) for event in log.of(CallReplied) if (parts := event.partial_failures)}
    refused: dict[str, list[str]] = defaultdict(list)
    for event in log.of(EntryRefused):
        refused[event.call_id].append(f"{event.field}/{event.position}: {event.reason}")
    faults |= {name: f"{len(why)} of its entries refused, the first at {why[0]}" for name, why in refused.items()}
    faults |= {event.call_id: event.reason for event in log.of(AgentFailed)}
    requests = log.of(CallRequested)
    outcome = fold_debate(log.events).outcome if log.started.inputs.kind == "debate" else None
    if requests and outcome is not None and outcome.reason == "AGENT_FAILED":  # the last call is the one that failed
        last = requests[-1].call_id
        faults[last] = outcome.exit_reason.removeprefix(f"{last}: ")
    return faults | _worker_faults(log)


def _worker_faults(log: LogEvents) -> dict[str, str]:
    """Return what was wrong with workers' answers, by call; a dispatch of several calls has one reason for them all."""
    wrong = [(closed, closed.reason) for closed in log.of(DispatchClosed) if closed.reason is not None]
    ended = call_ends(log.records) if wrong else {}
    calls: dict[str, list[CallReplied]] = defaultdict(list)
    for request in log.of(CallRequested) if wrong else ():
        if (end := ended.get(request.call_id)) and end.type == "call-replied":
            calls[request.worker].append(end)
    return {
        call.call_id: reason
        for closed, reason in wrong
        for call in calls[closed.worker]
        if re.fullmatch(rf"{re.escape(_call_of_dispatch(closed))}(/p\d+)?", call.call_id)
        and (closed.status != "completed" or not _is_answer(call.value))
    }


def _call_of_dispatch(closed: DispatchClosed) -> str:
    """Return the id of a dispatch's call, or the prefix of its several calls."""
    if closed.part == "challenges":
        return f"i{closed.iteration}/panel/r{closed.round}/{closed.worker}"
    return f"{'p' if closed.part == PLAN_BODY else 'r'}{closed.round}/{closed.worker}"


def _is_answer(value: object) -> bool:
    votes = read_votes(value)
    return not isinstance(votes, str) and unread_votes(votes) is None

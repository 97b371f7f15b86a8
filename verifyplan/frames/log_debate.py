"""The rows of a debate's log: the run, and its messages (rules C1, C3, E4)."""

from __future__ import annotations

import hashlib

from verifyplan.frames.log_events import LogEvents, Row, columns_of, instant
from verifyplan.frames.runset import TableLists
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.runlog.debate_state import fold_debate


def debate_columns(log: LogEvents) -> TableLists:
    """Return the columns of the run and its messages, each with the diff as it is after the message."""
    state = fold_debate(log.events)
    outcome = state.outcome
    run = {
        **log.run_row(),
        "exit_reason": (outcome.exit_reason or None) if outcome else None,
        "debate_status": outcome.status if outcome else None,
        "debate_reason": outcome.reason if outcome else None,
        "debate_turns": state.turns,
        "max_turns": state.inputs.max_turns,
    }
    rows: list[Row] = []
    diff: str | None = None
    for record in log.records:
        if isinstance(record.event, MessagePublished):
            diff = diff if record.event.diff is None else record.event.diff
            rows.append(_message(log.run_id, len(rows) + 1, record.event, diff, instant(record.at)))
    return {"runs": columns_of([run]), "messages": columns_of(rows)}


def _message(run_id: str, position: int, event: MessagePublished, diff: str | None, at: str | None) -> Row:
    message, used = event.message, event.message.budgetTrace
    lists = {name: list(getattr(message, name)) for name in ("reasons", "evidence", "risks")}
    return {
        "run_id": run_id,
        "position": position,
        "turn": message.turn,
        "role": message.role,
        "type": message.type,
        "content": message.content,
        **lists,
        **{f"n_{name}": len(entries) for name, entries in lists.items()},
        "input_tokens": used.inputTokens if used else None,
        "output_tokens": used.outputTokens if used else None,
        "diff_sha256": hashlib.sha256(diff.encode()).hexdigest() if diff is not None else None,
        "diff_lines": len(diff.splitlines()) if diff is not None else None,
        "at": at,
    }

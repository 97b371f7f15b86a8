"""The rows of a debate's log: the run, and its messages (rules C1, C3, E4)."""

from __future__ import annotations

import hashlib

from verifyplan.frames.log_events import Row, RunEvents, instant
from verifyplan.frames.runset import Rows
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.runlog.debate_state import fold_debate


def debate_rows(story: RunEvents) -> Rows:
    """Every table of a debate but its calls, turns and tools."""
    return {"runs": [_run(story)], "messages": _messages(story)}


def _run(story: RunEvents) -> Row:
    state = fold_debate(story.events)
    outcome = state.outcome
    return {
        **story.run_row(),
        "exit_reason": (outcome.exit_reason or None) if outcome else None,
        "debate_status": outcome.status if outcome else None,
        "debate_reason": outcome.reason if outcome else None,
        "debate_turns": state.turns,
        "max_turns": state.inputs.max_turns,
    }


def _messages(story: RunEvents) -> list[Row]:
    """One row a message, with the diff as it stands after it."""
    rows: list[Row] = []
    diff: str | None = None
    for record in story.records:
        if isinstance(record.event, MessagePublished):
            diff = diff if record.event.diff is None else record.event.diff
            rows.append(_message(story.run_id, len(rows) + 1, record.event, diff, instant(record.at)))
    return rows


def _message(run_id: str, position: int, event: MessagePublished, diff: str | None, at: str | None) -> Row:
    message, used = event.message, event.message.budgetTrace
    return {
        "run_id": run_id,
        "position": position,
        "turn": message.turn,
        "role": message.role,
        "type": message.type,
        "content": message.content,
        "reasons": list(message.reasons),
        "evidence": list(message.evidence),
        "risks": list(message.risks),
        "n_reasons": len(message.reasons),
        "n_evidence": len(message.evidence),
        "n_risks": len(message.risks),
        "input_tokens": used.inputTokens if used else None,
        "output_tokens": used.outputTokens if used else None,
        "diff_sha256": hashlib.sha256(diff.encode()).hexdigest() if diff is not None else None,
        "diff_lines": len(diff.splitlines()) if diff is not None else None,
        "at": at,
    }

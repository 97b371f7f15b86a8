"""The events of votes on findings and challenges, in plain words."""

from __future__ import annotations

from verifyplan.protocol.event_cross import (
    DispatchClosed,
    FindingClassified,
    FindingGrouped,
    FindingQueued,
    RoundClosed,
    VoteCast,
    VoteRefused,
)
from verifyplan.reports.log_run import listed, said
from verifyplan.text import counted

CrossEvent = FindingGrouped | FindingQueued | DispatchClosed | VoteCast | VoteRefused | FindingClassified | RoundClosed


def told_of_votes(event: CrossEvent) -> str:
    """One event in plain words; `part` is named where it is not plain from the id."""
    match event:
        case FindingGrouped():
            merged = f", merged with {listed(event.merged_ids)}" if event.merged_ids else ""
            by = f" found by {listed(event.discoverers)}" if event.discoverers else ""
            return f"{said(event.finding_id)} ({event.part}){by}{merged}: {said(event.summary)}"
        case FindingQueued():
            return f"{said(event.finding_id)} ({event.part}) waits for votes"
        case DispatchClosed():
            return _dispatch(event)
        case VoteCast():
            filled = ", filled in" if event.basis_filled else ""
            basis = f" ({event.disagree_basis}{filled})" if event.disagree_basis else ""
            return (
                f"{said(event.worker)} on {said(event.finding_id)}: {event.verdict}{basis}: {said(event.explanation)}"
            )
        case VoteRefused():
            return f"Vote of {said(event.worker)} on {said(event.finding_id)} refused: {said(event.reason)}"
        case FindingClassified():
            how = "at the end" if event.final else f"in round {event.round}"
            return f"{said(event.finding_id)} is {event.classification} {how} (rule {said(event.rule)})"
        case RoundClosed():
            queue = (
                f"{event.resolved_count} of {event.input_queue_size} settled, {event.carried_forward_count} carried on"
            )
            return f"Round {event.round} of {event.part} closed: {queue}"


def _dispatch(event: DispatchClosed) -> str:
    after = f" after {counted(event.duration_ms, 'millisecond')}" if event.duration_ms is not None else ""
    skipped = f", skipped: {said(event.skipped)}" if event.skipped else ""
    reason = f" ({said(event.reason)})" if event.reason else ""
    status = event.status or "not asked"
    return f"Round {event.round}, {said(event.worker)}: {status}{after}{skipped}{reason}"

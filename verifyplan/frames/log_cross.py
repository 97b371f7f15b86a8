"""The rows of a cross run's log: those of its artifact, and what the artifact leaves out (rules B9, B10, E4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifyplan.frames.log_events import (
    Row,
    RunEvents,
    dispatch_rows,
    round_rows,
    vote_rows,
)
from verifyplan.frames.runset import Rows
from verifyplan.protocol.event_cross import FindingGrouped, VoteCast
from verifyplan.protocol.vote import Verdict
from verifyplan.rules.ballots import sides
from verifyplan.runlog.cross_state import CrossState, fold_cross


def cross_rows(story: RunEvents) -> Rows:
    """Runs, findings, votes, rounds and dispatches; items of a plan body are findings of their own category.

    Rounds and dispatches are those of the findings, as in an artifact; those of a plan body are among the calls.
    """
    state, run_id = fold_cross(story.events), story.run_id
    groups = [group for part in state.groups.values() for group in part.values()]
    cast = {(group.part, group.finding_id): _cast(state, group) for group in groups}
    dispatches = [d for (part, _), closed in state.dispatches.items() if part == "findings" for d in closed]
    return {
        "runs": [_run(story, state)],
        "findings": [_finding(run_id, state, group, story.started.cross.analysers) for group in groups],
        "votes": [
            row for group in groups for row in vote_rows(run_id, cast[group.part, group.finding_id], group.discoverers)
        ],
        "rounds": round_rows(run_id, state.rounds["findings"]),
        "dispatches": dispatch_rows(run_id, dispatches),
    }


def _run(story: RunEvents, state: CrossState) -> Row:
    settings, outcome = story.started.cross.settings, state.outcome
    mode = settings.get("verificationMode")
    return {
        **story.run_row(),
        "mode": "adversarial" if settings.get("adversarial") else "collaborative",
        "verification_mode": mode,
        "schema_version": "1.2",
        "enabled": settings.get("enabled"),
        "max_rounds": settings.get("maxRounds"),
        "effective_max_rounds": _allowed_rounds(settings),
        "total_rounds": len(state.rounds["findings"]),
        "final_state": outcome.final_state if outcome else None,
        "round2_skipped_reason": outcome.round2_skipped_reason if outcome else None,
        "n_findings": len(state.groups["findings"]),
    }


def _allowed_rounds(settings: Mapping[str, Any]) -> Any:
    return settings.get("effectiveMaxRounds", settings.get("maxRounds"))


def _cast(state: CrossState, group: FindingGrouped) -> list[VoteCast]:
    rounds = state.votes.get((group.part, group.finding_id), {})
    return [vote for votes in rounds.values() for vote in votes.values()]


def _finding(run_id: str, state: CrossState, group: FindingGrouped, roster: tuple[str, ...]) -> Row:
    key = (group.part, group.finding_id)
    rounds = state.votes.get(key, {})
    cast: list[dict[str, Verdict]] = [{w: v.verdict for w, v in votes.items()} for votes in rounds.values()]
    consensus, dissenting = sides(roster, group.discoverers, cast)
    classified = state.classes.get(key)
    return {
        "run_id": run_id,
        "finding_id": group.finding_id,
        "summary": group.summary,
        "category": "plan-body" if group.part == "plan-body" else group.category,
        "evidence": group.evidence,
        "ticket_ids": list(group.ticket_ids),
        "origin_worker": group.discoverers[0] if group.discoverers else None,
        "discoverers": list(group.discoverers),
        "classification": classified.classification if classified else None,
        "consensus_workers": list(consensus),
        "dissenting_workers": list(dissenting),
        "n_rounds": len(rounds),
        "truth": group.truth,
    }

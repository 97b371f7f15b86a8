"""The rows of a cross run's log: those of its artifact, and what the artifact leaves out (rules B9, B10, E4)."""

from __future__ import annotations

from verifyplan.frames.log_events import Row, RunEvents, dispatch_rows, round_rows, vote_rows
from verifyplan.frames.runset import Rows
from verifyplan.protocol.event_cross import FindingGrouped
from verifyplan.protocol.vote import Verdict
from verifyplan.rules.ballots import sides
from verifyplan.runlog.cross_state import CrossState, fold_cross


def cross_rows(log: RunEvents) -> Rows:
    """Return runs, findings, votes, rounds and dispatches; plan-body items are findings of their own category.

    Rounds and dispatches are those of the findings, as in an artifact; those of a plan body are among the calls.
    """
    state, run_id = fold_cross(log.events), log.run_id
    groups = [group for part in state.groups.values() for group in part.values()]
    dispatches = [d for (part, _), closed in state.dispatches.items() if part == "findings" for d in closed]
    votes: list[Row] = []
    for group in groups:
        rounds = state.votes.get((group.part, group.finding_id), {}).values()
        votes += vote_rows(run_id, (vote for cast in rounds for vote in cast.values()), group.discoverers)
    return {
        "runs": [_run(log, state)],
        "findings": [_finding(run_id, state, group, log.started.cross.analysers) for group in groups],
        "votes": votes,
        "rounds": round_rows(run_id, state.rounds["findings"]),
        "dispatches": dispatch_rows(run_id, dispatches),
    }


def _run(log: RunEvents, state: CrossState) -> Row:
    settings, outcome = log.started.cross.settings, state.outcome
    return {
        **log.run_row(),
        "mode": "adversarial" if settings.get("adversarial") else "collaborative",
        "verification_mode": settings.get("verificationMode"),
        "schema_version": "1.2",
        "enabled": settings.get("enabled"),
        "max_rounds": settings.get("maxRounds"),
        "effective_max_rounds": settings.get("effectiveMaxRounds", settings.get("maxRounds")),
        "total_rounds": len(state.rounds["findings"]),
        "final_state": outcome.final_state if outcome else None,
        "round2_skipped_reason": outcome.round2_skipped_reason if outcome else None,
        "n_findings": len(state.groups["findings"]),
    }


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

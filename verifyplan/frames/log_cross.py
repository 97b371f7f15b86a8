"""The rows of a cross run's log: those of its artifact, and what the artifact leaves out (rules B9, B10, E4)."""

from __future__ import annotations

import json

from verifyplan.frames.log_events import (
    LogEvents,
    Row,
    columns_of,
    dispatch_columns,
    finding_row,
    round_columns,
    rules_columns,
    vote_columns,
)
from verifyplan.frames.runset import TableLists
from verifyplan.protocol.event_cross import PLAN_BODY, VoteCast
from verifyplan.runlog.cross_state import CrossState, fold_cross


def cross_columns(log: LogEvents) -> TableLists:
    """Return runs, findings, votes, rounds and dispatches; plan-body items are findings of their own category.

    Rounds and dispatches are those of the findings, as in an artifact; those of a plan body are among the calls.
    """
    state, run_id = fold_cross(log.events), log.run_id
    dispatches = [d for (part, _), closed in state.dispatches.items() if part == "findings" for d in closed]
    findings: list[Row] = []
    votes: list[VoteCast] = []
    is_origin: list[bool] = []
    for group in (group for part in state.groups.values() for group in part.values()):
        key, name, discoverers = (group.part, group.finding_id), group.finding_id, group.discoverers
        cast = [vote for by_worker in state.votes.get(key, {}).values() for vote in by_worker.values()]
        facts: Row = {"summary": group.summary, "evidence": group.evidence, "truth": group.truth}
        facts["category"] = PLAN_BODY if group.part == PLAN_BODY else group.category
        facts["ticket_ids"] = list(group.ticket_ids)
        roster = log.started.cross.analysers
        findings.append(finding_row(run_id, name, cast, roster, state.classes.get(key), discoverers, **facts))
        votes += cast
        is_origin += [vote.worker in discoverers for vote in cast]
    return {
        "runs": columns_of([_run(log, state)]),
        "findings": columns_of(findings),
        "votes": vote_columns(run_id, votes, is_origin),
        "rounds": round_columns(run_id, state.rounds["findings"]),
        "dispatches": dispatch_columns(run_id, dispatches),
    }


def _run(log: LogEvents, state: CrossState) -> Row:
    inputs, outcome = log.started.cross, state.outcome
    settings = inputs.settings
    return {
        **log.run_row(),
        **rules_columns(inputs.rules),
        "roster": json.dumps(inputs.analysers, ensure_ascii=False),
        "supplementary": inputs.only is not None,
        "supplements": inputs.supplements,
        "mode": inputs.mode,
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

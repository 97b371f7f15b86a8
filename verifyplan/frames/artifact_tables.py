"""The columns of one state artifact's tables, as its log gives them (rules B9, E4)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.frames.log_events import Row, columns_of, rules_columns
from verifyplan.frames.runset import ColumnLists, TableLists
from verifyplan.protocol.artifact import Artifact, ArtifactConfig, ArtifactFinding, RoundRecord
from verifyplan.rules.citations import cites_location
from verifyplan.rules.invariants import rules_of


def artifact_columns(artifact: Artifact, run_id: str, source: str = "") -> TableLists:
    """Return the columns that one artifact gives, by table; `run_id` and `source` (its file) name it in them.

    >>> artifact = Artifact.model_validate({"schemaVersion": "1.1", "findings": [{"findingId": "F"}]})
    >>> artifact_columns(artifact, "r")["findings"]["finding_id"]
    ['F']
    """
    history = artifact.roundHistory or ()
    return {
        "runs": columns_of([_run(artifact, run_id, source)]),
        "findings": columns_of([_finding(finding, run_id) for finding in artifact.findings]),
        "votes": _votes(artifact.findings, run_id),
        "rounds": {
            "run_id": [run_id] * len(history),
            "round": [entry.round for entry in history],
            "input_queue_size": [entry.inputQueueSize for entry in history],
            "resolved_count": [entry.resolvedCount for entry in history],
            "carried_forward_count": [entry.carriedForwardCount for entry in history],
        },
        "dispatches": columns_of([row for entry in history for row in _dispatches(entry, run_id)]),
    }


def _run(artifact: Artifact, run_id: str, source: str) -> Row:
    row = _config(artifact.config)
    limit = row["effective_max_rounds"]
    return row | {
        "run_id": run_id,
        "kind": "cross",
        "task_key": artifact.taskKey,
        "schema_version": artifact.schemaVersion,
        "effective_max_rounds": artifact.totalRounds if limit is None else limit,
        "total_rounds": artifact.totalRounds,
        "final_state": artifact.finalState,
        "round2_skipped_reason": artifact.round2SkippedReason,
        "n_findings": len(artifact.findings),
        "source": source,
        "finished": True,
        "log": False,
    }


def _config(config: ArtifactConfig) -> Row:
    """Return the columns of `runs` that the config fills; older versions had only one limit of rounds, or none."""
    rules = rules_of(config)
    return {
        **(rules_columns(rules) if rules else {}),
        "supplementary": config.supplementary or False,
        "supplements": config.supplements,
        "mode": "adversarial" if config.adversarial else "collaborative",
        "verification_mode": config.verificationMode,
        "enabled": config.enabled,
        "max_rounds": config.maxRounds,
        "effective_max_rounds": config.maxRounds if config.effectiveMaxRounds is None else config.effectiveMaxRounds,
        "synthetic": bool((config.model_extra or {}).get("synthetic", False)),
    }


def _finding(finding: ArtifactFinding, run_id: str) -> Row:
    """Return the row of a finding; discoverers are the origin, and those of its consensus who never voted on it."""
    rounds, consensus = finding.rounds or (), finding.consensusWorkers or ()
    voters = {worker for entry in rounds for worker in entry.votes}
    origin = [finding.originWorker] if finding.originWorker is not None else []
    return {
        "run_id": run_id,
        "finding_id": finding.findingId,
        "summary": finding.summary,
        "category": finding.category,
        "evidence": finding.originEvidence,
        "ticket_ids": list(finding.ticketIds or ()),
        "origin_worker": finding.originWorker,
        "discoverers": list(dict.fromkeys([*origin, *(worker for worker in consensus if worker not in voters)])),
        "classification": finding.classification,
        "consensus_workers": list(consensus),
        "dissenting_workers": list(finding.dissentingWorkers or ()),
        "n_rounds": len(rounds),
    }


def _votes(findings: Sequence[ArtifactFinding], run_id: str) -> ColumnLists:
    votes = [
        (finding, entry.round, worker, vote)
        for finding in findings
        for entry in finding.rounds or ()
        for worker, vote in entry.votes.items()
    ]
    return {
        "run_id": [run_id] * len(votes),
        "finding_id": [finding.findingId for finding, *_ in votes],
        "round": [number for _, number, *_ in votes],
        "worker": [worker for *_, worker, _ in votes],
        "verdict": [vote.verdict for *_, vote in votes],
        "disagree_basis": [vote.disagreeBasis for *_, vote in votes],
        "explanation": [vote.explanation for *_, vote in votes],
        "is_origin": [worker == finding.originWorker for finding, _, worker, _ in votes],  # others never vote
        "uncited": [
            vote.disagreeBasis == "counter-evidence" and not cites_location(vote.explanation) for *_, vote in votes
        ],
    }


def _dispatches(entry: RoundRecord, run_id: str) -> list[Row]:
    """Return a row for each worker of a round: called, skipped, or both (a call that gave no result)."""
    rows: dict[str, Row] = {}
    absent: Row = {"status": None, "duration_ms": None, "skipped_reason": None}
    for dispatch in entry.dispatches or ():
        rows[dispatch.worker] = absent | {"status": dispatch.status, "duration_ms": dispatch.durationMs}
    for skip in entry.skippedWorkers or ():
        rows[skip.worker] = rows.get(skip.worker, absent) | {"skipped_reason": skip.reason}
    return [{"run_id": run_id, "round": entry.round, "worker": worker, **row} for worker, row in rows.items()]

"""The tables of one run, from its log or from its state artifact (rule E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from verifyplan.frames.columns import FIRST_TABLES
from verifyplan.frames.log_calls import call_rows, turn_rows
from verifyplan.frames.log_cross import cross_rows
from verifyplan.frames.log_debate import debate_rows
from verifyplan.frames.log_events import LogEvents, Row, rules_columns
from verifyplan.frames.log_plan import plan_rows
from verifyplan.frames.runset import Rows, RunSet, assemble
from verifyplan.protocol.artifact import Artifact, ArtifactFinding, RoundRecord
from verifyplan.rules.citations import cites_location
from verifyplan.rules.invariants import rules_of
from verifyplan.runlog.chain import Record


def tables_of(records: Sequence[Record], run_id: str, source: str = "") -> RunSet:
    """Return the tables of one run, from the records of its log; `run_id` and `source` name it in them.

    A run that has not ended gives the rows there are, and `runs.finished` is False. A fact that a log has twice, or
    without its other half, gives one row, or missing values. Raises ValueError for records that do not begin with a
    `run-started`. Source: rule E4.
    """
    return assemble([log_rows(records, run_id, source)])


def log_rows(records: Sequence[Record], run_id: str, source: str = "") -> Rows:
    """Return the rows that one log gives, by table."""
    log = LogEvents(records, run_id, source)
    kind_rows = {"cross": cross_rows, "plan": plan_rows, "debate": debate_rows}[log.started.inputs.kind]
    return {**kind_rows(log), **call_rows(log), **turn_rows(log)}


class ArtifactSource(NamedTuple):
    """One artifact with what it does not say itself: its run id, its file, and truth where that is known."""

    artifact: Artifact
    run_id: str
    path: str = ""
    truth: Mapping[str, bool | None] = {}


def to_tables(sources: Iterable[ArtifactSource]) -> RunSet:
    """Return artifacts as one RunSet, in the order given; raises TableError if two share a run id."""
    return assemble([artifact_rows(source) for source in sources])


def artifact_rows(source: ArtifactSource) -> dict[str, list[Row]]:
    """Return the rows that one artifact gives, by table."""
    rows: dict[str, list[Row]] = {name: [] for name in FIRST_TABLES}
    rows["runs"].append(_run(source))
    for finding in source.artifact.findings:
        origins = discoverers(finding)
        rows["findings"].append(_finding(source, finding, origins))
        rows["votes"].extend(_votes(source.run_id, finding, origins))
    for entry in source.artifact.roundHistory or ():
        rows["rounds"].append(
            {
                "run_id": source.run_id,
                "iteration": 0,
                "round": entry.round,
                "input_queue_size": entry.inputQueueSize,
                "resolved_count": entry.resolvedCount,
                "carried_forward_count": entry.carriedForwardCount,
            }
        )
        rows["dispatches"].extend(_dispatches(source.run_id, entry))
    return rows


def _run(source: ArtifactSource) -> Row:
    artifact, config = source.artifact, source.artifact.config
    limits = (config.effectiveMaxRounds, config.maxRounds, artifact.totalRounds)  # older versions had fewer of them
    return {
        **(rules_columns(rules) if (rules := rules_of(config)) else {}),
        "supplementary": config.supplementary or False,
        "supplements": config.supplements,
        "run_id": source.run_id,
        "kind": "cross",
        "task_key": artifact.taskKey,
        "mode": "adversarial" if artifact.adversarial else "collaborative",
        "verification_mode": config.verificationMode,
        "schema_version": artifact.schemaVersion,
        "enabled": config.enabled,
        "max_rounds": config.maxRounds,
        "effective_max_rounds": next((limit for limit in limits if limit is not None), None),
        "total_rounds": artifact.totalRounds,
        "final_state": artifact.finalState,
        "round2_skipped_reason": artifact.round2SkippedReason,
        "n_findings": len(artifact.findings),
        "synthetic": bool((config.model_extra or {}).get("synthetic", False)),
        "source": source.path,
        "finished": True,
        "log": False,
    }


def discoverers(finding: ArtifactFinding) -> tuple[str, ...]:
    """Return the origin, and those of the consensus who never voted on the finding (rule B9)."""
    voted = {worker for entry in finding.rounds or () for worker in entry.votes}
    silent = [worker for worker in finding.consensusWorkers or () if worker not in voted]
    origin = [finding.originWorker] if finding.originWorker is not None else []
    return tuple(dict.fromkeys([*origin, *silent]))


def _finding(source: ArtifactSource, finding: ArtifactFinding, origins: tuple[str, ...]) -> Row:
    return {
        "run_id": source.run_id,
        "finding_id": finding.findingId,
        "summary": finding.summary,
        "category": finding.category,
        "evidence": finding.originEvidence,
        "ticket_ids": list(finding.ticketIds or ()),
        "origin_worker": finding.originWorker,
        "discoverers": list(origins),
        "classification": finding.classification,
        "consensus_workers": list(finding.consensusWorkers or ()),
        "dissenting_workers": list(finding.dissentingWorkers or ()),
        "n_rounds": len(finding.rounds or ()),
        "truth": source.truth.get(finding.findingId),
    }


def _votes(run_id: str, finding: ArtifactFinding, origins: tuple[str, ...]) -> Iterable[Row]:
    for entry in finding.rounds or ():
        for worker, vote in entry.votes.items():
            yield {
                "run_id": run_id,
                "iteration": 0,
                "finding_id": finding.findingId,
                "round": entry.round,
                "worker": worker,
                "verdict": vote.verdict,
                "disagree_basis": vote.disagreeBasis,
                "explanation": vote.explanation,
                "is_origin": worker in origins,
                "basis_filled": None,
                "uncited": vote.disagreeBasis == "counter-evidence" and not cites_location(vote.explanation),
            }


def _dispatches(run_id: str, entry: RoundRecord) -> Iterable[Row]:
    """Yield one row a worker: called, skipped, or both (a call that gave no result)."""
    called = {dispatch.worker: dispatch for dispatch in entry.dispatches or ()}
    skipped = {worker.worker: worker.reason for worker in entry.skippedWorkers or ()}
    for worker in dict.fromkeys([*called, *skipped]):
        dispatch = called.get(worker)
        yield {
            "run_id": run_id,
            "iteration": 0,
            "round": entry.round,
            "worker": worker,
            "status": dispatch.status if dispatch else None,
            "duration_ms": dispatch.durationMs if dispatch else None,
            "skipped_reason": skipped.get(worker),
        }

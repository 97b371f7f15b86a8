"""The tables of state artifacts, many at once, column by column (rules B9, E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from verifyplan.frames.columns import TABLES, typed
from verifyplan.frames.log_events import Row, rules_columns
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_losses import with_losses_at
from verifyplan.protocol.artifact import Artifact, ArtifactFinding, RoundRecord
from verifyplan.protocol.vote import BASES, VERDICTS
from verifyplan.rules.citations import cites_location
from verifyplan.rules.invariants import rules_of

Ints = npt.NDArray[np.int64]
Tables = dict[str, pd.DataFrame]

_CODES: dict[str, dict[str | None, int]] = {
    name: {word: code for code, word in enumerate(words)} | {None: -1}
    for name, words in (("verdict", VERDICTS), ("disagree_basis", BASES))
}


class ArtifactSource(NamedTuple):
    """One artifact with what it does not say itself: its run id, its file, and truth where that is known."""

    artifact: Artifact
    """The model, or a struct that was decoded from a file (see `decode_artifact`)."""
    run_id: str
    path: str = ""
    truth: Mapping[str, bool | None] = {}


class Votes(NamedTuple):
    """The findings of several artifacts, their rounds and their votes, as columns that point at each other."""

    findings: list[ArtifactFinding]
    run: Ints
    """Of each finding: the position of its artifact."""
    rounds: list[int]
    """Of each finding's rounds: the number."""
    finding_of_round: Ints
    round: Ints
    """Of each vote: its position among all rounds."""
    worker: list[str]
    verdict: Ints
    """Codes of VERDICTS."""
    basis: Ints
    """Codes of BASES, -1 for none."""
    explanation: list[str | None]

    @property
    def finding(self) -> Ints:
        """Of each vote: the position of its finding."""
        return self.finding_of_round[self.round]


def votes_of(artifacts: Sequence[Artifact]) -> Votes:
    """Return the votes of several artifacts as columns, in the order in which they are recorded."""
    findings = [finding for artifact in artifacts for finding in artifact.findings]
    entries = [entry for finding in findings for entry in finding.rounds or ()]
    votes = [vote for entry in entries for vote in entry.votes.values()]
    verdicts, bases = _CODES["verdict"], _CODES["disagree_basis"]
    return Votes(
        findings,
        _positions([len(artifact.findings) for artifact in artifacts]),
        [entry.round for entry in entries],
        _positions([len(finding.rounds or ()) for finding in findings]),
        _positions([len(entry.votes) for entry in entries]),
        list(chain.from_iterable(entry.votes for entry in entries)),
        np.array([verdicts[vote.verdict] for vote in votes], dtype=np.int64),
        np.array([bases[vote.disagreeBasis] for vote in votes], dtype=np.int64),
        [vote.explanation for vote in votes],
    )


def _positions(lengths: Sequence[int]) -> Ints:
    """Return the position of the owner of each part, where owners have so many parts each."""
    return np.repeat(np.arange(len(lengths)), np.array(lengths, dtype=np.int64))


def to_tables(sources: Iterable[ArtifactSource]) -> RunSet:
    """Return artifacts as one RunSet, in the order given.

    Raises TableError if two share a run id, or one has two findings of an id, or two rounds of a number.
    """
    given = list(sources)
    tables = artifact_tables(given, votes_of([source.artifact for source in given]))
    return RunSet(**{name: typed(name, table) for name, table in tables.items()})


def artifact_tables(sources: Sequence[ArtifactSource], votes: Votes) -> Tables:
    """Return the tables that artifacts fill, typed; `votes` are theirs.

    That their rows have keys of their own is not looked at.
    """
    run_ids = pa.array([source.run_id for source in sources], pa.large_string())
    finding_ids = pa.array([finding.findingId for finding in votes.findings], pa.large_string())
    rules: dict[int, Row] = {}  # by config, which many artifacts share
    tables = {
        "runs": _frame("runs", _columns("runs", [_run(source, rules) for source in sources])),
        "findings": _findings(sources, votes, run_ids, finding_ids),
        "votes": _votes(votes, run_ids, finding_ids),
        **_history(sources),
    }
    losses = with_losses_at(tables["runs"], tables["findings"], tables["votes"], votes.finding)
    return tables | {"findings": losses}


def _frame(name: str, values: Mapping[str, Any]) -> pd.DataFrame:
    return typed(name, values, keys_checked=True)


def _columns(table: str, rows: Sequence[Row]) -> dict[str, list[Any]]:
    named = set().union(*rows)
    return {column.name: [row.get(column.name) for row in rows] for column in TABLES[table] if column.name in named}


def _run(source: ArtifactSource, rules: dict[int, Row]) -> Row:
    """Return the row of `runs`; `rules` has the columns of the rules that were met before, by config."""
    artifact, config = source.artifact, source.artifact.config
    limits = (config.effectiveMaxRounds, config.maxRounds, artifact.totalRounds)  # older versions had fewer of them
    if id(config) not in rules:
        rules[id(config)] = rules_columns(of) if (of := rules_of(config)) else {}
    return {
        **rules[id(config)],
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


def discoverers(finding: ArtifactFinding) -> list[str]:
    """Return the origin, and those of the consensus who never voted on the finding (rule B9)."""
    voted = set().union(*[entry.votes for entry in finding.rounds or ()])
    origin, names = finding.originWorker, dict.fromkeys([finding.originWorker, *(finding.consensusWorkers or ())])
    return [name for name in names if name is not None and (name == origin or name not in voted)]


def _findings(sources: Sequence[ArtifactSource], votes: Votes, run_ids: Any, ids: Any) -> pd.DataFrame:
    truths = [source.truth for source in sources]
    findings = votes.findings
    return _frame(
        "findings",
        {
            "run_id": _taken(run_ids, votes.run),
            "finding_id": _series(ids),
            "summary": _series([of.summary for of in findings]),
            "category": _series([of.category for of in findings]),
            "evidence": _series([of.originEvidence for of in findings]),
            "ticket_ids": _lists([of.ticketIds for of in findings]),
            "origin_worker": _series([of.originWorker for of in findings]),
            "discoverers": _lists([discoverers(of) for of in findings]),
            "classification": [of.classification for of in findings],
            "consensus_workers": _lists([of.consensusWorkers for of in findings]),
            "dissenting_workers": _lists([of.dissentingWorkers for of in findings]),
            "n_rounds": np.bincount(votes.finding_of_round, minlength=len(findings)),
            "truth": [truths[run].get(of.findingId) for run, of in zip(votes.run.tolist(), findings, strict=True)],
        },
    )


def _votes(votes: Votes, run_ids: Any, finding_ids: Any) -> pd.DataFrame:
    finding, counter = votes.finding, BASES.index("counter-evidence")
    uncited = votes.basis == counter
    uncited[uncited] = [not cites_location(votes.explanation[row]) for row in np.flatnonzero(uncited).tolist()]
    origins = np.array([of.originWorker for of in votes.findings], dtype="object")
    workers = np.array(votes.worker, dtype="object")
    return _frame(
        "votes",
        {
            "run_id": _taken(run_ids, votes.run[finding]),
            "iteration": np.zeros(len(finding), dtype=np.int64),
            "finding_id": _taken(finding_ids, finding),
            "round": np.array(votes.rounds, dtype=np.int64)[votes.round],
            "worker": _series(votes.worker),
            "verdict": pd.Categorical.from_codes(votes.verdict, categories=pd.Index(VERDICTS), ordered=True),
            "disagree_basis": pd.Categorical.from_codes(votes.basis, categories=pd.Index(BASES), ordered=True),
            "explanation": _series(votes.explanation),
            "is_origin": workers == origins[finding],  # the other discoverers never vote
            "uncited": uncited,
        },
    )


def _history(sources: Sequence[ArtifactSource]) -> Tables:
    """Return the rounds and the dispatches, of which there is one row a worker: called, skipped, or both."""
    entries = [(source.run_id, entry) for source in sources for entry in source.artifact.roundHistory or ()]
    rounds = {
        "run_id": [run_id for run_id, _ in entries],
        "iteration": [0] * len(entries),
        "round": [entry.round for _, entry in entries],
        "input_queue_size": [entry.inputQueueSize for _, entry in entries],
        "resolved_count": [entry.resolvedCount for _, entry in entries],
        "carried_forward_count": [entry.carriedForwardCount for _, entry in entries],
    }
    dispatches: dict[str, list[Any]] = {name: [] for name in ("worker", "status", "duration_ms", "skipped_reason")}
    lengths = [_add_dispatches(dispatches, entry) for _, entry in entries]
    of_entry = _positions(lengths)
    run_ids = pa.array(rounds["run_id"], pa.large_string())
    numbers = np.array(rounds["round"], dtype=np.int64)[of_entry]
    keys = {"run_id": _taken(run_ids, of_entry), "iteration": np.zeros(len(of_entry), dtype=np.int64), "round": numbers}
    return {"rounds": _frame("rounds", rounds), "dispatches": _frame("dispatches", keys | dispatches)}


def _add_dispatches(columns: dict[str, list[Any]], entry: RoundRecord) -> int:
    """Add a row a worker: called, skipped, or both (a call that gave no result); return how many."""
    called = {of.worker: of for of in entry.dispatches or ()}
    skipped = {of.worker: of.reason for of in entry.skippedWorkers or ()}
    workers = [*called, *(worker for worker in skipped if worker not in called)]
    columns["worker"] += workers
    columns["status"] += [called[worker].status if worker in called else None for worker in workers]
    columns["duration_ms"] += [called[worker].durationMs if worker in called else None for worker in workers]
    columns["skipped_reason"] += map(skipped.get, workers)
    return len(workers)


def _series(texts: Any) -> pd.Series[Any]:
    return pd.Series(pa.array(texts, pa.large_string()), dtype="str")


def _taken(texts: Any, positions: Ints) -> pd.Series[Any]:
    return pd.Series(texts.take(pa.array(positions)), dtype="str")


def _lists(values: Sequence[Sequence[str] | None]) -> list[list[str]]:
    return [value if type(value) is list else list(value or ()) for value in values]

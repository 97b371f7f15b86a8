"""The tables of state artifacts, many at once, column by column (rules B9, E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from verifyplan.frames.artifact_columns import ArtifactColumns, History, Ints, Texts, columns_of
from verifyplan.frames.columns import typed
from verifyplan.frames.log_events import Row, rules_columns
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import texts_cite_places
from verifyplan.frames.vote_losses import with_losses_at
from verifyplan.protocol.artifact import DISPATCH_STATUSES, FINAL_STATES, ROUND2_REASONS, Artifact, ArtifactConfig
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, VERDICTS
from verifyplan.rules.invariants import rules_of

Tables = dict[str, pd.DataFrame]


class ArtifactSource(NamedTuple):
    """One artifact with what it does not say itself: its run id, its file, and truth where that is known."""

    artifact: Artifact
    """The model, or a struct that was decoded from a file (see `decode_artifact`)."""
    run_id: str
    path: str = ""
    truth: Mapping[str, bool | None] = {}


def to_tables(sources: Iterable[ArtifactSource]) -> RunSet:
    """Return artifacts as one RunSet, in the order given.

    Raises TableError if two share a run id, or one has two findings of an id, or two rounds of a number.
    """
    given = list(sources)
    columns = columns_of([source.artifact for source in given])
    tables = artifact_tables(columns, [source.run_id for source in given], [source.path for source in given])
    if any(source.truth for source in given):
        ids = zip(columns.findings.run.tolist(), tables["findings"]["finding_id"], strict=True)
        tables["findings"]["truth"] = pd.array([given[run].truth.get(name) for run, name in ids], dtype="boolean")
    return RunSet(**{name: typed(name, table) for name, table in tables.items()})


def artifact_tables(columns: ArtifactColumns, names: Sequence[str], paths: Sequence[str]) -> Tables:
    """Return the tables that artifacts fill, typed; `names` are their run ids, `paths` their files.

    That their rows have keys of their own is not looked at.
    """
    run_ids, workers = (pa.array(texts, pa.large_string()) for texts in (names, columns.workers))
    tables = {
        "runs": _runs(columns, run_ids, paths),
        "findings": _findings(columns, run_ids, workers),
        "votes": _votes(columns, run_ids, workers),
        "rounds": _rounds(columns.history, run_ids),
        "dispatches": _dispatches(columns, run_ids, workers),
    }
    losses = with_losses_at(tables["runs"], tables["findings"], tables["votes"], columns.finding_of_vote)
    return tables | {"findings": losses}


def _frame(name: str, values: Mapping[str, Any]) -> pd.DataFrame:
    return typed(name, values, keys_checked=True)


def _runs(columns: ArtifactColumns, run_ids: Texts, paths: Sequence[str]) -> pd.DataFrame:
    runs, total = columns.runs, columns.runs.total_rounds
    configs = {id(config): config for config in runs.config}  # many artifacts may share one
    number = {key: number for number, key in enumerate(configs)}
    config = np.array([number[id(config)] for config in runs.config], dtype=np.int64)
    different = _configs(list(configs.values()))
    limit = different["effective_max_rounds"].to_numpy(dtype=np.float64, na_value=np.nan)[config]
    return _frame(
        "runs",
        {
            **{str(name): column.array.take(config) for name, column in different.items()},
            "run_id": _texts(run_ids),
            "kind": ["cross"] * len(config),
            "task_key": runs.task_key,
            "schema_version": runs.schema_version,
            "effective_max_rounds": np.where(np.isnan(limit), total, limit),
            "total_rounds": total,
            "final_state": _categories(runs.final_state, FINAL_STATES),
            "round2_skipped_reason": _categories(runs.round2_skipped_reason, ROUND2_REASONS),
            "n_findings": np.bincount(columns.findings.run, minlength=len(config)),
            "source": _texts(pa.array(paths, pa.large_string())),
            "finished": np.ones(len(config), dtype=bool),
            "log": np.zeros(len(config), dtype=bool),
        },
    )


def _configs(configs: Sequence[ArtifactConfig]) -> pd.DataFrame:
    """Return the table `runs` as far as configs fill it, a row each."""
    rows = [_config_row(config) for config in configs]
    names = dict.fromkeys(name for row in rows for name in row)
    return _frame("runs", {"run_id": [""] * len(rows), **{name: [row.get(name) for row in rows] for name in names}})


def _config_row(config: ArtifactConfig) -> Row:
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


def _findings(columns: ArtifactColumns, run_ids: Texts, workers: Texts) -> pd.DataFrame:
    findings = columns.findings
    return _frame(
        "findings",
        {
            "run_id": _taken(run_ids, findings.run),
            "finding_id": _texts(findings.finding_id),
            "summary": _texts(findings.summary),
            "category": _texts(findings.category),
            "evidence": _texts(findings.evidence),
            "ticket_ids": _lists(findings.ticket_ids),
            "origin_worker": _taken(workers, findings.origin),
            "discoverers": _lists(_discoverers(columns)),
            "classification": _categories(findings.classification, CLASSIFICATIONS),
            "consensus_workers": _lists(findings.consensus),
            "dissenting_workers": _lists(findings.dissenting),
            "n_rounds": columns.rounds_of_finding,
        },
    )


def _discoverers(columns: ArtifactColumns) -> list[list[str]]:
    """Return, of each finding, the origin, and those of the consensus who never voted on it (rule B9)."""
    workers, origin, of, worker = columns.workers, columns.findings.origin, *columns.consensus
    voted = columns.finding_of_vote * len(workers) + columns.votes.worker
    silent = ~np.isin(of * len(workers) + worker, voted) & (worker != origin[of])
    alone = [*([name] for name in workers), []]
    found = [alone[code] for code in origin.tolist()]
    for finding, code in zip(of[silent].tolist(), worker[silent].tolist(), strict=True):
        if workers[code] not in found[finding]:
            found[finding] = [*found[finding], workers[code]]
    return found


def _votes(columns: ArtifactColumns, run_ids: Texts, workers: Texts) -> pd.DataFrame:
    votes, findings, of_vote = columns.votes, columns.findings, columns.finding_of_vote
    uncited = votes.basis == BASES.index("counter-evidence")
    uncited[uncited] = ~texts_cite_places(votes.explanation.filter(pa.array(uncited)))
    return _frame(
        "votes",
        {
            "run_id": _taken(run_ids, findings.run[of_vote]),
            "iteration": np.zeros(len(of_vote), dtype=np.int64),
            "finding_id": _taken(findings.finding_id, of_vote),
            "round": columns.rounds.number[votes.round],
            "worker": _taken(workers, votes.worker),
            "verdict": _categories(votes.verdict, VERDICTS),
            "disagree_basis": _categories(votes.basis, BASES),
            "explanation": _texts(votes.explanation),
            "is_origin": votes.worker == findings.origin[of_vote],  # the other discoverers never vote
            "uncited": uncited,
        },
    )


def _rounds(history: History, run_ids: Texts) -> pd.DataFrame:
    counts = {name: getattr(history, name) for name in ("input_queue_size", "resolved_count", "carried_forward_count")}
    keys = {"run_id": _taken(run_ids, history.run), "iteration": np.zeros(len(history.run), dtype=np.int64)}
    return _frame("rounds", {**keys, "round": history.number, **counts})


def _dispatches(columns: ArtifactColumns, run_ids: Texts, workers: Texts) -> pd.DataFrame:
    """Return a row for each worker of a round: called, skipped, or both (a call that gave no result)."""
    history, dispatches, skips = columns.history, columns.dispatches, columns.skips
    entries = np.concatenate([dispatches.entry, skips.entry])
    order = np.argsort(entries, kind="stable")
    row = np.empty_like(order)
    width = max(len(workers), 1)
    row[order], keys = pd.factorize((entries * width + np.concatenate([dispatches.worker, skips.worker]))[order])
    dispatch, skip = (_last(rows, len(keys)) for rows in np.split(row, [len(dispatches.entry)]))
    entry = keys // width
    return _frame(
        "dispatches",
        {
            "run_id": _taken(run_ids, history.run[entry]),
            "iteration": np.zeros(len(keys), dtype=np.int64),
            "round": history.number[entry],
            "worker": _taken(workers, keys % width),
            "status": _categories(np.append(dispatches.status, -1)[dispatch], DISPATCH_STATUSES),
            "duration_ms": np.append(dispatches.duration_ms, np.nan)[dispatch],
            "skipped_reason": _taken(skips.reason, skip),
        },
    )


def _last(rows: Ints, size: int) -> Ints:
    """Return, for each of `size` rows, the last position that names it; -1 for none."""
    last = np.full(size, -1, dtype=np.int64)
    last[rows] = np.arange(len(rows))
    return last


def _texts(texts: Texts) -> pd.Series[Any]:
    return pd.Series(texts, dtype="str")


def _taken(texts: Texts, positions: Ints) -> pd.Series[Any]:
    """Return the texts at some positions; none at -1."""
    return pd.Series(texts.take(pa.array(positions, mask=positions < 0)), dtype="str")


def _categories(codes: Ints, names: tuple[str, ...]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names), ordered=True)


def _lists(values: Sequence[list[str]]) -> Any:
    return np.fromiter(values, dtype="object", count=len(values))

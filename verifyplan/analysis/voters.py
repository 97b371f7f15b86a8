"""Who votes in a table of votes, in which order, and who could have voted on which finding (rules B2, R4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.tally import Bools, CodedVotes, Ints
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.voting_rules import VotingRules


class Pairs(NamedTuple):
    """Pairs of a worker and a finding, by position; two arrays of one length."""

    worker: Ints
    finding: Ints

    def table(self, n_workers: int, n_findings: int) -> Bools:
        """Return whether each pair is there, of shape (workers, findings)."""
        table = np.zeros((n_workers, n_findings), dtype=bool)
        table[self.worker, self.finding] = True
        return table


NO_PAIRS = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Voters:
    """Who votes in a table of votes, and who could have on which finding."""

    workers: tuple[str, ...]
    """Their names, in roster order where that is known, else in order of appearance."""
    worker: Ints
    """The position in `workers` of each vote of the table."""
    discoveries: Pairs
    """Who found which finding, and so never votes on it."""
    perhaps_left: Pairs = NO_PAIRS
    """Workers whom a run's own rules may have left unasked about a finding in a round that it held."""


def voters_of_votes(votes: pd.DataFrame, cast: CodedVotes) -> Voters:
    """Return who votes in a checked table: discoverers are those whose votes are marked `is_origin`."""
    worker, names = pd.factorize(votes["worker"])
    own = ~(cast.counted | cast.failed)
    return Voters(tuple(map(str, names)), worker.astype(np.int64), Pairs(worker[own], cast.finding[own]))


def voters_of_runs(runs: RunSet, votes: pd.DataFrame, cast: CodedVotes, findings: pd.DataFrame) -> Voters:
    """Return who votes in runs, in roster order, and who could have on which finding.

    `findings` has a row for each finding of `cast`, with its `run_id`, `discoverers`, and `own_rules`, the rules that
    its run recorded, as JSON. Dispatches tell the roster; without any, workers are in order of appearance in all runs.
    """
    named = pd.concat([runs.dispatches["worker"], runs.votes["worker"]], ignore_index=True).astype("object")
    roster = pd.Index(named.dropna().unique())
    worker = np.asarray(roster.get_indexer(pd.Index(votes["worker"].astype("object"))), dtype=np.int64)
    own = ~(cast.counted | cast.failed)
    finders = findings["discoverers"].reset_index(drop=True).explode().dropna()
    finder = np.asarray(roster.get_indexer(pd.Index(finders)), dtype=np.int64)
    known = finder >= 0
    discoveries = Pairs(
        np.concatenate([worker[own], finder[known]]),
        np.concatenate([cast.finding[own], np.asarray(finders.index, dtype=np.int64)[known]]),
    )
    return Voters(tuple(map(str, roster)), worker, discoveries, _perhaps_left(runs, findings, roster))


def _perhaps_left(runs: RunSet, findings: pd.DataFrame, roster: pd.Index[Any]) -> Pairs:
    """Return the workers and findings of runs whose own rules ask only some workers, or stop within rounds."""
    texts = findings["own_rules"].fillna("").reset_index(drop=True)
    partial = {text for text in texts.unique() if text and _asks_some(VotingRules.from_json(text))}
    asked = texts.index[texts.isin(partial)]
    if asked.empty:
        return NO_PAIRS
    crews = runs.dispatches[["run_id", "worker"]].drop_duplicates()
    pairs = findings["run_id"].reset_index(drop=True)[asked].rename_axis("finding").reset_index()
    pairs = pairs.merge(crews, on="run_id")
    return Pairs(
        np.asarray(roster.get_indexer(pd.Index(pairs["worker"])), dtype=np.int64),
        pairs["finding"].to_numpy(dtype=np.int64),
    )


def _asks_some(rules: VotingRules) -> bool:
    return rules.workers is not None or rules.stop != "round"


def part_of_votes(cast: CodedVotes, voters: Voters, findings: Ints) -> tuple[Ints, CodedVotes, Voters]:
    """Return the votes on some of the findings: their positions in the table, and both arguments without the others."""
    place = np.full(len(cast.findings), -1, dtype=np.int64)
    place[findings] = np.arange(len(findings))
    rows = np.flatnonzero(place[cast.finding] >= 0)
    part = replace(
        cast,
        findings=cast.findings.iloc[findings].reset_index(drop=True),
        finding=place[cast.finding[rows]],
        round=cast.round[rows],
        verdict=cast.verdict[rows],
        basis=cast.basis[rows],
        counted=cast.counted[rows],
        failed=cast.failed[rows],
        last_round=cast.last_round[findings],
    )

    def renumbered(pairs: Pairs) -> Pairs:
        kept = place[pairs.finding] >= 0
        return Pairs(pairs.worker[kept], place[pairs.finding[kept]])

    kept = replace(
        voters,
        worker=voters.worker[rows],
        discoveries=renumbered(voters.discoveries),
        perhaps_left=renumbered(voters.perhaps_left),
    )
    return rows, part, kept

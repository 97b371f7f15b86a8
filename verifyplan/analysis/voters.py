"""Who votes in a table of votes, in which order, and who could have voted on which finding (rules B2, R4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
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
    its run recorded, as JSON. Logs tell the roster; else dispatches do (see `roster_order`).
    """
    finders = findings["discoverers"].reset_index(drop=True).explode().dropna()
    roster = pd.Index([*dict.fromkeys([*roster_of(runs), *finders.unique()])], dtype="object")
    worker = np.asarray(roster.get_indexer(pd.Index(votes["worker"].astype("object"))), dtype=np.int64)
    own = ~(cast.counted | cast.failed)
    discoveries = Pairs(
        np.concatenate([worker[own], np.asarray(roster.get_indexer(pd.Index(finders)), dtype=np.int64)]),
        np.concatenate([cast.finding[own], np.asarray(finders.index, dtype=np.int64)]),
    )
    return Voters(tuple(map(str, roster)), worker, discoveries, _perhaps_left(runs, findings, roster))


def roster_of(runs: RunSet) -> list[str]:
    """Return who is on a roster or votes, in the same order whatever part of the runs is looked at.

    >>> roster_of(RunSet(votes=pd.DataFrame({"worker": ["b", "a", "b"]})))
    ['b', 'a']
    """
    return list(dict.fromkeys([*roster_order(runs), *voters_of(runs)]))


def voters_of(runs: RunSet) -> list[str]:
    """Return who votes, in order of appearance.

    >>> voters_of(RunSet(votes=pd.DataFrame({"worker": ["b", "a", "b"]})))
    ['b', 'a']
    """
    parts = (part["worker"].dropna().unique() for part in runs.votes_by_part(["worker"]))
    return list(dict.fromkeys(str(worker) for part in parts for worker in part))


def roster_order(runs: RunSet) -> list[str]:
    """Return the workers in an order that agrees with every roster, and else with that of the calls of every round.

    Where rosters of runs disagree, workers are in order of appearance; `order_of_runs` tells such runs apart.

    >>> rounds = {"run_id": ["r", "r", "s", "s"], "iteration": 0, "round": 1, "worker": ["b", "c", "a", "b"]}
    >>> roster_order(RunSet(dispatches=pd.DataFrame(rounds).assign(status="completed")))
    ['a', 'b', 'c']
    """
    rosters = [json.loads(text) for text in _rosters(runs)["roster"].unique()]
    known = dict.fromkeys([*chain.from_iterable(rosters), *runs.dispatches["worker"].unique()])
    return _agreed(runs, rosters) or list(known)


def _agreed(runs: RunSet, rosters: list[list[str]]) -> list[str] | None:
    """Return the workers in an order that agrees with every roster, and with the calls of runs that tell none.

    None where these disagree. Rules of a run may call its workers in another order than its roster.
    """
    is_told = runs.dispatches["run_id"].isin(_rosters(runs)["run_id"]).to_numpy(dtype=bool)
    called = np.flatnonzero(runs.dispatches["status"].notna().to_numpy(dtype=bool) & ~is_told)
    worker, names = pd.factorize(runs.dispatches["worker"], use_na_sentinel=False)
    keys = [pd.factorize(runs.dispatches[name])[0][called] for name in ("run_id", "iteration", "round")]
    follows = np.logical_and.reduce([key[1:] == key[:-1] for key in keys])
    before, after = worker[called[:-1]][follows], worker[called[1:]][follows]
    pairs = (divmod(pair, len(names)) for pair in pd.unique(before * len(names) + after).tolist())
    known = dict.fromkeys([*chain.from_iterable(rosters), *names], ())
    order: TopologicalSorter[str] = TopologicalSorter(known)
    for first, then in chain(((names[one], names[other]) for one, other in pairs), *map(pairwise, rosters)):
        order.add(then, first)
    try:
        return list(order.static_order())
    except CycleError:
        return None


def order_of_runs(runs: RunSet) -> dict[str, str]:
    """Return the roster of each run as text where no single order agrees with those of all runs; empty where one does.

    Where no log has a run's roster, it is the order of the first calls.

    >>> rounds = {"run_id": ["r", "r", "s", "s"], "iteration": 0, "round": 1, "worker": ["b", "c", "c", "b"]}
    >>> order_of_runs(RunSet(dispatches=pd.DataFrame(rounds).assign(status="completed")))
    {'r': '["b", "c"]', 's': '["c", "b"]'}
    """
    rosters = _rosters(runs)
    if _agreed(runs, [json.loads(text) for text in rosters["roster"].unique()]) is not None:
        return {}
    called = runs.dispatches[["run_id", "worker"]].drop_duplicates()
    by_calls = called.groupby("run_id", sort=False)["worker"].agg(lambda workers: json.dumps(workers.tolist()))
    return {**by_calls, **dict(zip(rosters["run_id"], rosters["roster"], strict=True))}


def _rosters(runs: RunSet) -> pd.DataFrame:
    """Return `run_id, roster` of the runs whose log has the roster, as JSON."""
    return runs.runs.reindex(columns=["run_id", "roster"]).dropna()


def asks_some(rules: str) -> bool:
    """Return whether recorded rules, as JSON, may leave workers unasked in a round that is held.

    >>> asks_some('{"stop": {"margin": 2}}'), asks_some('{"refutes": "sticky"}'), asks_some("")
    (True, False, False)
    """
    read = VotingRules.from_json(rules or "{}")
    return read.workers is not None or read.stop != "round"


def _perhaps_left(runs: RunSet, findings: pd.DataFrame, roster: pd.Index[Any]) -> Pairs:
    """Return the workers and findings of runs whose own rules ask only some workers, or stop within rounds.

    Workers of a run are those of its roster; where no log tells it, those in its dispatches, and whoever found
    something.
    """
    texts = findings["own_rules"].fillna("").reset_index(drop=True)
    asked = texts.index[texts.isin({text for text in texts.unique() if asks_some(text)})]
    if asked.empty:
        return NO_PAIRS
    finders = runs.findings[["run_id", "discoverers"]].explode("discoverers").dropna()
    finders = finders.rename(columns={"discoverers": "worker"})
    rosters = _rosters(runs)
    rosters = rosters[["run_id"]].assign(worker=rosters["roster"].map(json.loads)).explode("worker").dropna()
    crews = pd.concat([rosters, runs.dispatches[["run_id", "worker"]], finders]).drop_duplicates()
    pairs = findings["run_id"].reset_index(drop=True)[asked].rename_axis("finding").reset_index()
    pairs = pairs.merge(crews, on="run_id")
    pairs["at"] = roster.get_indexer(pd.Index(pairs["worker"]))
    pairs = pairs[pairs["at"].ge(0)]
    return Pairs(pairs["at"].to_numpy(dtype=np.int64), pairs["finding"].to_numpy(dtype=np.int64))


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
        held_back=None if cast.held_back is None else cast.held_back[rows],
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


def in_order_of_runs(voters: Voters, cast: CodedVotes, run_ids: pd.Series[Any], orders: Mapping[str, str]) -> Voters:
    """Return the voters with those of each run numbered by its own roster, from 0; others of the run come after.

    For rules that know no worker by name, so that runs whose rosters contradict each other are judged at once.
    `run_ids` are the runs of the findings, `orders` their rosters as `order_of_runs` gives them.
    """
    run, names = pd.factorize(run_ids)
    place = places_in_rosters(voters.workers, names, orders)

    def placed(pairs: Pairs) -> Pairs:
        return Pairs(place[run[pairs.finding], pairs.worker], pairs.finding)

    return Voters(
        tuple(map(str, range(len(voters.workers)))),
        place[run[cast.finding], voters.worker],
        placed(voters.discoveries),
        placed(voters.perhaps_left),
    )


def places_in_rosters(workers: Sequence[str], run_ids: Iterable[str], orders: Mapping[str, str]) -> Ints:
    """Return the place of each worker in the roster of each run, of shape (runs, workers); others come after.

    >>> places_in_rosters(["a", "b", "c"], ["r", "s"], {"r": '["c", "a"]'}).tolist()
    [[1, 2, 0], [0, 1, 2]]
    """
    names = list(run_ids)
    position = {name: place for place, name in enumerate(workers)}
    rank = np.tile(np.arange(len(position)) + len(position), (len(names), 1))
    for number, run_id in enumerate(names):
        known = [position[name] for name in json.loads(orders.get(str(run_id), "[]")) if name in position]
        rank[number, known] = np.arange(len(known))
    return rank.argsort(axis=1, kind="stable").argsort(axis=1)


def in_slots(cast: CodedVotes, voters: Voters) -> Voters:
    """Return the voters with those of each finding numbered from 0, in their order, so that few numbers are enough.

    For rules that know no worker by name, where each of many workers votes on few of many findings.
    """
    n_workers = max(len(voters.workers), 1)
    key = cast.finding * n_workers + voters.worker
    others = [pairs.finding * n_workers + pairs.worker for pairs in (voters.discoveries, voters.perhaps_left)]
    known = np.unique(np.concatenate([key, *others]))
    finding = known // n_workers
    slot = np.arange(len(known)) - np.searchsorted(finding, finding)

    def slots(keys: Ints) -> Ints:
        return slot[np.searchsorted(known, keys)]

    discoveries, left = (
        Pairs(slots(keys), pairs.finding)
        for keys, pairs in zip(others, (voters.discoveries, voters.perhaps_left), strict=True)
    )
    names = tuple(map(str, range(int(slot.max(initial=-1)) + 1)))
    return Voters(names, slots(key), discoveries, left)

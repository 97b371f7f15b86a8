"""The votes that an analysis of a panel counts, as arrays of units by workers (rule F3a)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of
from verifyplan.errors import Problem, TableError
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import counted, listed

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.signedinteger[Any]]
Items: TypeAlias = Literal["common", "all"]

MAX_CLOSED_LABELS = 20
"""With more labels than this, answers are open: only whether they are right, and which are equal, counts."""
MIN_CLASS_ITEMS = 10
"""Truth classes of fewer items than this count as one class."""
MIN_CROSSED_SHARE = 0.5
"""A panel is crossed where its workers vote on at least this share of the items, taken together."""

MIN_ITEMS_TO_CHOOSE = 20
"""With fewer items than this no order of judges is given: which of them are better cannot be known."""


def n_items(there: npt.NDArray[Any], claim: Ints) -> Ints:
    """Return of how many items some unit is there, by column of an array (units, ...); an item of ten runs counts once.

    >>> n_items(np.array([[1, 0], [1, 1], [1, 1]]), np.array([0, 0, 1])).tolist()
    [2, 2]
    """
    order = np.argsort(claim, kind="stable")
    starts = np.flatnonzero(np.diff(claim[order], prepend=-1))
    return np.asarray(np.logical_or.reduceat(there[order] != 0, starts, axis=0).sum(axis=0), dtype=np.int64)


class PanelAnswers(NamedTuple):
    """One answer a unit and worker, as codes; units are sorted by item and run, so that no result depends on rows."""

    workers: tuple[str, ...]
    answer: Ints
    """The code of each answer, of shape (units, workers): 0 is the right one, where truth is known; -1 is none."""
    n_codes: int
    has_truth: bool
    """Whether the truth of the units is known."""
    truth_class: Ints
    """The class of truth of each unit, from 0."""
    clusters: Clusters
    cost: Floats
    """The mean cost of a vote of each worker; 1 where costs are not known, or all are 0."""
    costs_known: bool

    @property
    def voted(self) -> Bools:
        """Whether each worker answered each unit."""
        return self.answer >= 0

    @property
    def correct(self) -> Bools:
        """Whether each answer is right; false where there is none."""
        return np.asarray(self.answer == 0)

    @property
    def can_be_ordered(self) -> bool:
        """Whether the judges see the same items, and enough of them to choose judges on some and score on others."""
        return self.crossed and self.clusters.n_claims >= MIN_ITEMS_TO_CHOOSE

    @property
    def crossed(self) -> bool:
        """Whether workers vote on the same items, so that panels of some of them can be compared."""
        return bool(self.voted.mean() >= MIN_CROSSED_SHARE)

    @property
    def one_hot(self) -> Counts:
        """The votes as counts, of shape (codes, units, workers)."""
        small = np.int8 if len(self.workers) < np.iinfo(np.int8).max else np.int16
        return np.asarray(self.answer == np.arange(self.n_codes)[:, None, None], dtype=small)


def panel_answers(votes: PanelVotes, items: Items | None) -> tuple[PanelAnswers, tuple[str, ...]]:
    """Return the answers that count, one a worker and unit, and notes on those that do not.

    Units without a vote, and where some truth is known those without truth, are left out, and workers without a
    vote. `items` says whether a unit must have the vote of every worker; None asks for that where half of the units
    or more have it. Take votes by `at` first. Raises TableError where fewer than two workers are left.
    """
    table, known = votes.matrix(), votes.truth >= 0
    used = np.asarray((table >= 0).any(axis=1) & (known | ~known.any()))
    voters = np.asarray((table[used] >= 0).any(axis=0))
    whole = np.asarray(used & (table[:, voters] >= 0).all(axis=1))
    common = items == "common" or (items is None and 2 * whole.sum() >= used.sum())
    counts = whole if common else used
    if voters.sum() < 2 or not counts.any():
        raise TableError(_no_panel(votes, voters, known))
    order = np.flatnonzero(counts)
    order = order[np.lexsort((votes.units["run"].to_numpy(str)[order], votes.units["item"].to_numpy(str)[order]))]
    answer, n_codes = _coded(table[np.ix_(order, voters)], votes.truth[order], len(votes.labels))
    units = votes.units.iloc[order]
    clusters = clusters_of(units["run"], units["item"])
    cost = _cost_per_vote(votes)[voters]
    costs_known = bool(np.isfinite(cost).all() and cost.any())
    answers = PanelAnswers(
        workers=tuple(name for name, voter in zip(votes.workers, voters, strict=True) if voter),
        answer=answer,
        n_codes=n_codes,
        has_truth=bool(known.any()),
        truth_class=_truth_classes(votes.truth[order], clusters.claim),
        clusters=clusters,
        cost=cost if costs_known else np.ones(len(cost)),
        costs_known=costs_known,
    )
    return answers, tuple(_left_out(votes, known, used, counts, voters))


def _no_panel(votes: PanelVotes, voters: Bools, known: Bools) -> Problem:
    """Return why votes are no panel: nobody votes where the truth is known, only one worker does, or never two."""
    where = " on items whose truth is known" if known.any() and not known.all() else ""
    if voters.sum() > 1:
        message = f"no item has the votes of all {counted(int(voters.sum()), 'judge')}"
        return Problem("panel: votes", message, "in Python, leave items= out, or take items='all'")
    names = [name for name, voter in zip(votes.workers, voters, strict=True) if voter]
    message = f"only one worker voted{where} ({names[0]!r})" if names else f"nobody voted{where}"
    fix = "a panel has at least 2 judges: give the votes of others, too, or name the column of the worker (worker=)"
    return Problem("panel: votes", message, fix)


def _left_out(votes: PanelVotes, known: Bools, used: Bools, counts: Bools, voters: Bools) -> Iterator[str]:
    silent = [name for name, voter in zip(votes.workers, voters, strict=True) if not voter]
    if silent:
        yield f"no vote of {listed(silent)} counts"
    if known.any() and not known.all():
        yield f"{int((~known).sum()):,} of {counted(len(known), 'item')} have no known truth and are left out"
    if used.sum() > counts.sum():
        n = f"{int(used.sum() - counts.sum()):,} of {counted(int(used.sum()), 'item')}"
        yield (
            f"{n} lack the vote of at least one judge and are left out, other than in workers (in Python, items='all' "
            "counts them)"
        )


def _coded(table: Ints, truth: Ints, n_labels: int) -> tuple[Ints, int]:
    """Return the answers as codes, of which 0 is right, and how many codes there are.

    Of a closed set of labels the first exchanges its code with the right one; of an open one the wrong answers count
    from 1 in each unit, the most frequent first.
    """
    if n_labels <= MAX_CLOSED_LABELS:
        right = np.maximum(truth, 0)[:, None]
        return np.where(table == right, 0, np.where(table == 0, right, table)), n_labels
    unit, worker = np.nonzero(table >= 0)
    label = table[unit, worker]
    pairs, pair, times = np.unique(unit * n_labels + label, return_inverse=True, return_counts=True)
    owner, name = pairs // n_labels, pairs % n_labels
    is_wrong = name != truth[owner]
    order = np.lexsort((name, -times, is_wrong, owner))
    first = np.searchsorted(owner[order], owner[order])
    rank = np.empty(len(pairs), dtype=np.int64)
    rank[order] = np.arange(len(pairs)) - first
    has_right = np.isin(owner, owner[~is_wrong])
    rank += (~has_right) & (truth[owner] >= 0)  # code 0 stays free for the right answer that nobody gave
    coded = np.full_like(table, -1)
    coded[unit, worker] = rank[pair]
    return coded, int(rank.max(initial=0)) + 1


def _truth_classes(truth: Ints, claim: Ints) -> Ints:
    """Return the class of truth of each unit; classes of few items count as one."""
    pairs = np.unique(np.column_stack([truth, claim]), axis=0)[:, 0]
    names, n_items = np.unique(pairs, return_counts=True)
    rare = names[n_items < MIN_CLASS_ITEMS]
    merged = np.where(np.isin(truth, rare), -2, truth)
    return np.unique(merged, return_inverse=True)[1].astype(np.int64)


def _cost_per_vote(votes: PanelVotes) -> Floats:
    """Return the mean cost of a vote of each worker; NaN where it is not known."""
    n, names = len(votes.workers), list(votes.workers)
    if votes.cost is not None:
        costs = pd.DataFrame({"worker": votes.worker, "cost": votes.cost}).groupby("worker")["cost"].mean()
        return costs.reindex(range(n)).to_numpy(dtype=np.float64)
    if votes.runs is None:
        return np.full(n, np.nan)
    calls = votes.runs.calls[votes.runs.calls["role"].eq("worker").to_numpy(dtype=bool)]
    total = calls.groupby("worker")["cost"].agg(lambda cost: cost.sum(skipna=False)).reindex(names)
    counts = [part["worker"].value_counts() for part in votes.runs.votes_by_part(["worker"])]
    cast = pd.concat([each.set_axis(each.index.astype("str")) for each in counts]).groupby(level=0).sum().reindex(names)
    return np.asarray((total / cast).to_numpy(dtype=np.float64))

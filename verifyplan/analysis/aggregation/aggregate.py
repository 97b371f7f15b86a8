"""Make one label, or one score, an item of what the workers of a panel say (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import numpy as np
import pandas as pd

from verifyplan.analysis.aggregation.aggregation import (
    Aggregation,
    against_majority,
    convergence_note,
    moved_from,
    tie_note,
    vote_notes,
)
from verifyplan.analysis.aggregation.crowd_kit import by_crowd_kit
from verifyplan.analysis.aggregation.dawid_skene import ITERATIONS, TOLERANCE, DawidSkene, fit
from verifyplan.analysis.aggregation.score_aggregation import ScoreAggregation
from verifyplan.analysis.aggregation.scores import SCORE_METHODS, ScoreMethod, aggregate_scores
from verifyplan.analysis.aggregation.vote_counts import Floats, VoteCounts, vote_counts
from verifyplan.analysis.aggregation.weighted_votes import (
    TIES,
    Ties,
    highest,
    siding,
    wawa,
    weighted_shares,
    zero_based_skill,
)  # fmt: skip
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import fitted
from verifyplan.errors import Problem, Problems, SettingsError, TableError, one_of
from verifyplan.frames.from_table import Duplicates, as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.text import counted, did_you_mean

Method: TypeAlias = Literal["majority", "dawid-skene", "one-coin", "wawa", "zero-based-skill", "glad", "mace", "m-msr"]
"""A way to make one label of several; the last three need the optional package crowd-kit."""
METHODS = get_args(Method)


class _Options(TypedDict, total=False):
    """The arguments of `aggregate` that all methods have."""

    item: str | Sequence[str] | None
    worker: str | Sequence[str] | None
    label: str | None
    score: str | None
    truth: str | None
    group: str | None
    round: str | None
    run: str | None
    ties: Ties
    at: Which
    duplicates: Duplicates
    iterations: int
    tolerance: float


@dataclass(frozen=True, eq=False)
class _LabelEstimate:
    """The estimates of a method, of the units and of the workers."""

    posteriors: Floats
    skill: Floats
    model: DawidSkene | None = None


@overload
def aggregate(
    data: pd.DataFrame | PanelVotes | Runs, *, method: ScoreMethod, **options: Unpack[_Options]
) -> ScoreAggregation: ...
@overload
def aggregate(
    data: pd.DataFrame | PanelVotes | Runs, *, method: Method = "majority", **options: Unpack[_Options]
) -> Aggregation: ...
def aggregate(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    score: str | None = None,
    truth: str | None = None,
    group: str | None = None,
    round: str | None = None,
    run: str | None = None,
    method: Method | ScoreMethod = "majority",
    ties: Ties = "shared",
    at: Which = "first",
    duplicates: Duplicates = "refuse",
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> Aggregation | ScoreAggregation:
    """Return one label for each item, of the labels that several workers gave, or one score of their scores (rule F3).

    Ties are decided by `ties`, in every method. A lost (empty) vote counts nowhere; an item without votes has no label
    and is left out of the accuracy. A worker with one vote counts like any other in a majority; other methods estimate
    it from this vote, and the notes say how many such there are. Where all votes name one label, this is the label.
    Whether another method does better than the majority here only truth can say, and notes say it where truth is known:
    Dawid-Skene loses where workers err together, and no figure of the votes alone told its losses from its gains on the
    tables of docs/statistics.md. Without truth, label some items, or keep to the majority.

    `mean` and `median` are of scores, numbers in the column `score`, and give a `ScoreAggregation`: a value for each
    item, for a mean its interval, and the errors where `truth` has numbers. A lost (empty) score counts nowhere. Where
    items are alternatives, such as the answers to a question, name the column of what they belong to by `group`: the
    result then says how often the best of a group is right (has the highest truth).

    Args:
        data: runs, votes of `from_table`, the name of a bundled table, or a long table, one row a vote.
        item: the column of a table that names the item; None is a column of the argument's own name, as for the
            other columns.
        worker: the column of who gives the label.
        label: the column of the label.
        score: the column of the score, for `mean` and `median`.
        truth: the column of the right label, which no method uses: it serves `.accuracy()` and the notes; of scores
            the true value, or with `group` 1 for right and 0 for wrong.
        group: of scores, the column of what the items are alternatives for; None is none.
        round: the column of the round.
        run: the column of the run; an item has a label in each run.
        method: `majority`; `dawid-skene`, which estimates a confusion matrix of each worker; `one-coin`, how often each
            is right; `wawa`, votes weighted by agreement with the majority; `zero-based-skill`, the same repeated;
            `glad`, `mace`, `m-msr` by crowd-kit, where it is installed; or `mean`, `median`, of scores.
        ties: where several labels are highest, `shared` gives each its share in the accuracy, `first` takes the first
            in order (numbers by value, texts by alphabet), `none` gives no label. Of scores, a best that ties
            is right by its share, or with `none` not at all.
        at: the vote that counts of a worker that voted in several rounds: `first`, `last`, or a round.
        duplicates: for a worker's second label on an item in one round of a table: `refuse`, `first`, `last`, `all`.
        iterations: the most iterations of Dawid-Skene and one-coin; the result says how many there were.
        tolerance: they have converged, and end, where an iteration changes no posterior by more.

    Raises TableError for a table that cannot be read or has no label at all, SettingsError for an unknown method.

    Source: Dawid and Skene 1979 (converged, .9275 on `rte` and .8426 on `dog`).

    >>> votes = aggregate("rte", method="dawid-skene")
    >>> round(votes.accuracy().value, 4), round(aggregate("rte").accuracy().value, 4)
    (0.9275, 0.8969)
    >>> scores = pd.DataFrame({"answer": [1, 1, 2, 2], "judge": list("abab"), "score": [7, 8, 9, 9]})
    >>> aggregate(scores, item="answer", worker="judge", method="mean").scores["value"].tolist()
    [7.5, 9.0]
    """
    of_scores = {"score": score, "group": group}
    _check(method, ties, iterations, tolerance, label, of_scores)
    columns = {"item": item, "worker": worker, "truth": truth, "round": round, "run": run}
    if method in ("mean", "median"):
        return aggregate_scores(data, columns | of_scores, method, ties, at, duplicates)
    columns["label"] = label
    votes = as_panel_votes(data, columns, duplicates).at(at)
    if not (votes.label >= 0).any():
        raise TableError(Problem("votes", "have no label: every vote is empty", "check which column label= names"))
    shape = (len(votes.units), len(votes.workers), len(votes.labels))
    counts = vote_counts(votes.unit, votes.worker, votes.label, *shape)
    estimate = _estimate(method, votes, counts, ties, iterations, tolerance)
    labels = _labels(votes, estimate.posteriors, ties)
    notes = [
        *_repeats(votes),
        *vote_notes(votes, counts, weighted=method != "majority"),
        *tie_note(labels["tied"].to_numpy(), ties),
    ]
    moved: tuple[int | None, int | None] = None, None
    if method != "majority":
        majority = counts.of_units(weighted_shares(counts, np.ones(counts.n_workers)))
        moved = moved_from(majority, estimate.posteriors)
        notes += against_majority(method, votes, estimate.posteriors, majority, ties)
    model = estimate.model
    notes += [] if model is None else convergence_note(model, tolerance)
    names = [votes.units["run"], votes.units["item"]]
    return Aggregation(
        method=method,
        ties=ties,
        labels=labels,
        posteriors=pd.DataFrame(
            estimate.posteriors, columns=list(votes.labels), index=pd.MultiIndex.from_arrays(names)
        ),
        workers=_workers(votes, counts, estimate, ties),
        confusion=None if model is None else _confusion(votes, model),
        iterations=None if model is None else model.iterations,
        converged=None if model is None else model.change <= tolerance,
        n_moved=moved[0],
        n_decided=moved[1],
        notes=tuple(notes),
        votes=votes,
    )


def _check(
    method: str, ties: str, iterations: int, tolerance: float, label: str | None, of_scores: Mapping[str, Any]
) -> None:
    problems, every = Problems(), (*METHODS, *SCORE_METHODS)
    if method not in every:
        fix = f"use {one_of(every)}"
        problems.append(Problem("method", f"{method!r} is not a method{did_you_mean(method, every)}", fix))
    elif method in SCORE_METHODS:
        if label is not None:
            message = f"names a column of labels, and {method!r} is of scores"
            problems.append(Problem("label", message, "name the column of numbers by score=, or choose another method"))
        if ties == "first":
            problems.append(Problem("ties", "no item comes first among tied scores", "use 'shared' or 'none'"))
    else:
        message = f"goes with scores, and {method!r} is of labels"
        fix = "use method='mean' or 'median', or leave it out"
        problems += [Problem(name, message, fix) for name, column in of_scores.items() if column is not None]
    if ties not in TIES:
        problems.append(Problem("ties", f"must be one of {one_of(TIES)}, got {ties!r}", "leave it out for 'shared'"))
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
        problems.append(
            Problem("iterations", f"must be a whole number of at least 1, got {iterations!r}", "leave it out")
        )
    if not isinstance(tolerance, int | float) or not tolerance >= 0:
        problems.append(Problem("tolerance", f"must be a number of at least 0, got {tolerance!r}", "try 1e-5"))
    if problems:
        raise SettingsError(problems)


def _estimate(
    method: str, votes: PanelVotes, counts: VoteCounts, ties: Ties, iterations: int, tolerance: float
) -> _LabelEstimate:
    if method in ("dawid-skene", "one-coin"):
        model = fit(counts, iterations, tolerance, one_coin=method == "one-coin")
        return _LabelEstimate(model.posteriors, np.full(counts.n_workers, np.nan), model)
    if method in ("glad", "mace", "m-msr"):
        shape = (len(votes.units), counts.n_workers, counts.n_labels)
        return _LabelEstimate(*by_crowd_kit(method, votes.unit, votes.worker, votes.label, shape))
    if method == "majority":
        shares, skill = weighted_shares(counts, np.ones(counts.n_workers)), np.full(counts.n_workers, np.nan)
    else:
        shares, skill = (wawa if method == "wawa" else zero_based_skill)(counts, ties)
    return _LabelEstimate(counts.of_units(shares), skill)


def _labels(votes: PanelVotes, posteriors: Floats, ties: Ties) -> pd.DataFrame:
    tied = (highest(posteriors, "shared") > 0).sum(axis=1)
    chosen = highest(posteriors, "none" if ties == "none" else "first")
    code = np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)
    names = np.array([*votes.labels, None], dtype=object)
    table = {
        "run": votes.units["run"],
        "item": votes.units["item"],
        "label": names[code],
        "posterior": np.where(tied > 0, np.nan_to_num(posteriors).max(axis=1, initial=0), np.nan),
        "n": np.bincount(votes.unit[votes.label >= 0], minlength=len(votes.units)),
        "tied": tied,
        "truth": votes.units["truth"],
    }
    return fitted(RESULT_TABLES["aggregate.labels"], pd.DataFrame(table), "labels")


def _workers(votes: PanelVotes, counts: VoteCounts, estimate: _LabelEstimate, ties: Ties) -> pd.DataFrame:
    shares = highest(estimate.posteriors, ties) if estimate.model is None else estimate.posteriors
    patterns = np.zeros((len(counts.units), counts.n_labels))
    voted = counts.pattern >= 0
    patterns[counts.pattern[voted]] = shares[voted]  # units of one pattern have the same shares
    table = {
        "worker": list(votes.workers),
        "n": counts.by_worker.sum(axis=1),
        "accuracy": siding(counts, patterns),
        "skill": estimate.skill,
    }
    return fitted(RESULT_TABLES["aggregate.workers"], pd.DataFrame(table), "workers")


def _confusion(votes: PanelVotes, model: DawidSkene) -> pd.DataFrame:
    names = [list(votes.workers), list(votes.labels), list(votes.labels)]
    index = pd.MultiIndex.from_product(names, names=["worker", "truth", "label"])
    table = pd.DataFrame({"probability": model.confusion.ravel()}, index=index).reset_index()
    return fitted(RESULT_TABLES["aggregate.confusion"], table, "confusion")


def _repeats(votes: PanelVotes) -> Iterator[str]:
    repeated = int(pd.Series(votes.unit * len(votes.workers) + votes.worker).duplicated().sum())
    if repeated:
        yield f"{counted(repeated, 'vote')} by workers who had labelled the item before in the same round, all counted"

"""The table of workers: each column with its interval and its n, one row a worker; who is redundant (rule F3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from verifyplan.analysis.aggregation.dawid_skene import MAX_CONFUSION_CELLS, dawid_skene
from verifyplan.analysis.cluster_intervals import LEVEL, Interval, difference_interval, share_interval
from verifyplan.analysis.clusters import Clusters, clusters_of, clusters_of_units
from verifyplan.analysis.cost import failed, unsent
from verifyplan.analysis.panels.decisions import DecisionChanges
from verifyplan.analysis.panels.error_correlation import error_correlation
from verifyplan.analysis.panels.leave_one_out import Floats, LeaveOneOut
from verifyplan.analysis.panels.panel_answers import panel_answers
from verifyplan.analysis.panels.standing_apart import MIN_UNITS, rows_of_workers
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.panel_votes import CLAIM_LABELS, Ints, PanelVotes, claim_keys
from verifyplan.frames.run_notes import counted_calls
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted, did_you_mean

Figures: TypeAlias = dict[str, Any]
"""Columns by name; each has one entry a worker."""


def vote_figures(votes: PanelVotes) -> Figures:
    """Return the votes that each worker was asked for in all rounds, those that were lost, and their share."""
    n, lost = len(votes.workers), votes.label < 0
    return {
        "worker": list(votes.workers),
        "asked": np.bincount(votes.worker, minlength=n),
        "lost": np.bincount(votes.worker[lost], minlength=n),
        **_shares("lost_rate", lost, np.ones(len(votes)), votes.unit, votes.worker, n, clusters_of_units(votes)),
    }


def label_figures(votes: LeaveOneOut, positive: int | None) -> Figures:
    """Return what the labels of each worker say: how often positive, with the others, and with the truth."""
    cast, truth, right = votes.votes, votes.truth, votes.right
    known = truth >= 0
    kinds: dict[str, tuple[Floats, Any]] = {}
    if positive is not None:
        kinds["positive_rate"] = (cast.label == positive).astype(np.float64), np.ones(len(cast), dtype=bool)
    kinds["agreement"] = votes.agreement, votes.others > 0
    if (cast.truth >= 0).any():
        kinds["accuracy"] = right, known
        if positive is not None:
            kinds["sensitivity"] = right, truth == positive
            kinds["specificity"] = right, known & (truth != positive)
    clusters, figures = clusters_of_units(cast), Figures()
    for name, (part, whole) in kinds.items():
        figures |= _shares(name, part, whole, cast.unit, cast.worker, len(cast.workers), clusters)
    return figures


def reliability_figures(votes: LeaveOneOut) -> Figures:
    """Return how often each worker is right by Dawid-Skene, which knows no truth: one coin a worker, or a matrix.

    It is the mean posterior probability of the worker's own labels; intervals take the posteriors as known. NaN where
    there are too many labels for matrices of them.
    """
    cast = votes.votes
    sizes = len(cast.units), len(cast.workers), len(cast.labels)
    clusters, figures = clusters_of_units(cast), Figures()
    for name, one_coin in (("one_coin", True), ("dawid_skene", False)):
        own, counted = np.zeros(len(cast)), np.zeros(len(cast))
        if len(cast) > 0 and sizes[1] * sizes[2] ** 2 <= MAX_CONFUSION_CELLS:
            posteriors = dawid_skene(cast.unit, cast.worker, cast.label, *sizes, one_coin=one_coin).posteriors
            own, counted = posteriors[cast.unit, cast.label], np.ones(len(cast))
        figures |= _shares(name, own, counted, cast.unit, cast.worker, sizes[1], clusters)
    return figures


def panel_figures(votes: LeaveOneOut, changes: DecisionChanges) -> Figures:
    """Return how many decisions change without each worker, and what it adds to the accuracy of the majority.

    Both are of the decisions that the worker votes on; majorities of those that others vote on, too.
    """
    n = len(votes.votes.workers)
    one = np.ones(len(changes.change))
    figures = _shares("influence", changes.change, one, changes.decision, changes.worker, n, changes.clusters)
    if not (votes.votes.truth >= 0).any():
        return figures
    clusters, with_all = clusters_of_units(votes.votes), votes.panel_right()
    adds = []
    without = votes.panel_right_without()
    for own in rows_of_workers(np.where(votes.others > 0, votes.votes.worker, -1), n):
        units = votes.votes.unit[own]
        adds.append(_difference(without[own], with_all[units], clusters.take(units)))
    return figures | _columns("adds", adds)


def _difference(first: Floats, second: Floats, clusters: Clusters) -> Interval:
    """Return the mean of the second minus that of the first, over the units where each is known."""
    parts = [(np.nan_to_num(values), np.isfinite(values).astype(np.float64)) for values in (first, second)]
    return difference_interval(*parts[0], *parts[1], clusters)


_NAMES = dict.fromkeys(["run_id", "finding_id", "worker"], "str")


def basis_figures(runs: RunSet, workers: Sequence[str]) -> Figures:
    """Return how often each worker's disagrees, of all rounds, rest on doubt alone, and its refutations cite no place.

    Nothing where no vote of the runs has a basis.
    """
    with_basis = [
        part[part["disagree_basis"].notna() & ~part["is_origin"].fillna(False).astype(bool)].astype(_NAMES)
        for part in runs.votes_by_part([*_NAMES, "disagree_basis", "uncited", "is_origin"])
    ]
    votes = pd.concat(with_basis, ignore_index=True)
    if votes.empty:
        return {}
    facts = votes[["run_id", "finding_id"]].merge(runs.findings, on=["run_id", "finding_id"], how="left")
    clusters, unit = clusters_of(facts["run_id"], claim_keys(facts)), np.arange(len(votes))
    worker = pd.Index(workers).get_indexer(pd.Index(votes["worker"]))
    doubt = votes["disagree_basis"].eq("burden-not-met").to_numpy(dtype=bool)
    uncited = votes["uncited"].fillna(False).to_numpy(dtype=bool)
    return {
        **_shares("lazy_doubt_rate", doubt, np.ones(len(votes)), unit, worker, len(workers), clusters),
        **_shares("uncited_refute_rate", uncited, ~doubt, unit, worker, len(workers), clusters),
    }


def call_figures(runs: RunSet, workers: Sequence[str], asked: Ints) -> Figures:
    """Return the calls of each worker, how many failed, their mean time, and what they cost in all and per vote.

    Calls without a cost are left out of what they cost. What no run tells is left out.
    """
    made = calls_of_workers(runs)
    if made.empty:
        return {}
    groups, index = made[made["counts"]].groupby("worker"), list(workers)
    seconds, cost = groups["duration_ms"].mean() / 1000, made.groupby("worker")["cost"].sum(min_count=1)
    figures: Figures = {
        "calls": groups.size().reindex(index, fill_value=0).to_numpy(),
        "failed_calls": groups["failed"].sum().reindex(index, fill_value=0).to_numpy(),
    }
    if seconds.notna().any():
        figures["seconds"] = seconds.reindex(index).to_numpy()
    if cost.gt(0).any():
        figures["cost"] = cost.reindex(index).to_numpy()
        figures["cost_per_vote"] = figures["cost"] / np.maximum(asked, 1)
    return figures


def calls_of_workers(runs: RunSet) -> pd.DataFrame:
    """Return the calls of workers that ended: `worker, failed, unsent, counts, duration_ms, cost`.

    A value is NaN where nothing tells it, and the time of a call that was never sent. Of runs that were read from
    artifacts, dispatches are the calls. Those that a reopening superseded cost and do not count.
    """
    calls = runs.calls[runs.calls["role"].eq("worker") & runs.calls["status"].ne("in-flight")]
    sent = runs.dispatches[runs.dispatches["status"].notna() & ~runs.dispatches["run_id"].isin(runs.calls["run_id"])]
    names = ["worker", "failed", "unsent", "counts", "duration_ms", "cost"]
    parts = [
        part.assign(failed=failed(part), unsent=unsent(part), counts=counted_calls(part)).reindex(columns=names)
        for part in (calls, sent)
        if len(part)
    ]
    made = pd.concat(parts) if parts else pd.DataFrame(columns=names)
    made = made.astype({"unsent": "bool", "counts": "bool", "duration_ms": "float64", "cost": "float64"})
    return made.assign(duration_ms=made["duration_ms"].mask(made["unsent"]))


def cost_figures(votes: PanelVotes) -> Figures:
    """Return what the votes of each worker cost in all rounds, where a table tells.

    Votes without a cost are left out of both, and the notes count them.
    """
    if votes.cost is None or not np.isfinite(votes.cost).any():
        return {}
    groups = pd.Series(votes.cost).groupby(votes.worker)
    every = range(len(votes.workers))
    total, mean = groups.sum(min_count=1).reindex(every), groups.mean().reindex(every)
    return {"cost": total.to_numpy(), "cost_per_vote": mean.to_numpy()}


def recalls(votes: LeaveOneOut) -> pd.DataFrame | None:
    """Return how often each worker finds each label that is true; None where no truth is known."""
    cast = votes.votes
    if not (cast.truth >= 0).any():
        return None
    clusters, n = clusters_of_units(cast), len(cast.workers)
    parts = []
    for code in np.unique(cast.truth[cast.truth >= 0]):
        shares = _shares("recall", votes.right, votes.truth == code, cast.unit, cast.worker, n, clusters)
        parts.append(pd.DataFrame({"worker": list(cast.workers), "label": cast.labels[code], **shares}))
    table = pd.concat(parts).rename(columns={"recall_low": "low", "recall_high": "high", "recall_n": "n"})
    return table.sort_values("worker", kind="stable").reset_index(drop=True)


def _shares(name: str, part: Any, whole: Any, unit: Ints, worker: Ints, n_workers: int, clusters: Clusters) -> Figures:
    """Return the share of each worker's votes: of those in `whole`, the sum of `part`."""
    rows = rows_of_workers(np.where(whole, worker, -1), n_workers)
    intervals = [share_interval(part[own] * 1.0, np.ones(len(own)), clusters.take(unit[own])) for own in rows]
    return _columns(name, intervals)


def _columns(name: str, intervals: Sequence[Interval]) -> Figures:
    ends = {"": "value", "_low": "low", "_high": "high", "_n": "n"}
    return {f"{name}{end}": [getattr(each, field) for each in intervals] for end, field in ends.items()}


def positive_code(votes: PanelVotes, positive: str | None) -> int | None:
    """Return the position of the positive label; None where none is named, or where labels are not two.

    Votes on claims have the labels `false` and `true`, of which `true` is positive if none is named. Raises
    SettingsError for a name that is not a label, and for any name where there are not two labels.
    """
    if positive is None:
        return CLAIM_LABELS.index("true") if votes.labels == CLAIM_LABELS else None
    if positive not in votes.labels:
        message = f"{positive!r} is not a label of these votes{did_you_mean(positive, votes.labels)}"
        raise SettingsError(Problem("positive", message, f"use one of {one_of(votes.labels[:10])}"))
    if len(votes.labels) != 2:
        message = f"is for votes with two labels, and these have {counted(len(votes.labels), 'label')}"
        raise SettingsError(Problem("positive", message, "leave it out"))
    return votes.labels.index(positive)


MAX_CHANGE = 0.05
"""A worker may be redundant if its interval of changed decisions ends below this."""

MAX_LOSS = 0.01
"""With truth, its interval of what it adds to the majority's accuracy must end below this, too."""

MIN_CORRELATION = 0.8
"""A worker errs as another does if the interval of their errors' correlation begins above this."""

MIN_COMMON, MIN_ERRORS = 50, 10
"""A worker with fewer items in common with another, or with fewer errors, is not said to err as the other does."""

MAX_CELLS = 20_000_000
"""Panels of more items times workers than this are not searched for workers who err alike."""


def closest_figures(votes: LeaveOneOut) -> Figures:
    """Return for each worker whose errors are most like its own, the correlation of errors, and its n.

    Errors are correlated within classes of truth (`error_correlation`). Nothing without truth, and of panels with more
    than 20 million pairs of an item and a worker.
    """
    cast, n = votes.votes, len(votes.votes.workers)
    voters = len(np.unique(cast.worker[votes.truth >= 0]))
    if voters < 2 or len(cast.units) * n > MAX_CELLS:
        return {}
    answers = panel_answers(cast, "all")[0]
    found = error_correlation(answers, "within-truth")
    place = np.array([cast.workers.index(name) for name in answers.workers])
    pairs = np.where(np.isfinite(found.pairs), found.pairs, -np.inf)
    other = pairs.argmax(axis=1)
    every = np.arange(len(place))
    known = np.isfinite(pairs[every, other])
    figures: Figures = {
        "closest": np.full(n, None, dtype=object),
        "closest_correlation": np.full(n, np.nan),
        "closest_n": np.zeros(n, dtype=np.int64),
    }
    figures["closest"][place[known]] = np.array(answers.workers, dtype=object)[other[known]]
    figures["closest_correlation"][place[known]] = pairs[every, other][known]
    figures["closest_n"][place[known]] = found.n_common[every, other][known]
    return figures


def redundant(figures: Figures, votes: LeaveOneOut) -> npt.NDArray[np.bool_]:
    """Return which workers are redundant, one left out at a time.

    Without the worker, at 95 %, fewer than 5 % of 20 decisions or more change, and with truth the majority loses less
    than 1 point of accuracy; or it adds no accuracy that its interval shows, and its errors, 10 or more, correlate
    with those of another worker above 0.8, as Fisher's interval on 50 items or more has it.
    """
    has = {name: np.asarray(values) for name, values in figures.items() if name != "closest"}
    unmoved = (has["influence_high"] < MAX_CHANGE) & (has["influence_n"] >= MIN_UNITS)
    if "adds" not in has:
        return np.asarray(unmoved)
    unmoved &= has["adds_high"] < MAX_LOSS
    return np.asarray(unmoved | (errs_alike(has, votes) & ~(has["adds_low"] > 0)))


def errs_alike(figures: dict[str, Any], votes: LeaveOneOut) -> npt.NDArray[np.bool_]:
    """Return which workers err as their closest one does."""
    cast = votes.votes
    errors = np.bincount(cast.worker[votes.right == 0], minlength=len(cast.workers))
    if "closest_correlation" not in figures:
        return np.zeros(len(cast.workers), dtype=bool)
    r, n = np.nan_to_num(figures["closest_correlation"]), figures["closest_n"]
    with np.errstate(divide="ignore"):
        low = np.tanh(np.arctanh(r) - ndtri((1 + LEVEL) / 2) / np.sqrt(np.maximum(n - 3, 1)))
    return np.asarray((low > MIN_CORRELATION) & (n >= MIN_COMMON) & (errors >= MIN_ERRORS))

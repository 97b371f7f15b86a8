"""Read what a panel said of all items, and the truth of some of them, from arrays, runs or votes (rule F3c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of, clusters_of_findings, clusters_of_units
from verifyplan.analysis.replay import replay
from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.protocol.vote import HELD
from verifyplan.text import counted, is_or_are, short_repr

Floats = npt.NDArray[np.float64]

VERDICTS = {1.0: "accepted", 0.5: "tied", 0.0: "rejected"}
"""What a prediction says of an item where it is a verdict; an even panel may be tied."""

_LISTS = (Sequence, pd.Series, pd.Index, np.ndarray)


@with_field_docs
@dataclass(frozen=True, eq=False)
class JudgedItems:
    """The labels that a panel gave every item, and the truth where it is known."""

    prediction: Floats
    """What the panel says of each item: 1 and 0, a share of votes, or a score."""
    truth: Floats
    """The truth of each item on the same scale; NaN where it is not known."""
    clusters: Clusters | None
    """The runs and claims of the items; None where items are independent."""
    synthetic: bool = False
    """Whether items or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What was left out, and what was guessed."""

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Whether the truth of each item is known."""
        return ~np.isnan(self.truth)

    @property
    def binary(self) -> bool:
        """Whether every truth is 0 or 1, so that the mean is a rate, and every prediction is between them."""
        known = self.truth[self.labelled]
        within = (self.prediction >= 0) & (self.prediction <= 1)
        return bool(np.isin(known, (0.0, 1.0)).all() and within.all())

    @property
    def n_distinct_labels(self) -> int:
        """The number of labelled items; claims that are in several runs count once."""
        return self.clusters_at(self.labelled).n_claims

    def clusters_at(self, rows: npt.NDArray[np.bool_]) -> Clusters:
        """Return the clusters of some items, numbered anew; independent items are a claim each, in one run."""
        n = int(rows.sum())
        independent = Clusters(np.zeros(n, dtype=np.int64), np.arange(n))
        return independent if self.clusters is None else self.clusters.take(rows)


def judged_items(data: Any, truth: Any, clusters: Any, positive: str | None, at: Which) -> JudgedItems:
    """Return the items of `corrected_rate` from what its caller gives; raises as it does.

    Items without a prediction are left out, and a note counts them.
    """
    if isinstance(data, pd.DataFrame):
        data = as_panel_votes(data, {})
    if isinstance(data, PanelVotes):
        _refuse("votes bring their own", truth=truth, clusters=clusters)
        items = _of_votes(data.at(at), positive)
    elif truth is None and isinstance(data, _LISTS) and not isinstance(data, str | bytes):
        fix = "give predictions and truth, one value an item each, None where the truth is not known"
        raise InputError(Problem("truth", "is missing, and a list of predictions does not include it", fix))
    elif truth is None:
        _refuse("runs bring their own, and what held is counted", clusters=clusters, positive=positive)
        items = _of_runs(data)
    else:
        items = _of_arrays(data, truth, clusters)
    return _without_predictions_missing(items)


def _refuse(reason: str, **arguments: object) -> None:
    problems = [
        Problem(name, f"was given, got {short_repr(value)}", f"leave it out: {reason}")
        for name, value in arguments.items()
        if value is not None
    ]
    if problems:
        raise InputError(problems)


def _of_runs(runs: Runs) -> JudgedItems:
    """Return findings: whether each held under the mode of its run, and whether its claim is true."""
    runs = as_runs(runs, "predictions")
    findings = replay(runs, "recorded").dropna(subset="classification")
    return JudgedItems(
        prediction=np.asarray(findings["classification"].isin(HELD), dtype=np.float64),
        truth=np.asarray(findings["truth"].astype("Float64").to_numpy(na_value=np.nan), dtype=np.float64),
        clusters=clusters_of_findings(findings),
        synthetic=bool(runs.runs["synthetic"].fillna(False).any()),
    )


def _of_votes(votes: PanelVotes, positive: str | None) -> JudgedItems:
    """Return units: whether the majority gives the positive label, a tie being one half, and whether the truth does."""
    if positive not in (*votes.labels, None) or (positive is None and len(votes.labels) != 2):
        message = f"must name the label whose rate is wanted, got {short_repr(positive)}"
        raise TableError(Problem("positive", message, f"use one of {one_of(votes.labels[:20])}"))
    label = len(votes.labels) - 1 if positive is None else votes.labels.index(positive)
    cast = votes.label >= 0
    total = np.bincount(votes.unit[cast], minlength=len(votes.units))
    for_label = np.bincount(votes.unit[cast & (votes.label == label)], minlength=len(votes.units))
    majority: Floats = np.full(len(total), np.nan)
    majority[total > 0] = (np.sign(2 * for_label - total)[total > 0] + 1) / 2
    truth: Floats = np.full(len(total), np.nan)
    truth[votes.truth >= 0] = votes.truth[votes.truth >= 0] == label
    ties = int(np.sum((total > 0) & (2 * for_label == total)))
    several = votes.units["item"].duplicated().any() or votes.units["run"].nunique() > 1
    tied = f"{counted(ties, 'item')} {is_or_are(ties)} tied, and count as one half." if ties else ""
    return JudgedItems(
        prediction=majority,
        truth=truth,
        clusters=clusters_of_units(votes) if several else None,
        synthetic=votes.synthetic,
        notes=(f"The rate is that of {votes.labels[label]!r}, by the majority of votes.", *([tied] if tied else [])),
    )


def _of_arrays(predictions: Any, truth: Any, clusters: Any) -> JudgedItems:
    problems = list(_unequal(predictions=predictions, truth=truth, clusters=clusters))
    if problems:
        raise InputError(problems)
    named = {"predictions": pd.Series(predictions, dtype="object"), "truth": pd.Series(truth, dtype="object")}
    columns = {name: pd.to_numeric(values, errors="coerce") for name, values in named.items()}
    wrong = {name: values[columns[name].isna() & values.notna()] for name, values in named.items()}
    problems = [
        Problem(name, f"holds {short_repr(values.iloc[0])}, which is not a number", "give 1 and 0, or other numbers")
        for name, values in wrong.items()
        if len(values)
    ]
    problems += [
        Problem(
            name, f"must be finite, got {float(values.iloc[at[0]])} at item {at[0] + 1:,}", "leave such items missing"
        )
        for name, values in columns.items()
        if len(at := np.flatnonzero(np.isinf(values.to_numpy(dtype=np.float64, na_value=np.nan))))
    ]
    if problems:
        raise InputError(problems)
    codes = None
    if clusters is not None:
        names = pd.Series(np.asarray(clusters))
        if names.isna().any():
            fix = "name the run of every item, or what else items share"
            raise InputError(Problem("clusters", f"is missing for {counted(int(names.isna().sum()), 'item')}", fix))
        codes = clusters_of(names, pd.Series(np.arange(len(names))))
    synthetic = any(bool(getattr(values, "attrs", {}).get("synthetic", False)) for values in (predictions, truth))
    prediction, known = (column.to_numpy(dtype=np.float64) for column in columns.values())
    return JudgedItems(prediction, known, codes, synthetic=synthetic)


def _unequal(**arguments: Any) -> Iterator[Problem]:
    """Yield a problem for each list that is none, has another length than the first, or another index."""
    first = arguments["predictions"]
    for name, values in arguments.items():
        if values is None and name == "clusters":
            continue
        if np.ndim(values) != 1:
            yield Problem(name, f"must be a list, array or column, got {short_repr(values)}", "give one value an item")
        elif np.ndim(first) == 1 and len(values) != len(first):
            message = f"has {counted(len(values), 'value')}, predictions have {len(first):,}"
            yield Problem(name, message, "give one value an item, missing where it is not known")
        elif isinstance(values, pd.Series) and isinstance(first, pd.Series) and not values.index.equals(first.index):
            yield Problem(
                name, "has another index than predictions", "give columns of one table, or arrays in one order"
            )


def _without_predictions_missing(items: JudgedItems) -> JudgedItems:
    missing = np.isnan(items.prediction)
    if not missing.any():
        return items
    n = int(missing.sum())
    note = f"{counted(n, 'item')} {is_or_are(n)} left out, since the panel has no vote on {'it' if n == 1 else 'them'}."
    kept = ~missing
    clusters = None if items.clusters is None else items.clusters_at(kept)
    return JudgedItems(
        items.prediction[kept], items.truth[kept], clusters, synthetic=items.synthetic, notes=(*items.notes, note)
    )

"""The result of aggregating scores: one value an item, how far it is off, and what each worker gives (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from verifyplan.analysis.aggregation.vote_counts import Floats
from verifyplan.analysis.aggregation.weighted_votes import Ties
from verifyplan.analysis.cluster_intervals import LEVEL, Interval, clustered_variance, share_interval
from verifyplan.analysis.clusters import Clusters, clusters_of, clusters_of_units
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import counted

ERROR, OFFSET, BEST = "mean-absolute-error", "mean-error", "best-is-right"
"""The measures: how far values are from the truth, how far above it, and how often the best of a group is right."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class ScoreAggregation:
    """One value for each item out of the scores that workers gave, and how far it can be trusted."""

    method: str
    """`mean` or `median`."""
    scores: pd.DataFrame
    """One row a unit (an item of a run): `run, item, value, n, low, high, truth`; see
    `documentation("aggregate.scores")`."""
    workers: pd.DataFrame
    """One row a worker: `worker, n, mean, offset`; see `documentation("aggregate.scorers")`."""
    measures: pd.DataFrame
    """`measure, value, low, high, n` where truth is known: `mean-absolute-error` and `mean-error` (above 0 where values
    are too high), or, with groups, `best-is-right`."""
    notes: tuple[str, ...]
    """What a reader must know: lost scores, items without scores or truth, groups left out, ties."""
    votes: PanelVotes = field(repr=False)
    """The scores that were aggregated, as labels."""

    def __str__(self) -> str:
        """Return the sizes, the range of values, the measures where truth is known, and the notes."""
        made = " (synthetic)" if self.votes.synthetic else ""
        sizes = f"{counted(len(self.scores), 'item')}, {counted(int(self.scores['n'].sum()), 'score')}"
        lines = [f"{self.method}: {sizes} of {counted(len(self.workers), 'worker')}{made}"]
        values = self.scores["value"].dropna()
        lines.append(f"values: {values.min():.4g} to {values.max():.4g}, their median {values.median():.4g}")
        for measure, value, low, high, n in self.measures.itertuples(index=False):
            is_share, number = measure == BEST, f"{value:.4g} [{low:.4g}, {high:.4g}]"
            words = share_words(value, low, high) if is_share else number
            lines.append(f"{measure.replace('-', ' ')}: {words} (n = {n:,})")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words, the first scores and the workers for a notebook; every text is shown as text."""
        words = f"{self}\nThe first rows of .scores and .workers:"
        return words_and_tables(words, self.scores.head(10), self.workers.head(10))


def error_measures(votes: PanelVotes, value: Floats, truth: Floats) -> Iterator[dict[str, Any]]:
    """Yield the mean absolute error and the mean error with intervals by clusters; nothing where no truth is known."""
    known = ~np.isnan(value) & ~np.isnan(truth)
    if known.any():
        clusters, error = clusters_of_units(votes).take(known), (value - truth)[known]
        absolute = mean_interval(np.abs(error), clusters)
        yield {"measure": ERROR, **absolute._replace(low=max(absolute.low, 0.0))._asdict()}
        yield {"measure": OFFSET, **mean_interval(error, clusters)._asdict()}


def mean_interval(values: Floats, clusters: Clusters) -> Interval:
    """Return the mean of values that come in clusters, with Student's interval; NaN for that of a single row."""
    n, mean = len(values), float(values.mean())
    if n < 2:
        return Interval(mean, np.nan, np.nan, n)
    variance, freedom = clustered_variance((values - mean) / n, clusters)
    half = float(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance))
    return Interval(mean, mean - half, mean + half, n)


def best_measure(
    run: pd.Series[Any], group: npt.NDArray[Any], value: Floats, truth: Floats, ties: Ties
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return how often the highest value of a group is of an item with the highest truth, and notes on it.

    Groups count in which every item has a value and a truth, and not all truths are equal. Items that tie for the
    highest count by their share, or as wrong with `none`.
    """
    items = pd.DataFrame({"run": run, "group": group, "value": value, "truth": truth}).dropna(subset="group")
    by_group = items.groupby(["run", "group"], sort=False)
    top = items["value"].ge(by_group["value"].transform("max") - 1e-9)
    right = top & items["truth"].eq(by_group["truth"].transform("max"))
    lost = items[["value", "truth"]].isna().any(axis=1)
    sums = items.assign(top=top, right=right, lost=lost).groupby(["run", "group"], sort=False)
    n_top, n_right = sums["top"].sum().to_numpy(float), sums["right"].sum().to_numpy(float)
    whole, varied = ~sums["lost"].any().to_numpy(), (sums["truth"].nunique() > 1).to_numpy()
    kept = whole & varied
    tied = kept & (n_top > 1)
    credit = n_right / np.maximum(n_top, 1) if ties == "shared" else n_right * (n_top == 1)
    names = sums.size().index.to_frame(index=False)
    figure = share_interval(np.where(kept, credit, 0), kept.astype(float), clusters_of(names["run"], names["group"]))
    notes = []
    if (~whole).any():
        notes.append(f"{counted(int((~whole).sum()), 'group')} left out: an item has no value or no truth")
    if (whole & ~varied).any():
        notes.append(f"{counted(int((whole & ~varied).sum()), 'group')} left out: all its items have one truth")
    if tied.any():
        said = "each tied item counts for its share" if ties == "shared" else "they count as wrong"
        notes.append(f"the best is tied in {counted(int(tied.sum()), 'group')}: {said}")
    return {"measure": BEST, **figure._asdict()}, tuple(notes)

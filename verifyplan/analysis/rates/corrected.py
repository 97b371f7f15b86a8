"""The result of correcting a rate: the panel's own, that of labels alone, and the corrected one (rule F3c)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import (
    Interval,
    difference_interval,
    share_interval,
)
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.error_correlation import linear_interval
from verifyplan.analysis.rates.judged_items import Floats, JudgedItems
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted

MIN_LABELS = 200
"""With fewer labels than this a note says what coverage to expect."""
_OTHER_RATES_LEVEL = 0.99  # of the interval by which labelled items differ from the others


@with_field_docs
@dataclass(frozen=True, eq=False)
class CorrectedRate:
    """A rate or mean that a panel measured on all items, corrected by the items whose truth is known."""

    method: str
    """`prediction-powered` (`ppi`) or `rogan-gladen` (`corrected_rate`)."""
    value: float
    """The corrected rate; NaN where it cannot be corrected. Of a rate never below 0 or above 1."""
    low: float
    """The low end of its 95 % interval."""
    high: float
    """The high end of its 95 % interval."""
    rates: pd.DataFrame
    """`estimate, value, low, high, width, n`: `panel` (what it measured), `labels-alone`, `corrected`; by Rogan and
    Gladen `sensitivity` and `specificity`, too."""
    n_labelled: int
    """The items whose truth is known."""
    n_unlabelled: int
    """The other items."""
    tuning: float
    """How much weight the predictions have, from 0 (none: labels alone) to 1; NaN by Rogan and Gladen."""
    standard_error: float
    """The standard error of the corrected rate, as the paper behind the method has it; the interval is wider."""
    binary: bool
    """Whether it is a rate; else it is the mean of other numbers."""
    synthetic: bool
    """Whether items or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: few labels, labelled items that differ from the others, a panel that tells nothing."""

    def __str__(self) -> str:
        """Return the corrected rate beside those of the panel and of the labels alone, in a few lines."""
        words = {row["estimate"]: self._words(row) for row in self.rates.to_dict("records")}
        how = "" if np.isnan(self.tuning) else f", tuning {self.tuning:.2f}"
        made = ", synthetic" if self.synthetic else ""
        sizes = f"{self.n_labelled:,} labelled and {self.n_unlabelled:,} other items"
        lines = [f"corrected: {words.pop('corrected')[0]} ({self.method}{how}; {sizes}{made})"]
        lines += [f"{name.replace('-', ' ')}: {figure} (n = {n:,})" for name, (figure, n) in words.items()]
        lines += [f"the corrected interval is {self._saved} than that of the labels alone"] if self._saved else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        """Return the rates for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.rates)

    @property
    def _saved(self) -> str:
        """How much narrower than labels alone; empty by Rogan and Gladen, whose labels may be chosen by truth."""
        if self.method != "prediction-powered":
            return ""
        widths = self.rates.set_index("estimate")["width"]
        share = widths["corrected"] / widths["labels-alone"] - 1 if widths["labels-alone"] > 0 else np.nan
        return "" if np.isnan(share) else f"{100 * abs(share):.0f} % {'wider' if share > 0 else 'narrower'}"

    def _words(self, row: Mapping[Any, Any]) -> tuple[str, int]:
        value, low, high = row["value"], row["low"], row["high"]
        if np.isnan(value):
            return "not known", row["n"]
        if self.binary:
            return share_words(value, low, high), row["n"]
        return f"{value:.3g} [{low:.3g}, {high:.3g}]", row["n"]


def rates_table(items: JudgedItems, **others: Interval) -> pd.DataFrame:
    """Return `.rates`: what the panel measured on all items, the mean of the labels alone, and other figures."""
    everything = np.ones(len(items.truth), dtype=bool)
    rows = {
        "panel": mean_interval(items.prediction, items.clusters_at(everything), share=items.binary),
        "labels-alone": mean_interval(
            items.truth[items.labelled], items.clusters_at(items.labelled), share=items.binary
        ),
        **others,
    }
    table = pd.DataFrame(rows.values(), columns=["value", "low", "high", "n"])
    table.insert(0, "estimate", list(rows))
    table.insert(4, "width", table["high"] - table["low"])
    return table


def mean_interval(values: Floats, clusters: Clusters, *, share: bool) -> Interval:
    """Return the mean of values with its 95 % interval: Wilson's of a share, else a cluster-linearised t interval."""
    n = len(values)
    if share:
        return share_interval(values, np.ones(n), clusters)
    value = float(values.mean())
    return linear_interval(value, (values - value) / n, clusters)


def check_samples(items: JudgedItems, name: str) -> None:
    """Raise InputError unless some items have a known truth and others have none."""
    n_labelled = int(items.labelled.sum())
    if n_labelled < 2:
        message = f"is known of {counted(n_labelled, 'item')}, and {name} needs at least 2"
        raise InputError(Problem("truth", message, "label a random sample of the items, at best 200"))
    if n_labelled == len(items.truth):
        message = f"is known of all {n_labelled:,} items, so there is no rate to correct"
        raise InputError(Problem("truth", message, "take the mean of truth, or add the items without truth"))


def note_other_rates(items: JudgedItems) -> str:
    """Return a note where the panel's rate differs between labelled items and the others; else nothing.

    By a 99 % interval of the difference: labels that are a random sample differ so once in a hundred times.
    """
    labelled = items.labelled.astype(float)
    clusters = items.clusters_at(np.ones(len(labelled), dtype=bool))
    parts = (items.prediction * labelled, labelled, items.prediction * (1 - labelled), 1 - labelled)
    difference = difference_interval(*parts, clusters, level=_OTHER_RATES_LEVEL)
    if difference.low <= 0 <= difference.high:
        return ""
    means = [items.prediction[rows].mean() for rows in (items.labelled, ~items.labelled)]
    first, second = (f"{100 * mean:.0f} %" if items.binary else f"{mean:.3g}" for mean in means)
    return f"The panel's own rate is {first} among labelled items and {second} among the others"


def note_few_labels(n_labels: int, covered_by_20: str, covered_by_50: str) -> list[str]:
    """Return a note on the coverage to expect where there are fewer than 200 labels: with 20, and with 50 or more.

    Labels of one claim in several runs count once.
    """
    if n_labels >= MIN_LABELS:
        return []
    with_so_many = f"with 50 to {MIN_LABELS} labels" if n_labels >= 50 else "with 20 labels"
    covered = covered_by_50 if n_labels >= 50 else covered_by_20
    return [
        f"There are {counted(n_labels, 'label')}: {with_so_many} such intervals contained the true value in {covered} "
        f"of simulated samples (docs/statistics.md). Label {MIN_LABELS} or more items for a narrow interval."
    ]

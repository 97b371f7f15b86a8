"""The result of correcting a rate: the panel's own, the corrected one, and the figures between them (rule F3c)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.error_correlation import linear_interval
from verifyplan.analysis.rates.judged_items import Floats, JudgedItems
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs


class Correction(NamedTuple):
    """What a method makes of the items: the corrected rate, what it was computed from, and what a reader must know."""

    value: float
    low: float
    high: float
    standard_error: float
    shares: Mapping[str, Interval]
    """Further rows of `CorrectedRate.rates`, such as `sensitivity`."""
    notes: tuple[str, ...] = ()
    tuning: float = np.nan


@with_field_docs
@dataclass(frozen=True, eq=False)
class CorrectedRate:
    """A rate or mean that a panel measured on all items, corrected by the items whose truth is known."""

    labels: str
    """How the labelled items were chosen, as the caller says: `random`, `by-truth` or `by-verdict`."""
    method: str
    """`prediction-powered`, `rogan-gladen` or `stratified`."""
    population: str
    """Whose rate it is: `all items`, or with labels by truth the `items without truth`."""
    value: float
    """The corrected rate; NaN where it cannot be corrected. Of a rate never below 0 or above 1."""
    low: float
    """The low end of its 95 % interval."""
    high: float
    """The high end of its 95 % interval."""
    rates: pd.DataFrame
    """`estimate, value, low, high, width, n`: `panel` (what it measured), `corrected`, and what the method rests on."""
    n_labelled: int
    """The items whose truth is known."""
    n_unlabelled: int
    """The other items."""
    tuning: float
    """How much weight the predictions have, from 0 (none: labels alone) to 1; NaN unless prediction-powered."""
    standard_error: float
    """The standard error of the corrected rate, as the paper behind the method has it; the interval is wider."""
    binary: bool
    """Whether it is a rate; else it is the mean of other numbers."""
    synthetic: bool
    """Whether items or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: labels that are no random sample, a panel that tells nothing, few labels."""

    def __str__(self) -> str:
        """Return the corrected rate beside that of the panel and what the method rests on, in a few lines."""
        words = {row["estimate"]: self._words(row) for row in self.rates.to_dict("records")}
        how = "" if np.isnan(self.tuning) else f", tuning {self.tuning:.2f}"
        made = ", synthetic" if self.synthetic else ""
        sizes = f"{self.n_labelled:,} labelled and {self.n_unlabelled:,} other items"
        lines = [
            f"corrected: {words.pop('corrected')[0]} among {self.population} "
            f"({self.method}, labels {self.labels}{how}; {sizes}{made})"
        ]
        lines += [f"{name.replace('-', ' ')}: {figure} (n = {n:,})" for name, (figure, n) in words.items()]
        lines += [f"the corrected interval is {self._saved} than that of the labels alone"] if self._saved else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        """Return the rates for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.rates)

    @property
    def _saved(self) -> str:
        """How much narrower than labels alone; empty where these were chosen, so that their mean says nothing."""
        widths = self.rates.set_index("estimate")["width"]
        alone = widths.get("labels-alone", 0.0)
        share = widths["corrected"] / alone - 1 if alone > 0 else np.nan
        return "" if np.isnan(share) else f"{100 * abs(share):.0f} % {'wider' if share > 0 else 'narrower'}"

    def _words(self, row: Mapping[Any, Any]) -> tuple[str, int]:
        value, low, high = row["value"], row["low"], row["high"]
        if np.isnan(value):
            return "not known", row["n"]
        if self.binary:
            return share_words(value, low, high), row["n"]
        return f"{value:.3g} [{low:.3g}, {high:.3g}]", row["n"]


def rates_table(rows: Mapping[str, Interval]) -> pd.DataFrame:
    """Return `CorrectedRate.rates` of named estimates."""
    table = pd.DataFrame(rows.values(), columns=["value", "low", "high", "n"])
    table.insert(0, "estimate", list(rows))
    table.insert(4, "width", table["high"] - table["low"])
    return table


def mean_of(items: JudgedItems, values: Floats, rows: Any) -> Interval:
    """Return the mean of a value of each item over some items, with its interval by their clusters."""
    return mean_interval(values[rows], items.clusters_at(rows), share=items.binary)


def mean_interval(values: Floats, clusters: Clusters, *, share: bool) -> Interval:
    """Return the mean of values with its 95 % interval: Wilson's of a share, else a cluster-linearised t interval."""
    n = len(values)
    if share:
        return share_interval(values, np.ones(n), clusters)
    value = float(values.mean())
    return linear_interval(value, (values - value) / n, clusters)

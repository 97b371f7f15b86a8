"""The result of an aggregation: one label an item, and what it says of the workers (rule F3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.aggregation.vote_counts import Floats, Ints
from verifyplan.analysis.aggregation.weighted_votes import Ties, highest
from verifyplan.analysis.cluster_intervals import Interval, share_interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.analysis.result_words import share_words
from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.coded_columns import Coded, coded
from verifyplan.frames.label_words import with_booleans
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import counted, listed

SHOWN_LABELS = 10
"""How many labels are listed in words; of more the most frequent."""
UNKNOWN, NO_LABEL = -1, -2  # of a unit's truth: not known; known, and no vote ever has this label


@with_field_docs
@dataclass(frozen=True, eq=False)
class Aggregation:
    """One label for each item out of those that the workers gave, and how far it can be trusted."""

    method: str
    """The method, such as `majority`."""
    ties: Ties
    """What counts where several labels are highest: `shared`, `first` or `none`."""
    labels: pd.DataFrame
    """One row a unit (an item of a run): `run, item, label, posterior, n, tied, truth`; see
    `documentation("aggregate.labels")`."""
    posteriors: pd.DataFrame
    """One row a unit, by `run` and `item`, and one column a label: its share of the votes (majority), of their weights
    (wawa, zero-based-skill), or its probability; NaN for a unit without votes."""
    workers: pd.DataFrame
    """One row a worker: `worker, n, accuracy, skill`; see `documentation("aggregate.workers")`."""
    confusion: pd.DataFrame | None
    """What each worker says where a label is true: `worker, truth, label, probability`; None but for `dawid-skene`
    and `one-coin`. See `documentation("aggregate.confusion")`."""
    iterations: int | None
    """How many iterations were made; None where the method has none, or does not say."""
    notes: tuple[str, ...]
    """What a reader must know: ties, lost and few votes, no convergence, a method that does worse than the majority."""
    votes: PanelVotes = field(repr=False)
    """The votes that were aggregated."""

    def accuracy(self, truth: Mapping[Any, Any] | pd.Series[Any] | pd.DataFrame | None = None) -> Interval:
        """Return the share of items whose label is right, with its 95 % interval by runs and items.

        Ties count as `ties` says: each tied label its share, the first, or as wrong. Items without truth and items
        without votes are left out.

        Args:
            truth: the right labels, by item: a mapping, a Series, or a table with the columns `item` and `truth`. As a
                rule those that came with the votes.

        Raises TableError where no item has a truth, or no vote has a label that `truth` has.
        """
        codes = self.votes.truth if truth is None else _truth_codes(self.votes, truth)
        if (codes == UNKNOWN).all():
            fix = "name its column by truth=, or give .accuracy() a mapping of items to labels"
            raise TableError(Problem("truth", "no item that was labelled has one", fix))
        right, known = right_shares(self.posteriors.to_numpy(), codes, self.ties)
        return share_interval(right, known, clusters_of_units(self.votes))

    def __str__(self) -> str:
        """Return the sizes, the accuracy where truth is known, how often each label came out, and the notes."""
        votes = int(self.labels["n"].sum())
        sizes = f"{counted(len(self.labels), 'item')}, {counted(votes, 'vote')} of "
        made = " (synthetic)" if self.votes.synthetic else ""
        counts = self.labels["label"].value_counts().reindex(list(self.votes.labels), fill_value=0)
        counts = counts if len(counts) <= SHOWN_LABELS else counts.sort_values(ascending=False, kind="stable")
        shown = listed([f"{name} ({n:,})" for name, n in counts.items()], SHOWN_LABELS)
        steps = [] if self.iterations is None else [f"iterations: {self.iterations}"]
        right = self.accuracy() if (self.votes.truth >= 0).any() else None
        lines = [
            f"{self.method}: {sizes}{counted(len(self.workers), 'worker')}{made}",
            *([] if right is None else [f"accuracy: {share_words(*right)}"]),
            f"labels: {shown}",
            *steps,
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words, the first labels and the workers for a notebook; every text is shown as text."""
        words = escape(str(self)).replace("\n", "<br>")
        tables = "".join(table.head(10).to_html(index=False, na_rep="-") for table in (self.labels, self.workers))
        return f"<p>{words}</p><p>The first rows of .labels and .workers:</p>{tables}"


def right_shares(posteriors: Floats, truth: Ints, ties: Ties) -> tuple[Floats, Floats]:
    """Return how right the label of each unit is, from 0 to 1, and 1 for each unit that counts."""
    chosen = highest(posteriors, ties)
    known = (truth != UNKNOWN) & ~np.isnan(posteriors).all(axis=1)
    right = np.where(truth >= 0, np.take_along_axis(chosen, np.maximum(truth, 0)[:, None], axis=1)[:, 0], 0)
    return np.where(known, right, 0.0), known.astype(np.float64)


def _truth_codes(votes: PanelVotes, truth: Mapping[Any, Any] | pd.Series[Any] | pd.DataFrame) -> Ints:
    if isinstance(truth, pd.DataFrame):
        absent = [name for name in ("item", "truth") if name not in truth]
        if absent:
            fix = "rename its columns, or give a Series of labels by item"
            raise TableError(Problem("truth", f"the table has no column {name!r}", fix) for name in absent)
        truth = truth.set_index("item")["truth"]
    if not isinstance(truth, pd.Series):
        expect(truth, Mapping, "truth", "give a mapping of items to labels, a Series by item, or a table")
        truth = pd.Series(dict(truth), dtype="object")
    items, labels = coded(truth.index.to_series()), with_booleans(coded(truth))
    known = pd.DataFrame({"item": _names(items), "truth": _names(labels)}).dropna().drop_duplicates()
    if known["item"].duplicated().any():
        item = known.loc[known["item"].duplicated(), "item"].iloc[0]
        raise TableError(Problem("truth", f"gives item {item!r} several labels", "give each item one truth"))
    code = {name: position for position, name in enumerate(votes.labels)}
    texts = votes.units["item"].map(known.set_index("item")["truth"])
    codes = np.where(texts.isna(), UNKNOWN, texts.map(code).fillna(NO_LABEL)).astype(np.int64)
    if (codes == NO_LABEL).any() and not (codes >= 0).any():
        message = f"holds {one_of(texts.dropna().unique()[:5])}, and votes say {one_of(votes.labels[:5])}"
        raise TableError(Problem("truth", message, "make both the same words"))
    return codes


def _names(column: Coded) -> Any:
    return np.array([*column.names, None], dtype="object")[column.codes]

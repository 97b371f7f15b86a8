"""The result of an aggregation: one label an item, the figures of the workers, and notes on them (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.aggregation.dawid_skene import DawidSkene
from verifyplan.analysis.aggregation.vote_counts import Floats, Ints, VoteCounts
from verifyplan.analysis.aggregation.weighted_votes import Ties, highest
from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.codes import coded
from verifyplan.frames.label_words import with_booleans
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import counted, is_or_are, listed

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
    converged: bool | None
    """Whether the last iteration changed no posterior by more than the tolerance; None likewise."""
    n_moved: int | None
    """How many units have another label than by majority; None for the majority itself."""
    n_decided: int | None
    """How many units of which the majority is tied have one of its labels; None likewise."""
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
            raise TableError(Problem("truth", "no labelled item has a known truth", fix))
        right, known = right_shares(self.posteriors.to_numpy(), codes, self.ties)
        return share_interval(right, known, clusters_of_units(self.votes))

    def __str__(self) -> str:
        """Return the sizes, the accuracy where truth is known, how often each label was chosen, and the notes."""
        votes = int(self.labels["n"].sum())
        sizes = f"{counted(len(self.labels), 'item')}, {counted(votes, 'vote')} of "
        made = " (synthetic)" if self.votes.synthetic else ""
        counts = self.labels["label"].value_counts().reindex(list(self.votes.labels), fill_value=0)
        counts = counts if len(counts) <= SHOWN_LABELS else counts.sort_values(ascending=False, kind="stable")
        shown = listed([f"{name} ({n:,})" for name, n in counts.items()], SHOWN_LABELS)
        ended = "converged" if self.converged else "not converged"
        steps = [] if self.iterations is None else [f"iterations: {self.iterations:,}, {ended}"]
        if self.n_moved is not None:
            moved = f"another label than the majority's: {self.n_moved:,} of {counted(len(self.labels), 'item')}"
            steps.append(f"{moved}{f', ties decided: {self.n_decided:,}' if self.n_decided else ''}")
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
        words = f"{self}\nThe first rows of .labels and .workers:"
        return words_and_tables(words, self.labels.head(10), self.workers.head(10))


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
    known = pd.DataFrame({"item": items.texts, "truth": labels.texts}).dropna().drop_duplicates()
    if known["item"].duplicated().any():
        item = known.loc[known["item"].duplicated(), "item"].iloc[0]
        raise TableError(Problem("truth", f"gives item {item!r} several labels", "give each item one truth"))
    code = {name: position for position, name in enumerate(votes.labels)}
    texts = votes.units["item"].map(known.set_index("item")["truth"])
    codes = np.where(texts.isna(), UNKNOWN, texts.map(code).fillna(NO_LABEL)).astype(np.int64)
    if (codes == NO_LABEL).any() and not (codes >= 0).any():
        message = f"has {one_of(texts.dropna().unique()[:5])}, but the votes have {one_of(votes.labels[:5])}"
        raise TableError(Problem("truth", message, "use the same words in both"))
    return codes


FEW_VOTES = 5
"""A worker or a label with fewer votes is noted."""


def vote_notes(votes: PanelVotes, counts: VoteCounts, weighted: bool) -> Iterator[str]:
    """Yield what is known of the votes alone: lost ones, items without votes, one run, labels and workers with few."""
    lost = int((votes.label < 0).sum())
    if lost:
        yield f"{counted(lost, 'vote')} {is_or_are(lost)} empty, and {is_or_are(lost)} not counted"
    silent = int((counts.pattern < 0).sum())
    if silent:
        has = "has" if silent == 1 else "have"
        yield f"{counted(silent, 'item')} {has} no vote: no label, and left out of the accuracy"
    if votes.runs is not None and votes.units["run"].nunique() == 1:
        yield "there is only one run: the interval leaves out how much the accuracy changes from run to run"
    by_label = counts.by_worker.sum(axis=0)
    if (by_label > 0).sum() == 1:
        yield f"every vote says {votes.labels[int(by_label.argmax())]!r}: there is nothing to weigh"
    elif (by_label < FEW_VOTES).any():
        rare = [f"{votes.labels[code]} ({by_label[code]:.0f})" for code in np.flatnonzero(by_label < FEW_VOTES)]
        yield f"labels with fewer than {FEW_VOTES} votes: {listed(rare)}"
    few = int((counts.by_worker.sum(axis=1) < FEW_VOTES).sum())
    if weighted and few:
        yield (
            f"{few:,} of {counted(counts.n_workers, 'worker')} gave fewer than {FEW_VOTES} votes: how reliable they "
            "are is a guess"
        )


def tie_note(tied: Ints, ties: Ties) -> Iterator[str]:
    """Yield how many items are tied, and what counts there."""
    n = int((tied > 1).sum())
    said = {
        "shared": "each of the tied labels counts for its share in the accuracy, and .labels shows the first",
        "first": "the first label in order counts",
        "none": "they have no label, and count as wrong in the accuracy",
    }
    if n:
        yield f"{counted(n, 'item')} {is_or_are(n)} tied: {said[ties]}"


def against_majority(method: str, votes: PanelVotes, posteriors: Floats, majority: Floats, ties: Ties) -> Iterator[str]:
    """Yield where a method does worse than the majority on the items whose truth is known."""
    if (votes.truth == UNKNOWN).all():
        return
    plain, known = right_shares(majority, votes.truth, ties)
    right, _ = right_shares(posteriors, votes.truth, ties)
    if right.sum() < plain.sum() - 1e-9:
        change = difference_interval(plain, known, right, known, clusters_of_units(votes))
        n = int(known.sum())
        advice = "no difference is shown here"
        if change.high < 0:
            advice = "use method='majority'"
        yield (
            f"{method} is right on {100 * right.sum() / n:.1f} % of {counted(n, 'item')}, the plain majority on "
            f"{100 * plain.sum() / n:.1f} % ({100 * change.value:+.1f} points [{100 * change.low:+.1f}, "
            f"{100 * change.high:+.1f}]): {advice}"
        )


def convergence_note(model: DawidSkene, tolerance: float) -> Iterator[str]:
    """Yield that the iterations ended before the model converged."""
    if model.change > tolerance:
        yield (
            f"not converged: iteration {model.iterations:,} still changed a posterior by {model.change:.2g}; raise "
            "iterations= to see whether labels change"
        )


def moved_from(majority: Floats, posteriors: Floats) -> tuple[int, int]:
    """Return how many units a method gives another label than the majority, and of how many it decides the tie."""
    ours, plain = highest(posteriors, "shared") > 0, highest(majority, "shared") > 0
    voted, both = plain.any(axis=1), (ours & plain).any(axis=1)
    return int((voted & ~both).sum()), int((both & (ours.sum(axis=1) < plain.sum(axis=1))).sum())

"""The result of `fragility`: which conclusions rest on which votes, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted

_JOINT = {
    "failed": ("vote", "that failed", "that failed", "No vote failed."),
    "uncited": (
        "counter-evidence",
        "that cites no place",
        "that cite no place",
        "No counter-evidence that counts lacks a place.",
    ),
    "filled-in": ("basis", "that was filled in", "that were filled in", "No basis was filled in."),
}
"""The votes that are changed together: what they are, which of them, one or several, and what it is to have none."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Fragility:
    """The changes if votes that failed, cite nothing, were filled in, or are single had gone the other way."""

    table: pd.DataFrame
    """One row a kind of change: the votes it concerns, and the findings whose class, or whether they are held,
    changes; `documentation("fragility")` has every column."""
    metrics: pd.DataFrame
    """`kind, taken_as, metric, value, low, high, low_bound, high_bound, n`: the range of each metric under each kind of
    change, with an interval that contains those of its ends."""
    findings: pd.DataFrame
    """One row a finding and kind of change that gives it another class."""
    workers: pd.DataFrame
    """One row a worker: the findings whose class changes without this worker."""
    n_findings: int
    """The findings that were judged."""
    n_runs: int
    """Their runs."""
    n_votes: int
    """The votes that count, as the rules read them."""
    n_failed: int
    """The votes that failed."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: changes that would go on to a round that was never held, votes without explanations."""

    def __str__(self) -> str:
        """Return how many conclusions rest on which votes, and how far the metrics would move."""
        made = " (synthetic)" if self.synthetic else ""
        votes = f"{counted(self.n_votes, 'vote')} and {self.n_failed:,} that failed"
        head = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}, {votes}"
        return "\n".join([head, *self._sentences(), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.table)

    def _sentences(self) -> Iterator[str]:
        rows: dict[Any, Any] = {(row.kind, row.taken_as): row for row in self.table.itertuples()}
        for kind, taken_as in (("failed", "anything"), ("uncited", "other basis"), ("filled-in", "other basis")):
            yield _joint_sentence(rows[kind, taken_as]) + self._range(kind, taken_as)
        single = rows["single", "opposite"]
        held = share_words(single.held_share, single.held_low, single.held_high)
        yield (
            f"A single vote, taken the opposite way, decides the class of {single.n_class_changed:,} of "
            f"{counted(single.n, 'finding')}, and whether {single.n_held_changed:,} are held: {held}."
            + self._range("single", "opposite")
        )
        if len(self.workers) > 1 and self.workers["n_class_changed"].any():
            most: Any = self.workers.sort_values("n_class_changed", ascending=False, kind="stable").iloc[0]
            yield (
                f"Leaving out {most['worker']} changes most: {most['n_class_changed']:,} of "
                f"{counted(self.n_findings, 'finding')} would have another class{_held(most)}."
                + self._range("worker", "left out")
            )

    def _range(self, kind: str, taken_as: str) -> str:
        """Return how far F1 would move, or without truth the share that is held."""
        metrics = self.metrics[self.metrics["kind"].eq(kind) & self.metrics["taken_as"].eq(taken_as)]
        metrics = metrics.set_index("metric")
        name = "f1" if "f1" in metrics.index else "held"
        row: Any = metrics.loc[name]
        low, value, high = row["low_bound"], row["value"], row["high_bound"]
        if not low < high:
            return ""
        words = "F1" if name == "f1" else "the share of findings held"
        return f" {words[0].upper()}{words[1:]}, {100 * value:.1f} %, could be {100 * low:.1f} to {100 * high:.1f} %."


def _joint_sentence(row: Any) -> str:
    noun, of_one, of_several, none = _JOINT[row.kind]
    if not row.n_votes:
        return none
    if not row.n_class_changed:
        return f"No conclusion rests on the {counted(row.n_votes, noun)} {of_one if row.n_votes == 1 else of_several}."
    which = of_one if row.n_deciding == 1 else of_several
    findings = counted(row.n_class_changed, "finding")
    return f"The conclusion of {findings} rests on {counted(row.n_deciding, noun)} {which}{_held(row)}."


def _held(row: Any) -> str:
    return f" (for {row.n_held_changed:,} whether it is held)" if row.n_held_changed else ""

"""The result of `workers`: the table, and in words who is unreliable, redundant or influential (rule F3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.panels.redundancy import MAX_CHANGE
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted, listed

MAX_EXPLAINED = 3
"""Of more workers than this only the names are said, and the figures of the first."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Workers:
    """The workers of a panel, each with its figures, their intervals and their n."""

    table: pd.DataFrame
    """One row a worker, by name; `documentation("workers")` explains the columns."""
    recalls: pd.DataFrame | None
    """`worker, label, recall, low, high, n`: how often each worker finds each true label; None without truth."""
    measure: str
    """The figure that workers are judged by: `accuracy`, or without truth `agreement` with the others' majority."""
    majority: Interval | None
    """The accuracy of the majority, ties counted as their share; None without truth."""
    decides: str
    """What changes without a worker: the `class` of findings of runs, or the `majority` of the labels of a table."""
    positive: str | None
    """The positive of two labels; None where there is none."""
    n_items: int
    """The number of items, an item in two runs counted twice, that have a label."""
    n_votes: int
    """The number of votes that the labels are of, lost ones left out."""
    synthetic: bool
    """True where votes or items were generated, not observed."""
    modes: tuple[str, ...] = ()
    """The modes of the runs, whose rules give the `class`; empty of a table of labels."""
    notes: tuple[str, ...] = ()
    """What a reader must know: lost votes, few items, which round counts, workers with one label alone."""

    @property
    def unreliable(self) -> tuple[str, ...]:
        """The workers who are clearly worse than the others; the worst first."""
        return self._named("unreliable", self.measure, ascending=True)

    @property
    def redundant(self) -> tuple[str, ...]:
        """The workers without whom next to nothing changes, one left out at a time."""
        return self._named("redundant", "influence", ascending=True)

    @property
    def influential(self) -> tuple[str, ...]:
        """The workers without whom clearly more decisions change than without the others, for better or worse.

        The one without whom most change is first. Of runs this holds under the rules of their modes alone.
        """
        return self._named("influential", "influence", ascending=False)

    def _named(self, column: str, by: str, *, ascending: bool) -> tuple[str, ...]:
        chosen = self.table[self.table[column].to_numpy(dtype=bool)]
        return tuple(chosen.sort_values(by, ascending=ascending, kind="stable")["worker"])

    def __str__(self) -> str:
        """Return the range of the workers, a line each on who is unreliable, redundant or decisive, and the notes."""
        apart = [f"{kind}: {who or 'none shown'}" for kind, who in self._apart().items()]
        lines = apart if len(self.table) > 1 else [self.standing_out()]
        return "\n".join([self.range_in_words(), *lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def range_in_words(self) -> str:
        """Return the sizes, the worst and the best worker, and with truth the majority, in one line."""
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(len(self.table), 'worker')}, {counted(self.n_items, 'item')}, {counted(self.n_votes, 'vote')}"
        known = self.table.dropna(subset=self.measure).sort_values(self.measure, kind="stable")
        if known.empty:
            return f"{size}{made}: no votes to compare"
        worst, best = known.iloc[0], known.iloc[-1]
        figure = "accuracy" if self.measure == "accuracy" else "agreement with the majority of the others"
        if len(known) == 1:
            return f"{size}{made}: {figure} {self._figure(best, self.measure)} of {best['worker']}"
        between = f"{figure} from {self._figure(worst, self.measure)} of {worst['worker']} to "
        between += f"{self._figure(best, self.measure)} of {best['worker']}"
        panel = "" if self.majority is None else f"; majority {share_words(*self.majority)}"
        return f"{size}{made}: {between}{panel}"

    def standing_out(self) -> str:
        """Return who is unreliable, redundant or changes most decisions, with figures; or that nobody is or can be."""
        apart = self._apart()
        if len(self.table) == 1:
            return "there is one worker, and nobody to compare with"
        if not any(apart.values()):
            return (
                "nobody stands out: no worker is clearly unreliable or redundant, or changes clearly more "
                f"{'classes' if self.decides == 'class' else 'majorities'} than the others{self._under}"
            )
        return "; ".join(f"{kind}: {who}" for kind, who in apart.items() if who)

    def _apart(self) -> dict[str, str]:
        """Return who is unreliable, redundant and decisive, with figures; blank where nobody is shown to be."""
        return {
            "unreliable": self._who(self.unreliable, self._why_unreliable),
            "redundant, left out alone": self._who(self.redundant, self._why_redundant),
            f"decisive, changes the {self.decides} most often{self._under}": self._who(
                self.influential, self._why_influential
            ),
        }

    @property
    def _under(self) -> str:
        return f" under {listed(self.modes)} rules" if self.modes else ""

    def _who(self, names: tuple[str, ...], why: Any) -> str:
        rows = self.table.set_index("worker")
        if not names:
            return ""
        if len(names) <= MAX_EXPLAINED:
            return ", ".join(f"{name} ({why(rows.loc[name])})" for name in names)
        return f"{listed(names)} ({len(names)} of {len(rows)}; the first: {why(rows.loc[names[0]])})"

    def _why_unreliable(self, row: Any) -> str:
        gap, low, high = (100 * row[f"gap{end}"] for end in ("", "_low", "_high"))
        others = f"{-gap:.1f} points below the others [{-high:.1f}, {-low:.1f}]"
        return f"{self.measure} {self._figure(row, self.measure)}, {others}"

    def _why_redundant(self, row: Any) -> str:
        if row["influence_high"] < MAX_CHANGE:
            return f"without it {self._changes(row)}"
        return f"errs as {row['closest']} does, r = {row['closest_correlation']:.2f}, n = {row['closest_n']:,}"

    def _why_influential(self, row: Any) -> str:
        return f"without it {self._changes(row)}"

    def _changes(self, row: Any) -> str:
        return f"the {self.decides} changes in {self._figure(row, 'influence')}"

    def _figure(self, row: Any, name: str) -> str:
        return share_words(row[name], row[f"{name}_low"], row[f"{name}_high"], row[f"{name}_n"])

    def _repr_html_(self) -> str:
        """Return the words and the table for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.table)

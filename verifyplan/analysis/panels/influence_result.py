"""The result of `influence`: its tables, and in words without whom most changes (rule F3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted

MAX_TIED = 3
"""Of more workers than this that tie only the first are named."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Influence:
    """The classes and metrics that change when a worker is left out, one worker at a time."""

    table: pd.DataFrame
    """One row a worker and metric; `documentation("influence")` explains the columns."""
    findings: pd.DataFrame
    """One row a finding, or item, and worker without whom it has another class, or majority: `worker, run, item,
    truth, with_all, without, censored`. Where no vote is left, `without` is empty, and no figure counts the item."""
    decides: str
    """`class`, by the rules that classify findings of runs, or `majority`, of the labels of a table."""
    n: int
    """The number of findings, or items, that were decided."""
    synthetic: bool = field(repr=False)
    """True where votes or items were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: what leaving out cannot say, which changes are censored, who alone judged items."""

    def __str__(self) -> str:
        """Return who changes most and least when left out, with n and intervals."""
        changed = self.table[self.table["metric"].eq("changed")].dropna(subset="difference")
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(self.table['worker'].nunique(), 'worker')}, {counted(self.n, self._decided)}"
        head = f"{size}{made}, one left out at a time"
        lines = [f"{head}: nothing to compare"] if changed.empty else [f"{head}: {self._most_and_least(changed)}"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def _decided(self) -> str:
        return "finding" if self.decides == "class" else "item"

    def _most_and_least(self, changed: pd.DataFrame) -> str:
        """Return the workers without whom most and fewest decisions change; all of them where they tie."""
        n_changed = (changed["difference"] * changed["n"]).round(9)
        most, fewest = (changed[n_changed.eq(end)] for end in (n_changed.max(), n_changed.min()))
        if n_changed.max() == 0:
            return f"no {self.decides} changes, whoever is left out"
        if len(changed) == 1:
            return f"the {self.decides} changes without {_each_in_words(most)}"
        if len(most) == len(changed):
            return f"as many change their {self.decides} without each: {_each_in_words(most)}"
        return (
            f"most change their {self.decides} without {_each_in_words(most)}; fewest without {_each_in_words(fewest)}"
        )

    def _repr_html_(self) -> str:
        """Return the influence for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.table)


def _each_in_words(rows: pd.DataFrame) -> str:
    """Return the first workers of a table with their differences, and how many more there are."""
    named = ", ".join(f"{row['worker']}: {in_words(row)}" for _, row in rows.head(MAX_TIED).iterrows())
    return f"{named} and {len(rows) - MAX_TIED} more" if len(rows) > MAX_TIED else named


def in_words(row: Any) -> str:
    """Return the difference of a row as a percentage, with its interval and n."""
    return share_words(row["difference"], row["difference_low"], row["difference_high"], row["n"])

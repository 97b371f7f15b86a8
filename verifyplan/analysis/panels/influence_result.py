"""The result of `influence`: its tables, and in words without whom most changes (rule F3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, eq=False)
class Influence:
    """The classes and metrics that change when a worker is left out, one worker at a time."""

    table: pd.DataFrame
    """One row a worker and metric; `documentation("influence")` explains the columns."""
    findings: pd.DataFrame
    """One row a finding, or item, and worker without whom it has another class, or majority: `worker, run, item,
    truth, with_all, without, censored`."""
    decides: str
    """`class`, by the rules that classify findings of runs, or `majority`, of the labels of a table."""
    n: int
    """The number of findings, or items, that were decided."""
    synthetic: bool = field(repr=False)
    """True where votes or items were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: what leaving out cannot say, which changes are censored."""

    def __str__(self) -> str:
        """Return who changes most and least when left out, with n and intervals."""
        changed = self.table[self.table["metric"].eq("changed")].dropna(subset="difference")
        made = " (synthetic)" if self.synthetic else ""
        head = f"{counted(len(changed), 'worker')}, {counted(self.n, self._decided)}{made}, one left out at a time"
        lines = [f"{head}: nothing to compare"] if changed.empty else [f"{head}: {self._most_and_least(changed)}"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def _decided(self) -> str:
        return "finding" if self.decides == "class" else "item"

    def _most_and_least(self, changed: pd.DataFrame) -> str:
        n_changed = changed["difference"] * changed["n"]
        ordered = changed.loc[n_changed.sort_values(ascending=False, kind="stable").index]
        most, least = ordered.iloc[0], ordered.iloc[-1]
        if most["difference"] == 0:
            return f"no {self.decides} changes, whoever is left out"
        words = [f"most change their {self.decides} without {most['worker']}: {in_words(most)}"]
        if len(ordered) > 1:
            words.append(f"fewest without {least['worker']}: {in_words(least)}")
        return "; ".join(words)

    def _repr_html_(self) -> str:
        """Return the influence for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.table)


def in_words(row: Any) -> str:
    """Return the difference of a row as a percentage, with its interval and n."""
    return share_words(row["difference"], row["difference_low"], row["difference_high"], row["n"])

"""The result of `stopping`: what each stop saves and changes, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted, listed


@with_field_docs
@dataclass(frozen=True, eq=False)
class Stopping:
    """The savings of rules that stop early, on recorded votes, and the findings that they change."""

    table: pd.DataFrame
    """One row a stop, `all votes` first: votes and calls, the share saved, findings whose class, or whether they are
    held, differs; `documentation("stopping")` has every column."""
    metrics: pd.DataFrame
    """`stop, metric, value, low, high, difference, difference_low, difference_high, n`: every metric under each stop,
    and its difference from all votes."""
    rules: dict[str, VotingRules]
    """The rules of each row, by its name."""
    n_findings: int
    """The findings that were judged."""
    n_runs: int
    """Their runs."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    has_calls: bool = False
    """True where runs recorded their calls; a table of votes has none, and one is counted a run, round and worker."""
    notes: tuple[str, ...] = ()
    """What a reader must know: asking one worker after the other, classes that votes never cast leave open."""

    def __str__(self) -> str:
        """Return a line a stop: what it saves, and what it changes."""
        made = " (synthetic)" if self.synthetic else ""
        votes, calls = (int(self.table[column].iloc[0]) for column in ("votes", "calls"))
        size = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}"
        in_calls = f" in {counted(calls, 'call')}" if self.has_calls else ""
        head = f"{size}, {counted(votes, 'vote')}{in_calls}; saved, and lost against these:"
        return "\n".join([head, *self._lines(), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.table)

    def _lines(self) -> Iterator[str]:
        """Yield a line for each lead and limit that saves votes, then one for those that save none."""
        stops = self.table.iloc[1:]
        alike = stops["lead_for"].astype("str").where(stops["lead_for"].notna(), stops["stop"])
        names = stops.groupby([alike, "lead_against"], sort=False, dropna=False)["stop"].transform(" = ".join)
        rows: Any = stops.assign(names=names)[stops["saved"].gt(0) & ~names.duplicated()].itertuples()
        metrics = self.metrics.set_index(["stop", "metric"])
        name = "f1" if "f1" in self.metrics["metric"].to_numpy() else "held"
        for row in rows:
            of: Any = metrics.loc[(row.stop, name)]
            ends = f"[{100 * of['difference_low']:+.1f}, {100 * of['difference_high']:+.1f}]"
            yield (
                f"{row.names}: {share_words(row.saved, row.saved_low, row.saved_high)} of votes saved; "
                f"{row.n_class_changed:,} of {counted(self.n_findings, 'finding')} in another class, "
                f"{row.n_held_changed:,} held or not instead; {'F1' if name == 'f1' else 'share held'} "
                f"{100 * of['difference']:+.1f} points {ends}"
            )
        if idle := stops.loc[~stops["saved"].gt(0), "stop"].tolist():
            yield f"{listed(idle, len(idle))}: no vote saved"

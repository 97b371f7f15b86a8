"""The result of `flips`: changes from round to round, as tables and in words (rule F3b)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.panels.adoption import ALL_STEPS
from verifyplan.analysis.panels.round_changes import ANY_ROUND, CHANGED, GAIN, LOSS, WHOLE
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted

MAX_ROUNDS_NAMED = 5
"""Of more rounds than this only the first and the last are named."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Flips:
    """The changes that the rounds of a panel made, as tables and in words.

    Shares have 95 % intervals clustered by run and claim (rule F1); a share of nothing is NaN, with n = 0. A *step* is
    a pair of rounds, such as `0 → 1`, or `first → last`: from the first round of an item to its last.
    """

    changes: pd.DataFrame
    """`step, change, count, n, share, low, high, n_again, n_lost`: how many answers of single workers change, of n
    that could; `n_again` of these were asked for again, the others are of settled items."""
    workers: pd.DataFrame
    """The same by worker, from the first round of each item to its last."""
    majority: pd.DataFrame
    """`step, change, count, n, share, low, high, n_again`: how many majorities become wrong (collapse) or right
    (correction). With shared ties, a tie counts in parts."""
    breaks: pd.DataFrame
    """`majority, round, count, n, share, low, high`: in which round the first majority of an item first breaks, of
    those that held until then; in `any round`, of all."""
    adoption: pd.DataFrame
    """`step, majority_was, side, evidence, count, n, share, low, high`: how many answers of a minority become the
    majority's, and how many of the majority's become others, with a new citation, without, or any."""
    rounds: pd.DataFrame
    """`measure, round, value, low, high, n`: how many votes and majorities are right in each round, how often two
    workers agree, and how many independent votes the panel is worth on the items that `panel` takes (rule F3a), of how
    many `votes` of an item."""
    differences: pd.DataFrame
    """`measure, value, low, high, n, first, second`: conformity, capitulation, persuasion, and how far each measure of
    `rounds` changes from the first round of the items to their last, with the two shares."""
    labels: tuple[str, ...]
    """The labels that votes and truth have."""
    n_items: int
    """The number of items; one of two runs counts twice."""
    carried: bool
    """Whether settled items keep their last votes in later rounds."""
    synthetic: bool
    """True where votes or items were generated, not observed."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know: lost votes, settled items, unknown evidence or truth, few runs."""

    def __str__(self) -> str:
        """Return what changed, in a few lines."""
        made = " (synthetic)" if self.synthetic else ""
        numbers = self.rounds["round"].drop_duplicates().tolist()
        several = len(numbers) > MAX_ROUNDS_NAMED
        rounds = f"{numbers[0]} to {numbers[-1]}" if several else ", ".join(map(str, numbers))
        n_workers = self.workers["worker"].nunique()
        lines = [f"{counted(n_workers, 'worker')}, {counted(self.n_items, 'item')}{made}, rounds {rounds}"]
        panel = (self._panel(), self._sides(), self._breaks()) if n_workers > 1 else ()
        lines += [line for line in (self._votes(), *panel) if line]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and the table of changes for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.changes)

    def _votes(self) -> str:
        rows = self.changes[self.changes["step"].eq(WHOLE)].set_index("change")
        if not rows.loc[[LOSS, GAIN], "n"].any():
            return f"{WHOLE} round: {_share(rows, CHANGED, 'votes changed')}"
        lost, won = _share(rows, LOSS, "right votes became wrong"), _share(rows, GAIN, "wrong ones right")
        return f"{WHOLE} round: {lost}, {won}"

    def _panel(self) -> str:
        names = {"majority-accuracy": "the majority is right in", "agreement": "two workers agree in"}
        parts = []
        for measure, words in names.items():
            row = self.differences.set_index("measure").loc[[measure]].iloc[0]
            if row["n"]:
                values = f"{100 * row['first']:.1f} → {100 * row['second']:.1f} %"
                parts.append(f"{words} {values} ({_points(row)}, n = {int(row['n']):,})")
        worth = self.effective_votes_in_words()
        return "; ".join(
            [*parts, *([f"{'they' if self.carried else 'all votes of a round'} are worth {worth}"] if worth else [])]
        )

    def effective_votes_in_words(self) -> str:
        """Return the effective votes of the first round and of the last with intervals; nothing where one is unknown.

        Where an interval includes the number of votes that an item has, errors are not shown to go together.
        """
        worth, votes = (self.rounds[self.rounds["measure"].eq(name)] for name in ("effective-votes", "votes"))
        rows = worth.assign(n_votes=votes["value"].to_numpy()).iloc[[0, -1]] if len(worth) > 1 else worth.iloc[:0]
        if rows.empty or not np.isfinite(rows[["value", "low", "high"]]).all(axis=None):
            return ""
        ends: list[Any] = list(rows.itertuples())
        values = " → ".join(f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]" for row in ends)
        notes = [
            f"the {row.n_votes:.3g} votes on an item in round {row.round} "
            f"{'exclude common errors' if row.low > row.n_votes else 'are not shown to err together'}"
            for row in ends
            if row.high >= row.n_votes
        ]
        words = f"as much as {values} independent votes, in the first → the last round"
        return words + "".join(f" ({note})" for note in notes)

    def _sides(self) -> str:
        excess = self.differences.set_index("measure")
        known = bool(excess.loc["capitulation", "n"])
        name, evidence, uncited = (
            ("capitulation", "none", " without a new citation") if known else ("conformity", "any", "")
        )
        row = excess.loc[[name]].iloc[0]
        if not row["n"]:
            return ""
        keys = {"step": ALL_STEPS, "majority_was": "any", "evidence": evidence}
        rows = self.adoption[(self.adoption[list(keys)] == pd.Series(keys)).all(axis=1)].set_index("side")
        took = _share(rows, "minority", f"minority votes{uncited} took the majority's side")
        added = excess.loc[["persuasion"]].iloc[0]
        persuasion = f"; a new citation adds {_points(added)} (persuasion)" if added["n"] else ""
        return f"{took}, {_share(rows, 'majority', 'majority votes left it')}: {name} {_points(row)}{persuasion}"

    def _breaks(self) -> str:
        rows = self.breaks[self.breaks["round"].eq(ANY_ROUND)].set_index("majority")
        return f"the majority broke in {_share(rows, 'any', 'items')}" if rows.loc["any", "n"] else ""


def _share(rows: pd.DataFrame, name: str, words: str) -> str:
    """Return the share in the row of a name in words, with its counts and its interval."""
    row = rows.loc[[name]].iloc[0]
    if not row["n"]:
        return f"0 of 0 {words}"
    return f"{row['count']:,} of {row['n']:,} {words} ({share_words(row['share'], row['low'], row['high'])})"


def _points(row: pd.Series[Any]) -> str:
    """Return a difference in points, with its interval."""
    return f"{100 * row['value']:+.1f} points [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"

"""Measure what rounds change: right votes that become wrong and back, sides taken, the majority (rule F3b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.aggregation.weighted_votes import TIES, Ties
from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.analysis.panels.adoption import ALL_STEPS, Reconsidered, adoption_table, excesses, reconsidered
from verifyplan.analysis.panels.effective_votes import votes_in_words, why_unusual
from verifyplan.analysis.panels.round_answers import RoundAnswers, majority, round_answers
from verifyplan.analysis.panels.round_changes import (
    ANY_ROUND,
    AWAY,
    CHANGED,
    GAIN,
    LOSS,
    OTHER,
    TOWARD,
    WHOLE,
    answer_changes,
    difference_row,
    majority_breaks,
    majority_steps,
    panel_by_round,
    panel_change,
    steps,
    worker_changes,
)
from verifyplan.analysis.result_words import share_words, shares_words, words_and_tables
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, refuse_all_lost
from verifyplan.frames.ties import ties_sentence
from verifyplan.text import counted, did_you_mean, joined

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
    that could; `n_again` of these were asked for again, the others are of settled items. With `toward`, `other → given`
    are those that move to the given answer, of those that were another, and `given → other` those that leave it."""
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
        panel = (self._panel(), self._worth(), self._sides(), self._breaks()) if n_workers > 1 else ()
        lines += [line for line in (self._votes(), self._pushed(), *panel) if line]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and the changes in few columns for a notebook; every text is shown as text."""
        rows = self.changes.rename(columns={"low": "share_low", "high": "share_high"})
        shown = self.changes[["step", "change", "count", "n"]].assign(share=shares_words(rows, "share"))
        return words_and_tables(str(self), shown)

    def _votes(self) -> str:
        rows = self.changes[self.changes["step"].eq(WHOLE)].set_index("change")
        if not rows.loc[[LOSS, GAIN], "n"].any():
            return f"{WHOLE} round: {_share(rows, CHANGED, 'votes changed')}"
        lost, won = _share(rows, LOSS, "right votes became wrong"), _share(rows, GAIN, "wrong ones right")
        return f"{WHOLE} round: {lost}, {won}"

    def _pushed(self) -> str:
        """Return who moved to the given answers and from them; nothing where `toward` was not named."""
        rows = self.changes[self.changes["step"].eq(WHOLE)].set_index("change")
        if TOWARD not in rows.index:
            return ""
        return f"{_share(rows, TOWARD, 'other votes moved to the given answer')}, {_share(rows, AWAY, 'left it')}"

    def _panel(self) -> str:
        names = {"majority-accuracy": "the majority is right in", "agreement": "two workers agree in"}
        parts = []
        for measure, words in names.items():
            row = self.differences.set_index("measure").loc[[measure]].iloc[0]
            if row["n"]:
                values = f"{100 * row['first']:.1f} → {100 * row['second']:.1f} %"
                parts.append(f"{words} {values} ({_points(row)}, n = {int(row['n']):,} items that have both)")
        return "; ".join(parts)

    def _worth(self) -> str:
        worth = self.effective_votes_in_words()
        return f"{'the votes' if self.carried else 'all votes of a round'} are worth {worth}" if worth else ""

    def effective_votes_in_words(self) -> str:
        """Return the effective votes of the first round and of the last with intervals; nothing where one is unknown.

        Where an interval includes the number of votes that an item has, errors are not shown to go together.
        """
        worth, cast = (self.rounds[self.rounds["measure"].eq(name)] for name in ("effective-votes", "votes"))
        rows = worth.assign(n_votes=cast["value"].to_numpy()).iloc[[0, -1]] if len(worth) > 1 else worth.iloc[:0]
        if rows.empty or not np.isfinite(rows["value"]).all():
            return ""
        rounds, n = rows["round"].tolist(), rows["n_votes"].tolist()
        ends = [Interval(*row) for row in rows[["value", "low", "high", "n"]].itertuples(index=False)]
        values = " → ".join(votes_in_words(found, votes, decimals=2) for found, votes in zip(ends, n, strict=True))
        notes: dict[str, list[str]] = {}
        for number, found, votes in zip(rounds, ends, n, strict=True):
            if what := why_unusual(found, votes) or ("are not shown to err together" if found.high >= votes else ""):
                notes.setdefault(what, []).append(f"the {votes:.3g} votes on an item in round {number}")
        words = f"{values} independent votes, in the first → the last round"
        return words + "".join(f" ({joined(votes)} {what})" for what, votes in notes.items())

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
        return f"the first majority was lost in {_share(rows, 'any', 'items')}" if rows.loc["any", "n"] else ""


def _share(rows: pd.DataFrame, name: str, words: str) -> str:
    """Return the share in the row of a name in words, with its counts and its interval."""
    row = rows.loc[[name]].iloc[0]
    if not row["n"]:
        return f"0 of 0 {words}"
    return f"{row['count']:,} of {row['n']:,} {words} ({share_words(row['share'], row['low'], row['high'])})"


def _points(row: pd.Series[Any]) -> str:
    """Return a difference in points, with its interval."""
    return f"{100 * row['value']:+.1f} points [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"


def flips(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    truth: str | None = None,
    round: str | None = None,
    run: str | None = None,
    cost: str | None = None,
    explanation: str | None = None,
    toward: str | None = None,
    carry: bool = True,
    ties: Ties = "shared",
) -> Flips:
    """Return what the rounds of a panel change: right votes that become wrong, wrong ones right, sides, the majority.

    An answer counts in a step where the worker gave one at both ends; the others are lost, and the notes count them.
    Later rounds often hold only what was unsettled. With `carry`, an item that a round does not ask for any more keeps
    the votes of its last round there, so that all rounds are about the same items; without, only what was asked again
    counts, and rounds cannot be compared.

    The majority is the answer that most workers give. A vote is of the minority if the whole panel had a majority in
    the round before, and the vote is another; `conformity` is how much more often it takes the side of the majority
    than a majority's vote leaves it, and `capitulation` the same without new evidence: a citation that the worker
    had not given on this item. `persuasion` is what such a citation adds among minority votes (rule F3b). `toward`
    counts the votes that move to the answer that was pushed (sycophancy) and away from it. Answers that vary by chance
    move without anybody's influence, and count in all of these.

    Args:
        data: runs, a path to some, the name of bundled ones, votes of a panel, or a long table, one row a vote.
        item: the column of a table that says what is labelled; this and the others as in `from_table`.
        worker: who votes.
        label: the answer.
        truth: the right answer; without, only changes are counted.
        round: the number of the round.
        run: the run.
        cost: not read here.
        explanation: the worker's words, in which citations are looked for.
        toward: the answer that a vote was pushed toward, such as a user's suggestion, in the words of `label`; an empty
            cell is none. A push stays until another: of a step, the last one that came with or before its end counts.
        carry: whether settled items keep their last votes in later rounds.
        ties: how far a majority is right where several answers are given equally often: `shared` by their number,
            `first` the label that comes first counts, `none` it is not right.

    Raises TableError where there is only one round, all votes are empty, or columns are absent, and SettingsError for
    another `ties`.

    >>> table = pd.DataFrame({"item": list("ppppqqqq"), "worker": list("ab") * 4, "round": [0, 0, 1, 1] * 2,
    ...     "label": ["yes", "yes", "yes", "no", "no", "yes", "yes", "yes"], "truth": "yes"})
    >>> found = flips(table)
    >>> ends = found.changes.query("step == 'first → last'")
    >>> ends[["change", "count", "n"]].head(2).values.tolist()
    [['right → wrong', 1, 3], ['wrong → right', 1, 1]]
    >>> moved = flips(table.assign(suggested="no"), toward="suggested").changes.query("step == 'first → last'")
    >>> moved[["change", "count", "n"]].tail(2).values.tolist()
    [['other → given', 1, 3], ['given → other', 1, 1]]
    """
    if ties not in TIES:
        message = f"must be one of {one_of(TIES)}, got {ties!r}{did_you_mean(ties, TIES)}"
        raise SettingsError(Problem("ties", message, "leave it out for 'shared'"))
    columns = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation, "toward": toward,
    }  # fmt: skip
    votes = as_panel_votes(data, columns, words=True)
    refuse_all_lost(votes)
    asked, clusters = round_answers(votes), clusters_of_units(votes)
    answers = asked.carried() if carry else asked
    every, panel = steps(answers, carry), majority(answers, ties)
    sides = reconsidered(asked, votes.explanation)
    compared = {**excesses(sides, asked), **panel_change(answers, panel, every[-1])}
    found = Flips(
        changes=_of_labels(answer_changes(answers, every, clusters), votes),
        workers=_of_labels(worker_changes(answers, every[-1], votes.workers, clusters), votes),
        majority=majority_steps(panel, every, clusters),
        breaks=majority_breaks(answers, panel, every[-1], clusters),
        adoption=adoption_table(sides, asked, clusters),
        rounds=panel_by_round(votes, answers, panel, clusters),
        differences=pd.DataFrame([difference_row(name, *shares, clusters) for name, shares in compared.items()]),
        labels=votes.labels,
        n_items=len(votes.units),
        carried=carry,
        synthetic=votes.synthetic,
    )
    found.changes.attrs["ties"] = reading = ties_sentence(votes.ties)
    return replace(found, notes=(*([reading] if reading else []), *_notes(found, votes, asked, sides)))


def _of_labels(changes: pd.DataFrame, votes: PanelVotes) -> pd.DataFrame:
    """Return the table without changes from wrong to wrong where there are only two labels."""
    return changes if len(votes.labels) > 2 else changes[changes["change"].ne(OTHER)].reset_index(drop=True)


def _notes(found: Flips, votes: PanelVotes, asked: RoundAnswers, sides: Reconsidered) -> Iterator[str]:
    lost = int(found.changes.loc[found.changes["step"].eq(WHOLE), "n_lost"].max())
    if lost:
        yield f"{counted(lost, 'answer')} left out: the worker has an answer at only one end of {WHOLE}."
    unknown = int((~asked.known).sum())
    if unknown:
        yield f"The truth of {unknown:,} of {counted(found.n_items, 'item')} is not known."
    settled = int((asked.last < len(asked.rounds) - 1).sum())
    if settled:
        carried = "they keep their last votes there (carry=False leaves them out)"
        kept = carried if found.carried else "each round is about other items, those that were not settled"
        yield f"Not asked in every later round: {settled:,} of {counted(found.n_items, 'item')}; {kept}."
    if not (asked.first < asked.last).any():
        yield "No item was asked in two rounds."
    if asked.given is not None and (asked.given != -1).any() and (asked.given < 0).all():
        yield "No item has a vote for the answer given by toward=: look whether its words are those of the labels."
    if votes.explanation is None:
        yield "Without explanations new evidence is unknown: conformity is given, capitulation and persuasion are not."
    elif not sides.new.any():
        yield "No answer cites a place for the first time in a later round: persuasion is not known."
    if len(sides.unit):
        yield (
            "Answers that vary by chance also move toward the majority: compare conformity and capitulation with"
            " those of workers who answered again without seeing the others."
        )
    if votes.units["run"].nunique() == 1:
        yield "There is only one run: how much runs differ is not known, and the intervals are for this run only."

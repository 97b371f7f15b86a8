"""Say what rounds change: right votes that become wrong and back, sides taken, what the panel gains (rule F3b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from verifyplan.analysis.aggregation.weighted_votes import TIES, Ties
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.analysis.panels.adoption import Reconsidered, adoption_table, excesses, reconsidered
from verifyplan.analysis.panels.flips_result import Flips
from verifyplan.analysis.panels.panel_by_round import panel_by_round, panel_change
from verifyplan.analysis.panels.round_answers import RoundAnswers, majority, round_answers
from verifyplan.analysis.panels.round_changes import (
    OTHER,
    WHOLE,
    answer_changes,
    difference_row,
    majority_breaks,
    majority_steps,
    steps,
    worker_changes,
)
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, refuse_all_lost
from verifyplan.text import counted, did_you_mean


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
    had not given on this item. `persuasion` is what such a citation adds among minority votes (rule F3b). Answers that
    vary by chance move toward the majority without anybody's influence, and count in all of these.

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
        carry: whether settled items keep their last votes in later rounds.
        ties: how far a majority is right where several answers are given equally often: `shared` by their number,
            `first` the label that comes first counts, `none` it is not right.

    Raises TableError where there is only one round, all votes are empty, or columns are absent, and SettingsError for
    another `ties`.

    >>> table = pd.DataFrame({"item": list("ppppqqqq"), "worker": list("ab") * 4, "round": [0, 0, 1, 1] * 2,
    ...     "label": ["yes", "yes", "yes", "no", "no", "yes", "yes", "yes"], "truth": "yes"})
    >>> found = flips(table)
    >>> found.changes.query("step == 'first → last'")[["change", "count", "n"]].head(2).values.tolist()
    [['right → wrong', 1, 3], ['wrong → right', 1, 1]]
    """
    if ties not in TIES:
        message = f"must be one of {one_of(TIES)}, got {ties!r}{did_you_mean(ties, TIES)}"
        raise SettingsError(Problem("ties", message, "leave it out for 'shared'"))
    columns = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation,
    }  # fmt: skip
    votes = as_panel_votes(data, columns)
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
    return replace(found, notes=tuple(_notes(found, votes, asked, sides)))


def _of_labels(changes: pd.DataFrame, votes: PanelVotes) -> pd.DataFrame:
    """Return the table without changes from wrong to wrong where there are only two labels."""
    return changes if len(votes.labels) > 2 else changes[changes["change"].ne(OTHER)].reset_index(drop=True)


def _notes(found: Flips, votes: PanelVotes, asked: RoundAnswers, sides: Reconsidered) -> Iterator[str]:
    lost = int(found.changes.loc[found.changes["step"].eq(WHOLE), "n_lost"].max())
    if lost:
        yield f"{counted(lost, 'answer')} of a worker had none at the other end of {WHOLE}: left out."
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
    if votes.explanation is None:
        yield "Without explanations new evidence is unknown: conformity is given, capitulation and persuasion are not."
    elif not sides.new.any():
        yield "No answer cites a place for the first time in a later round: persuasion is not known."
    if len(sides.unit):
        yield (
            "Answers that vary by chance move toward the majority, too: hold conformity and capitulation against"
            " those of workers who answered again without seeing the others."
        )
    if votes.units["run"].nunique() == 1:
        yield "There is one run: how far runs differ cannot be known, and the intervals hold for this run."

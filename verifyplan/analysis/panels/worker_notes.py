"""Say what a reader of the figures of workers must know (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from verifyplan.analysis.panels.leave_one_out import LeaveOneOut
from verifyplan.analysis.panels.standing_apart import MIN_UNITS
from verifyplan.analysis.panels.worker_table import calls_of_workers
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.frames.run_notes import note_mixed_modes, note_unnamed_mode
from verifyplan.frames.ties import ties_sentence
from verifyplan.text import counted, listed


def notes_on_workers(
    votes: PanelVotes, cast: LeaveOneOut, table: pd.DataFrame, measure: str, positive: int | None, at: Which
) -> Iterator[str]:
    """Yield what limits the figures of workers, and which of them give one label alone or do worse than guessing."""
    if votes.ties:
        yield ties_sentence(votes.ties)
    if measure == "agreement":
        yield "No truth is known: a worker who is right alone agrees least with the others."
    elif positive is None and len(votes.labels) == 2:
        yield (
            f"No label is named as positive: .recalls has {votes.labels[0]!r} and {votes.labels[1]!r}; "
            "positive= adds sensitivity and specificity."
        )
    yield from _notes_on_runs(votes)
    if len(np.unique(votes.round)) > 1 and at in ("first", "last"):
        other = "last" if at == "first" else "first"
        takes = f"(in Python, at={other!r} takes the {other})"
        yield f"With several rounds, each worker's {at} label on an item counts {takes}."
    if lost := int((votes.label < 0).sum()):
        counts = "was lost and counts" if lost == 1 else "were lost and count"
        yield f"{counted(lost, 'vote')} of {len(votes):,} {counts} nowhere else."
    if measure == "accuracy":
        chance = 1 / max(len(cast.votes.labels), 1)
        below = table.loc[table["accuracy_high"].lt(chance) & table["accuracy_n"].ge(MIN_UNITS), "worker"]
        if len(below):
            guess = f"guessing among {len(cast.votes.labels)} labels"
            yield f"The accuracy of {listed(below)} is below that of {guess} ({len(below)} of {len(table)})."
    yield from note_on_lone_votes(cast)
    yield from _note_on_costs(votes)
    n_labels = pd.Series(cast.votes.label).groupby(cast.votes.worker).agg(["nunique", "size"])
    one = n_labels.index[n_labels["nunique"].eq(1) & n_labels["size"].ge(MIN_UNITS)]
    if len(one):
        yield f"{listed(votes.workers[number] for number in one)} gave the same label to every item."
    few = table.loc[table[f"{measure}_n"].lt(MIN_UNITS), "worker"]
    if len(few):
        have = "has" if len(few) == 1 else "have"
        yield f"{listed(few)} {have} fewer than {MIN_UNITS} items, too few to judge."


def _notes_on_runs(votes: PanelVotes) -> Iterator[str]:
    """Yield how classes were read where no mode is named, and that there is one run."""
    if votes.runs is None:
        return
    if unnamed := note_unnamed_mode(votes.runs.runs):
        yield unnamed
    if mixed := note_mixed_modes(votes.runs.runs):
        yield mixed
    if votes.units["run"].nunique() == 1:
        yield "There is one run: how much a figure changes from run to run is not known, and intervals leave it out."


def note_on_lone_votes(cast: LeaveOneOut) -> Iterator[str]:
    """Yield who alone judged how many items: they have no majority without that worker."""
    alone = np.bincount(cast.votes.worker[cast.others == 0], minlength=len(cast.votes.workers))
    if not alone.any():
        return
    n, names = int(alone.sum()), listed(cast.votes.workers[number] for number in np.argsort(-alone) if alone[number])
    who = f"{names} alone judged" if np.count_nonzero(alone) == 1 else "One worker alone judged each of"
    whose = "" if np.count_nonzero(alone) == 1 else f" ({names})"
    what, (has, them) = f"{counted(n, 'item')}{whose}", ("it has", "it") if n == 1 else ("they have", "them")
    yield f"{who} {what}: without that worker {has} no majority, and figures of majorities without it leave {them} out."


def _note_on_costs(votes: PanelVotes) -> Iterator[str]:
    """Yield how many votes of a table, or calls of runs, have no cost."""
    cost, noun = votes.cost, "vote"
    if votes.runs is not None:
        calls = calls_of_workers(votes.runs)
        cost, noun = calls.loc[~calls["unsent"], "cost"].to_numpy(), "call"
    if cost is None or not (cost > 0).any():
        return
    if missing := int(np.isnan(cost).sum()):
        has = "has" if missing == 1 else "have"
        yield f"{counted(missing, noun)} of {len(cost):,} {has} no cost: totals cover the others only, and are too low."

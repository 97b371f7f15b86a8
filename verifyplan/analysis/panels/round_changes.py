"""Count what changes from round to round: single answers, the majority, and figures of the panel (rule F3b)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.effective_votes import effective_votes_interval
from verifyplan.analysis.panels.error_correlation import error_correlation
from verifyplan.analysis.panels.leave_one_out import Floats
from verifyplan.analysis.panels.panel_answers import panel_answers
from verifyplan.analysis.panels.round_answers import Bools, Majority, RoundAnswers
from verifyplan.analysis.panels.standing_apart import rows_of_workers
from verifyplan.frames.panel_votes import Ints, PanelVotes

Share: TypeAlias = tuple[Floats, Floats]
"""The numerator and the denominator of a share, by unit."""

LOSS, GAIN, OTHER, CHANGED = "right → wrong", "wrong → right", "wrong → other wrong", "changed"
TOWARD, AWAY = "other → given", "given → other"
"""To the answer that was given as the one to move to, and from it."""
WHOLE = "first → last"
"""The step from the first round of a unit to its last."""
ANY_ROUND = "any round"


class RoundStep(NamedTuple):
    """Two rounds of each unit between which answers are compared."""

    name: str
    start: Ints
    """The column of the round before, of each unit."""
    end: Ints
    """The column of the round after, of each unit."""
    counts: Bools
    """Whether the unit counts."""
    again: Bools
    """Whether the round after asked for the unit again."""


def steps(answers: RoundAnswers, carry: bool) -> list[RoundStep]:
    """Return the steps from each round to the next, and from each unit's first round to its last."""
    first, last, (n_units, n_rounds) = answers.first, answers.last, answers.asked.shape
    found = []
    for column in range(1, n_rounds):
        counts = (first < column) if carry else answers.asked[:, column - 1]
        again = counts & answers.asked[:, column]
        start, end = (np.full(n_units, each) for each in (column - 1, column))
        name = f"{answers.rounds[column - 1]} → {answers.rounds[column]}"
        found.append(RoundStep(name, start, end, counts if carry else again, again))
    again = first < last
    return [*found, RoundStep(WHOLE, first, last, np.ones(n_units, dtype=bool) if carry else again, again)]


class AnswerPairs(NamedTuple):
    """The answers of each worker on each unit at both ends of a step."""

    unit: Ints
    worker: Ints
    start: Ints
    end: Ints
    again: Bools
    given: Ints
    """The answer given as the one to move to; -1 for none, -2 where nobody gives it."""


def pairs_of_step(answers: RoundAnswers, step: RoundStep) -> tuple[AnswerPairs, int]:
    """Return the pairs of answers of a step, and how many workers' answers are missing at one end."""
    row, unit = np.arange(len(answers.unit)), answers.unit
    start, end = answers.answer[row, step.start[unit]], answers.answer[row, step.end[unit]]
    counted = step.counts[unit]
    both = counted & (start >= 0) & (end >= 0)
    lost = int((counted & ((start >= 0) != (end >= 0))).sum())
    given = np.full(len(unit), -1) if answers.given is None else answers.given[row, step.end[unit]]
    columns = unit, answers.worker, start, end, step.again[unit], given
    return AnswerPairs(*(column[both] for column in columns)), lost


def answer_changes(answers: RoundAnswers, every: list[RoundStep], clusters: Clusters) -> pd.DataFrame:
    """Return the table `changes` of Flips."""
    rows = []
    for step in every:
        pairs, lost = pairs_of_step(answers, step)
        rows += [{"step": step.name, **row, "n_lost": lost} for row in _changes(answers, pairs, clusters)]
    return whole_numbers(rows)


def worker_changes(
    answers: RoundAnswers, whole: RoundStep, workers: tuple[str, ...], clusters: Clusters
) -> pd.DataFrame:
    """Return the table `workers` of Flips."""
    pairs, _ = pairs_of_step(answers, whole)
    rows = []
    for worker, own_rows in zip(workers, rows_of_workers(pairs.worker, len(workers)), strict=True):
        own = AnswerPairs(*(column[own_rows] for column in pairs))
        rows += [{"worker": worker, **row} for row in _changes(answers, own, clusters)]
    return whole_numbers(rows)


def _changes(answers: RoundAnswers, pairs: AnswerPairs, clusters: Clusters) -> Iterator[dict[str, Any]]:
    """Yield a row for each kind of change among pairs of answers."""
    known, truth = answers.known[pairs.unit], answers.truth[pairs.unit]
    was, is_now = pairs.start == truth, pairs.end == truth
    moved = pairs.start != pairs.end
    kinds = {
        LOSS: (known & was & ~is_now, known & was),
        GAIN: (known & ~was & is_now, known & ~was),
        OTHER: (known & ~was & ~is_now & moved, known & ~was),
        CHANGED: (moved, np.ones(len(moved), dtype=bool)),
    }
    if answers.given is not None:
        there, pushed = pairs.start == pairs.given, pairs.given != -1
        kinds[TOWARD] = (pushed & (pairs.end == pairs.given) & ~there, pushed & ~there)
        kinds[AWAY] = (there & moved, there)
    for name, (part, whole) in kinds.items():
        row = share_row(answers.per_unit(part, pairs.unit), answers.per_unit(whole, pairs.unit), clusters)
        yield {"change": name, **row, "n_again": int((whole & pairs.again).sum())}


def share_row(part: npt.NDArray[Any], whole: npt.NDArray[Any], clusters: Clusters) -> dict[str, Any]:
    """Return a share of what units count as the columns `count, n, share, low, high`."""
    share = share_interval(part, whole, clusters)
    values = {"count": float(np.sum(part)), "n": float(np.sum(whole))}
    return {**values, "share": share.value, "low": share.low, "high": share.high}


def difference_row(measure: str, first: Share, second: Share, clusters: Clusters) -> dict[str, Any]:
    """Return the second of two shares minus the first, and both, as the columns of `differences`."""
    n_first, n_second = first[1].sum(), second[1].sum()
    difference = difference_interval(*first, *second, clusters)
    return {
        "measure": measure,
        **difference._asdict(),
        "first": float(first[0].sum() / n_first) if n_first else np.nan,
        "second": float(second[0].sum() / n_second) if n_second else np.nan,
    }


def whole_numbers(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of `share_row` as a table, their counts as integers."""
    return pd.DataFrame(rows).astype({"count": "int64", "n": "int64"})


def ends_of_step(values: npt.NDArray[Any], step: RoundStep) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the values of each unit at both ends of a step, of values of shape (units, rounds)."""
    row = np.arange(len(values))
    return values[row, step.start], values[row, step.end]


def majority_steps(panel: Majority, every: list[RoundStep], clusters: Clusters) -> pd.DataFrame:
    """Return the table `majority` of Flips; what a unit gains or loses is the change of its credit."""
    rows = []
    for step in every:
        before, after = ends_of_step(panel.credit, step)
        counts = step.counts & ~np.isnan(before) & ~np.isnan(after)
        before, after = np.where(counts, before, 0), np.where(counts, after, 0)
        kinds = {
            LOSS: (np.maximum(before - after, 0), before),
            GAIN: (np.maximum(after - before, 0), np.where(counts, 1 - before, 0)),
        }
        for name, (part, whole) in kinds.items():
            again = float(whole[step.again].sum())
            rows.append({"step": step.name, "change": name, **share_row(part, whole, clusters), "n_again": again})
    return pd.DataFrame(rows)


def majority_breaks(answers: RoundAnswers, panel: Majority, whole: RoundStep, clusters: Clusters) -> pd.DataFrame:
    """Return the table `breaks` of Flips."""
    first = answers.first
    opening = panel.leader[np.arange(len(first)), first]
    later = (np.arange(len(answers.rounds)) > first[:, None]) & (panel.n > 0)
    broken = later & (panel.leader != opening[:, None])
    at_risk = (opening >= 0) & whole.counts
    never_before = np.cumsum(broken, axis=1) - broken == 0
    right = opening == answers.truth
    kinds = {"any": at_risk, "right": at_risk & answers.known & right, "wrong": at_risk & answers.known & ~right}
    rows = []
    for name, chosen in kinds.items():
        for column, number in enumerate(answers.rounds[1:], start=1):
            exposed = chosen & later[:, column] & never_before[:, column]
            row = share_row(exposed & broken[:, column], exposed, clusters)
            rows.append({"majority": name, "round": str(number), **row})
        row = share_row(chosen & broken.any(axis=1), chosen, clusters)
        rows.append({"majority": name, "round": ANY_ROUND, **row})
    return whole_numbers(rows)


MEASURES = ("vote-accuracy", "majority-accuracy", "agreement")
"""Of a panel in each round: the share of right votes, that of right majorities, and of pairs of votes that agree."""


def _parts(answers: RoundAnswers, panel: Majority) -> dict[str, tuple[Floats, Floats]]:
    """Return the numerator and denominator of each measure, of shape (units, rounds)."""
    judged = ~np.isnan(panel.credit)
    parts = (
        (panel.right, panel.n * answers.known[:, None].astype(float)),
        (np.nan_to_num(panel.credit), judged.astype(float)),
        (panel.agreeing, panel.pairs),
    )
    return dict(zip(MEASURES, parts, strict=True))


def panel_by_round(votes: PanelVotes, answers: RoundAnswers, panel: Majority, clusters: Clusters) -> pd.DataFrame:
    """Return the table `rounds` of Flips."""
    rows = []
    for measure, (part, whole) in _parts(answers, panel).items():
        for column, number in enumerate(answers.rounds):
            value = share_interval(part[:, column], whole[:, column], clusters)
            rows.append({"measure": measure, "round": int(number), **value._asdict()})
    return pd.DataFrame([*rows, *_effective_votes(votes, answers)])


def _effective_votes(votes: PanelVotes, answers: RoundAnswers) -> Iterator[dict[str, Any]]:
    """Yield how many independent votes the panel is worth, and of how many, in each round of two workers or more.

    The items are those that `panel` takes if none are named: the common ones where they are half of all or more.
    """
    for column, number in enumerate(answers.rounds):
        judged = answers.vote[:, column][(answers.answer[:, column] >= 0) & answers.known[answers.unit]]
        if len(np.unique(votes.worker[judged])) > 1:
            counted, _ = panel_answers(votes.take(judged), items=None)
            correlation = error_correlation(counted, "within-truth")
            found, _ = effective_votes_interval(correlation, counted.clusters)
            votes_of_item = Interval(correlation.n_votes, np.nan, np.nan, found.n)
            for measure, figure in (("effective-votes", found), ("votes", votes_of_item)):
                yield {"measure": measure, "round": int(number), **figure._asdict()}


def panel_change(answers: RoundAnswers, panel: Majority, whole: RoundStep) -> dict[str, tuple[Share, Share]]:
    """Return each measure of the panel in the units' first round and in their last, on equal units."""
    found = {}
    for measure, (part, weight) in _parts(answers, panel).items():
        (before, after), (n_before, n_after) = ends_of_step(part, whole), ends_of_step(weight, whole)
        kept = whole.counts & (n_before > 0) & (n_after > 0)
        found[measure] = (before * kept, n_before * kept), (after * kept, n_after * kept)
    return found

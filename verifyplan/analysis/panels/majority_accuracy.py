"""How often a majority is right: of a whole panel, of some of its judges, and of judges who err independently."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from verifyplan.analysis.panels.panel_answers import Counts, Floats, Ints, PanelAnswers

MAX_DRAWN_VOTES = 4_000_000
"""Votes drawn at most to simulate independent judges of more than two labels."""
DRAWS = (50, 400)
"""How often every vote is drawn in that simulation, at least and at most."""


class Independent(NamedTuple):
    """How often a majority of independent judges of the same accuracies is right."""

    accuracy: float
    residuals: Floats
    """What each unit adds to its error, to the first order; the sum is 0."""


def share_right(counts: Counts) -> Floats:
    """Return how right the most frequent answer is: 1, 0, or of a tie its share; 0 without votes.

    `counts` has the codes along its first axis; code 0 is the right answer.

    >>> share_right(np.array([[2, 1, 0], [1, 1, 3]])).tolist()
    [1.0, 0.5, 0.0]
    """
    most = counts.max(axis=0)
    tied = (counts == most).sum(axis=0, dtype=np.int16)
    return np.asarray(((counts[0] == most) & (most > 0)) / tied, dtype=np.float64)


def majority_of_draws(answers: PanelAnswers) -> tuple[Floats, Ints]:
    """Return how right a majority of k votes drawn from each unit's is, of shape (units, n judges), and its votes.

    Column k - 1 is the mean over all ways to draw k of a unit's votes without replacement, ties shared: an unbiased
    estimate for a panel of k such judges, as pass@k is (Chen et al. 2021). NaN where a unit has fewer votes.
    """
    counts = answers.one_hot.sum(axis=2).T
    sorted_counts = np.column_stack([counts[:, 0], np.sort(counts[:, 1:], axis=1)])
    patterns, pattern = np.unique(sorted_counts, axis=0, return_inverse=True)
    table = np.full((len(patterns), len(answers.workers)), np.nan)
    for row, (n_right, *n_wrong) in zip(table, patterns.tolist(), strict=True):
        shares = _shares_of_draws(n_right, [n for n in n_wrong if n])
        row[: len(shares)] = shares
    return table[pattern.ravel()], np.asarray(answers.voted.sum(axis=1))


def _shares_of_draws(right: int, wrong: list[int]) -> Floats:
    """Return how right the majority is of 1, 2, ... votes drawn from so many right ones and wrong ones by label.

    For each number r of right votes drawn, `ways[t]` counts by size the draws of wrong votes in which no label has
    more than r, and t labels have exactly r: the right answer then wins 1 / (t + 1).
    """
    n = right + sum(wrong)
    won = np.zeros(n + 1)
    for r in range(1, right + 1):
        ways = [np.ones(1)]
        for n_label in wrong:
            fewer = np.array([comb(n_label, j) for j in range(min(r, n_label + 1))], dtype=float)
            equal = np.append(np.zeros(r), float(comb(n_label, r))) if n_label >= r else np.zeros(1)
            kept, tied = ([np.convolve(way, label) for way in ways] for label in (fewer, equal))
            ways = [_added(a, b) for a, b in zip([*kept, np.zeros(1)], [np.zeros(1), *tied], strict=True)]
        for t, way in enumerate(ways):
            won[r : r + len(way)] += float(comb(right, r)) * way[: n + 1 - r] / (t + 1)
    ways_to_draw = np.array([comb(n, k) for k in range(1, n + 1)], dtype=float)
    return np.asarray(np.minimum(won[1:] / ways_to_draw, 1.0))  # sums of large numbers may pass it by a rounding error


def _added(first: Floats, second: Floats) -> Floats:
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    added = longer.copy()
    added[: len(shorter)] += shorter
    return added


def independent_majority(answers: PanelAnswers, classes: Ints, seed: int) -> Independent:
    """Return what judges reach who have the same accuracies within each class, and err independently there.

    With two labels by the Poisson-binomial distribution, exactly. With more, each judge's votes of a class are drawn
    from its votes there, so that wrong answers meet as often as the judges' habits make them.
    """
    closed_form = answers.n_codes <= 2
    return _poisson_binomial(answers, classes) if closed_form else _drawn(answers, classes, seed)


def _poisson_binomial(answers: PanelAnswers, classes: Ints) -> Independent:
    correct, voted = answers.correct.astype(np.float64), answers.voted
    n_units, n_judges = correct.shape
    expected = np.zeros(n_units)
    residuals = np.zeros(n_units)
    for number in range(int(classes.max()) + 1):
        members = np.flatnonzero(classes == number)
        cast = voted[members].sum(axis=0)
        accuracy = correct[members].sum(axis=0) / np.maximum(cast, 1)
        patterns, pattern = np.unique(voted[members], axis=0, return_inverse=True)
        pattern = pattern.ravel()
        slopes = np.zeros(n_judges)
        for place, voters in enumerate(patterns):
            alike = members[pattern == place]
            expected[alike], slope = _right_by_chance(accuracy[voters])
            slopes[voters] += len(alike) * slope
        per_vote = slopes / np.maximum(cast, 1)
        residuals[members] = ((correct[members] - accuracy) * voted[members]) @ per_vote
    mean = float(expected.mean())
    return Independent(mean, (residuals + expected - mean) / n_units)


def _right_by_chance(accuracy: Floats) -> tuple[float, Floats]:
    """Return how right a majority of independent judges is, ties shared, and its derivative by each accuracy.

    `after[j, s]` is how right it is if s of the first j judges are right; `before[s]` is the chance that s are.
    """
    n = len(accuracy)
    right_votes = np.arange(n + 1, dtype=np.int16)
    after = np.zeros((n + 1, n + 1))
    after[n] = share_right(np.array([right_votes, n - right_votes]))
    for j in range(n - 1, -1, -1):
        after[j, :-1] = accuracy[j] * after[j + 1, 1:] + (1 - accuracy[j]) * after[j + 1, :-1]
    before, slopes = (right_votes == 0).astype(np.float64), np.empty(n)
    for j in range(n):
        slopes[j] = before[:-1] @ np.diff(after[j + 1])
        gained = before[:-1] * accuracy[j]
        before *= 1 - accuracy[j]
        before[1:] += gained
    return float(after[0, 0]), slopes


def _drawn(answers: PanelAnswers, classes: Ints, seed: int) -> Independent:
    """Return the same by permuting the votes of each judge within each class, many times."""
    rng = np.random.default_rng(seed)
    n_units, n_judges = answers.answer.shape
    judge, unit = np.nonzero(answers.voted.T)
    group = classes[unit] * n_judges + judge
    order = np.argsort(group, kind="stable")
    group, unit = group[order], unit[order]
    code = answers.answer[unit, judge[order]]
    draws = int(np.clip(MAX_DRAWN_VOTES // len(unit), *DRAWS))
    expected, credit = np.zeros(n_units), np.zeros(len(unit))
    for _ in range(draws):
        drawn = np.argsort(group + rng.random(len(unit)))
        counts = np.bincount(code[drawn] * n_units + unit, minlength=answers.n_codes * n_units)
        share = share_right(counts.reshape(answers.n_codes, n_units))
        expected += share / draws
        credit[drawn] += share[unit] / draws
    mean_of_group = np.bincount(group, weights=credit) / np.maximum(np.bincount(group), 1)
    residuals = np.bincount(unit, weights=credit - mean_of_group[group], minlength=n_units)
    mean = float(expected.mean())
    return Independent(mean, (residuals + expected - mean) / n_units)

"""Measure each of many rules by a metric of truth, and find those that no other beats (rule R5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.cluster_intervals import Interval, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.kind_counts import KindCounts
from verifyplan.analysis.metrics import FALSE, IS_HELD, TRUE, TRUTH_METRICS, UNKNOWN, metrics_of_classes
from verifyplan.analysis.treatments.bounds import EITHER, HELD_SURELY
from verifyplan.analysis.treatments.rule_outcomes import (
    N_PACKED,
    RuleOutcomes,
    either_held,
)
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Bools, Ints
from verifyplan.text import did_you_mean, short_repr

Floats = npt.NDArray[np.float64]

QUALITIES = (*TRUTH_METRICS, "accuracy")
"""What rules can be searched by."""
LOWER_IS_BETTER = ("false-consensus-rate", "false-demotion-rate")


class QualityCells(NamedTuple):
    """The terms of a metric sum(part) / sum(whole) by a finding's truth and class, each of shape (3, 4)."""

    part: Floats
    whole: Floats
    n: Floats
    """What it adds to the denominator that is shown: of F1, which is a share of nothing, 1 where truth is known."""
    sign: int
    """1 where more is better, -1 where less is."""


def quality_cells(quality: str) -> QualityCells:
    """Return what each truth (FALSE, TRUE, UNKNOWN) and class adds to a metric of `metrics_of_classes`, or to accuracy.

    Accuracy is the share of findings, of those whose truth is known, that are held and true, or neither.

    >>> cells = quality_cells("precision")
    >>> cells.part.astype(int).tolist(), cells.whole.astype(int).tolist()
    ([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    """
    size = len(CLASSIFICATIONS)
    known = np.repeat([[1.0], [1.0], [0.0]], size, axis=1)
    if quality == "accuracy":
        return QualityCells(np.array([~IS_HELD, IS_HELD, np.zeros(size)], dtype=np.float64), known, known, 1)
    classes, truth = np.tile(np.arange(size), 3), np.repeat([FALSE, TRUE, UNKNOWN], size)
    metric = metrics_of_classes(classes, truth)[quality]
    part, whole = (np.asarray(values, dtype=np.float64).reshape(3, size) for values in metric[:2])
    return QualityCells(part, whole, known if quality == "f1" else whole, -1 if quality in LOWER_IS_BETTER else 1)


def check_quality(quality: str, truth: Ints) -> None:
    """Raise SettingsError unless rules can be searched by a metric over findings of these truths."""
    problems = []
    if quality not in QUALITIES:
        message = f"{short_repr(quality)} is unknown{did_you_mean(str(quality), QUALITIES)}"
        problems.append(Problem("quality", message, f"use {one_of(QUALITIES)}"))
    if not (truth != UNKNOWN).any():
        message = "no finding has a known truth, so rules cannot be compared"
        fix = "add truths by runs.with_truth(...); without truth, compare(runs, rules=...) shows which findings differ"
        problems.append(Problem("truth", message, fix))
    if problems:
        raise SettingsError(problems)


class QualityFigure(NamedTuple):
    """A metric under some rules: the value by the votes that were cast, and what unseen votes allow."""

    value: float
    low: float
    """The 95 % interval of `value`."""
    high: float
    low_bound: float
    """The lowest value that unseen votes allow, and below the highest."""
    high_bound: float
    lowest: float
    """The 95 % interval that contains those of the value and both bounds."""
    highest: float
    n: int
    """The denominator; of F1 the findings whose truth is known."""
    censored: int
    """The findings that unseen votes could give another class."""


_HELD, _NOT_HELD = 0, len(CLASSIFICATIONS) - 1
_N_KINDS = 12
"""Findings whose truth is known are counted by truth, by whether they are held, and by what unseen votes could make."""
_KIND_TRUTH, _KIND_HELD, _KIND_STATE = np.unravel_index(np.arange(_N_KINDS), (2, 2, 3))
_TRUTH = np.where(_KIND_TRUTH == 1, TRUE, FALSE)

_CODES = np.arange(N_PACKED)
_KIND_OF_PACKED = np.append(IS_HELD[_CODES % len(CLASSIFICATIONS)] * 3 + either_held(_CODES), _N_KINDS // 2)
"""Held or not x what unseen votes could make, by packed outcome; beyond these for findings without a class."""
_SETS = _CODES // len(CLASSIFICATIONS)
_IS_CENSORED = np.append(_SETS & (_SETS - 1) > 0, False)


class QualityMeasure:
    """Measures the rules of some outcomes by one metric."""

    def __init__(self, outcomes: RuleOutcomes, cells: QualityCells, clusters: Clusters) -> None:
        """Number the findings whose truth is known by their clusters."""
        self._clusters = clusters
        self._known = outcomes.truth != UNKNOWN
        truth = outcomes.truth[self._known]
        codes = [dimension.code for dimension in clusters.dimensions] or [np.zeros(len(self._known), dtype=np.int64)]
        self._sizes = [int(code.max(initial=0)) + 1 for code in codes]
        self._at = [(code[self._known] * 2 + (truth == TRUE)) * (_N_KINDS // 2 + 1) for code in codes]
        held = [_KIND_HELD == 1, *(_held_if_unseen(truth) for truth in (FALSE, TRUE))]
        self._adds = [_adds(cells.part, cells.whole, each) for each in held]
        self._counted = _adds(cells.n, cells.n, held[0])[0]

    def figure(self, packed: npt.NDArray[np.uint8]) -> QualityFigure:
        """Return the metric of the packed outcomes of some rules."""
        kind = _KIND_OF_PACKED[packed[self._known]]
        counts = [self._counts(at + kind, size) for at, size in zip(self._at, self._sizes, strict=True)]
        clusters = KindCounts(self._clusters, self._clusters.dimensions, counts)
        by_kind = clusters.weight
        adds = self._adds if by_kind[_KIND_STATE == EITHER].any() else self._adds[:1] * 3
        point, *ends = (share_interval(*each, clusters) for each in adds)
        low_end, high_end = _in_order(ends, point)
        lowest = np.fmin.reduce([point.low, low_end.low, high_end.low])
        highest = np.fmax.reduce([point.high, low_end.high, high_end.high])
        n, censored = int(by_kind @ self._counted), int(_IS_CENSORED[packed].sum())
        return QualityFigure(*point[:3], low_end.value, high_end.value, float(lowest), float(highest), n, censored)

    def _counts(self, cell: Ints, size: int) -> Ints:
        """Return the findings by cluster and kind; those without a class are left out."""
        shape = (size, 2, _N_KINDS // 2 + 1)
        counted = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
        return counted[:, :, :-1].reshape(size, _N_KINDS)


def _held_if_unseen(truth: int) -> Bools:
    """Return which kinds are held if unseen votes hold the findings of one truth, and no others."""
    return np.asarray((_KIND_STATE == HELD_SURELY) | ((_KIND_STATE == EITHER) & (truth == _TRUTH)))


def _adds(part: Floats, whole: Floats, held: Bools) -> tuple[Floats, Floats]:
    """Return what a finding of each kind adds to a metric, if these kinds are held and no others."""
    classes = np.where(held, _HELD, _NOT_HELD)
    return part[_TRUTH, classes], whole[_TRUTH, classes]


def _in_order(ends: list[Interval], point: Interval) -> tuple[Interval, Interval]:
    """Return the lower end first; where only one is defined, it is both."""
    defined = sorted((end for end in ends if not np.isnan(end.value)), key=lambda end: end.value) or [point]
    return defined[0], defined[-1]


MIN_MEASURED_FINDINGS = 20
"""Rules whose quality rests on fewer findings are not compared with others, where some rest on twice as many."""
MIN_MEASURED_SHARE = 0.1
"""Nor are those whose quality rests on less than this share of what that of the median rule rests on."""


def on_frontier(value: npt.ArrayLike, cost: npt.ArrayLike, n_changed: Sequence[int]) -> Bools:
    """Return whether no other rule is at least as good and cheaper, or as cheap and better; missing ones are not.

    Of rules that are as good and as cheap, only that with the fewest changed fields is, of these the first.

    >>> on_frontier([0.5, 0.9, 0.9, 0.7], [1, 2, 2, 3], [1, 2, 1, 1]).tolist()
    [True, False, True, False]
    """
    values, costs = np.asarray(value, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    order = np.lexsort((np.asarray(n_changed), -values.round(12), costs))
    order = order[~(np.isnan(values) | np.isnan(costs))[order]]
    before = np.maximum.accumulate(np.append(-np.inf, values[order]))[:-1]
    is_on = np.zeros(len(values), dtype=bool)
    is_on[order] = values[order] > before + 1e-12
    return is_on


def min_measured(n: npt.ArrayLike) -> float:
    """Return how many findings the quality of a rule must rest on to be compared, from what that of each rests on.

    At least 20, and a tenth of the median; but never more than half of the largest, so that few findings do not leave
    out every rule.

    >>> min_measured([3, 80, 100]), min_measured([3, 2000, 4000]), min_measured([3, 12])
    (20.0, 200.0, 6.0)
    """
    counts: Floats = np.asarray(n, dtype=np.float64)
    if not len(counts):
        return 0.0
    enough = max(MIN_MEASURED_FINDINGS, MIN_MEASURED_SHARE * float(np.median(counts)))
    return min(float(enough), float(counts.max()) / 2)


def n_changed(rules: VotingRules, recorded: VotingRules, mode: Mode | None) -> int:
    """Return in how many fields rules differ from the recorded ones, the order of asking left out.

    `mode` is the one in which all runs were recorded, which rules that name no mode leave as it is.

    >>> n_changed(VotingRules(mode="adversarial", max_rounds=1), VotingRules(), "adversarial")
    1
    """
    first, other = ({**dict(each), "mode": each.mode or mode, "order": None} for each in (rules, recorded))
    return sum(first[name] != other[name] for name in first)


def changes_mode(rules: VotingRules, mode: Mode | None) -> bool:
    """Return whether rules judge votes in another mode than that in which all runs were recorded, None for several.

    >>> changes_mode(VotingRules(), "adversarial"), changes_mode(VotingRules(mode="collaborative"), "adversarial")
    (False, True)
    """
    return rules.mode is not None and rules.mode != mode

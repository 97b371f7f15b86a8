"""Choose rules on one half of the findings and measure them on the other, many times (rule R5).

docs/statistics.md ("Choosing rules") has the reasons, and how often the intervals hold the truth in simulations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import (
    LEVEL,
    Difference,
    Interval,
    clustered_variance,
    share_difference,
    share_interval,
)
from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.metrics import FALSE, TRUE
from verifyplan.analysis.treatments.bounds import EITHER
from verifyplan.analysis.treatments.rule_outcomes import (
    N_PACKED,
    N_TRUTHS,
    NO_CLASS,
    RuleOutcomes,
    either_held,
)
from verifyplan.analysis.treatments.rule_quality import Floats, QualityCells, quality_cells
from verifyplan.analysis.treatments.rule_walk import N_CLASSES
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.vote_codes import Bools, Ints

_HELD, _NOT_HELD = 0, len(CLASSIFICATIONS) - 1


def _worst_classes() -> npt.NDArray[np.uint8]:
    """Return the class by truth and packed outcome: what may be held or not is held if it is false, else not."""
    codes = np.arange(N_PACKED)
    classes = np.tile(np.append(codes % N_CLASSES, NO_CLASS).astype(np.uint8), (N_TRUTHS, 1))
    is_open = np.append(either_held(codes) == EITHER, False)
    classes[FALSE, is_open], classes[TRUE, is_open] = _HELD, _NOT_HELD
    return classes


_WORST = _worst_classes()


@dataclass(frozen=True, eq=False)
class WorstOutcomes:
    """The outcomes of rules where every vote that was never cast is the worst for them, whatever the metric.

    A false finding that such votes could make held is held, and a true one is not.
    """

    recorded: RuleOutcomes
    """The outcomes by the votes that were cast."""

    @property
    def truth(self) -> Ints:
        """FALSE, TRUE or UNKNOWN of each finding."""
        return self.recorded.truth

    def classes(self, k: int) -> npt.NDArray[np.uint8]:
        """Return the class of each finding under the k-th rules."""
        return np.asarray(_WORST[self.truth, self.recorded.packed(k)])

    def counts(self, groups: Ints, n_groups: int) -> Ints:
        """Return findings counted by rules, group, truth and class, as `RuleOutcomes.counts` does."""
        shape = (n_groups, N_TRUTHS, N_CLASSES)
        out = np.empty((len(self.recorded.rules), *shape), dtype=np.int64)
        cell = (groups * N_TRUTHS + self.truth) * N_CLASSES
        for k in range(len(out)):
            classes = self.classes(k)
            known = classes != NO_CLASS
            out[k] = np.bincount((cell + classes)[known], minlength=out[k].size).reshape(shape)
        return out


N_SPLITS = 10
"""Random halvings. Each half of each chooses once and is measured on once: there are twice as many halves."""
MIN_RUNS = 10
"""With fewer runs, claims are divided into halves instead of runs."""
MAX_UNITS = 200
"""More runs or claims than these are put together at random into so many units, before they are halved."""
N_RIVALS = 3
"""Of the rules that may be better than another, the intervals of so many are computed on each half."""
LOSS_LEVEL = 0.85
"""The level of the interval of a loss on one half. The median over the halves that agree varies like a figure of all
findings, by the root of a half of what one half does: such an interval is then one of 95.8 %."""


class Units(NamedTuple):
    """Runs or claims, divided into halves so that findings that vary together are on one side."""

    unit: Ints
    """The unit of each finding, from 0."""
    n_units: int
    chooses: Bools
    """Whether a unit is in the half that chooses, of shape (halves, units); the others are measured on."""
    of: Literal["runs", "claims"]


def halved_units(clusters: Clusters, seed: int = 0) -> Units:
    """Return the units of findings and random halves of these; each is followed by its complement.

    Units are runs; runs that have claims in common are one, for a rule that is chosen on a claim in one run knows it
    in the other. With fewer than 10 of these, units are claims. More than 200 are put together into 200 at random.
    """
    of: Literal["runs", "claims"] = "runs"
    n_units, unit = clusters.n_runs, clusters.run
    if clusters.repeated:
        n_units, unit = _runs_without_common_claims(clusters)
    if n_units < MIN_RUNS:
        of, n_units, unit = "claims", clusters.n_claims, clusters.claim
    random = np.random.default_rng(seed)
    if n_units > MAX_UNITS:
        unit, n_units = random.permutation(n_units)[unit] % MAX_UNITS, MAX_UNITS
    ranks = random.permuted(np.tile(np.arange(n_units), (N_SPLITS, 1)), axis=1)
    first = ranks < (n_units + 1) // 2
    return Units(unit, n_units, np.stack([first, ~first], axis=1).reshape(2 * N_SPLITS, n_units), of)


def _runs_without_common_claims(clusters: Clusters) -> tuple[int, Ints]:
    """Return how many groups of runs share no claim with others, and the group of each finding."""
    size = clusters.n_runs + clusters.n_claims
    edges = coo_array((np.ones(len(clusters.run)), (clusters.run, clusters.n_runs + clusters.claim)), (size, size))
    n_groups, group = connected_components(edges, directed=False)
    return int(n_groups), group[: clusters.n_runs].astype(np.int64)[clusters.run]


class Loss(NamedTuple):
    """What a rule loses against the best one."""

    interval: Interval
    """The loss; its ends are those of an interval of `LOSS_LEVEL`."""
    error: float
    """The standard error, on one half, of the difference that gives the high end; 0 without a rival."""


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Rules, and halves of the findings: chosen on one half, rules are measured on the other.

    A figure is the median, over the halves that a rule was chosen on, of the value on the other half and of both ends
    of its interval there (Chernozhukov et al. 2018), so that no single halving decides. `halves` of a method says
    which halves chose the rule. Differences are positive where the first rule is better, also where less of the metric
    is.
    """

    outcomes: RuleOutcomes | WorstOutcomes
    """What each rule makes of every finding."""
    cells: QualityCells
    """The metric that is chosen by."""
    clusters: Clusters
    """The clusters of the findings."""
    units: Units
    """The halves."""
    _classes: dict[int, npt.NDArray[np.uint8]] = field(default_factory=dict, repr=False)
    """The classes of the findings under the rules that have been measured."""

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """The sums of part and whole of each rule and unit, of shape (rules, units)."""
        counts = self.outcomes.counts(self.units.unit, self.units.n_units)
        part, whole = (np.einsum("rutc,tc->ru", counts, cells) for cells in self.cells[:2])
        return part, whole

    @cached_property
    def chosen(self) -> Floats:
        """The quality of each rule on each half that chooses, (rules, halves): more is better, -inf not defined."""
        part, whole = (sums @ self.units.chooses.T.astype(np.float64) for sums in self.sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(whole > 0, self.cells.sign * part / whole, -np.inf)

    def chosen_cost(self, by_finding: Floats) -> Floats:
        """Return the cost of a rule on each half that chooses, a finding."""
        sums, sizes = (np.bincount(self.units.unit, each, self.units.n_units) for each in (by_finding, None))
        on = self.units.chooses.astype(np.float64)
        return np.asarray((on @ sums) / np.maximum(on @ sizes, 1))

    def quality(self, rule: int, halves: Bools) -> Interval:
        """Return the metric of a rule, measured on the halves that did not choose it."""
        return _median([share_interval(*self._parts(rule, half), self._measured[half][1]) for half in _at(halves)])

    def gain(self, rules: Ints, over: int, halves: Bools) -> Interval:
        """Return how much better the rule that each half chose is than another on the same findings; 0 than itself."""
        found = [self._difference(int(rules[half]), over, half).interval() for half in _at(halves & (rules != over))]
        same = [Interval(0.0, 0.0, 0.0, len(self._measured[half][0])) for half in _at(halves & (rules == over))]
        return _median([*found, *same])

    def cost(self, by_finding: Floats, halves: Bools) -> Interval:
        """Return what a rule costs a finding, from its cost on each finding."""
        measured = [self._measured[half] for half in _at(halves)]
        return _median([_mean(by_finding[rows], clusters) for rows, clusters in measured])

    def losses(self, rule: int, rivals: Ints, best: Ints) -> list[Loss]:
        """Return how much better the best of some rules is than one, which is at least 0, on each half that measures.

        The value and the low end are against the rule that the other half chose as the best. The high end is the
        highest against any rival: the truly best is one of them, so that no correction for their number is needed.
        """
        return [self._loss_on(half, rule, rivals, int(best[half])) for half in range(len(best))]

    def _loss_on(self, half: int, rule: int, rivals: Ints, best: int) -> Loss:
        """Return the loss on the half that is measured on; all of it is possible where a rival is not defined there."""
        likely = {*self._likely_better(rule, rivals, half), best} - {rule}
        against = {rival: self._difference(rival, rule, half) for rival in likely}
        if not against:
            return Loss(Interval(0.0, 0.0, 0.0, len(self._measured[half][0])), 0.0)
        ends = {rival: each.interval(LOSS_LEVEL) for rival, each in against.items()}
        top = max(ends, key=lambda rival: np.nan_to_num(ends[rival].high, nan=1.0))
        value, low = ends[best][:2] if best != rule else (0.0, 0.0)
        high = float(np.nan_to_num(ends[top].high, nan=1.0))
        error = float(np.nan_to_num(against[top].error, nan=1.0))
        return Loss(Interval(max(0.0, value), max(0.0, low), max(0.0, high), ends[top].n), error)

    def _likely_better(self, rule: int, rivals: Ints, half: int) -> list[int]:
        """Return the rivals whose interval against a rule reaches highest, by the variance between units alone."""
        on = ~self.units.chooses[half]
        part, whole = (sums[:, on] for sums in self.sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = whole.sum(axis=1)
            value = part.sum(axis=1) / total
            moved = (part - value[:, None] * whole) / total[:, None]
            spread = np.sqrt(((moved[rivals] - moved[rule]) ** 2).sum(axis=1))
            high = self.cells.sign * (value[rivals] - value[rule]) + 2 * spread
        others = np.where(rivals == rule, -np.inf, np.nan_to_num(high, nan=-np.inf))
        order = np.argsort(-others, kind="stable")[:N_RIVALS]
        return [int(rival) for rival in rivals[order] if rival != rule]

    @cached_property
    def _measured(self) -> dict[int, tuple[Ints, Clusters]]:
        """The findings of each half that is measured on, and their clusters."""
        on = ~self.units.chooses[:, self.units.unit]
        return {half: (rows := np.flatnonzero(each), self.clusters.take(rows)) for half, each in enumerate(on)}

    def _difference(self, rule: int, over: int, half: int) -> Difference:
        """Return how much better a rule is than another on the half that is measured on."""
        first, second = (over, rule) if self.cells.sign > 0 else (rule, over)
        sides = *self._parts(first, half), *self._parts(second, half)
        return share_difference(*sides, self._measured[half][1])

    def _parts(self, rule: int, half: int) -> tuple[Floats, Floats]:
        """Return part and whole of each finding of the half that is measured on."""
        if rule not in self._classes:
            self._classes[rule] = self.outcomes.classes(rule)
        rows = self._measured[half][0]
        classes, truth = self._classes[rule][rows], self.outcomes.truth[rows]
        known = classes != NO_CLASS
        at = truth, np.where(known, classes, 0)
        return self.cells.part[at] * known, self.cells.whole[at] * known


def cross_fit(outcomes: RuleOutcomes, quality: str, seed: int = 0, *, worst: bool = False) -> CrossFit:
    """Return the cross-fitting of some rules; `worst`: votes that were never cast are the worst for each rule."""
    clusters = clusters_of_findings(outcomes.findings)
    judged = WorstOutcomes(outcomes) if worst else outcomes
    return CrossFit(judged, quality_cells(quality), clusters, halved_units(clusters, seed))


def median_loss(losses: list[Loss], halves: Bools) -> Loss:
    """Return the medians of losses over the halves that chose the rule."""
    some = [losses[half] for half in _at(halves)]
    return Loss(_median([each.interval for each in some]), float(np.median([each.error for each in some])))


def _at(halves: Bools) -> list[int]:
    return np.flatnonzero(halves).tolist()


def _median(intervals: list[Interval]) -> Interval:
    """Return the medians of values and ends, of the halves where they are defined; NaN where there is none."""
    defined = [each for each in intervals if not np.isnan(each.value)]
    if not defined:
        return Interval(np.nan, np.nan, np.nan, 0)
    value, low, high, n = (float(np.median(column)) for column in zip(*defined, strict=True))
    return Interval(value, low, high, int(n))


def _mean(values: Floats, clusters: Clusters) -> Interval:
    """Return the mean with its interval, by Student's t over clusters; NaN without a value."""
    if not len(values):
        return Interval(np.nan, np.nan, np.nan, 0)
    value = float(np.mean(values))
    variance, freedom = clustered_variance((values - value) / len(values), clusters)
    half = float(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(max(variance, 0.0)))
    return Interval(value, max(0.0, value - half), value + half, len(values))

"""Measure what choosing the best of many rules is worth, on findings that it was not chosen on (rule R5).

docs/statistics.md ("Choosing rules") has the formulas, and how often the intervals hold the truth in simulations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval
from verifyplan.analysis.clustered_tests import MIN_CLUSTERS
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


N_SPLITS = 5
"""Random halvings, of whose figures the medians are taken, so that no single halving decides."""
MIN_RUNS = 10
"""With fewer runs, claims are divided into halves instead of runs."""
MAX_UNITS = 200
"""More runs or claims than these are put together at random into so many units, before they are halved or flipped."""
N_FLIPS = 1000
"""Random sign-flips, the observed one among them."""
_CELLS_AT_ONCE = 2**22


class Units(NamedTuple):
    """Runs or claims, divided into halves so that findings that vary together are on one side."""

    unit: Ints
    """The unit of each finding, from 0."""
    n_units: int
    second_half: Bools
    """Whether a unit is in the second half, of shape (splits, units)."""
    of: Literal["runs", "claims"]
    independent: bool
    """Whether units have nothing in common: runs without a claim in common, or the claims of a single run."""


def halved_units(clusters: Clusters, seed: int = 0) -> Units:
    """Return the units of findings and random halvings of these.

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
    return Units(unit, n_units, ranks >= (n_units + 1) // 2, of, of == "runs" or clusters.n_runs < 2)


def _runs_without_common_claims(clusters: Clusters) -> tuple[int, Ints]:
    """Return how many groups of runs share no claim with others, and the group of each finding."""
    size = clusters.n_runs + clusters.n_claims
    edges = coo_array((np.ones(len(clusters.run)), (clusters.run, clusters.n_runs + clusters.claim)), (size, size))
    n_groups, group = connected_components(edges, directed=False)
    return int(n_groups), group[: clusters.n_runs].astype(np.int64)[clusters.run]


Choice = Ints
"""The rule, by position, that judges each half of each split, of shape (splits, 2)."""


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Rules in order of their costs, and halves of the findings: chosen on one half, they are measured on the other."""

    outcomes: RuleOutcomes | WorstOutcomes
    """What each rule makes of every finding."""
    n_findings: int
    """The findings that were judged."""
    cells: QualityCells
    """The metric that is chosen by."""
    order: Ints
    """The rules to choose from, by position, from cheap to dear; of equally good ones the first is chosen."""
    clusters: Clusters
    """The clusters of the findings."""
    units: Units
    """The halves."""
    _classes: dict[int, npt.NDArray[np.uint8]] = field(default_factory=dict, repr=False)
    """The classes of the findings under the rules that have been measured."""

    @property
    def n_splits(self) -> int:
        """The number of halvings."""
        return len(self.units.second_half)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """The sums of part and whole of each rule and unit, of shape (rules, units), rules in `order`."""
        counts = self.outcomes.counts(self.units.unit, self.units.n_units)[self.order]
        part, whole = (np.einsum("rutc,tc->ru", counts, cells) for cells in self.cells[:2])
        return part, whole

    @cached_property
    def _best_so_far(self) -> Ints:
        """The best of the first rules in order, as chosen for each half by the other: (rules, splits, 2)."""
        second = self.units.second_half.T.astype(np.float64)
        chosen_on = np.stack([second, 1 - second], axis=-1).reshape(self.units.n_units, -1)
        part, whole = (sums @ chosen_on for sums in self.sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            quality = np.where(whole > 0, self.cells.sign * part / whole, -np.inf)
        best = np.maximum.accumulate(quality, axis=0)
        is_new = np.vstack([np.ones((1, best.shape[1]), dtype=bool), quality[1:] > best[:-1] + 1e-12])
        at = np.maximum.accumulate(np.where(is_new, np.arange(len(best))[:, None], 0), axis=0)
        return self.order[at].reshape(len(best), self.n_splits, 2)

    def best_of(self, n_cheapest: int) -> Choice:
        """Return the best of the cheapest rules for each half, as chosen on the other half; of equal ones the cheapest.

        A metric that a half does not define loses against any other.
        """
        return np.asarray(self._best_so_far[n_cheapest - 1])

    def always(self, rule: int) -> Choice:
        """Return the same rule for every half."""
        return np.full((self.n_splits, 2), rule)

    def quality(self, choice: Choice) -> Interval:
        """Return the metric of the findings, each judged by the rule of its half: the median over the halvings."""
        found = [share_interval(*self._parts(both, split), self.clusters) for split, both in enumerate(choice)]
        return _median(found)._replace(n=int(self._added(choice[0], 0, self.cells.n).sum()))

    def gain(self, choice: Choice, over: Choice) -> Interval:
        """Return how much better a choice is than another on the same findings, with its interval.

        The medians over the halvings of the paired difference and of both ends of its interval (Chernozhukov et al.
        2018). Positive is better, also where less of the metric is.
        """
        found: dict[tuple[Any, ...], Interval] = {}
        keys = []
        for split, (first, second) in enumerate(zip(over, choice, strict=True)):
            fixed = len(set(first)) == len(set(second)) == 1  # then all halvings are alike
            keys.append((*first, *second, None if fixed else split))
            if keys[-1] not in found:
                sides = *self._parts(first, split), *self._parts(second, split)
                found[keys[-1]] = difference_interval(*sides, self.clusters)
        value, low, high, n = _median([found[key] for key in keys])
        return Interval(value, low, high, n) if self.cells.sign > 0 else Interval(-value, -high, -low, n)

    def p_value(self, n_cheapest: int, over: int, seed: int = 0) -> float:
        """Return how often choosing among the cheapest rules gains so much over a rule if none is better or worse.

        Each unit's differences of all rules from that rule change their sign together, at random; the choice is
        made and measured again each time. It is exact where, if no rule is better or worse, these differences are as
        likely as their opposites in each unit. (Shuffling which rule has which classes would suppose that rules are
        exchangeable; subsets of the same workers are not, and would look more different than they are.) Differences
        of a ratio such as F1 are linearised at the value of the rule `over`. NaN with fewer than 6 units that differ,
        where units have something in common, as claims of several runs have, and where `over` is not in `order`.
        Source: Phipson and Smyth 2010 for the observed as one of the draws.
        """
        if not self.units.independent or over not in self.order:
            return float("nan")
        part, whole = self.sums
        base = int(np.flatnonzero(self.order == over)[0])
        total = whole[base].sum()
        if not total:
            return float("nan")
        moves = self.cells.sign * (part - part[base].sum() / total * whole)
        moves = moves[:n_cheapest] - moves[base]
        moves = np.vstack(
            [np.zeros(self.units.n_units), moves[moves.any(axis=1)]]
        )  # those like `over`, first of equals
        if np.count_nonzero(moves.any(axis=0)) < MIN_CLUSTERS:
            return float("nan")
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(self.units.n_units, N_FLIPS))
        signs[:, 0] = 1
        gains = np.median([_flipped_gains(moves, signs, half) for half in self.units.second_half], axis=0)
        return float(np.mean(gains >= gains[0] - 1e-9))

    def _parts(self, both: Iterable[int], split: int) -> tuple[Floats, Floats]:
        """Return part and whole of each finding, judged by the rule of its half."""
        return self._added(both, split, self.cells.part), self._added(both, split, self.cells.whole)

    def _added(self, both: Iterable[int], split: int, cells: Floats) -> Floats:
        first, second = (self._classes_under(int(rule)) for rule in both)
        classes = np.where(self.units.second_half[split][self.units.unit], second, first)
        known = classes != NO_CLASS
        return np.asarray(cells[self.outcomes.truth, np.where(known, classes, 0)] * known)

    def _classes_under(self, rule: int) -> npt.NDArray[np.uint8]:
        if rule not in self._classes:
            self._classes[rule] = self.outcomes.classes(rule)
        return self._classes[rule]


def cross_fit(
    outcomes: RuleOutcomes, quality: str, cost: npt.ArrayLike, seed: int = 0, *, worst: bool = False
) -> CrossFit:
    """Return the cross-fitting of some rules by their costs, one number a rule; rules of unknown cost come last.

    `worst`: votes that were never cast are taken to be the worst for each rule.
    """
    clusters = clusters_of_findings(outcomes.findings)
    order = np.argsort(np.asarray(cost, dtype=np.float64), kind="stable")
    judged = WorstOutcomes(outcomes) if worst else outcomes
    units = halved_units(clusters, seed)
    return CrossFit(judged, len(outcomes.findings), quality_cells(quality), order, clusters, units)


def _median(intervals: list[Interval]) -> Interval:
    value, low, high = (float(np.median(column)) for column in zip(*(each[:3] for each in intervals), strict=True))
    return Interval(value, low, high, intervals[0].n)


def _flipped_gains(moves: Floats, signs: Floats, second: Bools) -> Floats:
    """Return what choosing on one half gains on the other, by draw; moves are (rules, units), signs (units, draws).

    Gains are divided by the root of the sum of their squares over units, as in `clustered_test`.
    """
    gains = np.empty(signs.shape[1])
    sides = (~second, second)
    squares = [(moves[:, side] ** 2).sum(axis=1) for side in sides]
    step = max(1, _CELLS_AT_ONCE // len(moves))
    for start in range(0, len(gains), step):
        some = signs[:, start : start + step]
        draws = np.arange(some.shape[1])
        sums = [moves[:, side] @ some[side] for side in sides]
        chosen = [other.argmax(axis=0) for other in sums[::-1]]
        gained = sum(on[best, draws] for on, best in zip(sums, chosen, strict=True))
        spread = sum(of_half[best] for of_half, best in zip(squares, chosen, strict=True))
        gains[start : start + step] = gained / np.sqrt(np.where(spread > 0, spread, 1))
    return gains

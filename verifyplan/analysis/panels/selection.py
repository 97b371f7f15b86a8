"""Choose judges on some items and score them on others, so that the choice itself is not rewarded (rule F3a)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.panels.majority_accuracy import share_right
from verifyplan.analysis.panels.panel_answers import Counts, Floats, Ints, PanelAnswers

N_FOLDS = 5
"""Parts into which the items are put: judges are chosen on all but one and scored on that one."""
MIN_RUNS_TO_SPLIT = 10
"""With fewer runs than this, parts are of claims, not of runs."""
MIN_ITEMS_OF_BEST = 10
"""A judge with votes on fewer items than this is not chosen where others have more."""
N_PARTITIONS = 200
"""How often the items are put into parts anew: figures are means over these and hardly hang on chance."""
MAX_PRODUCTS = 2_000_000_000
"""Products to order judges over all partitions at most; where one partition takes more, there are fewer partitions."""
MIN_PARTITIONS = 3
"""Partitions at least."""
NORMAL_QUANTILE = 1.96
MAX_ENTRIES = 4_000_000
"""Entries of an array at most while judges are ordered: partitions are taken so many at a time."""


class CrossFitted:
    """How right judges chosen on other items are about each unit, on average over partitions, and how far it varies."""

    def __init__(self, answers: PanelAnswers) -> None:
        """Begin without a partition."""
        self.n_partitions = 0
        self._units_per_item = len(answers.answer) / answers.clusters.n_claims
        self._right, self._voted, self._squares = (np.zeros(1) for _ in range(3))
        self._shares: list[Floats] = []

    def add(self, right: Floats, voted: Floats | None = None) -> None:
        """Add a partition: how right the judges are about each unit, of shape (units, ...), and whether they answer."""
        there = np.ones(len(right)) if voted is None else voted
        self.n_partitions += 1
        self._right, self._voted, self._squares = self._right + right, self._voted + there, self._squares + right**2
        self._shares.append(right.sum(axis=0) / max(float(there.sum()), 1.0))

    @property
    def right(self) -> Floats:
        """How right the judges are about each unit."""
        return self._right / self.n_partitions

    @property
    def voted(self) -> Floats:
        """How often they answer it."""
        return self._voted / self.n_partitions

    @property
    def variance(self) -> Floats:
        """The variance that averages over partitions hide: within units, and of the share from partition to partition.

        With it the variance is the mean of those of single partitions and of the squares of their distances from the
        mean, as for double machine learning (Chernozhukov et al. 2018).
        """
        within = (self._squares / self.n_partitions - self.right**2).sum(axis=0) * self._units_per_item
        return np.asarray(within / max(float(self.voted.sum()), 1.0) ** 2 + np.var(self._shares, axis=0))


def widened(found: Interval, variance: float, *, least: float = 0.0) -> Interval:
    """Return an interval of 95 % with a variance added to that which it has, from `least` to 1.

    `least` is 0 for a share and -1 for a difference of shares.

    >>> widened(Interval(0.5, 0.3, 0.7, 20), 0.0)
    Interval(value=0.5, low=0.3, high=0.7, n=20)
    >>> widened(Interval(0.75, 0.5, 1.0, 20), 1.0)
    Interval(value=0.75, low=0.0, high=1.0, n=20)
    """
    half = (found.high - found.low) / 2
    if not half > 0:
        return found
    factor = float(np.sqrt(1 + variance * (NORMAL_QUANTILE / half) ** 2))
    low, high = (found.value + factor * (end - found.value) for end in (found.low, found.high))
    return found._replace(low=max(least, low), high=min(1.0, high))


class BestJudge(NamedTuple):
    """The best judge on all items, and how right judges are that were chosen on other items."""

    judge: int
    """The position of the judge that is best on all items."""
    held_out: CrossFitted
    """How right the judges chosen on other items are."""
    agreed: float
    """The share of the choices on a part of the items that fall on the judge which is best on all items."""


class JudgeOrder(NamedTuple):
    """The judges in the order in which each adds most to the majority of those before it."""

    order: Ints
    """Positions of judges."""
    accuracy: Floats
    """How right the majority of the first k judges is on the items on which they were ordered."""
    right: Floats
    """How right that majority is about each unit, of shape (units, judges)."""
    held_out: CrossFitted
    """How right the majority of k judges ordered on other items is, of shape (units, judges)."""
    gains: CrossFitted
    """What each judge adds to it, of shape (units, judges - 1)."""
    kept: int
    """The least number of judges whose majority is no less right than that of all, on held-out items."""
    smaller: CrossFitted
    """How right the majority is of as many judges as the other items say are enough."""
    agreed: float
    """The share of the choices on a part of the items that keep the same judges as all items do."""


def partitions(answers: PanelAnswers, seed: int) -> Ints:
    """Return the part of each unit in each partition, of shape (partitions, units).

    Units of one claim are in one part; with 10 runs or more whose claims differ, those of one run.
    """
    clusters = answers.clusters
    by_claim = clusters.repeated or clusters.n_runs < MIN_RUNS_TO_SPLIT
    code, n = (clusters.claim, clusters.n_claims) if by_claim else (clusters.run, clusters.n_runs)
    n_units, n_judges = answers.answer.shape
    n_patterns = min(n_units, (answers.n_codes + 1) ** min(n_judges, 30))
    products = 15 * answers.n_codes * n_patterns * n_judges**2 + 100 * n_units * n_judges
    number = min(max(MAX_PRODUCTS // products, MIN_PARTITIONS), N_PARTITIONS)
    draws, parts = np.random.default_rng(seed), np.arange(n) % min(N_FOLDS, n)
    return np.stack([draws.permutation(parts)[code] for _ in range(number)])


def best_judge(answers: PanelAnswers, parts: Ints) -> BestJudge:
    """Return the judge that is most accurate on the same items as others; of equal ones the first by name.

    Judges are ranked by how much more often they are right than the others on the items that they answered, on
    average over these: who answered easy items only gains nothing by it. Where every judge answered every item this
    ranks by accuracy.
    """
    correct, voted, claim = answers.correct, answers.voted, answers.clusters.claim
    units = np.arange(len(claim))
    n_votes = voted.sum(axis=1, keepdims=True)
    compared = voted & (n_votes > 1) if n_votes.max() > 1 else voted
    others = (correct.sum(axis=1, keepdims=True) - correct) / np.maximum(n_votes - 1, 1)
    gap = (correct - others) * compared

    order = np.argsort(claim, kind="stable")
    starts = np.flatnonzero(np.diff(claim[order], prepend=-1))
    there = np.logical_or.reduceat(compared[order], starts, axis=0)
    by_claim = (np.add.reduceat(each[order], starts, axis=0, dtype=np.float64) for each in (gap, compared))
    sums = np.hstack([*by_claim, there])  # of each claim: gap, votes and items of each judge
    best = int(_most_accurate(sums.sum(axis=0)[None])[0])
    held_out, agreed = CrossFitted(answers), 0.0
    for part in parts:
        n_parts = int(part.max()) + 1
        without = (part[order[starts]] != np.arange(n_parts)[:, None]).astype(np.float64) @ sums
        chosen = _most_accurate(without) if n_parts > 1 else np.array([best])
        judge = chosen[part]
        held_out.add(correct[units, judge].astype(np.float64), voted[units, judge].astype(np.float64))
        agreed += float((chosen == best).mean())
    return BestJudge(best, held_out, agreed / len(parts))


def _most_accurate(sums: Floats) -> Ints:
    """Return the judge that most exceeds the others on the same items, by row of sums of this, votes and items."""
    total, n_votes, n = np.split(sums, 3, axis=1)
    gap = np.round(total / np.maximum(n_votes, 1), 12)
    gap = np.where(n >= np.minimum(MIN_ITEMS_OF_BEST, n.max(axis=1, keepdims=True)), gap, -np.inf)
    return np.asarray(gap.argmax(axis=1))


def judge_order(answers: PanelAnswers, parts: Ints) -> JudgeOrder:
    """Return the judges ordered by forward selection, on all items and on all but those of each part.

    How many judges are enough is decided on held-out items, too: for the items of a part on those of the others,
    each ordered without both parts. Items with the same votes are ordered as one with a weight.
    """
    patterns, pattern = np.unique(answers.answer, axis=0, return_inverse=True)
    pattern, n = pattern.ravel(), len(patterns)
    votes = (patterns == np.arange(answers.n_codes)[:, None, None]).astype(np.int8)
    order, right = (each[0] for each in forward_selection(votes, np.bincount(pattern, minlength=n)[None]))
    right = right[pattern]
    held_out, gains, smaller = CrossFitted(answers), CrossFitted(answers), CrossFitted(answers)
    members = []
    at_once = max(1, MAX_ENTRIES // (15 * votes.size))
    for some in np.array_split(parts, -(-len(parts) // at_once)):
        weight = np.stack([np.bincount(part * n + pattern, minlength=n * N_FOLDS).reshape(-1, n) for part in some])
        orders, reached, enough = _cross_fit(votes, weight)
        for k, part in enumerate(some):
            now = reached[k][part, pattern]
            held_out.add(now)
            gains.add(np.diff(now, axis=1))
            smaller.add(now[np.arange(len(part)), enough[k][part] - 1])
        rank = np.argsort(orders, axis=2)
        members.append((rank < enough[:, :, None]).reshape(-1, len(order)))
    kept = int(_enough(held_out.right.mean(axis=0)))
    alike = (np.concatenate(members) == np.isin(np.arange(len(order)), order[:kept])).all(axis=1)
    return JudgeOrder(order, right.mean(axis=0), right, held_out, gains, kept, smaller, float(alike.mean()))


def _cross_fit(votes: Counts, weight: Ints) -> tuple[Ints, Floats, Ints]:
    """Return, by partition and part, the order without the part, how right its majorities are, and how many are enough.

    `weight` counts patterns of votes, of shape (partitions, parts, patterns).
    """
    n_parts, every = weight.shape[1], weight.sum(axis=1)
    curves = np.zeros((len(weight), n_parts, votes.shape[2]))
    for first in range(n_parts):
        for second in range(first):
            _, right = forward_selection(votes, every - weight[:, first] - weight[:, second])
            curves[:, first] += np.einsum("bp,bpk->bk", weight[:, second], right)
            curves[:, second] += np.einsum("bp,bpk->bk", weight[:, first], right)
    found = [forward_selection(votes, every - weight[:, number]) for number in range(n_parts)]
    orders, right = (np.stack(each, axis=1) for each in zip(*found, strict=True))
    return orders, right, np.asarray(_enough(curves))


def _enough(accuracy: Floats) -> Ints:
    """Return the least number of judges who are no less right than all."""
    return np.asarray((accuracy >= accuracy[..., -1:] - 1e-9).argmax(axis=-1) + 1)


def forward_selection(votes: Counts, weight: Ints) -> tuple[Ints, Floats]:
    """Return the order of judges for each row of weights, and how right the majority of the first k is by pattern.

    `votes` are by code, pattern and judge, `weight` counts patterns, of shape (samples, patterns). Each step adds the
    judge with whom the majority is right most often; of equal ones the more accurate, then the first by name.
    """
    n_codes, n_patterns, n_judges = votes.shape
    sample, cast = np.arange(len(weight)), votes.reshape(-1, n_judges).astype(np.float64)
    rank = np.argsort(np.argsort(-(weight @ votes[0].astype(np.int64)), axis=1, kind="stable"), axis=1)
    counts = np.zeros((n_codes, len(weight), n_patterns), dtype=np.int16)
    order, right = np.empty(rank.shape, dtype=np.int64), np.empty((*weight.shape, n_judges))
    left = np.ones(rank.shape, dtype=bool)
    for step in range(n_judges):
        now, gains = _right_with_one_more(counts)
        gained = (gains * weight).swapaxes(0, 1).reshape(len(weight), -1) @ cast
        reached = np.where(left, (now * weight).sum(axis=1, keepdims=True) + gained, -np.inf)
        best = np.where(reached >= reached.max(axis=1, keepdims=True) - 1e-9, rank, n_judges).argmin(axis=1)
        order[:, step], left[sample, best] = best, False
        counts += votes[:, :, best].swapaxes(1, 2)
        right[:, :, step] = share_right(counts)
    return order, right


def _right_with_one_more(counts: Counts) -> tuple[Floats, Floats]:
    """Return `share_right` of each unit, and what one more vote of each code adds to it, of shape (codes, units)."""

    def share(right: Counts, most_wrong: Counts, tied: Counts) -> Floats:
        return np.asarray((right > most_wrong) + ((right == most_wrong) & (right > 0)) / (1 + tied))

    right, wrong = counts[0], counts[1:]
    most = wrong.max(axis=0, initial=0)
    tied = (wrong == most).sum(axis=0, dtype=np.int16)
    now = share(right, most, tied)
    past, level = share(right, most + 1, np.ones_like(tied)) - now, share(right, most, tied + 1) - now
    of_wrong = np.where(wrong == most, past, np.where(wrong + 1 == most, level, 0.0))
    return now, np.concatenate([[share(right + 1, most, tied) - now], of_wrong])

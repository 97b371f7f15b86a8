"""Choose judges on some items and score them on others, so that the choice itself is not rewarded (rule F3a)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.majority_accuracy import share_right
from verifyplan.analysis.panels.panel_answers import Bools, Floats, Ints, PanelAnswers

N_FOLDS = 10
"""Parts into which the items are put: judges are chosen on nine of them and scored on the tenth."""
MIN_VOTES_TO_CHOOSE = 10
"""A judge with fewer votes than this is not chosen where others have more."""


class BestJudge(NamedTuple):
    """The most accurate judge, and how right the judge is that was chosen on other items."""

    judge: int
    """The position of the judge that is best on all items."""
    right: Floats
    """Whether the judge chosen on other items is right about each unit."""
    voted: Floats
    """Whether that judge answered it."""
    agreed: float
    """The share of folds that choose the judge which is best on all items."""


class JudgeOrder(NamedTuple):
    """The judges in the order in which each adds most to the majority of those before it."""

    order: Ints
    """Positions of judges."""
    accuracy: Floats
    """How right the majority of the first k judges is on the items on which they were ordered."""
    held_out: Floats
    """How right the majority of k judges ordered on other items is, of shape (units, judges)."""
    kept: int
    """The least number of judges whose majority is no less right than that of all."""
    smaller: Floats
    """How right the majority is of as many judges as the other items say are enough."""


def folds(clusters: Clusters, seed: int) -> Ints:
    """Return the fold of each unit: units of one run stay together, or with fewer than 10 runs those of one claim.

    Where claims repeat over runs, those of one claim do.
    """
    by_claim = clusters.repeated or clusters.n_runs < N_FOLDS
    code, n = (clusters.claim, clusters.n_claims) if by_claim else (clusters.run, clusters.n_runs)
    return np.asarray(np.random.default_rng(seed).permutation(n)[code] % min(N_FOLDS, n), dtype=np.int64)


def best_judge(answers: PanelAnswers, fold: Ints) -> BestJudge:
    """Return the most accurate judge; of equally accurate ones the first by name."""
    correct, voted = answers.correct, answers.voted
    chosen = np.zeros(len(fold), dtype=np.int64)
    best = _most_accurate(correct, voted)
    numbers = np.unique(fold)
    agreed = 0
    for number in numbers:
        here = fold == number
        judge = _most_accurate(correct[~here], voted[~here]) if len(numbers) > 1 else best
        chosen[here] = judge
        agreed += judge == best
    units = np.arange(len(fold))
    right, has_vote = correct[units, chosen].astype(np.float64), voted[units, chosen].astype(np.float64)
    return BestJudge(best, right, has_vote, agreed / len(numbers))


def _most_accurate(correct: Bools, voted: Bools) -> int:
    n = voted.sum(axis=0)
    share = np.where(n >= min(MIN_VOTES_TO_CHOOSE, n.max()), correct.sum(axis=0) / np.maximum(n, 1), -1)
    return int(share.argmax())


def judge_order(answers: PanelAnswers, fold: Ints) -> JudgeOrder:
    """Return the judges ordered by forward selection, on all items and on all but those of each fold."""
    order, accuracy = _forward(answers, np.ones(len(fold), dtype=bool))
    held_out = np.zeros(answers.answer.shape)
    smaller = np.zeros(len(fold))
    numbers = np.unique(fold)
    for number in numbers:
        here = fold == number
        own, path = _forward(answers, ~here) if len(numbers) > 1 else (order, accuracy)
        votes = answers.one_hot[:, here][:, :, own]
        held_out[here] = share_right(votes.cumsum(axis=2, dtype=np.int16))
        smaller[here] = held_out[here][:, _enough(path) - 1]
    return JudgeOrder(order, accuracy, held_out, _enough(accuracy), smaller)


def _enough(accuracy: Floats) -> int:
    return int((accuracy >= accuracy[-1] - 1e-12).argmax()) + 1


def _forward(answers: PanelAnswers, chosen: Bools) -> tuple[Ints, Floats]:
    """Return the order of judges on some units, and how right the majority of the first k is there.

    Each step adds the judge with whom the majority is right most often; of equal ones the more accurate, then the
    first by name.
    """
    votes = np.ascontiguousarray(answers.one_hot[:, chosen].transpose(0, 2, 1))
    left = np.argsort(-votes[0].mean(axis=1), kind="stable")
    rank, votes = np.arange(len(left)), votes[:, left]
    counts = np.zeros_like(votes[:, 0])
    order, accuracy = np.empty_like(left), np.empty(len(left))
    for step in range(len(left)):
        n = len(left) - step  # those that are left come first
        reached = share_right(counts[:, None] + votes[:, :n]).mean(axis=1)
        best = int(np.where(reached >= reached.max() - 1e-12, rank[:n], len(left)).argmin())
        order[step], accuracy[step] = left[best], reached[best]
        counts += votes[:, best]
        votes[:, best], left[best], rank[best] = votes[:, n - 1], left[n - 1], rank[n - 1]
    return order, accuracy

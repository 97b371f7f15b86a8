"""Choose judges on some items and score them on others, so that the choice itself is not rewarded (rule F3a)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.majority_accuracy import share_right
from verifyplan.analysis.panels.panel_answers import Bools, Counts, Floats, Ints, PanelAnswers, n_items

N_FOLDS = 5
"""Parts into which the items are put: judges are chosen on all but one and scored on that one."""
MIN_RUNS_TO_SPLIT = 10
"""With fewer runs than this, parts are of claims, not of runs."""
MIN_ITEMS_OF_BEST = 10
"""A judge with votes on fewer items than this is not chosen where others have more."""


class BestJudge(NamedTuple):
    """The best judge, and how right the judge is that was chosen on other items."""

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
    """The least number of judges whose majority is no less right than that of all, on held-out items."""
    smaller: Floats
    """How right the majority is of as many judges as the other items say are enough."""


def folds(clusters: Clusters, seed: int) -> Ints:
    """Return the fold of each unit: units of one claim stay together, or with 10 runs or more those of one run.

    Where claims repeat over runs, those of one claim do.
    """
    by_claim = clusters.repeated or clusters.n_runs < MIN_RUNS_TO_SPLIT
    code, n = (clusters.claim, clusters.n_claims) if by_claim else (clusters.run, clusters.n_runs)
    return np.asarray(np.random.default_rng(seed).permutation(n)[code] % min(N_FOLDS, n), dtype=np.int64)


def best_judge(answers: PanelAnswers, fold: Ints) -> BestJudge:
    """Return the judge that is most accurate on the same items as others; of equal ones the first by name.

    Judges are ranked by how much more often they are right than the others on the items that they answered, on
    average over these: who answered easy items only gains nothing by it. Where every judge answered every item this
    ranks by accuracy.
    """
    correct, voted, claim = answers.correct, answers.voted, answers.clusters.claim
    chosen = np.zeros(len(fold), dtype=np.int64)
    best = _most_accurate(correct, voted, claim)
    numbers = np.unique(fold)
    agreed = 0
    for number in numbers:
        here = fold == number
        judge = _most_accurate(correct[~here], voted[~here], claim[~here]) if len(numbers) > 1 else best
        chosen[here] = judge
        agreed += judge == best
    units = np.arange(len(fold))
    right, has_vote = correct[units, chosen].astype(np.float64), voted[units, chosen].astype(np.float64)
    return BestJudge(best, right, has_vote, agreed / len(numbers))


def _most_accurate(correct: Bools, voted: Bools, claim: Ints) -> int:
    """Return the judge that most exceeds the others on the same items; by accuracy where none has items in common."""
    n_votes = voted.sum(axis=1, keepdims=True)
    compared = voted & (n_votes > 1) if n_votes.max() > 1 else voted
    others = (correct.sum(axis=1, keepdims=True) - correct) / np.maximum(n_votes - 1, 1)
    gap = ((correct - others) * compared).sum(axis=0) / np.maximum(compared.sum(axis=0), 1)
    n = n_items(compared, claim)
    gap = np.where(n >= min(MIN_ITEMS_OF_BEST, n.max()), gap, -np.inf)
    return int((gap >= gap.max() - 1e-12).argmax())


def judge_order(answers: PanelAnswers, fold: Ints) -> JudgeOrder:
    """Return the judges ordered by forward selection, on all items and on all but those of each fold.

    How many judges are enough is decided on held-out items, too: for the items of a fold on those of the others,
    each ordered without both folds.
    """
    votes = answers.one_hot
    order, accuracy = forward_selection(votes)
    parts = range(int(fold.max()) + 1)
    held_out = np.tile(accuracy, (len(fold), 1))
    curves = np.zeros((len(parts), len(parts), len(order)))  # sums over the items of a fold, ordered without another
    for part in parts:
        for other in range(part if len(parts) > 2 else 0):
            own, _ = forward_selection(votes[:, (fold != part) & (fold != other)])
            for scored, left_out in ((part, other), (other, part)):
                curves[left_out, scored] = _held_out(votes, own, fold == scored).sum(axis=0)
        if len(parts) > 1:
            own, _ = forward_selection(votes[:, fold != part])
            held_out[fold == part] = _held_out(votes, own, fold == part)
    smaller = held_out[:, -1].copy()
    if len(parts) > 2:
        enough = np.array([_enough(curve) for curve in curves.sum(axis=1)])
        smaller = held_out[np.arange(len(fold)), enough[fold] - 1]
    return JudgeOrder(order, accuracy, held_out, _enough(held_out.mean(axis=0)), smaller)


def _held_out(votes: Counts, order: Ints, here: Bools) -> Floats:
    """Return how right the majority of the first k judges is on some units, of shape (units, judges)."""
    return share_right(votes[:, here][:, :, order].cumsum(axis=2, dtype=np.int16))


def _enough(accuracy: Floats) -> int:
    """Return the least number of judges who are no less right than all."""
    return int((accuracy >= accuracy[-1] - 1e-12).argmax()) + 1


def forward_selection(votes: Counts) -> tuple[Ints, Floats]:
    """Return the order of judges, and how right the majority of the first k is; votes by code, unit and judge.

    Each step adds the judge with whom the majority is right most often; of equal ones the more accurate, then the
    first by name.
    """
    judges = np.argsort(-votes[0].mean(axis=0), kind="stable")
    votes = votes[:, :, judges]
    counts = np.zeros(votes.shape[:2], dtype=np.int16)
    order, accuracy, left = np.empty_like(judges), np.empty(len(judges)), np.ones(len(judges), dtype=bool)
    for step in range(len(judges)):
        right, gains = _right_with_one_more(counts)
        reached = np.full(len(judges), right.sum())
        for gain, cast in zip(gains, votes, strict=True):
            moved = np.flatnonzero(gain)  # the more votes a unit has, the fewer hang on the next
            reached += gain[moved] @ cast[moved]
        reached = np.where(left, reached / max(len(right), 1), -np.inf)
        best = int((reached >= reached.max() - 1e-12).argmax())
        order[step], accuracy[step], left[best] = judges[best], reached[best], False
        counts += votes[:, :, best]
    return order, accuracy


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

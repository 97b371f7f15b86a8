"""Notes for readers of an aggregation: few votes, ties, no convergence, a method that does worse (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from verifyplan.analysis.aggregation.aggregation import UNKNOWN, right_shares
from verifyplan.analysis.aggregation.dawid_skene import DawidSkene
from verifyplan.analysis.aggregation.vote_counts import Floats, Ints, VoteCounts
from verifyplan.analysis.aggregation.weighted_votes import Ties
from verifyplan.analysis.cluster_intervals import difference_interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import counted, is_or_are, listed

FEW_VOTES = 5
"""A worker or a label with fewer votes is noted."""
FEW_WORKERS = 5
"""With fewer workers Dawid-Skene is noted as unsafe."""

_MAX_WORKERS = 1000  # whose pairs are compared
_COMMON_UNITS, _SURPRISE = 20, 0.01  # of a pair: units that both voted on; the level of all pairs together


def vote_notes(votes: PanelVotes, counts: VoteCounts, weighted: bool) -> Iterator[str]:
    """Yield what is known of the votes alone: lost ones, items without votes, one run, labels and workers with few."""
    lost = int((votes.label < 0).sum())
    if lost:
        yield f"{counted(lost, 'vote')} {is_or_are(lost)} empty, and {is_or_are(lost)} counted nowhere"
    silent = int((counts.pattern < 0).sum())
    if silent:
        yield f"{counted(silent, 'item')} without any vote: no label, and left out of the accuracy"
    if votes.runs is not None and votes.units["run"].nunique() == 1:
        yield "there is one run: how much the accuracy changes from run to run is not in its interval"
    by_label = counts.by_worker.sum(axis=0)
    if (by_label > 0).sum() == 1:
        yield f"every vote says {votes.labels[int(by_label.argmax())]!r}: there is nothing to weigh"
    elif (by_label < FEW_VOTES).any():
        rare = [f"{votes.labels[code]} ({by_label[code]:.0f})" for code in np.flatnonzero(by_label < FEW_VOTES)]
        yield f"labels with fewer than {FEW_VOTES} votes: {listed(rare)}"
    few = int((counts.by_worker.sum(axis=1) < FEW_VOTES).sum())
    if weighted and few:
        yield (
            f"{few:,} of {counted(counts.n_workers, 'worker')} gave fewer than {FEW_VOTES} votes: what is estimated of "
            "them is a guess"
        )


def tie_note(tied: Ints, ties: Ties) -> Iterator[str]:
    """Yield how many items are tied, and what counts there."""
    n = int((tied > 1).sum())
    said = {
        "shared": "each of the highest labels counts as its share in the accuracy, and .labels shows the first",
        "first": "the first label in order counts",
        "none": "they have no label, and count as wrong in the accuracy",
    }
    if n:
        yield f"{counted(n, 'item')} {is_or_are(n)} tied: {said[ties]}"


def against_majority(method: str, votes: PanelVotes, posteriors: Floats, majority: Floats, ties: Ties) -> Iterator[str]:
    """Yield where a method does worse than the majority on the items whose truth is known."""
    if (votes.truth == UNKNOWN).all():
        return
    plain, known = right_shares(majority, votes.truth, ties)
    right, _ = right_shares(posteriors, votes.truth, ties)
    if right.sum() < plain.sum() - 1e-9:
        change = difference_interval(plain, known, right, known, clusters_of_units(votes))
        n = int(known.sum())
        advice = "they cannot be told apart here"
        if change.high < 0:
            advice = "use method='majority'; few workers, or errors made together, may be the cause"
        yield (
            f"{method} is right on {100 * right.sum() / n:.1f} % of {counted(n, 'item')}, the plain majority on "
            f"{100 * plain.sum() / n:.1f} % ({100 * change.value:+.1f} points [{100 * change.low:+.1f}, "
            f"{100 * change.high:+.1f}]): {advice}"
        )


def model_notes(
    method: str, votes: PanelVotes, counts: VoteCounts, model: DawidSkene, tolerance: float
) -> Iterator[str]:
    """Yield what speaks against a Dawid-Skene model without use of the truth: no convergence, few or like workers."""
    if model.change > tolerance:
        yield (
            f"not converged: iteration {model.iterations} still moved a posterior by {model.change:.2g}; give more "
            "iterations to see whether labels change"
        )
    unknown = bool((votes.truth == UNKNOWN).all())
    n_workers = int(counts.by_worker.any(axis=1).sum())
    if n_workers < FEW_WORKERS and unknown:
        yield (
            f"{counted(n_workers, 'worker')}: with fewer than {FEW_WORKERS}, {method} can do worse than the majority, "
            "since two that agree decide who is reliable; label some items to see"
        )
    pairs = _like_pairs(counts, model)
    if pairs:
        a, b, seen, expected = pairs[0]
        more = f", and {counted(len(pairs) - 1, 'other pair')} likewise" if len(pairs) > 1 else ""
        worse = "; it can do worse than the majority: label some items to see" if unknown else ""
        yield (
            f"{votes.workers[a]} and {votes.workers[b]} agree on {100 * seen:.0f} % of their items, where independent "
            f"errors by {method}'s estimates give {100 * expected:.0f} %{more}: errors made together are taken for "
            f"evidence, and posteriors are too sure{worse}"
        )


def _like_pairs(counts: VoteCounts, model: DawidSkene) -> list[tuple[int, int, float, float]]:
    """Return pairs of workers who agree more often than the model expects, the most surprising first."""
    if not 2 <= counts.n_workers <= _MAX_WORKERS:
        return []
    by_label = [counts.votes[:, code :: counts.n_labels] for code in range(counts.n_labels)]
    voted = sum(by_label[1:], by_label[0])
    both = np.asarray((voted.multiply(counts.units[:, None]).T @ voted).todense())
    agree = np.sum([(one.multiply(counts.units[:, None]).T @ one).todense() for one in by_label], axis=0)
    matrices = np.nan_to_num(model.confusion)
    expected = np.einsum("c,acl,bcl->ab", model.prior, matrices, matrices, optimize=True)
    first, second = np.nonzero(np.triu(both >= _COMMON_UNITS, 1))
    common, same = both[first, second], agree[first, second]
    chance = np.clip(expected[first, second], 0, 1)
    p_value = binom.sf(same - 1, common, chance) * len(first)  # Bonferroni
    order = np.argsort(p_value, kind="stable")[: int((p_value < _SURPRISE).sum())]
    return [(int(first[at]), int(second[at]), float(same[at] / common[at]), float(chance[at])) for at in order]

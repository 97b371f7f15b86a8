"""Decide the findings of whole runs by the estimated reliability of their workers (rule R2, Dawid-Skene)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verifyplan.analysis.aggregation.dawid_skene import dawid_skene
from verifyplan.analysis.tally import Ints
from verifyplan.rules.classification import HALF, RULES
from verifyplan.rules.round_decisions import NO_QUORUM, NO_VOTES
from verifyplan.rules.vote_codes import BURDEN, COUNTED, COUNTER, NOT_ASKED, Codes

_ALL_AGREE, _TRUE, _FALSE, _UNDECIDED = (
    RULES.index(name) for name in ("all-agree", "estimated-true", "estimated-false", "estimate-undecided")
)


def with_estimates(in_round: Ints, counted: Codes, executed: Ints, runs: Ints, majority: Fraction = HALF) -> Ints:
    """Return the rules of rounds, with that of each finding's last round with a vote replaced by its estimate.

    Of each run by itself, all findings' votes of their last rounds are taken together: agree and supplement for true,
    disagree for false. `all-agree` where nobody disagrees; else `estimated-true` or `estimated-false` where the
    posterior has more than the share `majority` (true first, if both have), or `estimate-undecided`. A round below the
    quorum keeps its rule, though its votes tell of their workers.

    Args:
        in_round: the rule of each round, of shape (rounds, findings), from `rules_of_rounds`.
        counted: what votes count as, of shape (rounds, workers, findings), from `counted_codes`.
        executed: the rounds of each finding that were held.
        runs: the run of each finding, as a number from 0.
        majority: the share that a posterior must exceed.

    Source: Dawid and Skene 1979; rule R2.

    >>> counted = np.array([[[2, 2, 2, 4], [2, 2, 4, 4], [2, 4, 2, 4]]], dtype=np.int8)
    >>> in_round = np.zeros((1, 4), dtype=np.int64) + RULES.index("no-majority")
    >>> rules = with_estimates(in_round, counted, np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.int64))
    >>> [RULES[rule] for rule in rules[0]]
    ['all-agree', 'estimated-true', 'estimated-true', 'estimated-false']
    """
    n_rounds, _, n_findings = counted.shape
    voted = (in_round != NO_VOTES) & (np.arange(1, n_rounds + 1)[:, None] <= executed)
    if not voted.any():
        return in_round
    last = n_rounds - 1 - voted[::-1].argmax(axis=0)
    every = np.arange(n_findings)
    votes = np.where(voted.any(axis=0), counted[last, :, every].T, NOT_ASKED)
    out = in_round.copy()
    order = np.argsort(runs, kind="stable")
    for findings in np.split(order, np.flatnonzero(np.diff(runs[order])) + 1):
        out[last[findings], findings] = _estimates(votes[:, findings], majority)
    kept = ~voted | (in_round == NO_QUORUM)
    return np.where(kept, in_round, out)


def _estimates(votes: Codes, majority: Fraction) -> Ints:
    """Return the rule of each finding of a run by the votes on all of them, of shape (workers, findings)."""
    n_workers, n_findings = votes.shape
    against = (votes == BURDEN) | (votes == COUNTER)
    doubted = against.any(axis=0)
    rules = np.full(n_findings, _ALL_AGREE, dtype=np.int64)
    if not doubted.any():
        return rules
    worker, finding = np.nonzero(np.isin(votes, COUNTED))
    label = (~against[worker, finding]).astype(np.int64)
    true = dawid_skene(finding, worker, label, n_findings, n_workers, 2).posteriors[doubted, 1]
    share = float(majority)
    rules[doubted] = np.select([true > share, 1 - true > share], [_TRUE, _FALSE], _UNDECIDED)
    return rules

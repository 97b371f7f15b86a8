"""Read votes as voting rules count them, in arrays of votes: rounds x workers x findings (rules B4-B8, R2).

A live run judges one finding with these functions, an analysis a million at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, lcm, log

import numpy as np
import numpy.typing as npt

from verifyplan.protocol.vote import Basis, Mode, Verdict
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop, VotingRules
from verifyplan.rules.classification import Tally

Codes = npt.NDArray[np.int8]
"""Votes as codes, of shape (rounds, workers, findings); workers in roster order."""
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NOT_ASKED, LOST, AGREE, SUPPLEMENT, BURDEN, COUNTER, UNSEEN, UNCITED, BARE, BARE_CITED = range(10)
"""Not asked (discoverers, workers of other findings); a failed vote; the kinds of votes; `UNSEEN` would be asked under
the rules and never was. UNCITED is a counter-evidence that cites no place, BARE a disagree without a basis, BARE_CITED
one whose explanation cites a place: rules read these three as BURDEN or COUNTER."""

N_CODES = 10
COUNTED = (AGREE, SUPPLEMENT, BURDEN, COUNTER)
"""What a vote that counts is, once rules have read it; the codes follow each other."""


def is_counted(codes: Codes) -> Bools:
    """Return whether each vote, as rules have read it, counts."""
    return (codes >= AGREE) & (codes <= COUNTER)  # as bytes: a look-up in COUNTED takes twenty times as long


def vote_code(verdict: Verdict, basis: Basis | None, *, cites: bool) -> int:
    """Return the code of a recorded vote; `cites` says whether its explanation cites a place.

    >>> vote_code("disagree", "counter-evidence", cites=False) == UNCITED
    True
    """
    if verdict != "disagree":
        return {"agree": AGREE, "supplement": SUPPLEMENT, "verification-error": LOST}[verdict]
    if basis is None:
        return BARE_CITED if cites else BARE
    if basis == "burden-not-met":
        return BURDEN
    return COUNTER if cites else UNCITED


def read_codes(codes: Codes, rules: VotingRules, mode: Mode) -> Codes:
    """Return what each recorded vote counts as by itself: only the first seven codes are left.

    Bases, uncited refutations, caveats, and lost votes that are taken as votes. Collaborative mode knows no bases (rule
    B4): every disagree is read as burden-not-met there. So is, with `missing_basis="raise"`, one without a basis: the
    caller refuses such votes.
    """
    table = np.arange(N_CODES, dtype=np.int8)
    uncited = BURDEN if rules.uncited == "as-burden" else COUNTER
    table[[UNCITED, BARE, BARE_CITED]] = uncited, BURDEN, COUNTER
    if rules.missing_basis == "counter-evidence":
        table[BARE] = uncited
    elif rules.missing_basis != "infer":
        table[BARE_CITED] = BURDEN
    if rules.caveats == "as-agree":
        table[SUPPLEMENT] = AGREE
    if rules.lost_votes in ("as-agree", "as-disagree"):
        table[LOST] = AGREE if rules.lost_votes == "as-agree" else COUNTER
    if mode == "collaborative":
        table[table == COUNTER] = BURDEN
    return table[codes]


def is_sticky(rules: VotingRules, mode: Mode) -> bool:
    """Return whether a counter-evidence outlives its round; collaborative mode has none."""
    return rules.refutes == "sticky" and mode == "adversarial"


def ties_rounds(rules: VotingRules, mode: Mode) -> bool:
    """Return whether a vote can count in later rounds, too."""
    return rules.lost_votes == "last-vote" or is_sticky(rules, mode)


def counted_codes(codes: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Codes:
    """Return what each vote counts as under the rules, after where asking stops and what earlier rounds leave.

    `workers` names the second axis. Workers whom the rules leave out, and those after the vote at which a round stops,
    are `NOT_ASKED`. A vote that follows from one that was never cast is `UNSEEN`, too.
    """
    counted = read_codes(codes, rules, mode)
    if rules.workers is not None:
        counted[:, [worker not in rules.workers for worker in workers]] = NOT_ASKED
    if rules.stop == "round" and not ties_rounds(rules, mode):
        return counted
    last = np.full(counted.shape[1:], NOT_ASKED, dtype=np.int8)
    for votes in counted:  # each is a view: rounds are few
        if rules.stop != "round":  # first, since a worker is asked or not before anybody knows what is filled in
            votes[~asked_until_stop(votes, rules, workers)] = NOT_ASKED
        if rules.lost_votes == "last-vote":
            _fill(votes, last, votes == LOST, is_counted(last) | (last == UNSEEN))
        if is_sticky(rules, mode):
            _fill(
                votes,
                last,
                (votes == NOT_ASKED) | (votes == LOST),
                (last == COUNTER) | (last == UNSEEN),
                in_rounds_with_votes=True,
            )
        cast = is_counted(votes) | (votes == UNSEEN)
        last[cast] = votes[cast]
    return counted


def _fill(votes: Codes, last: Codes, empty: Bools, usable: Bools, *, in_rounds_with_votes: bool = False) -> None:
    """Put each worker's last vote where it has none in this round; it may be one that was never cast."""
    fill = empty & usable
    if not in_rounds_with_votes:
        votes[fill] = last[fill]
        return
    cast = is_counted(votes).any(axis=0)
    perhaps = (votes == UNSEEN).any(axis=0) & ~cast
    votes[fill & cast] = last[fill & cast]
    votes[fill & perhaps] = UNSEEN


def asked_until_stop(votes: Codes, rules: VotingRules, workers: Sequence[str]) -> Bools:
    """Return who of a round, of shape (workers, findings), is asked before the lead of a side ends it.

    `workers` names the first axis; they are asked in the order of the rules, else in this one.

    Votes are codes as `read_codes` returns them, and are not weighed. Unseen votes, and lost ones that no rule takes as
    votes, count on neither side.
    """
    if rules.stop == "round":
        return np.ones(votes.shape, dtype=bool)
    lead_for, lead_against = stop_leads(rules.stop)
    order = np.array(rules.asking_order(workers), dtype=np.int64) if rules.order else slice(None)
    votes = votes[order]
    agrees, disagrees = (votes == AGREE) | (votes == SUPPLEMENT), (votes == BURDEN) | (votes == COUNTER)
    lead = np.cumsum(agrees.astype(np.int64) - disagrees, axis=0)
    ended = np.logical_or.accumulate((lead >= lead_for) | (-lead >= lead_against), axis=0)
    asked = np.ones_like(ended)
    asked[order] = np.concatenate([asked[:1], ~ended[:-1]])
    return asked


def stop_leads(stop: MarginStop | SequentialStop) -> tuple[int, int]:
    """Return the lead of votes for a claim, and of those against it, that ends a round.

    Wald's test with equal accuracies is a pair of leads: it accepts where lead x log(a / (1 - a)) reaches
    log((1 - false_reject) / false_accept), and rejects likewise. Source: Wald 1945.

    >>> stop_leads(MarginStop(margin=2)), stop_leads(SequentialStop())
    ((2, 2), (3, 3))
    """
    if isinstance(stop, MarginStop):
        return stop.margin, stop.margin
    step = log(stop.accuracy / (1 - stop.accuracy))
    accept = log((1 - stop.false_reject) / stop.false_accept) / step
    reject = log((1 - stop.false_accept) / stop.false_reject) / step
    return max(1, ceil(accept - 1e-9)), max(1, ceil(reject - 1e-9))


def whole_weights(rules: VotingRules, workers: Sequence[str]) -> Ints | None:
    """Return the weight of each worker as a whole number, in proportion; None where all weigh the same."""
    if rules.weights is None:
        return None
    weights = [rules.weights.get(worker, 1) for worker in workers]
    scale = lcm(*(weight.denominator for weight in weights)) if weights else 1
    return np.array([int(weight * scale) for weight in weights], dtype=np.int64)


def tally_codes(counted: Codes, weights: Ints | None = None) -> Tally:
    """Return the tally of each round and finding, of shape (rounds, findings), weighed where weights are given."""

    def sum_of(kind: int) -> Ints:
        votes = counted == kind
        summed: Ints = votes.sum(axis=1) if weights is None else np.einsum("rwf,w->rf", votes, weights)
        return summed

    return Tally(sum_of(AGREE), sum_of(SUPPLEMENT), sum_of(COUNTER), sum_of(BURDEN))

"""Judge recorded votes under rules: by counts where these suffice, else vote by vote (rules B5-B7, R2, R4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.dawid_skene_rules import with_estimates
from verifyplan.analysis.tally import Bools, CodedVotes, Ints, count, fill_bases
from verifyplan.analysis.treatments.bounds import class_bounds
from verifyplan.analysis.vote_cube import VoteCube, vote_cube, with_unseen
from verifyplan.analysis.voters import Voters, in_slots, part_of_votes
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import Tally
from verifyplan.rules.round_decisions import (
    Decision,
    decide_rounds,
    rounds_held,
    rule_set,
    rules_of_rounds,
    rules_of_tally,
)
from verifyplan.rules.vote_codes import COUNTED, COUNTER, NOT_ASKED, UNSEEN, counted_codes

MAX_CELLS_AT_ONCE = 2**26
"""Votes are judged one by one so many cells (rounds x workers x findings) at a time."""

MIN_FILLED = 0.25
"""With a smaller share of votes among workers x findings x rounds, workers are numbered within each finding."""

LATER_ROUNDS = 2
"""Of rounds without any recorded vote, more than two allow no other class."""

_BY_COUNTS = {"mode", "max_rounds", "majority", "missing_basis", "pruning", "aggregate"}
"""The fields that may be set where counts of votes suffice to judge a round."""


class Judgement(NamedTuple):
    """How findings are judged, and what each recorded vote counted as."""

    decision: Decision
    """The rule, class and round of each finding, as the votes cast give them."""
    low: Ints
    """The worst class that the votes never cast allow, by position in CLASSIFICATIONS; one entry a finding."""
    high: Ints
    """The best class that they allow."""
    censored: Bools
    """Whether a round up to the last one that the rules hold has votes that were never cast; one entry a finding."""
    deciding_votes: Ints
    """The votes that count in the deciding round; one entry a finding."""
    asked: Bools
    """Whether the rules ask for the vote: the worker counts, and the round had not stopped; one entry a vote."""
    counter: Bools
    """Whether the vote is read as a counter-evidence; one entry a vote."""
    kept: Bools
    """Whether the worker of the vote counts as a counter-evidence in the deciding round; one entry a vote."""


def counts_suffice(rules: VotingRules) -> bool:
    """Return whether rules judge a round by the counts of its votes alone.

    >>> counts_suffice(VotingRules(majority="2/3")), counts_suffice(VotingRules(refutes="sticky"))
    (True, False)
    """
    return rules.aggregate != "dawid-skene" and set(rules.changed) <= _BY_COUNTS


def bases_matter(rules: VotingRules, mode: Mode) -> bool:
    """Return whether a class can depend on the basis of a disagree.

    >>> bases_matter(VotingRules(), "adversarial"), bases_matter(VotingRules(aggregate="majority"), "adversarial")
    (True, False)
    """
    return mode == "adversarial" and (rule_set(rules, mode) == "adversarial" or rules.refutes == "sticky")


def judgement(
    votes: pd.DataFrame,
    cast: CodedVotes,
    mode: Mode,
    allowed: Ints,
    rules: VotingRules,
    voters_of: Callable[[], Voters],
    *,
    all_asked: bool = True,
) -> Judgement:
    """Return how checked votes are judged under rules.

    Args:
        votes: the table behind `cast`.
        cast: its votes as codes, from `code_votes`.
        mode: the mode that judges rounds.
        allowed: the rounds allowed to each finding.
        rules: the rules; their own mode and rounds are not looked at.
        voters_of: who votes, and who could have; called only where counts do not suffice.
        all_asked: whether the rounds that were held asked everybody who could vote, as far as the tables know.
    """
    if all_asked and counts_suffice(rules):
        return _by_counts(votes, cast, mode, allowed, rules, voters_of)
    return _by_votes(votes, cast, mode, allowed, rules, voters_of(), np.arange(len(cast.findings)))


def _by_counts(
    votes: pd.DataFrame,
    cast: CodedVotes,
    mode: Mode,
    allowed: Ints,
    rules: VotingRules,
    voters_of: Callable[[], Voters],
) -> Judgement:
    basis = fill_bases(votes, cast, rules.missing_basis) if mode == "adversarial" else cast.basis
    executed = np.minimum(cast.last_round, allowed)
    tallies = _tallies(cast, basis, int(executed.max(initial=1)))
    decision = decide_rounds(rules_of_tally(tallies, rule_set(rules, mode), rules.majority), executed, rules)
    censored = cast.lack_votes(rounds_held(decision, allowed, rules))
    low, high = decision.classification.copy(), decision.classification.copy()
    if censored.any():
        unsure = np.flatnonzero(censored)
        seen = _by_votes(votes, cast, mode, allowed, rules, voters_of(), unsure)
        low[unsure], high[unsure] = seen.low, seen.high
    at_decision = np.maximum(decision.round, 1) - 1
    return Judgement(
        decision=decision,
        low=low,
        high=high,
        censored=censored,
        deciding_votes=tallies.n[at_decision, np.arange(len(at_decision))],
        asked=np.ones(len(cast.round), dtype=bool),
        counter=cast.counted & (basis == BASES.index("counter-evidence")),
        kept=np.zeros(len(cast.round), dtype=bool),
    )


def _tallies(cast: CodedVotes, basis: Ints, rounds: int) -> Tally:
    """Return the tallies of the first rounds; those of the bases as they were cast are made once."""
    if basis is not cast.basis:
        return count(cast, basis, rounds)
    return Tally(*(counts[:rounds] for counts in cast.tallies))


def _by_votes(
    votes: pd.DataFrame,
    cast: CodedVotes,
    mode: Mode,
    allowed: Ints,
    rules: VotingRules,
    voters: Voters,
    findings: Ints,
) -> Judgement:
    """Return how some of the findings are judged, so many at a time that their votes fit into memory."""
    by_name = rules.workers is not None or rules.weights is not None or rules.order is not None
    nameless = not by_name and rules.aggregate != "dawid-skene"
    if nameless and len(cast.round) < MIN_FILLED * len(voters.workers) * int(cast.last_round.sum()):
        voters = in_slots(cast, voters)
    rounds = int(min(cast.last_round.max(initial=0) + LATER_ROUNDS, allowed.max(initial=0)))
    size = max(MAX_CELLS_AT_ONCE // max(rounds * len(voters.workers), 1), 1)
    if rules.aggregate == "dawid-skene":
        size = len(findings)  # a run is estimated as a whole
    parts = []
    for start in range(0, max(len(findings), 1), max(size, 1)):
        some = findings[start : start + size]
        at, part, kept = part_of_votes(cast, voters, some)
        cube = vote_cube(
            votes.iloc[at] if len(at) < len(votes) else votes, part, kept, citations=rules.uncited != "keep"
        )
        parts.append((at, _of_cube(cube, part, kept, mode, allowed[some], rules)))
    return _joined(parts, len(cast.round))


def _of_cube(
    cube: VoteCube, cast: CodedVotes, voters: Voters, mode: Mode, allowed: Ints, rules: VotingRules
) -> Judgement:
    reach = np.minimum(allowed, cube.last_round + LATER_ROUNDS)
    cube = with_unseen(cube, rules, reach)
    counted = counted_codes(cube.codes, rules, mode, cube.workers)
    executed = np.minimum(cube.last_round, allowed)
    in_round = rules_of_rounds(counted, rules, mode, cube.workers)
    whole_runs = rules.aggregate == "dawid-skene"
    run = _runs_of(cube.findings) if whole_runs else np.zeros(0, dtype=np.int64)
    if whole_runs:
        in_round = with_estimates(in_round, counted, executed, run, rules.majority)
    decision = decide_rounds(in_round, executed, rules)
    held = rounds_held(decision, allowed, rules)
    unseen = (counted == UNSEEN).any(axis=1) & (np.arange(1, len(counted) + 1)[:, None] <= held)
    censored = unseen.any(axis=0)
    low, high = decision.classification.copy(), decision.classification.copy()
    if whole_runs:  # every vote of a run tells of its workers
        censored = np.isin(run, run[censored])
        low[censored], high[censored] = len(CLASSIFICATIONS) - 1, 0
    elif censored.any():
        unsure = np.flatnonzero(censored)
        low[unsure], high[unsure] = class_bounds(cube.codes[:, :, unsure], reach[unsure], rules, mode, cube.workers)
    n_workers, n_findings = counted.shape[1:]
    at_decision = counted[np.maximum(decision.round, 1) - 1, np.arange(n_workers)[:, None], np.arange(n_findings)]
    cell = counted[cast.round - 1, voters.worker, cast.finding]
    return Judgement(
        decision=decision,
        low=low,
        high=high,
        censored=censored,
        deciding_votes=np.isin(at_decision, COUNTED).sum(axis=0),
        asked=cell != NOT_ASKED,
        counter=cast.counted & (cell == COUNTER),
        kept=at_decision[voters.worker, cast.finding] == COUNTER,
    )


def _runs_of(findings: pd.DataFrame) -> Ints:
    """Return the number of the run, and of its iteration, of each finding."""
    key = pd.MultiIndex.from_frame(findings.drop(columns="finding_id"))
    return pd.factorize(key)[0].astype(np.int64)


def _joined(parts: list[tuple[Ints, Judgement]], n_votes: int) -> Judgement:
    """Return the judgements of several parts as one, with that of each vote in its place."""

    def of_votes(name: str) -> Bools:
        joined = np.zeros(n_votes, dtype=bool)
        for at, part in parts:
            joined[at] = getattr(part, name)
        return joined

    decisions = zip(*(part.decision for _, part in parts), strict=True)
    return Judgement(
        Decision(*(np.concatenate(values) for values in decisions)),
        *(np.concatenate([part[field] for _, part in parts]) for field in range(1, 5)),
        *(of_votes(name) for name in ("asked", "counter", "kept")),
    )

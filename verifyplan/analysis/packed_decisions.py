"""Decide findings by packed tallies: by tables of all tallies that the rules themselves have judged (rules B6, R2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.vote_packing import NotPackedError, Packing
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import RULES, RULES_OF_MODE, rule_index
from verifyplan.rules.round_decisions import decide_rounds, rounds_held, rule_set

Array = npt.NDArray[Any]

MAX_TALLIES = 2**16
"""A table of tallies has at most so many entries; else each tally is judged where it occurs."""

MAX_COURSES = 2**14
"""A table of the courses that findings take over their rounds has at most so many entries; else each is judged."""


MAX_JUDGES = 16
"""So many judges are kept with their tables, of at most half a megabyte each."""


def decision_type(n_rounds: int) -> np.dtype[Any]:
    """Return the type of decisions over some rounds: a few bytes a finding.

    Positions in RULES and CLASSIFICATIONS, whether the rules hold a round after the last recorded one, and the round
    that decides.

    >>> decision_type(3).itemsize
    4
    """
    fields = [("rule", "i1"), ("classification", "i1"), ("censored", "?"), ("round", np.min_scalar_type(n_rounds))]
    return np.dtype(fields)


def packed_judge(packing: Packing, rules: VotingRules, mode: Mode, n_rounds: int, max_rounds: int) -> PackedJudge:
    """Return what decides findings by the packed words of their rounds; its tables are kept for the next call.

    Counts must suffice for the rules (see `judgement.counts_suffice`): such rules are equal only if they judge alike.
    """
    return _kept_judge(packing.n_workers, packing.lower_bits, rules, mode, n_rounds, max_rounds)


@lru_cache(MAX_JUDGES)
def _kept_judge(
    n_workers: int, lower_bits: int, rules: VotingRules, mode: Mode, n_rounds: int, max_rounds: int
) -> PackedJudge:
    return PackedJudge(Packing(np.zeros(0), n_workers, lower_bits), rules, mode, n_rounds, max_rounds)


class PackedJudge:
    """Decides findings by the packed words of their rounds.

    The rule of a round is looked up by its tally; the decision, by the rules of all rounds and the last round. Both
    tables hold what the functions of `rules` return for every tally and every course.
    """

    def __init__(self, packing: Packing, rules: VotingRules, mode: Mode, n_rounds: int, max_rounds: int) -> None:
        self._packing, self._rules, self._max_rounds = packing, rules, max_rounds
        self._judged_by = rule_set(rules, mode)
        self._positions = np.array([RULES.index(rule) for rule in RULES_OF_MODE[self._judged_by]], dtype=np.int64)
        self._n_judged = min(n_rounds, max_rounds)
        self._type = decision_type(n_rounds)
        n_rules = len(self._positions)
        self._courses = n_rules**self._n_judged
        self._by_tally = self._rules_of(np.arange(packing.n_tallies)) if packing.n_tallies <= MAX_TALLIES else None
        self._by_course = None
        if self._courses * (n_rounds + 1) <= MAX_COURSES:
            course = np.arange(self._courses)
            in_round = np.array([course // n_rules**position % n_rules for position in range(self._n_judged)])
            last = np.repeat(np.arange(n_rounds + 1), self._courses)
            self._by_course = self._decided(np.tile(in_round, n_rounds + 1), last)
        self.of_one_round: Array | None = None
        """The decision by packed tally, where all votes are of one round; None where there is no such table."""
        if n_rounds == 1 and self._by_tally is not None and self._by_course is not None:
            self.of_one_round = self._by_course.take(self._by_tally + np.int64(self._courses))

    def decide(self, words: Array) -> Array:
        """Return how findings are decided by their words, of shape (rounds, findings), as `decision_type`.

        Raises NotPackedError where the rounds of a finding have a gap.
        """
        if self.of_one_round is not None:
            return self.of_one_round.take(self._packing.tallies(words[0]))
        last = _last_rounds(words)
        tallies = self._packing.tallies(words[: self._n_judged])
        in_round = self._rules_of(tallies) if self._by_tally is None else self._by_tally.take(tallies)
        if self._by_course is None:
            return self._decided(in_round, last)
        course = last * self._courses
        for position, rules in enumerate(in_round):
            course += rules * np.int64(len(self._positions) ** position)
        return np.asarray(self._by_course.take(course))

    def _rules_of(self, tallies: Array) -> Array:
        """Return the rule of each packed tally, by its position among the rules that judge a round."""
        index = rule_index(self._packing.tally(tallies), self._judged_by, self._rules.majority)
        return np.asarray(index, dtype=np.uint8)

    def _decided(self, in_round: Array, last: Array) -> Array:
        executed = np.minimum(last, self._max_rounds)
        decision = decide_rounds(self._positions[in_round], executed, self._rules)
        held = rounds_held(decision, np.full(len(last), self._max_rounds), self._rules)
        decided = np.empty(len(last), dtype=self._type)
        decided["rule"], decided["classification"] = decision.rule, decision.classification
        decided["round"], decided["censored"] = decision.round, held > last
        return decided


def _last_rounds(words: Array) -> Array:
    """Return the last round of each finding; NotPackedError where an earlier one has no votes."""
    if len(words) == 1:
        return np.ones(words.shape[1], dtype=np.int64)
    voted = words != 0
    last: Array = len(words) - voted[::-1].argmax(axis=0)
    if (voted.sum(axis=0) != last).any():
        raise NotPackedError
    return last

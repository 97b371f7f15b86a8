"""rules B5 and B6, as a table written again by hand, and the promise that numbers and arrays agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.protocol.vote import MODES
from verifyplan.rules.classification import (
    CLASS_OF_RULE,
    RULES,
    RULES_OF_MODE,
    Tally,
    at_end,
    decide,
    rule_index,
    tally,
)

counts = st.integers(0, 12)
tallies = st.builds(Tally, counts, counts, counts, counts)


@pytest.mark.parametrize(
    ("mode", "agree", "supplement", "counter", "burden", "classification", "rule"),
    [
        ("collaborative", 0, 0, 0, 0, None, "no-votes"),
        ("collaborative", 2, 1, 0, 0, "full-consensus", "all-agree"),
        ("collaborative", 0, 0, 1, 1, "worker-unique", "all-others-disagree"),
        ("collaborative", 1, 1, 1, 0, "partial-consensus", "majority-agree"),
        ("collaborative", 1, 0, 1, 0, None, "no-majority"),
        ("collaborative", 1, 0, 2, 0, None, "no-majority"),
        ("adversarial", 0, 0, 0, 0, None, "no-votes"),
        ("adversarial", 3, 0, 0, 0, "full-consensus", "survived"),
        ("adversarial", 2, 1, 0, 0, "partial-consensus", "survived-with-caveat"),
        ("adversarial", 0, 0, 1, 2, "worker-unique", "all-others-disagree"),
        ("adversarial", 9, 0, 1, 0, None, "hard-refute"),
        ("adversarial", 1, 0, 0, 2, None, "burden-majority"),
        ("adversarial", 2, 0, 0, 2, "partial-consensus", "lone-doubt"),
        ("adversarial", 0, 2, 0, 1, "partial-consensus", "lone-doubt"),
    ],
)
def test_the_table_of_spec_b6(mode, agree, supplement, counter, burden, classification, rule):
    assert decide(Tally(agree, supplement, counter, burden), mode) == (classification, rule)


@given(st.lists(tallies, min_size=1, max_size=20), st.sampled_from(MODES))
def test_arrays_and_numbers_give_the_same_rule(several, mode):
    arrays = Tally(*(np.array(column) for column in zip(*several, strict=True)))
    assert rule_index(arrays, mode).tolist() == [rule_index(one, mode) for one in several]


@given(tallies)
def test_adversarial_never_holds_what_a_majority_denies(one):
    classification, _ = decide(one, "adversarial")
    if classification in ("full-consensus", "partial-consensus"):
        assert 2 * one.disagree <= one.n
        assert one.counter_evidence == 0


@given(tallies)
def test_what_survives_attack_is_held_by_collaboration_unless_it_is_a_tie(one):
    adversarial, _ = decide(one, "adversarial")
    collaborative, rule = decide(one, "collaborative")
    if adversarial in ("full-consensus", "partial-consensus"):
        assert collaborative in ("full-consensus", "partial-consensus") or rule == "no-majority"


def test_errors_are_in_no_count_and_a_disagree_without_basis_is_on_one_side_only():
    votes = [("agree", None), ("verification-error", None), ("disagree", None), ("disagree", "counter-evidence")]
    assert tally(votes) == Tally(agree=1, supplement=0, counter_evidence=1, burden_not_met=1)


def test_the_end_of_the_loop_contests_what_was_voted_on():
    assert at_end("no-majority") == ("contested", "no-majority")
    assert at_end(None) == ("worker-unique", "no-votes")


def test_every_rule_of_a_mode_has_a_class_or_carries():
    used = {rule for rules in RULES_OF_MODE.values() for rule in rules}
    estimates = {rule for rule in RULES if rule.startswith("estimate")}
    assert used | estimates | {"no-quorum"} == set(CLASS_OF_RULE) == set(RULES) - {"round-0"}

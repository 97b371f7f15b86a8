"""Bounds of classes against all completions of the unseen votes; and votes of full recordings hidden at random."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.analysis.treatments import round_outcomes as module
from verifyplan.analysis.treatments.bounds import attainable_classes, bounds_of, class_bounds
from verifyplan.protocol.vote import MODES, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import (
    AGREE,
    BURDEN,
    COUNTER,
    LOST,
    N_CODES,
    NOT_ASKED,
    SUPPLEMENT,
    UNSEEN,
    Codes,
)

CAST = (AGREE, SUPPLEMENT, BURDEN, COUNTER, LOST)
WORKERS = ("a", "b", "c", "d", "e")


@st.composite
def voting_rules(draw: st.DrawFn) -> VotingRules:
    """Rules in which any field may have any of its values, but the aggregate over all findings of a run."""

    def perhaps(neutral: Any, *others: Any) -> Any:
        return draw(st.sampled_from([neutral, neutral, *others]))

    return VotingRules(
        majority=perhaps("1/2", 0, "1/3", "2/3", "3/4"),
        refutes=perhaps("round", "sticky"),
        lost_votes=perhaps("leave-out", "last-vote", "as-agree", "as-disagree"),
        quorum=perhaps(0, 1, 2, 3, "1/2", "2/3", 1.0),
        missing_basis=perhaps("infer", "counter-evidence", "burden-not-met"),
        uncited=perhaps("keep", "as-burden"),
        caveats=perhaps("partial", "as-agree"),
        workers=perhaps(None, ("a", "b"), ("b", "c", "a")),
        weights=perhaps(None, {"a": 2}, {"a": 0, "b": "1/2"}),
        pruning=perhaps("queue", "none"),
        aggregate=perhaps("rules", "majority", "unanimous", "any-refute", "first-round"),
        stop=perhaps("round", {"margin": 1}, {"margin": 2}, {"accuracy": "3/4"}),
    )


@st.composite
def votes_with_unseen(draw: st.DrawFn, most_unseen: int = 4) -> Codes:
    """Votes of one finding, of shape (rounds, workers, 1), some of them never cast."""
    shape = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.sampled_from([*range(UNSEEN), *range(UNSEEN + 1, N_CODES)]), min_size=9, max_size=9))
    codes = np.array(cells[: shape[0] * shape[1]], dtype=np.int8)
    hidden = draw(st.sets(st.integers(0, len(codes) - 1), max_size=min(most_unseen, len(codes))))
    codes[list(hidden)] = UNSEEN
    return codes.reshape(*shape, 1)


def naive_classes(codes: Codes, allowed: int, rules: VotingRules, mode: Mode) -> set[int]:
    """Return the classes of a finding under all completions of its unseen votes, each judged as recorded."""
    ways = np.array(list(product(CAST, repeat=int((codes == UNSEEN).sum()))), dtype=np.int8)
    full = np.repeat(codes, len(ways), axis=2)
    full[codes[:, :, 0] == UNSEEN] = ways.T
    decision, _ = judge_codes(full, np.full(len(ways), allowed), rules, mode, WORKERS[: codes.shape[1]])
    return set(decision.classification.tolist())


def classes_of(codes: Codes, allowed: int, rules: VotingRules, mode: Mode) -> set[int]:
    found = attainable_classes(codes, np.array([allowed]), rules, mode, WORKERS[: codes.shape[1]])
    return {position for position in range(4) if found[0] >> position & 1}


@settings(max_examples=examples(400), deadline=None)
@given(votes_with_unseen(), st.integers(1, 3), voting_rules(), st.sampled_from(MODES))
def test_sets_hold_the_class_of_every_completion(codes: Codes, allowed: int, rules: VotingRules, mode: Mode) -> None:
    allowed = min(allowed, len(codes))
    naive, found = naive_classes(codes, allowed, rules, mode), classes_of(codes, allowed, rules, mode)
    assert naive <= found
    if rules.refutes == "round" and rules.lost_votes != "last-vote":
        assert naive == found
    low, high = class_bounds(codes, np.array([allowed]), rules, mode, WORKERS[: codes.shape[1]])
    assert (low[0], high[0]) == (max(found), min(found))


@pytest.mark.parametrize("changed", [{"refutes": "sticky"}, {"lost_votes": "last-vote"}])
@settings(max_examples=examples(150), deadline=None)
@given(votes_with_unseen(), st.sampled_from(MODES), st.sampled_from([0, 2, "1/2", 1.0]))
def test_sets_of_rules_that_tie_rounds_miss_no_class(
    changed: dict[str, str], codes: Codes, mode: Mode, quorum: object
) -> None:
    rules = VotingRules(**changed, quorum=quorum)
    assert naive_classes(codes, len(codes), rules, mode) <= classes_of(codes, len(codes), rules, mode)


def test_a_refutation_that_carries_on_can_still_be_held() -> None:
    codes = np.array([[[COUNTER], [AGREE]], [[UNSEEN], [AGREE]]], dtype=np.int8)
    assert classes_of(codes, 2, VotingRules(), "adversarial") == {0, 1, 2}
    assert classes_of(codes, 1, VotingRules(), "adversarial") == {2}


def test_an_unseen_vote_may_have_refuted_before_its_author_was_silent() -> None:
    codes = np.array([[[UNSEEN], [BURDEN]], [[NOT_ASKED], [AGREE]]], dtype=np.int8)
    rules = VotingRules(refutes="sticky", pruning="none", quorum=1.0)
    assert classes_of(codes, 2, rules, "adversarial") == naive_classes(codes, 2, rules, "adversarial") == {0, 2}


def test_more_unseen_votes_than_can_be_completed_give_any_class(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.array([[[AGREE], [UNSEEN], [UNSEEN]]], dtype=np.int8)
    rules = VotingRules(aggregate="any-refute")
    assert classes_of(codes, 1, rules, "adversarial") == {0, 3}
    monkeypatch.setattr(module, "MAX_COMPLETIONS", 2)
    assert classes_of(codes, 1, rules, "adversarial") == {0, 2, 3}  # a quorum could carry it on, but not classify it 1


def test_estimates_over_a_run_have_no_bounds_by_finding() -> None:
    codes = np.array([[[AGREE, AGREE], [UNSEEN, AGREE]]], dtype=np.int8)
    bounds = class_bounds(codes, np.array([1, 1]), VotingRules(aggregate="dawid-skene"), "collaborative", WORKERS[:2])
    assert bounds.low.tolist() == [3, 3]
    assert bounds.high.tolist() == [1, 1]


def test_known_classes_are_kept_and_no_findings_need_no_work() -> None:
    codes = np.array([[[AGREE, AGREE], [UNSEEN, AGREE]]], dtype=np.int8)
    low, high = class_bounds(codes, np.array([1, 1]), VotingRules(), "collaborative", WORKERS[:2], np.array([9, 2]))
    assert (low.tolist(), high.tolist()) == ([2, 2], [0, 2])
    assert (
        bounds_of(attainable_classes(codes[:, :, :0], np.zeros(0, int), VotingRules(), "adversarial", "ab"))[0].size
        == 0
    )


def recordings(random: np.random.Generator, n_findings: int) -> Codes:
    """Return full votes: in every round of all but the discoverers of a finding, some of them lost."""
    shape = int(random.integers(1, 4)), int(random.integers(2, 6)), n_findings
    chance = random.dirichlet([4, 1, 2, 2, 1, 1, 1, 1])
    codes = random.choice([AGREE, SUPPLEMENT, BURDEN, COUNTER, LOST, 7, 8, 9], size=shape, p=chance).astype(np.int8)
    codes[:, random.random(shape[1:]) < 0.1] = NOT_ASKED
    return codes


def hide(codes: Codes, random: np.random.Generator) -> Codes:
    """Hide the last rounds of findings, whole workers, or single votes."""
    hidden = codes.copy()
    match random.integers(3):
        case 0:
            later = np.arange(len(codes))[:, None] >= random.integers(0, len(codes) + 1, codes.shape[2])
            hidden[np.broadcast_to(later[:, None], codes.shape)] = UNSEEN
        case 1:
            hidden[:, random.random(codes.shape[1]) < 0.4] = UNSEEN
        case _:
            hidden[random.random(codes.shape) < random.random()] = UNSEEN
    hidden[codes == NOT_ASKED] = NOT_ASKED
    return hidden


@settings(max_examples=examples(100), deadline=None)
@example(VotingRules(), "adversarial", 0)
@given(voting_rules(), st.sampled_from(MODES), st.integers(0, 2**32 - 1))
def test_the_class_that_the_full_votes_give_is_within_the_bounds(rules: VotingRules, mode: Mode, seed: int) -> None:
    random = np.random.default_rng(seed)
    full = recordings(random, 60)
    workers, allowed = WORKERS[: full.shape[1]], np.full(60, len(full))
    classes = judge_codes(full, allowed, rules, mode, workers)[0].classification
    low, high = class_bounds(hide(full, random), allowed, rules, mode, workers)
    assert np.all((high <= classes) & (classes <= low))

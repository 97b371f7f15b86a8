"""rules B3, B4, B8: from a worker's answer to votes that count, and to the sides."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifyplan.protocol.call import WorkerVote
from verifyplan.protocol.vote import MODES, VERDICTS
from verifyplan.rules.answers import Votes, read_vote, read_votes
from verifyplan.rules.classification import LEFT_OUT, Ballot, ballots, failed, sides

VOTES = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["agree", "supplement", "disagree"])},
    optional={
        "disagree_basis": st.sampled_from(["counter-evidence", "burden-not-met", None]),
        "explanation": st.text(max_size=5),
    },
)


def answer(**votes: object) -> Votes:
    read = read_votes({"votes": votes})
    assert isinstance(read, dict), read
    return read


IDS = st.sampled_from("abcd")


@settings(deadline=None)
@given(st.lists(IDS, unique=True), st.dictionaries(IDS, VOTES), st.sampled_from(MODES))
def test_each_item_asked_gets_one_ballot_and_no_other_gets_any(asked, votes, mode):
    got = ballots(asked, answer(**votes), mode)
    assert list(got) == asked
    for ballot in got.values():
        assert (ballot.disagree_basis is not None) == (mode == "adversarial" and ballot.verdict == "disagree")


def test_an_item_left_out_is_an_error():
    assert ballots(["a"], answer(), "collaborative") == {"a": Ballot("verification-error", None, LEFT_OUT)}


@pytest.mark.parametrize(
    ("missing_basis", "explanation", "basis"),
    [
        ("infer", "m.py:4 checks it", "counter-evidence"),
        ("infer", "no proof", "burden-not-met"),
        ("counter-evidence", "no proof", "counter-evidence"),
        ("burden-not-met", "m.py:4 checks it", "burden-not-met"),
    ],
)
def test_an_adversarial_disagree_without_basis_counts_with_the_one_it_is_given_and_is_marked(
    missing_basis, explanation, basis
):
    refuted = answer(a={"verdict": "REFUTED", "explanation": explanation})
    got = ballots(["a"], refuted, "adversarial", missing_basis)["a"]
    assert got == Ballot("disagree", basis, explanation, basis_filled=True)


@pytest.mark.parametrize("basis", ["gut feeling", "", 7, ["counter-evidence"], None])
def test_a_basis_that_is_none_is_missing_and_never_costs_the_refutation(basis):
    got = ballots(["a"], answer(a={"verdict": "disagree", "disagree_basis": basis}), "adversarial")["a"]
    assert (got.verdict, got.disagree_basis, got.basis_filled) == ("disagree", "burden-not-met", True)


def test_votes_may_be_a_list_that_names_each_finding():
    entries = [
        {"finding_id": " F-1", "verdict": "REFUTED", "basis": "counter-evidence"},
        {"findingId": "F-2", "verdict": "agree"},
    ]
    read = read_votes({"votes": entries})
    assert {name: vote.verdict for name, vote in read.items()} == {"F-1": "disagree", "F-2": "agree"}
    unlike = read_votes({"votes": [*entries, {"finding_id": "F-1", "verdict": "agree"}]})
    assert unlike["F-1"] == "two votes on it, which are not alike"
    assert unlike["F-2"].verdict == "agree"


@pytest.mark.parametrize(
    "entry",
    [
        {"verdict": "Refuted", "disagreeBasis": "Counter Evidence", "explanation": "m.py:1"},
        {"Verdict": "DISAGREE", "disagree-basis": "counter_evidence", "explanation": "m.py:1", "confidence": 0.9},
        {"verdict": " refuted ", "disagree_basis": None, "disagreeBasis": "COUNTER-EVIDENCE", "Explanation": "m.py:1"},
        {"verdict": "REFUTED", "disagree_basis": "", "disagreeBasis": "counter-evidence", "explanation": "m.py:1"},
        {"verdict": "**REFUTED**.", "basis": "counter-evidence", "explanation": "m.py:1"},
        {"verdict": "REFUTED, counter-evidence", "explanation": "m.py:1"},
        {"verdict": "Disagree (counter evidence)", "disagree_basis": "", "explanation": "m.py:1"},
    ],
)
def test_keys_and_words_are_read_in_any_spelling(entry):
    assert read_vote(entry) == WorkerVote(verdict="disagree", disagree_basis="counter-evidence", explanation="m.py:1")


def test_a_vote_may_be_its_verdict_alone():
    assert read_vote("REFUTED") == WorkerVote(verdict="disagree")


@pytest.mark.parametrize("entry", [{}, None, 7, [], "perhaps", {"verdict": "verification-error"}, {"verdict": {}}])
def test_an_entry_that_cannot_be_read_fails_alone(entry):
    got = ballots(["a", "b"], answer(a=entry, b="agree"), "adversarial")
    assert got["a"].verdict == "verification-error"
    assert got["a"].explanation.startswith("cannot be read: its verdict ")
    assert got["b"] == Ballot("agree", None, "")


@pytest.mark.parametrize("value", [None, [], "agree", {}, {"votes": []}, {"votes": {"a": "perhaps", "b": {}}}])
def test_an_answer_without_any_vote_that_can_be_read_is_none(value):
    assert "outside its schema" in str(read_votes(value))


def test_an_answer_without_votes_leaves_all_items_out():
    assert read_votes({"votes": {}}) == {}


def test_a_basis_is_kept_on_an_adversarial_disagree_alone():
    basis = {"disagree_basis": "counter-evidence", "explanation": "m.py:1"}
    for verdict in ("agree", "supplement"):
        assert ballots(["a"], answer(a={"verdict": verdict} | basis), "adversarial")["a"].disagree_basis is None
    refuted = answer(a={"verdict": "disagree"} | basis)
    assert ballots(["a"], refuted, "adversarial")["a"] == Ballot("disagree", "counter-evidence", "m.py:1")
    assert ballots(["a"], refuted, "collaborative")["a"] == Ballot("disagree", None, "m.py:1")


def test_a_failed_dispatch_is_an_error_on_each_item():
    assert failed(["a", "b"], "timeout") == dict.fromkeys("ab", Ballot("verification-error", None, "timeout"))


ROUNDS = st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(VERDICTS)), max_size=3)


@settings(deadline=None)
@given(st.permutations("abcd"), st.sets(st.sampled_from("abcd")), ROUNDS)
def test_sides_follow_the_last_vote_in_roster_order(roster, discoverers, rounds):
    consensus, dissenting = sides(roster, discoverers, rounds)
    for worker in roster:
        cast = [votes[worker] for votes in rounds if votes.get(worker, "verification-error") != "verification-error"]
        stands_for = worker in discoverers or bool(cast and cast[-1] in ("agree", "supplement"))
        assert (worker in consensus) == stands_for
        assert (worker in dissenting) == (not stands_for and bool(cast))
    assert list(consensus) == sorted(consensus, key=roster.index)
    assert list(dissenting) == sorted(dissenting, key=roster.index)

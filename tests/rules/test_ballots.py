"""SPEC B3, B4, B8: from a worker's answer to votes that count, and to the sides."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from verifyplan.protocol.call import WorkerAnswer
from verifyplan.protocol.vote import MODES, VERDICTS
from verifyplan.rules.ballots import LEFT_OUT, NO_BASIS, Ballot, ballots, failed, sides

VOTES = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["agree", "supplement", "disagree"])},
    optional={
        "disagree_basis": st.sampled_from(["counter-evidence", "burden-not-met", None]),
        "explanation": st.text(max_size=5),
    },
)


def answer(**votes: dict[str, str]) -> WorkerAnswer:
    return WorkerAnswer.model_validate({"votes": votes})


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


def test_an_adversarial_disagree_without_basis_is_an_error_with_what_was_said():
    said = ballots(["a"], answer(a={"verdict": "REFUTED", "explanation": "no"}), "adversarial")["a"]
    assert said == Ballot("verification-error", None, f"{NO_BASIS} (it said: no)")
    silent = ballots(["a"], answer(a={"verdict": "disagree"}), "adversarial")["a"]
    assert silent.explanation == NO_BASIS


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

"""The votes of a panel as codes: which count, as a matrix, and those of runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from verifyplan.errors import TableError
from verifyplan.frames.panel_votes import claim_keys, votes_of_runs

ROUNDS = pd.DataFrame(
    {
        "item": [1, 1, 1, 1, 2, 2],
        "worker": list("aaabab"),
        "label": ["x", "y", "x", "y", "x", "z"],
        "round": [2, 0, 5, 1, 0, 0],
        "cost": [1.0, 2, 3, 4, 5, 6],
        "why": list("uvwxyz"),
    }
)  # fmt: skip


@pytest.fixture
def votes():
    return vp.from_table(
        ROUNDS, item="item", worker="worker", label="label", round="round", cost="cost", explanation="why"
    )


def test_the_first_and_the_last_vote_of_each_worker_on_an_item(votes):
    first, last = votes.at("first"), votes.at("last")
    assert first.matrix().tolist() == [[1, 1], [0, 2]]
    assert last.matrix().tolist() == [[0, 1], [0, 2]]
    assert sorted(first.cost.tolist()) == [2, 4, 5, 6]
    assert sorted(last.explanation) == list("wxyz")
    assert first.units is votes.units
    assert (first.workers, first.labels) == (votes.workers, votes.labels)


def test_the_votes_of_a_round(votes):
    assert votes.at(0).matrix().tolist() == [[1, -1], [0, 2]]
    assert votes.at(5).matrix().tolist() == [[0, -1], [-1, -1]]
    assert votes.at(0).explanation.tolist() == ["v", "y", "z"]


@pytest.mark.parametrize("which", [3, -1, True, "middle"])
def test_a_round_without_votes_is_refused_with_those_that_there_are(votes, which):
    with pytest.raises(TableError, match=rf"at: there is no round {which!r}\. Fix: use 'first', 'last', or '0', '1'"):
        votes.at(which)


def test_a_matrix_of_several_votes_a_worker_is_refused(votes):
    with pytest.raises(TableError, match=r"several votes on an item\. Fix: take those of one round, as by \.at"):
        votes.matrix()


def test_votes_are_taken_by_position_or_mask(votes):
    some = votes.take(np.array([5, 0]))
    assert some.explanation.tolist() == ["z", "u"]
    assert some.cost.tolist() == [6, 1]
    assert len(votes.take(votes.label == 0)) == 3
    assert votes.take(votes.label == 0).explanation.tolist() == ["u", "w", "y"]
    assert len(votes) == 6


def test_one_item_is_not_items():
    assert repr(vp.from_table(ROUNDS.head(1), item="item", worker="worker", label="label")) == (
        "PanelVotes(1 worker, 1 item, 1 vote; labels 'x')"
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), unique=True, min_size=1, max_size=30)
)
def test_first_and_last_are_those_of_a_loop(cells):
    table = pd.DataFrame(cells, columns=["item", "worker", "round"]).assign(label=lambda t: t["round"])
    votes = vp.from_table(table, item="item", worker="worker", label="label", round="round")
    for which, chosen in (("first", min), ("last", max)):
        expected = table.groupby(["item", "worker"])["round"].agg(chosen)
        got = votes.at(which)
        keys = zip(got.units["item"].iloc[got.unit], (votes.workers[code] for code in got.worker), strict=True)
        found = {(int(item), int(worker)): int(number) for (item, worker), number in zip(keys, got.round, strict=True)}
        assert found == expected.to_dict()


def test_votes_of_runs_say_what_a_verdict_says_of_the_claim():
    table = pd.DataFrame(
        {
            "claim": [1, 1, 1, 1, 2], "judge": list("abcda"), "true": [True] * 4 + [None], "found": ["d"] * 4 + [None],
            "says": ["agree", "supplement", "disagree", "agree", "verification-error"],
        }
    )  # fmt: skip
    names = {"item": "claim", "worker": "judge", "verdict": "says", "truth": "true", "discoverers": "found"}
    runs = vp.from_votes(table, **names)
    votes = votes_of_runs(runs)
    assert votes.labels == ("false", "true")
    assert votes.workers == ("a", "b", "c")  # d found the claim, and does not vote on it
    assert votes.matrix().tolist() == [[1, 1, 0], [-1, -1, -1]]
    assert votes.truth.tolist() == [1, -1]
    assert votes.units["truth"].fillna("").tolist() == ["true", ""]
    assert votes.runs is runs
    assert not votes.synthetic


def test_recorded_runs_are_marked_as_synthetic():
    votes = votes_of_runs(vp.datasets.runs("stdlib-claims/adversarial"))
    assert votes.synthetic
    assert len(votes.units) == 710  # the other ten were found by all workers, so nobody votes on them


def test_a_claim_is_its_id_unless_runs_say_other_things_under_it():
    table = pd.DataFrame({"finding_id": ["f", "g", "f"], "summary": ["one", None, "one"]})
    assert claim_keys(table).tolist() == ["f", "g", "f"]
    assert claim_keys(table.assign(summary=["one", None, "two"])).tolist() == ["f: one", "g", "f: two"]

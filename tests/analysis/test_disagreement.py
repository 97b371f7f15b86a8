"""Disagreement on a finding: pairs of votes counted by hand, one by one, and what makes no pair."""

from __future__ import annotations

import math
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given, settings

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from tests.longer import examples
from verifyplan.analysis.disagreement import disagreement
from verifyplan.errors import InputError


def runs_of(votes: pd.DataFrame) -> vp.RunSet:
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, round="round", run="run_id", explanation="explanation")


def said(*rounds: str) -> vp.RunSet:
    """One finding; a text for each round, a letter for each vote: a, s, d, or e for an error."""
    whole = {"a": "agree", "s": "supplement", "d": "disagree", "e": "verification-error"}
    rows = [
        {"run_id": "r", "finding_id": "F", "round": number, "worker": f"w{i}", "verdict": whole[letter],
         "disagree_basis": None, "explanation": ""}
        for number, letters in enumerate(rounds, 1) for i, letter in enumerate(letters)
    ]  # fmt: skip
    return runs_of(pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("rounds", "votes", "share"),
    [
        (("aa",), 2, 0),
        (("ad",), 2, 1),
        (("aad",), 3, 2 / 3),
        (("asd",), 3, 1),
        (("aadd",), 4, 4 / 6),
        (("ad", "aa"), 4, 1 / 2),  # votes of different rounds make no pair
        (("aade",), 3, 2 / 3),  # an error says nothing
        (("a",), 1, math.nan),
        (("a", "d"), 2, math.nan),
    ],
)
def test_disagreement_by_hand(rounds, votes, share):
    (row,) = disagreement(said(*rounds)).to_dict("records")
    assert row["votes"] == votes
    assert row["disagreement"] == pytest.approx(share, nan_ok=True)


@settings(max_examples=examples(50))
@given(tables)
def test_disagreement_is_that_of_all_pairs_counted_one_by_one(findings):
    runs = runs_of(frame(findings))
    counted = runs.votes[runs.votes["verdict"].ne("verification-error")]
    got = disagreement(runs).set_index(["run_id", "finding_id"])
    for key, cast in counted.groupby(["run_id", "finding_id"]):
        pairs = [pair for _, one in cast.groupby("round") for pair in combinations(one["verdict"], 2)]
        row = got.loc[key]
        assert (row["votes"], row["pairs"]) == (len(cast), len(pairs))
        assert row["differing"] == sum(left != right for left, right in pairs)
    assert len(got) == counted[["run_id", "finding_id"]].drop_duplicates().shape[0]


def test_votes_of_discoverers_do_not_count_and_findings_without_votes_have_no_row():
    runs = said("ad")
    runs.votes["is_origin"] = runs.votes["worker"].eq("w1").astype("boolean")
    assert disagreement(runs)[["votes", "pairs"]].to_numpy().tolist() == [[1, 0]]
    assert disagreement(said("ee")).empty
    assert list(disagreement(vp.RunSet()).columns) == list(disagreement(runs).columns)


def test_what_is_no_set_of_runs_is_refused():
    with pytest.raises(InputError, match=r"runs: must be a RunSet, a run, a path .*, got a DataFrame"):
        disagreement(pd.DataFrame())

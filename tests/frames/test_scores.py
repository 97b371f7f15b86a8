"""Probabilities and scores as votes: which side of a threshold agrees, and what has no side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.errors import TableError

TABLE = pd.DataFrame(
    {"claim": [1, 1, 2, 2], "judge": list("abab"), "p": [0.9, 0.5, 0.49, None], "true": [True, True, False, False]}
)


def verdicts(table: pd.DataFrame = TABLE, **arguments) -> list[str]:
    runs = vp.from_votes(table, item="claim", worker="judge", score="p", **arguments)
    return runs.votes["verdict"].tolist()


def test_a_score_at_the_threshold_agrees_and_a_missing_one_is_a_verification_error():
    assert verdicts(threshold=0.5) == ["agree", "agree", "disagree", "verification-error"]
    assert verdicts(threshold=0.5, agrees_when="at-most") == ["disagree", "agree", "agree", "verification-error"]


@pytest.mark.parametrize("stored", ["float16", "float32", "Float32", "float32[pyarrow]"])
def test_a_score_at_the_threshold_agrees_at_the_precision_of_its_column(stored):
    for score in (0.7, 0.3):
        table = pd.DataFrame({"claim": [1, 2], "judge": "a", "p": pd.Series([score, None]).astype(stored)})
        for side in ("at-least", "at-most"):
            assert verdicts(table, threshold=score, agrees_when=side) == ["agree", "verification-error"], (score, side)
        assert verdicts(table, threshold=1e300)[0] == "disagree"


def test_scores_go_with_everything_else_that_votes_have():
    runs = vp.from_votes(
        TABLE, item="claim", worker="judge", score="p", threshold=0.5, truth="true", mode="adversarial"
    )
    assert runs.findings["truth"].tolist() == [True, False]
    assert runs.votes["disagree_basis"].isna().all()
    texts = TABLE.assign(p=["0.9", " 0.5", "0.49", " "])
    assert verdicts(texts, threshold=0.5) == verdicts(threshold=0.5)


@settings(max_examples=examples(32))
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40), st.data())
def test_both_sides_agree_only_at_the_threshold(scores, data):
    threshold = data.draw(st.sampled_from(scores) | st.floats(-10, 10))
    table = pd.DataFrame({"claim": range(len(scores)), "judge": "a", "p": scores})
    above, below = (verdicts(table, threshold=threshold, agrees_when=side) for side in ("at-least", "at-most"))
    both = [one == other == "agree" for one, other in zip(above, below, strict=True)]
    assert both == [score == threshold for score in scores]
    assert all("agree" in pair for pair in zip(above, below, strict=True))


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({}, [("votes: verdict, score", "neither names a column")]),
        (
            {"threshold": 1},
            [("votes: verdict, score", "neither names a column"), ("votes: threshold", "goes with scores")],
        ),
        ({"verdict": "p", "score": "p", "threshold": 1}, [("votes: verdict, score", "both name a column")]),
        ({"score": "p"}, [("votes: threshold", "must be a number, got None")]),
        ({"score": "p", "threshold": True}, [("votes: threshold", "must be a number, got True")]),
        ({"score": "p", "threshold": float("nan")}, [("votes: threshold", "must be a number, got nan")]),
        (
            {"score": "q", "threshold": 0.5, "agrees_when": "at-last", "verdicts": {"yes": "agree"}, "max_rounds": 0},
            [
                ("votes: verdicts", "goes with a column of verdicts, not of scores"),
                ("votes: agrees_when", "'at-last' is not allowed (did you mean 'at-least'?)"),
                ("votes: score", "there is no column 'q'"),
                ("votes: max_rounds", "must be an integer of at least 1, got 0"),
            ],
        ),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_listed_at_once(arguments, problems):
    with pytest.raises(TableError, match="Fix: ") as caught:
        vp.from_votes(TABLE, item="claim", worker="judge", **arguments)
    assert [(problem.place, problem.message) for problem in caught.value.problems] == problems


@pytest.mark.parametrize("bad", ["high", np.inf, "NaN?"])
def test_a_score_that_is_no_number_is_shown_with_its_row(bad):
    table = TABLE.assign(p=pd.Series([0.1, bad, None, 0.2], dtype="object"))
    with pytest.raises(
        TableError, match=r"votes: score: .* in row 1 \(index\) is not a number \(1 row\)\. Fix: give numbers"
    ):
        verdicts(table, threshold=0.5)


def test_a_threshold_on_another_scale_than_probabilities_is_refused():
    message = (
        r"votes: threshold: is 70, but all scores are from 0\.2 to 0\.9, so that all would say the same\. Fix: .*0\.7"
    )
    table = TABLE.assign(p=[0.9, 0.5, 0.2, None])
    with pytest.raises(TableError, match=message):
        verdicts(table, threshold=70)
    with pytest.raises(TableError, match="votes: threshold: is -1"):
        vp.from_table(table, item="claim", worker="judge", label="p", threshold=-1)
    assert verdicts(table, threshold=1) == ["disagree", "disagree", "disagree", "verification-error"]


def test_a_table_of_labels_takes_scores_too():
    names = {"item": "claim", "worker": "judge", "label": "p", "truth": "true"}
    votes = vp.from_table(TABLE, **names, threshold=0.5)
    assert votes.labels == ("false", "true")
    assert votes.matrix().tolist() == [[1, 1], [0, -1]]
    assert votes.units["truth"].tolist() == ["true", "false"]
    low = vp.from_table(TABLE, **names, threshold=0.5, agrees_when="at-most")
    assert low.matrix().tolist() == [[0, 1], [1, -1]]


def test_what_has_no_side_in_a_table_of_labels_is_listed_at_once():
    table = TABLE.assign(p=["x", 1, 1, 1], true=["maybe", "no", "no", "no"])
    with pytest.raises(TableError, match="Fix: ") as caught:
        vp.from_table(table, item="claim", worker="judge", label="p", truth="true", threshold=0.5)
    assert [problem.place for problem in caught.value.problems] == ["votes: label", "votes: truth"]
    with pytest.raises(TableError, match="Fix: ") as caught:
        vp.from_table(table, item="claim", worker="judge", label="q", threshold="x", agrees_when="up")
    assert [problem.place for problem in caught.value.problems] == [
        "votes: threshold", "votes: agrees_when", "votes: label",
    ]  # fmt: skip

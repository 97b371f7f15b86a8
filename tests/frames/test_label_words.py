"""Labels in several spellings and a truth in other words than the votes: refused, with a fix that can be followed."""

from __future__ import annotations

import ast
import re

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import TableError

COLUMNS = {"item": "q", "worker": "judge", "label": "says", "truth": "right"}


def table(says: list, right: list) -> pd.DataFrame:
    """Return votes of judges a and b on items 0, 1, 2 ...; says has two labels an item, right one."""
    n = len(right)
    return pd.DataFrame(
        {"q": np.repeat(np.arange(n), 2), "judge": ["a", "b"] * n, "says": says, "right": np.repeat(right, 2)}
    )


def problem(frame: pd.DataFrame, **more):
    with pytest.raises(TableError) as caught:
        vp.from_table(frame, **COLUMNS, **more)
    (found,) = caught.value.problems
    return found


def labels_of(fix: str) -> dict:
    """Return the `labels=` that a fix says to write."""
    found = re.search(r"labels=(\{.*?\})", fix)
    assert found, fix
    return ast.literal_eval(found[1])


def test_spellings_of_a_label_are_refused_with_their_rows():
    found = problem(table(["yes", "YES ", "no", "no", "yes", " yes"], ["yes", "no", "yes"]))
    assert (found.place, found.message) == (
        "votes: label",
        "differs only in its spelling: 'yes' (4 rows) and 'YES' (1 row)",
    )
    assert labels_of(found.fix) == {"YES": "yes"}


@pytest.mark.parametrize(
    ("says", "right", "given"),
    [
        (["yes", "YES", "no", "No"], ["yes", "no"], {}),
        (["yes", "yes", "no", "no"], ["Yes", "No"], {}),
        (["good", "Yes", "no", "yes"], ["yes", "no"], {"good": "Yes", "no": "no"}),
        (["1.0", "2", "1", "2"], ["1", "2"], {}),
    ],
)
def test_the_fix_of_spellings_can_be_followed(says, right, given):
    frame = table(says, right)
    votes = vp.from_table(frame, **COLUMNS, labels=labels_of(problem(frame, labels=given or None).fix))
    assert len(votes.labels) == 2
    assert (votes.matrix() >= 0).all()


def test_an_analysis_refuses_spellings_too():
    frame = table(["yes", "YES", "no", "no"], ["yes", "no"])
    with pytest.raises(TableError, match=r"differs only in its spelling: 'yes' .* and 'YES'"):
        vp.workers(frame, **COLUMNS)


def test_spellings_of_a_worker_are_refused():
    frame = table(["yes", "no", "no", "no"], ["yes", "no"]).assign(judge=["a", "b", "A ", "b"])
    found = problem(frame)
    assert (found.place, found.message) == (
        "votes: worker",
        "differs only in its spelling: 'A' (1 row) and 'a' (1 row)",
    )
    assert "table['judge'] = table['judge'].str.lower()" in found.fix
    frame["judge"] = frame["judge"].str.lower()
    assert vp.from_table(frame, **COLUMNS).workers == ("a", "b")
    frame = frame.assign(judge=["a", "b", "A ", "b"], model="m")
    with pytest.raises(TableError, match=r"'m/A' .*Fix: write each worker in one spelling; workers"):
        vp.from_table(frame, **{**COLUMNS, "worker": ["model", "judge"]})


def test_booleans_are_true_and_false_however_they_are_stored():
    for says in ([True, False] * 2, ["True", "False"] * 2, ["TRUE", "FALSE", "true", "false"], ["true", "false"] * 2):
        votes = vp.from_table(table(says, [True, False]), **COLUMNS)
        assert votes.labels == ("false", "true")
        assert votes.matrix().tolist() == [[1, 0], [1, 0]]
        assert votes.truth.tolist() == [1, 0]
    assert vp.from_table(table(["True", "unsure"] * 2, [True, True]), **COLUMNS).labels == ("true", "unsure")


@pytest.mark.parametrize("right", [[True, False], ["true", "false"], [1, 0], [1.0, 0.0], ["Y", "N"], ["T", "F"]])
@pytest.mark.parametrize("says", [["yes", "no"], ["Yes", "No"], ["agree", "disagree"], ["yes", "yes"]])
def test_the_fix_of_other_words_can_be_followed(says, right):
    frame = table(says * 2, right)
    found = problem(frame)
    assert "no vote has such a label" in found.message
    votes = vp.from_table(frame, **COLUMNS, labels=labels_of(found.fix))
    true = votes.truth[0]
    assert votes.matrix().tolist() == [[true, true if says[1] == "yes" else 1 - true]] * 2


def test_words_of_which_only_some_are_evident_leave_the_others_to_the_reader():
    frame = table(["yes", "unsure"] * 2, [True, False])
    assert "labels={'yes': 'true', 'unsure': <'false' or 'unsure'>}, with the label" in problem(frame).fix
    assert vp.from_table(frame, **COLUMNS, labels={"yes": "true", "unsure": "unsure"}).labels[-1] == "unsure"
    assert vp.from_table(frame, **COLUMNS, labels={"yes": "true", "unsure": "false"}).labels == ("false", "true")


def test_labels_of_the_caller_stay_in_the_fix():
    frame = table(["ja", "nein", "maybe", "nein"], [True, False])
    found = problem(frame, labels={"ja": "yes", "nein": "no", "maybe": None})
    assert labels_of(found.fix)["ja"] == "true"
    assert labels_of(found.fix)["maybe"] is None
    assert vp.from_table(frame, **COLUMNS, labels=labels_of(found.fix)).labels == ("false", "true")


def test_one_of_two_truths_that_nobody_votes_is_refused_where_votes_have_another_word():
    frame = table(["yes", "nope"] * 2, ["yes", "no"])
    found = problem(frame)
    assert found.message == "holds 'no', which no vote says, and votes say 'nope', which no truth says"
    assert "labels={'nope': <'no' or 'nope'>}" in found.fix
    assert vp.from_table(frame, **COLUMNS, labels={"nope": "no"}).labels == ("no", "yes")
    assert vp.from_table(frame, **COLUMNS, labels={"nope": "nope"}).labels == ("no", "nope", "yes")


@pytest.mark.parametrize(
    ("says", "right"),
    [
        (["yes", "yes"] * 2, ["yes", "no"]),  # nobody votes no, and nothing else in its place
        (["cat", "dog"] * 3, ["cat", "dog", "cow"]),  # a rare class of three that nobody finds
        (["cat", "dog", "emu", "fox"], ["cat", "cow"]),  # answers of many classes, few of them known
        (["yes", "unsure", "no", "no"], ["yes", "no"]),
    ],
)
def test_a_class_that_nobody_votes_is_no_error(says, right):
    assert set(right) <= set(vp.from_table(table(says, right), **COLUMNS).labels)

"""A table of votes that cannot be used is refused with every column and value that is wrong (rules E4, B7)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from verifyplan.errors import TableError
from verifyplan.frames.vote_checks import NEEDED, check_votes
from verifyplan.frames.votes import from_votes

FRAME = pd.DataFrame({"claim": [1, 1, 2], "judge": ["a", "b", "a"], "says": ["agree", "disagree", "supplement"]})
OPTIONAL = {"run": "run", "round": "turn", "basis": "why", "truth": "right", "explanation": "words"}
MISSING = [None, np.nan, pd.NA]


def refused(message: str, frame: pd.DataFrame = FRAME, **columns: Any) -> TableError:
    given = frame.assign(**columns)
    before = given.copy(deep=True)
    named = {told: name for told, name in OPTIONAL.items() if name in columns}
    with pytest.raises(TableError, match=message) as caught:
        from_votes(given, item="claim", worker="judge", verdict="says", **named)
    pd.testing.assert_frame_equal(given, before)
    assert all(problem.fix for problem in caught.value.problems)
    return caught.value


def test_all_absent_columns_are_listed_by_their_argument():
    with pytest.raises(TableError, match=r"there is no column 'x'\. Fix: name one of its columns: 'claim'") as caught:
        from_votes(FRAME, item="x", worker="y", verdict="says", basis="b", run="r", truth="t")
    assert [(problem.place, problem.message) for problem in caught.value.problems] == [
        ("votes: item", "there is no column 'x'"),
        ("votes: worker", "there is no column 'y'"),
        ("votes: basis", "there is no column 'b'"),
        ("votes: run", "there is no column 'r'"),
        ("votes: truth", "there is no column 't'"),
    ]


def test_an_index_is_no_column_and_two_columns_are_not_one():
    refused("votes: item: there is no column 'claim'", FRAME.set_index("claim"))
    twice = pd.concat([FRAME, FRAME[["judge"]]], axis=1)
    with pytest.raises(TableError, match="votes: worker: there are 2 columns 'judge'"):
        from_votes(twice, item="claim", worker="judge", verdict="says")


@pytest.mark.parametrize("empty", MISSING, ids=str)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("claim", "column finding_id: is empty in 1 row, the first is row 1"),
        ("judge", "column worker: is empty in 1 row, the first is row 1"),
        ("run", "column run_id: is empty in 1 row, the first is row 1"),
        ("says", "column verdict: is empty in 1 row, .*Fix: write 'verification-error'"),
        ("turn", "column round: .* in row 1 .index. is not a round .1 such"),
    ],
)
def test_a_missing_value_is_told_where_it_matters(name, message, empty):
    values = {"claim": [1, empty, 2], "judge": ["a", empty, "a"], "run": ["r", empty, "r"],
              "says": ["agree", empty, "agree"], "turn": [1, empty, 1]}[name]  # fmt: skip
    refused(message, **{name: pd.Series(values, dtype=object)})


@pytest.mark.parametrize("empty", MISSING, ids=str)
@pytest.mark.parametrize("name", ["basis", "truth", "explanation"])
def test_a_missing_value_is_fine_where_it_means_unknown(name, empty):
    frame = FRAME.assign(x=pd.Series([empty] * 3, dtype=object))
    runs = from_votes(frame, item="claim", worker="judge", verdict="says", **{name: "x"})
    assert runs.findings["truth"].isna().all()
    assert runs.votes[["disagree_basis", "explanation"]].isna().all(axis=None)


@pytest.mark.parametrize("values", [["maybe"] * 3, [1, 0, 1], [True] * 3, [["maybe"]] * 3])
def test_a_verdict_that_is_none_is_shown(values):
    refused(rf"column verdict: holds .*{str(values[0])[:4].strip('[')}.*\. Fix: use 'agree', 'supplement'", says=values)


@pytest.mark.parametrize("values", [["doubt"] * 3, [1, 2, 3], [["burden-not-met"], None, None]])
def test_a_basis_that_is_none_is_shown(values):
    refused("column disagree_basis: holds .* Fix: use 'counter-evidence', 'burden-not-met', or leave it", why=values)


@pytest.mark.parametrize(
    ("bad", "shown"),
    [(0, "0"), (-1, "-1"), (1.5, "1.5"), ("x", "x"), (np.inf, "inf"), (2**40, str(2**40)), ([1], r"\[1\]")],
)
def test_a_round_that_is_none_is_shown_with_its_row(bad, shown):
    turns = pd.Series([1, bad, 1], dtype=object)
    refused(
        rf"column round: {shown} in row 1 \(index\) is not a round \(1 such\)\. Fix: number the rounds 1",
        turn=turns,
    )


@pytest.mark.parametrize("values", [["sure", "sure", "?"], [2, 2, 1], [0.5, 0.5, 1], [[1], [1], [0]]])
def test_a_truth_that_is_none_is_shown(values):
    refused(
        "votes: column truth: holds .* Fix: say what your words mean, as truths=.*true/false, yes/no, 1/0", right=values
    )


@pytest.mark.parametrize("values", [[True, False, True], [1, 0, 1], ["true", False, None]])
def test_a_finding_is_not_both_true_and_false(values):
    refused("finding '1' is both true and false. Fix: give each finding one truth", right=values)


def test_truth_may_differ_between_runs_and_is_told_once():
    frame = FRAME.assign(claim=1, run=["r", "r", "s"], right=[None, True, False])
    runs = from_votes(frame, item="claim", worker="judge", verdict="says", run="run", truth="right")
    assert runs.findings["truth"].tolist() == [True, False]


def test_a_second_vote_of_a_worker_in_a_round_is_refused():
    message = (
        r"votes: worker: 1 row repeats the key of another, the first at run_id votes, finding_id 1, round 1, "
        r"worker a\. Fix: name the column of the round or run, .*, make runs of each: "
        r"\{name: from_votes\(rows, \.\.\.\) for name, rows in table\.groupby\('condition'\)\}; "
        r"only if a vote really is there twice, drop one"
    )
    refused(message, judge=["a", "a", "b"])
    refused(message, claim=pd.Series([1, "1", 2], dtype=object), judge=["a", "a", "b"])


def test_all_that_is_wrong_is_listed_at_once():
    error = refused("Fix: ", judge=["a", None, "a"], says=["maybe", None, "agree"], turn=[0, 1, 1], why="doubt")
    assert [problem.place for problem in error.problems] == [
        "votes: column verdict",
        "votes: column verdict",
        "votes: column disagree_basis",
        "votes: column worker",
        "votes: column round",
    ]


def test_a_table_without_the_needed_columns_is_told_all_of_them():
    with pytest.raises(
        TableError, match=r"column run_id: is missing\. Fix: add it, .*; the table has 'claim'"
    ) as caught:
        check_votes(FRAME)
    assert [problem.place for problem in caught.value.problems] == [f"votes: column {name}" for name in NEEDED]


def test_every_argument_that_cannot_be_is_listed_at_once():
    with pytest.raises(TableError, match=r"must be an integer of at least 1, got 0") as caught:
        from_votes(
            FRAME, item="claim", worker="judge", verdict="says", mode="adverserial", summary="text", max_rounds=0,
            verdicts={"yes": "agre", "no": "disagree", "NO": "agree"},
        )  # fmt: skip
    assert [(problem.place, problem.message) for problem in caught.value.problems] == [
        ("votes: verdicts['yes']", "'agre' is not a verdict (did you mean 'agree'?)"),
        ("votes: verdicts['NO']", "means 'agree' and, in another spelling, 'disagree'"),
        ("votes: summary", "there is no column 'text'"),
        ("votes: mode", "there is no column 'adverserial' (did you mean 'adversarial'?)"),
        ("votes: max_rounds", "must be an integer of at least 1, got 0"),
    ]
    assert caught.value.problems[3].fix.startswith("write 'collaborative', 'adversarial', or name one of its columns")


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "2"])
def test_a_limit_of_rounds_is_a_whole_number(limit):
    with pytest.raises(TableError, match=rf"max_rounds: must be an integer of at least 1, got {limit!r}"):
        from_votes(FRAME, item="claim", worker="judge", verdict="says", max_rounds=limit)


def test_votes_beyond_the_limit_are_no_votes_of_the_run():
    frame = FRAME.assign(turn=[1, 2, 3])
    with pytest.raises(TableError, match=r"max_rounds: is 2, but .* of round 3\. Fix: give at least 3"):
        from_votes(frame, item="claim", worker="judge", verdict="says", round="turn", max_rounds=2)


def test_what_rows_say_of_one_finding_or_run_must_agree_and_all_of_it_is_listed():
    frame = FRAME.assign(
        text=["f is slow", "f is fast", "g"], who=["a", "b", None], how=["adversarial", "collaborative", None],
        sort=["bug", "plan-body", None], right=[True, False, None], says=["agree", "maybe", "agree"],
    )  # fmt: skip
    with pytest.raises(TableError, match="finding '1' has several: 'f is slow', 'f is fast'") as caught:
        from_votes(
            frame, item="claim", worker="judge", verdict="says", summary="text", discoverers="who", mode="how",
            category="sort", truth="right",
        )  # fmt: skip
    assert [(p.place, p.message.split(":")[0].split(" in ")[0]) for p in caught.value.problems] == [
        ("votes: column verdict", "holds 'maybe'"),
        ("votes: column truth", "finding '1' is both true and false"),
        ("votes: column summary", "finding '1' has several"),
        ("votes: column category", "finding '1' has several"),
        ("votes: column discoverers", "finding '1' has several"),
        ("votes: column category", "'plan-body' is the category of plan items, which have rules of their own"),
        ("votes: column mode", "run 'votes' has several"),
    ]


def test_a_mode_that_is_none_is_shown():
    with pytest.raises(TableError, match=r"column mode: holds .friendly. .*\. Fix: use .collaborative., .adversarial."):
        from_votes(FRAME.assign(how="friendly"), item="claim", worker="judge", verdict="says", mode="how")


def test_runs_of_conditions_are_made_as_the_message_says():
    table = pd.concat([FRAME.assign(how="blind"), FRAME.assign(how="open")])
    names = {"item": "claim", "worker": "judge", "verdict": "says"}
    with pytest.raises(
        TableError,
        match=r"column mode: holds 'blind', 'open' \(your column 'how'\)\..* leave mode= out.*groupby\('how'\)\}\)",
    ):
        from_votes(table, **names, mode="how")
    runs = {name: from_votes(rows, **names) for name, rows in table.groupby("how")}
    assert {name: len(each.votes) for name, each in runs.items()} == {"blind": 3, "open": 3}


def test_an_unknown_verdict_is_told_how_words_of_ones_own_are_given():
    meaning = "<agree, disagree or supplement>"
    told = refused(rf"verdicts=\{{'NO': {meaning}, 'maybe': {meaning}\}}", says=["maybe", "NO", "agree"])
    assert "'agree'}" not in str(told), "pasted as it stands, no guess turns a vote round"


def test_blank_names_and_two_votes_of_one_worker_in_two_spellings_are_told():
    refused("column worker: is empty in 1 row, the first is row 1", judge=["a", " ", "a"])
    refused("1 row repeats the key of another", judge=["a", "a ", "a"])


def test_words_that_are_no_mapping_are_told_how_to_write_them():
    with pytest.raises(TableError, match=r"verdicts: is a list, not a mapping\. Fix: write .*'yes': 'agree'"):
        from_votes(FRAME, item="claim", worker="judge", verdict="says", verdicts=["yes"])


@pytest.mark.parametrize("blank", ["", "  ", None, float("nan")])
def test_a_blank_verdict_is_told_how_it_is_read_as_a_lost_vote(blank):
    told = refused(r"column verdict: is empty in 1 row, the first is row 0", says=[blank, "agree", "agree"])
    assert "verdicts={'': 'verification-error'}" in str(told)
    assert "--verdicts =verification-error" in str(told)
    runs = from_votes(
        FRAME.assign(says=[blank, "agree", "agree"]), item="claim", worker="judge", verdict="says",
        verdicts={"": "verification-error"},
    )  # fmt: skip
    assert runs.votes["verdict"].tolist() == ["verification-error", "agree", "agree"]
    assert runs.findings["lost_votes"].tolist() == [1, 0]

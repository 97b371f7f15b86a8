"""Any long table of votes becomes the same tables that artifacts become (rule E4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import LONG, examples
from verifyplan.analysis.classify import classify
from verifyplan.analysis.explain import explain
from verifyplan.analysis.replay import replay
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import check_votes
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.vote import VERDICTS


def table(**columns: Any) -> pd.DataFrame:
    """Two judges on claim 1, one on claim 2."""
    given = {"claim": [1, 1, 2], "judge": ["a", "b", "a"], "says": ["agree", "disagree", "supplement"]}
    return pd.DataFrame({**given, **columns})


def imported(frame: pd.DataFrame, **named: Any) -> RunSet:
    """The table as a RunSet; the caller's frame is as it was."""
    before = frame.copy(deep=True)
    runs = from_votes(frame, item="claim", worker="judge", verdict="says", **named)
    pd.testing.assert_frame_equal(frame, before)
    return runs


def column(frame: pd.DataFrame, name: str) -> list[Any]:
    return frame[name].astype(object).replace(np.nan, None).tolist()


def test_the_least_table_is_one_run_of_one_round():
    runs = imported(table())
    run = runs.runs.iloc[0]
    assert (run["run_id"], run["kind"], run["n_findings"], run["total_rounds"]) == ("votes", "votes", 2, 1)
    assert run[["mode", "schema_version", "final_state", "max_rounds"]].isna().all()
    assert run["effective_max_rounds"] == 1
    assert column(runs.votes, "finding_id") == ["1", "1", "2"]
    assert column(runs.votes, "round") == [1, 1, 1]
    assert column(runs.votes, "iteration") == [0, 0, 0]
    assert column(runs.votes, "disagree_basis") == [None] * 3
    assert column(runs.votes, "is_origin") == [False] * 3
    assert column(runs.findings, "discoverers") == [[], []]
    assert runs.findings["classification"].isna().all()
    assert len(runs.rounds) == len(runs.dispatches) == 0


def test_every_argument_names_a_column():
    frame = table(
        run=["r", "r", "s"],
        turn=[1, 2, 1],
        why=[None, "counter-evidence", None],
        words=["ok", "a.py:3", None],
        right=[True, True, None],
    )
    runs = imported(
        pd.concat([frame, frame.iloc[[0]].assign(judge="b", turn=1)], ignore_index=True),
        run="run", round="turn", basis="why", explanation="words", truth="right",
    )  # fmt: skip
    assert column(runs.votes, "run_id") == ["r", "r", "s", "r"]
    assert column(runs.votes, "round") == [1, 2, 1, 1]
    assert column(runs.votes, "disagree_basis") == [None, "counter-evidence", None, None]
    assert column(runs.votes, "explanation") == ["ok", "a.py:3", None, "ok"]
    assert column(runs.findings, "n_rounds") == [2, 1]
    assert column(runs.findings, "truth") == [True, None]
    assert runs.runs.set_index("run_id")["effective_max_rounds"].to_dict() == {"r": 2, "s": 1}
    assert runs.runs.set_index("run_id")["n_findings"].to_dict() == {"r": 1, "s": 1}


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ("AGREE", "agree"),
        (" Supplement ", "supplement"),
        ("SURVIVES", "agree"),
        ("Survives-With-Caveat", "supplement"),
        ("refuted", "disagree"),
        ("DISAGREE", "disagree"),
        ("verification-error", "verification-error"),
        ("VERIFICATION-ERROR", "verification-error"),
    ],
)
def test_labels_in_any_case_become_verdicts(says, verdict):
    assert column(imported(table(says=says)).votes, "verdict") == [verdict] * 3


@pytest.mark.parametrize(
    "columns",
    [
        {"judge": [1, 2, 1]},
        {"claim": pd.array([1, 1, 2], dtype="Int64")},
        {"claim": pd.Categorical(["1", "1", "2"]), "judge": pd.Categorical([1, 2, 1])},
        {"judge": pd.array(["a", "b", "a"], dtype="string")},
        {"says": pd.Categorical(["agree", "refuted", "supplement"])},
        {"says": pd.array(["agree", "REFUTED", "supplement"], dtype="string[pyarrow]")},
        {"turn": [1.0, 1.0, 1.0]},
        {"turn": ["1", "1", "1"]},
        {"turn": pd.Categorical([1, 1, 1])},
        {"turn": pd.array([1, 1, 1], dtype="int64[pyarrow]")},
        {"why": pd.Categorical([None, "burden-not-met", None])},
        {"words": [1, None, 3.5]},
        {"words": pd.Categorical(["a", "b", None])},
        {"right": [True, True, False]},
        {"right": [1, 1, 0]},
        {"right": [1.0, np.nan, 0.0]},
        {"right": ["true", "TRUE", " False"]},
        {"right": ["1", None, "0"]},
        {"right": pd.array([True, None, False], dtype="boolean")},
        {"right": pd.Categorical([True, True, False])},
    ],
    ids=str,
)
def test_any_type_of_column_gives_the_same_tables(columns):
    named = {"turn": "round", "why": "basis", "words": "explanation", "right": "truth"}
    runs = imported(table(**columns), **{named[name]: name for name in columns if name in named})
    assert column(runs.votes, "finding_id") == ["1", "1", "2"]
    assert column(runs.votes, "verdict") == ["agree", "disagree", "supplement"]
    assert column(runs.votes, "round") == [1, 1, 1]
    if "right" in columns:
        assert column(runs.findings, "truth") == [True, False]
    check_votes(runs.votes)


def test_arrow_backed_frames_and_odd_indexes_are_taken():
    arrow = table(right=[True, True, False]).convert_dtypes(dtype_backend="pyarrow")
    assert column(imported(arrow, truth="right").findings, "truth") == [True, False]
    odd = table().set_axis([5, 5, 7])
    assert isinstance(imported(odd).votes.index, pd.RangeIndex)
    assert column(imported(odd).votes, "worker") == ["a", "b", "a"]


def test_columns_that_are_not_named_are_left_out_even_with_our_names():
    ours = ("verdict", "round", "run_id", "finding_id", "truth", "iteration", "is_origin", "uncited", "worker")
    runs = imported(table(**dict.fromkeys(ours, "something else")))
    plain = imported(table())
    for name in ("runs", "findings", "votes"):
        pd.testing.assert_frame_equal(getattr(runs, name), getattr(plain, name))


def test_one_column_may_serve_twice_and_names_may_be_numbers():
    assert column(imported(table(), run="claim").runs, "run_id") == ["1", "2"]
    numbered = pd.DataFrame([[1, "a", "agree"]])
    assert column(from_votes(numbered, item=0, worker=1, verdict=2).votes, "worker") == ["a"]


def test_rounds_written_as_text_count_as_numbers():
    frame = pd.DataFrame({"claim": 1, "judge": "a", "says": "agree", "turn": [str(n) for n in range(1, 12)]})
    assert column(imported(frame, round="turn").runs, "total_rounds") == [11]


@pytest.mark.parametrize("frame", [table().iloc[:0], pd.DataFrame(columns=["claim", "judge", "says"])])
def test_an_empty_table_is_no_run(frame):
    runs = imported(frame, truth="judge", explanation="judge")
    assert (len(runs), len(runs.findings), len(runs.votes)) == (0, 0, 0)
    assert runs.votes["verdict"].cat.categories.tolist() == list(VERDICTS)


def test_a_million_votes_are_imported_or_a_part_of_them():
    n = 1_000_000 if LONG else 200_000
    numbers = np.arange(n)
    frame = pd.DataFrame({"claim": numbers // 5, "judge": numbers % 5, "says": np.resize(["agree", "Refuted"], n)})
    frame = frame.assign(words="a.py:3", right=numbers // 5 % 2)
    runs = from_votes(frame, item="claim", worker="judge", verdict="says", explanation="words", truth="right")
    assert (len(runs.votes), len(runs.findings)) == (n, n // 5)
    assert runs.findings["truth"].mean() == 0.5
    assert runs.votes["verdict"].value_counts()[["agree", "disagree"]].tolist() == [n // 2, n // 2]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.sampled_from("xy")),
        st.tuples(st.sampled_from(VERDICTS), st.none() | st.booleans()),
        max_size=12,
    )
)
def test_any_votes_become_tables_that_can_be_classified(votes):
    rows = [(*key, says) for key, (says, _) in votes.items()]
    frame = pd.DataFrame(rows, columns=["claim", "judge", "run", "says"])
    runs = imported(frame, run="run")
    assert len(runs.votes) == len(votes)
    assert len(runs.findings) == len({(run, claim) for claim, _, run in votes})
    assert runs.runs["n_findings"].sum() == len(runs.findings)
    classes = classify(runs.votes, mode="collaborative")
    assert classes["finding_id"].tolist() == runs.findings["finding_id"].tolist()


def test_an_empty_basis_is_none_and_case_does_not_matter():
    table = pd.DataFrame({"c": ["x"] * 3, "j": list("abc"), "v": ["disagree"] * 3, "b": ["", " Burden-Not-Met ", None]})
    runs = from_votes(table, item="c", worker="j", verdict="v", basis="b")
    assert runs.votes["disagree_basis"].astype("object").fillna("-").tolist() == ["-", "burden-not-met", "-"]


CLAIMS = pd.DataFrame(
    {
        "claim": ["x", "x", "y", "y"],
        "judge": ["ann", "bob", "ann", "bob"],
        "says": ["agree", "disagree", "agree", "agree"],
        "text": ["f has no check", None, "g is slow", "g is slow"],
        "sort": ["bug", "bug", " ", None],
        "who": ["ann", "ann", "ann; cy", None],
    }
)


def test_claim_category_and_discoverers_are_of_the_finding_and_own_votes_do_not_count():
    runs = imported(CLAIMS, summary="text", category="sort", discoverers="who")
    assert column(runs.findings, "summary") == ["f has no check", "g is slow"]
    assert column(runs.findings, "category") == ["bug", None]
    assert column(runs.findings, "discoverers") == [["ann"], ["ann", "cy"]]
    assert column(runs.findings, "origin_worker") == ["ann", "ann"]
    assert column(runs.votes, "is_origin") == [True, False, True, False]
    classes = replay(runs, "adversarial").set_index("finding_id")
    assert classes["rule"].to_dict() == {"x": "all-others-disagree", "y": "survived"}
    assert "Claim: f has no check" in str(explain(runs, "x"))


def test_discoverers_may_be_lists_too():
    listed = CLAIMS.assign(who=[["ann"], ("ann",), np.array(["ann", "cy"]), None])
    assert column(imported(listed, discoverers="who").findings, "discoverers") == [["ann"], ["ann", "cy"]]
    assert column(imported(CLAIMS.assign(who=None), discoverers="who").findings, "discoverers") == [[], []]


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
def test_facts_are_the_same_in_columns_of_any_type_and_may_be_missing_throughout(dtype):
    named = {"summary": "text", "category": "sort", "discoverers": "who"}
    runs, found = imported(CLAIMS, **named), imported(CLAIMS.astype(dict.fromkeys(named.values(), dtype)), **named)
    pd.testing.assert_frame_equal(found.findings, runs.findings)
    nothing = imported(CLAIMS.assign(who=pd.Series([None] * 4, dtype=dtype)), discoverers="who")
    assert column(nothing.findings, "discoverers") == [[], []]


def test_texts_for_truth_and_claims_are_those_of_each_value():
    frame = table(right=pd.Series([1, 1, True], dtype="object"), text=pd.Series([1, 1, True], dtype="object"))
    runs = imported(frame, truth="right", truths={"1": False}, summary="text")
    assert column(runs.findings, "truth") == [False, True]
    assert column(runs.findings, "summary") == ["1", "True"]


@pytest.mark.parametrize("mode", ["adversarial", " ADVERSARIAL "])
def test_the_mode_of_a_table_is_recorded_and_read(mode):
    runs = imported(CLAIMS, mode=mode)
    assert column(runs.runs, "mode") == ["adversarial"]
    assert column(runs.runs, "max_rounds") == [None]
    assert str(explain(runs, "x")).startswith("x in run votes, read as adversarial: partial-consensus")


def test_a_column_may_say_the_mode_of_each_run():
    frame = CLAIMS.assign(run=list("rrss"), how=["Collaborative", None, "adversarial", "adversarial"])
    runs = imported(frame, run="run", mode="how")
    assert runs.runs.set_index("run_id")["mode"].to_dict() == {"r": "collaborative", "s": "adversarial"}
    assert column(replay(runs, "recorded"), "rule") == ["no-majority", "survived"]


def test_more_rounds_were_allowed_than_recorded():
    runs = imported(CLAIMS, max_rounds=3)
    run = runs.runs.iloc[0]
    assert (run["max_rounds"], run["effective_max_rounds"], run["total_rounds"]) == (3, 3, 1)
    assert column(replay(runs, "collaborative"), "censored") == [True, False]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"yes": "agree", "no": "disagree"}, ["yes", "NO", " Yes", "yes"]),
        ({1: "agree", 0: "disagree"}, [1, 0, 1, 1]),
        ({1: "agree", 0: "disagree"}, [1.0, 0.0, 1.0, 1.0]),
        ({"1": "SURVIVES", "0": "refuted"}, [1, 0, 1, 1]),
        ({True: "agree", False: "disagree"}, [True, False, True, True]),
        ({"valid": "agree"}, ["valid", "disagree", "Agree", "VALID"]),
    ],
    ids=str,
)
def test_words_of_ones_own_stand_for_verdicts(words, says):
    runs = from_votes(CLAIMS.assign(says=says), item="claim", worker="judge", verdict="says", verdicts=words)
    assert column(runs.votes, "verdict") == ["agree", "disagree", "agree", "agree"]


@settings(max_examples=examples(25))
@given(st.data())
def test_verdicts_and_bases_are_read_in_any_spelling(data):
    def spelled(word: str) -> str:
        joint = data.draw(st.sampled_from([" ", "-", "_", " - "]))
        cased = data.draw(st.sampled_from([str.lower, str.upper, str.title]))
        return f" {cased(word.replace('-', joint))}"

    labels = {"survives-with-caveat": "supplement", "refuted": "disagree", "verification-error": "verification-error"}
    bases = ["counter-evidence", "burden-not-met", None]
    frame = pd.DataFrame({"c": "x", "j": list("abc"), "v": [spelled(label) for label in labels]})
    runs = from_votes(frame, item="c", worker="j", verdict="v")
    assert column(runs.votes, "verdict") == list(labels.values())
    refuted = frame.assign(v=spelled("refuted"), b=[basis and spelled(basis) for basis in bases])
    runs = from_votes(refuted, item="c", worker="j", verdict="v", basis="b")
    assert column(runs.votes, "disagree_basis") == bases


def test_ids_and_names_are_the_same_whatever_stands_around_them():
    floats = imported(table(claim=[1.0, 1.0, 2.0], judge=[1.0, 2.0, 1.0]))
    assert (column(floats.votes, "finding_id"), column(floats.votes, "worker")) == (["1", "1", "2"], ["1", "2", "1"])
    spaced = imported(table(claim=["F1", " F1", "F2 "], judge=["a", "b ", "a\t"]))
    assert column(spaced.findings, "finding_id") == ["F1", "F2"]
    assert column(spaced.votes, "worker") == ["a", "b", "a"]
    assert column(imported(table(claim=[1.5, 1.5, 2.0])).votes, "finding_id") == ["1.5", "1.5", "2.0"]


def test_a_basis_on_a_vote_that_is_no_disagree_is_dropped_as_in_a_live_run():
    runs = imported(table(why="counter-evidence"), basis="why", mode="adversarial")
    assert column(runs.votes, "disagree_basis") == [None, "counter-evidence", None]
    assert column(runs.votes, "uncited") == [False, True, False]
    assert "Round 1: 1 agree, 1 counter-evidence (n = 2)" in explain(runs, "1").text


def test_explanations_stay_as_they_were_written():
    words = ["  two\n lines ", " ", None]
    assert column(imported(table(words=words), explanation="words").votes, "explanation") == words

"""Debates turn by turn: how the diff grew, that it stayed the same, what was said, and how each ended."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, FIRST, NOT_YET, RUNS_OUT, STAGNATES, debate_of, says, turn
from verifyplan.analysis.debates import COLUMNS, debates
from verifyplan.errors import InputError

LONGER = "--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1,3 @@\n+hello\n+and\n+welcome\n"


def told(script, *columns, **more):
    table = debates(debate_of(script, **more).frames)
    plain = table[list(columns)].astype("object")
    return plain.where(plain.notna(), None).to_numpy().tolist()


def test_lines_are_those_of_each_turns_own_diff_and_compared_with_the_turn_before():
    script = FIRST | turn(2, "More.", "x", NOT_YET) | {"t2/implement": says("wrote more", diff=LONGER)}
    script |= turn(3, "Less.", "hello", "Verified: it greets.")
    assert told(script, "turn", "diff_lines", "lines_more", "same_diff") == [
        [1, 4, None, None],
        [2, 6, 2, False],
        [3, 4, -2, False],
    ]


def test_an_unchanged_diff_is_told_from_another_one_of_as_many_lines():
    assert told(STAGNATES, "lines_more", "same_diff")[-1] == [0, True]
    assert told(CONVERGES, "lines_more", "same_diff")[-1] == [0, False]


def test_a_blank_diff_has_no_lines_and_can_stay_the_same():
    first = FIRST | {"t1/implement": says("nothing to do", diff="")}
    script = first | {"t2/critique": says("Do something."), "t2/implement": says("no", diff="")}
    assert told(script, "diff_lines", "same_diff", "end") == [[0, None, None], [0, True, "FAILED NO_IMPROVEMENT"]]


def test_what_was_said_stands_in_its_turn():
    assert told(STAGNATES, "opening", "built", "verified", "n_messages") == [
        ["Write a greeting.", "wrote hullo", NOT_YET, 3],
        ["Spell it right.", "wrote hullo", "Failed: NO_IMPROVEMENT", 3],
    ]


@pytest.mark.parametrize(
    ("script", "more", "end", "turns"),
    [
        (CONVERGES, {}, "CONVERGED VERIFIED", 2),
        (STAGNATES, {}, "FAILED NO_IMPROVEMENT", 2),
        (RUNS_OUT, {}, "FAILED MAX_TURNS", 3),
        (CONVERGES | {"t2/implement": says("no diff")}, {}, "no outcome AGENT_FAILED", 2),
        (CONVERGES, {"tokens": 10, "max_tokens": 40}, "no outcome BUDGET", 1),
        ({}, {}, "no outcome AGENT_FAILED", 1),
    ],
)
def test_the_end_is_told_once_in_the_last_turn(script, more, end, turns):
    rows = told(script, "turn", "last", "end", "max_turns", **more)
    assert rows == [[n, n == turns, end if n == turns else None, 3] for n in range(1, turns + 1)]


def test_a_turn_without_a_diff_has_none_and_not_that_of_the_turn_before():
    script = CONVERGES | {"t2/implement": says("no diff")}
    assert told(script, "diff_lines", "built")[-1] == [None, None]
    assert told({}, "turn", "n_messages", "diff_lines") == [[1, 0, None]]


def test_debates_stand_in_the_order_of_the_runs_and_others_have_no_rows(tmp_path):
    for script in (STAGNATES, CONVERGES):
        debate_of(script, log_dir=tmp_path)
    log = debate_of(RUNS_OUT, log_dir=tmp_path).log_path
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:8]))
    table = debates(vp.load(tmp_path))
    assert list(table["run_id"]) == ["debate-001"] * 2 + ["debate-002"] * 2 + ["debate-003"]
    assert list(table["task"].unique()) == ["greet"]
    assert table["end"].iloc[-1] == "broken off"
    assert debates(vp.datasets.runs("stdlib-claims/adversarial")).empty


def test_without_debates_the_columns_have_the_same_types():
    full, none = debates(debate_of(CONVERGES).frames), debates(vp.RunSet())
    assert list(full.columns) == list(none.columns) == list(COLUMNS)
    pd.testing.assert_series_equal(full.dtypes, none.dtypes)


def test_it_says_whether_the_debates_are_synthetic_and_changes_nothing():
    runs = debate_of(CONVERGES, synthetic=True).frames
    before = replace(runs, messages=runs.messages.copy(), runs=runs.runs.copy())
    assert debates(runs).attrs == {"synthetic": True}
    assert debates(debate_of(CONVERGES).frames).attrs == {"synthetic": False}
    pd.testing.assert_frame_equal(runs.messages, before.messages)
    pd.testing.assert_frame_equal(runs.runs, before.runs)


def test_what_is_no_run_set_is_refused():
    with pytest.raises(InputError, match=r"runs: must be a RunSet, .* got a dict"):
        debates({"runs": 1})

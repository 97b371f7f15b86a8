"""Scores as one row a plan: runs, long and wide tables, and all that is wrong with a table at once."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from tests.frames.plan_events import records, whole
from verifyplan.analysis import weights
from verifyplan.errors import InputError, TableError
from verifyplan.frames.columns import typed
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import DIMENSIONS


def row(plan, dimension, score, by="synthesizer", refused=None):
    return {"run_id": plan, "by": by, "dimension": dimension, "score": score, "refused": refused, "weight": 0.5}


LONG = typed(
    "scores",
    pd.DataFrame(
        [
            *(row("b", name, 7) for name in DIMENSIONS),
            *(row("b", name, 1, by="challenger") for name in DIMENSIONS),
            *(row("a", name, 5) for name in reversed(DIMENSIONS[1:])),
            row("a", DIMENSIONS[0], None, refused="10 is not given without evidence"),
            row("only the challenger", DIMENSIONS[0], 9, by="challenger"),
        ]
    ),
)


def test_the_synthesizers_scores_that_count_stand_in_one_row_a_plan():
    table = weights.wide(LONG)
    assert list(table.columns) == list(DIMENSIONS)
    assert table.index.tolist() == ["b", "a"]
    assert table.loc["b"].tolist() == [7.0] * 6
    assert np.isnan(table.loc["a", DIMENSIONS[0]])
    assert table.loc["a"].tolist()[1:] == [5.0] * 5


def test_runs_their_scores_and_the_wide_table_say_the_same():
    runs = RunSet(scores=LONG)
    pd.testing.assert_frame_equal(weights.wide(runs), weights.wide(LONG))
    pd.testing.assert_frame_equal(weights.wide(weights.wide(LONG)), weights.wide(LONG))
    assert weights.wide(runs).attrs == {"synthetic": False}


def test_a_refused_score_does_not_count_even_if_it_has_a_value():
    table = weights.wide(pd.DataFrame([row("a", "wit", 9, refused="no evidence"), row("a", "depth", 3)]))
    assert np.isnan(table.loc["a", "wit"])
    assert table.loc["a", "depth"] == 3


def test_a_log_of_a_plan_run_gives_its_row():
    table = weights.wide(tables_of(records(whole()), "cache"))
    assert table.index.tolist() == ["cache"]
    assert table.loc["cache"].tolist()[:5] == [8.0] * 5
    assert np.isnan(table.loc["cache", DIMENSIONS[-1]]), "it was refused"


def test_a_dimension_that_no_plan_has_is_there_and_empty():
    table = weights.wide(LONG[LONG["dimension"] != DIMENSIONS[2]])
    assert table[DIMENSIONS[2]].isna().all()
    assert weights.wide(LONG.iloc[:0]).columns.tolist() == list(DIMENSIONS)


def test_numbers_of_any_kind_become_floats_and_the_table_given_is_not_changed():
    given = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "decimal": [Decimal("2.5"), None],
            "mixed": np.array([1, 2.5], dtype="object"),
        },
        index=[10, 11],
    )
    before = given.copy(deep=True)
    table = weights.wide(given)
    assert (table.dtypes == "float64").all()
    assert table.index.tolist() == ["10", "11"]
    assert table.loc["10"].tolist() == [1.0, 2.5, 1.0]
    pd.testing.assert_frame_equal(given, before)


def test_all_that_is_wrong_with_a_wide_table_is_told_at_once():
    table = pd.DataFrame(
        [[1.0, "x", True, np.inf, 10**400], [2.0, "y", False, 1.0, 1]],
        columns=["a", "b", "c", "d", "e"],
        index=[1, "1"],
    )
    with pytest.raises(TableError) as raised:
        weights.wide(table.set_axis(["a", "b", "c", "d", "d"], axis=1))
    assert [str(problem).split(". Fix")[0] for problem in raised.value.problems] == [
        "scores: the column 'd' occurs twice",
        "scores: the plan '1' occurs twice",
        "scores: column b: holds str, not numbers alone",
        "scores: column c: holds bool, not numbers alone",
        "scores: column d: must be finite and at most 1e+15, got inf",
        "scores: column d: must be finite and at most 1e+15, got inf",
    ]


def test_names_of_plans_in_a_column_are_to_be_the_index():
    table = pd.DataFrame({"name": ["one", "two", "six"], "topic": ["a", "a", "b"], "wit": [1, 2, 3]})
    with pytest.raises(TableError) as raised:
        weights.wide(table)
    [name, topic] = [problem.fix for problem in raised.value.problems]
    assert name.startswith("if it names the plans, make it the index: scores.set_index('name'); else give numbers")
    assert "set_index" not in topic
    assert weights.wide(table.drop(columns="topic").set_index("name")).index.tolist() == ["one", "two", "six"]


def test_all_that_is_wrong_with_a_long_table_is_told_at_once():
    table = pd.DataFrame([row("a", "wit", 1), row("a", "wit", np.inf), row(None, "wit", 2), row("a", None, 2)])
    with pytest.raises(TableError) as raised:
        weights.wide(table)
    assert [str(problem).split(". Fix")[0] for problem in raised.value.problems] == [
        "scores: column run_id: is missing in 1 row",
        "scores: column dimension: is missing in 1 row",
        "scores: column score: must be finite and at most 1e+15, got inf",
        "scores: the score 'a in wit' occurs twice",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1], "scores: must be a RunSet, a run, a path"),
        (pd.DataFrame(index=["a"]), "have no column"),
        (pd.DataFrame({"dimension": ["wit"], "score": [1]}), "has no column 'run_id'"),
        (pd.DataFrame([row("a", "wit", "7")]), "column score: holds str"),
    ],
)
def test_what_holds_no_scores_is_told_in_words(given, message):
    with pytest.raises(InputError, match=message):
        weights.wide(given)

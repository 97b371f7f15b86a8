"""Scores under weights: exact sums, half rounded up, ties, missing dimensions; the same as the rule's own score."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from verifyplan.analysis import weights
from verifyplan.errors import InputError, SettingsError, TableError
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.rules.scoring import final_score

HALVES = {"wit": "0.5", "depth": "0.5"}


def decimals(n):
    """`n` weights of four places that sum to exactly 1."""
    parts = st.lists(st.integers(0, 10_000), min_size=n, max_size=n).filter(sum)
    return parts.map(lambda found: weights.to_decimals({f"{i}": Fraction(p, sum(found)) for i, p in enumerate(found)}))


WHOLE = st_numpy.arrays(np.int64, st.tuples(st.integers(1, 6), st.just(6)), elements=st.integers(1, 10))


@given(WHOLE, decimals(6))
def test_final_is_the_rules_own_score(scores, drawn):
    chosen = dict(zip(DIMENSIONS, drawn.values(), strict=True))
    found = weights.apply(pd.DataFrame(scores, columns=list(DIMENSIONS)), chosen)
    rows = [dict(zip(DIMENSIONS, map(int, row), strict=True)) for row in scores]
    assert found["final"].tolist() == [final_score(row, chosen) for row in rows]
    sums = [sum(Fraction(chosen[name]) * row[name] for name in DIMENSIONS) for row in rows]
    assert found["score"].tolist() == [float(one) for one in sums]
    assert found["rank"].tolist() == [1 + sum(other > one for other in sums) for one in sums]


@given(
    st_numpy.arrays(np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.floats(-100, 100)), decimals(3)
)
def test_scores_that_are_not_whole_are_the_decimals_that_they_print_as(scores, chosen):
    found = weights.apply(pd.DataFrame(scores, columns=list("012")), chosen)
    sums = [sum(Fraction(repr(float(x))) * Fraction(chosen[str(i)]) for i, x in enumerate(row)) for row in scores]
    assert found["score"].tolist() == [float(one) for one in sums]
    assert found["final"].tolist() == [(2 * one + 1) // 2 for one in sums]
    assert found["rank"].tolist() == [1 + sum(other > one for other in sums) for one in sums]


@given(WHOLE, decimals(6), st.permutations(range(6)))
def test_columns_and_weights_in_another_order_give_the_same(scores, drawn, order):
    table = pd.DataFrame(scores, columns=list(drawn))
    names = [table.columns[i] for i in order]
    pd.testing.assert_frame_equal(
        weights.apply(table, drawn), weights.apply(table[names], {n: drawn[n] for n in reversed(names)})
    )


def test_a_half_is_rounded_up_where_binary_fractions_would_round_it_down():
    table = pd.DataFrame({"wit": [1.15, 2, -3], "depth": [2.85, 3, -2]})
    assert weights.apply(table, {"wit": "0.7", "depth": "0.3"})["score"].tolist() == [1.66, 2.3, -2.7]
    assert weights.apply(table, HALVES)["final"].tolist() == [2, 3, -2]
    sevens = {"a": "0.35", "b": "0.15", "c": "0.5"}
    tied = pd.DataFrame({"a": [5], "b": [5], "c": [8]})  # 6.5; the sum of the products as floats is below
    assert weights.apply(tied, sevens).loc[0, ["score", "final"]].tolist() == [6.5, 7]


def test_equal_sums_tie_and_share_the_smallest_rank():
    table = pd.DataFrame({"a": [3, 1, 2, 9], "b": [1, 2, 3, 9], "c": [2, 3, 1, 9]}, index=list("wxyz"))
    thirds = dict.fromkeys("abc", Fraction(1, 3))
    assert weights.apply(table, thirds)["rank"].tolist() == [2, 2, 2, 1]
    assert weights.apply(table * 0.1, thirds)["rank"].tolist() == [2, 2, 2, 1]


def test_a_plan_that_lacks_a_dimension_has_no_score_and_says_what_it_lacks():
    table = pd.DataFrame({"wit": [None, 2.0, None], "depth": [3.0, 4.0, None]}, index=list("abc"))
    found = weights.apply(table, {"wit": "0", "depth": "1"}).set_index("plan")
    assert found["missing"].to_dict() == {"a": "wit", "b": "", "c": "wit, depth"}
    assert found["score"].isna().tolist() == [True, False, True]
    assert found["final"].isna().tolist() == found["rank"].isna().tolist() == [True, False, True]
    assert found.loc["b", ["score", "final", "rank"]].tolist() == [4, 4, 1]


def test_without_plans_there_are_typed_columns():
    found = weights.apply(pd.DataFrame({"wit": [], "depth": []}), HALVES)
    full = weights.apply(pd.DataFrame({"wit": [1], "depth": [2]}), HALVES)
    assert len(found) == 0
    assert found.dtypes.to_dict() == full.dtypes.to_dict()
    assert full.columns.tolist() == ["plan", "score", "final", "rank", "missing"]


def test_the_default_weights_are_those_of_the_rule():
    scores = dict(zip(DIMENSIONS, (9, 3, 4, 6, 7, 2), strict=True))
    assert weights.apply(pd.DataFrame([scores]))["final"].tolist() == [final_score(scores)]


def test_positions_of_sliders_are_divided_by_their_sum():
    table = pd.DataFrame({"wit": [10], "depth": [10]})
    assert weights.apply(table, {"wit": 0.3, "depth": 0.7 - 5e-10})["score"].tolist() == [10.0]
    with pytest.raises(SettingsError, match="make them sum to exactly 1"):
        weights.apply(table, {"wit": 0.3, "depth": 0.7 - 5e-9})
    with pytest.raises(SettingsError, match="make them sum to exactly 1"):
        weights.apply(table, {"wit": Decimal("0.3"), "depth": Decimal("0.7") - Decimal("5e-10")})


def test_scores_and_weights_with_many_digits_are_still_exact():
    table = pd.DataFrame({"a": [1e15, 1e-15, 1 / 3], "b": [1e-15, 1e15, 2 / 3]})
    third = Fraction(1, 3)
    found = weights.apply(table, {"a": third, "b": 1 - third})
    sums = [Fraction(repr(a)) * third + Fraction(repr(b)) * (1 - third) for a, b in table.itertuples(index=False)]
    assert found["score"].tolist() == [float(one) for one in sums]


def test_marks_of_generated_data_stay():
    table = pd.DataFrame({"wit": [1], "depth": [2]})
    table.attrs = {"synthetic": True, "other": 1}
    assert weights.apply(table, HALVES).attrs == {"synthetic": True}


def test_what_is_wrong_with_scores_and_weights_is_told_together():
    with pytest.raises(InputError) as raised:
        weights.apply(pd.DataFrame({"wit": ["x"], "depth": [1]}), {"wit": "0.5", "depth": "x"})
    assert [problem.place for problem in raised.value.problems] == ["scores: column wit", "weights.depth"]
    with pytest.raises(SettingsError) as raised:
        weights.apply(pd.DataFrame({"wit": [1], "depth": [1]}), {"witt": "0.5", "depth": -0.5})
    assert [problem.message for problem in raised.value.problems] == [
        "is not a dimension of these scores (did you mean 'wit'?)",
        "is missing",
        "must be at least 0, got -0.5",
    ]
    with pytest.raises(TableError, match="holds str"):
        weights.apply(pd.DataFrame({"wit": ["x"]}), {"wit": 1})
    with pytest.raises(
        SettingsError, match=r"the default ones are for other dimensions\. Fix: give 'equal', or a weight"
    ):
        weights.apply(pd.DataFrame({"wit": [1]}))


def test_equal_weights_for_dimensions_of_ones_own_are_exact_and_one_call():
    table = pd.DataFrame({"wit": [1, 3], "depth": [1, 3], "length": [2, 3]}, index=["a", "b"])
    found = weights.apply(table, "equal")
    assert found["score"].tolist() == [float(Fraction(4, 3)), 3.0]
    third = dict.fromkeys(table, Fraction(1, 3))
    assert found.equals(weights.apply(table, third))
    assert weights.sensitivity(table, "equal").equals(weights.sensitivity(table, third))
    assert weights.rank_stability(table, "equal", draws=20).equals(weights.rank_stability(table, third, draws=20))
    equal, given = (weights.stability_measures(table, each, draws=20) for each in ("equal", third))
    assert equal.equals(given)
    assert weights.apply(table, weights.presets(table)["equal"])["rank"].tolist() == [2, 1]
    with pytest.raises(SettingsError, match=r"weights: are a str, not a mapping\. Fix: give a mapping .*presets"):
        weights.apply(table, "default")
    with pytest.raises(SettingsError, match=r"weights: are a str, not a mapping\. Fix: give a mapping .*presets"):
        weights.to_decimals("equal")


def test_a_fit_counts_the_columns_that_it_was_fitted_to_and_equal_weights_name_those_that_count():
    table = pd.DataFrame({"wit": [1, 2, 3, 4, 5, 9], "depth": [2, 9, 1, 5, 3, 4], "human": [1, 4, 2, 5, 4, 7]})
    fit = weights.fit(table, "human", resamples=5)
    found = weights.apply(table, fit)
    pd.testing.assert_frame_equal(found, weights.apply(table[["wit", "depth"]], fit.exact()), check_flags=False)
    assert found.attrs["dimensions"] == ["wit", "depth"]
    assert weights.sensitivity(table, fit)["dimension"].unique().tolist() == ["wit", "depth"]
    assert weights.rank_stability(table, fit, draws=20)["rank"].equals(found["rank"])
    assert weights.apply(table, "equal").attrs["dimensions"] == ["wit", "depth", "human"]
    with pytest.raises(SettingsError, match=r"weights\.human: is missing\. Fix: .* or leave the column out"):
        weights.apply(table, fit.exact())


def test_equal_weights_of_a_table_with_a_column_of_words_are_one_error():
    with pytest.raises(
        TableError, match=r"column author: holds str, not numbers alone.*leave the column out"
    ) as caught:
        weights.apply(pd.DataFrame({"wit": [1, 2], "author": ["ann", "bob"]}), "equal")
    assert len(caught.value.problems) == 1


def test_a_fit_of_dimensions_of_different_ranges_puts_them_on_one_scale_first():
    draws = np.random.default_rng(4)
    table = pd.DataFrame({"wit": draws.integers(1, 11, 30), "percent": draws.integers(0, 101, 30)})
    judged = 0.5 * table["wit"] + 0.05 * table["percent"]
    fit = weights.fit(table, judged, resamples=5, ranges={"wit": (0, 10), "percent": (0, 100)})
    found = weights.apply(table, fit)
    assert found["rank"].tolist() == judged.round(6).rank(ascending=False, method="min").tolist()
    assert np.allclose(found["score"], 1 + 9 * judged / 10)
    assert found.attrs["rescaled"] == fit.ranges
    assert weights.rank_stability(table, fit, draws=20)["rank"].equals(found["rank"])
    assert weights.sensitivity(table, fit)["base_rank"].head(30).equals(found["rank"])
    assert "the ranges of the dimensions differ" in str(fit)


def test_a_fit_of_dimensions_of_one_range_leaves_scores_as_they_are():
    table = pd.DataFrame({"wit": [0, 4, 7, 9], "depth": [2, 9, 1, 0]})
    fit = weights.fit(table, [1, 6, 5, 6], resamples=5, ranges=dict.fromkeys(table, (0, 10)))
    assert weights.apply(table, fit)["score"].equals(weights.apply(table, fit.exact())["score"])
    assert "rescaled" not in weights.apply(table, fit).attrs
    assert "the ranges of the dimensions differ" not in str(fit)


def test_equal_weights_of_dimensions_of_different_scales_warn(capsys):
    plans = ["a", "b", "c"]
    mixed = pd.DataFrame({"safe": [0.9, 0.1, None], "zero": [0, 0, 0], "depth": [10, 98, 50]}, index=plans)
    weights.apply(mixed, "equal")
    said = capsys.readouterr().err
    assert "the largest score of 'safe' is 0.9, that of 'depth' 98, which outweighs it. Put the dimensions on" in said
    weights.sensitivity(mixed, "equal")
    assert said == capsys.readouterr().err
    weights.apply(mixed / mixed.max().replace(0, 1), "equal")
    weights.apply(pd.DataFrame({"wit": [2.1, 1], "depth": [10, 9]}), "equal")
    weights.apply(mixed, {"safe": "0.5", "zero": "0.2", "depth": "0.3"})
    assert capsys.readouterr().err == ""

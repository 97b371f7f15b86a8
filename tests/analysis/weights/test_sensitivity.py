"""Each weight lowered and raised alone: the others give way, and the scores are those under the weights so made."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.analysis import weights
from verifyplan.errors import SettingsError

PARTS = st.lists(st.integers(0, 100), min_size=1, max_size=5).filter(sum)
TABLE = pd.DataFrame({"a": [7.0, 5, 5], "b": [4, 6, 6], "c": [1, 2, np.nan]}, index=list("xyz"))
CENTRE = {"a": "0.6", "b": "0.4", "c": "0"}


@settings(max_examples=examples(100))
@given(PARTS, st.sampled_from([0.05, 0.1, 0.3, 1]))
def test_every_row_is_what_the_rebalanced_weights_give(parts, by):
    exact = {f"d{i}": Fraction(part, sum(parts)) for i, part in enumerate(parts)}
    cells = np.random.default_rng(0).integers(1, 11, size=(4, len(parts)))
    table = pd.DataFrame(cells, columns=list(exact), index=list("wxyz"))
    found = weights.sensitivity(table, exact, by=by)
    assert len(found) == 4 * 2 * len(exact)
    base = weights.apply(table, exact)
    for (name, direction), part in found.groupby(["dimension", "direction"]):
        to = exact[name] + (Fraction(str(by)) if direction == "higher" else -Fraction(str(by)))
        changed = weights.rebalance(exact, name, min(max(to, Fraction(0)), Fraction(1)))
        assert 0 <= part["weight"].iloc[0] <= 1
        assert part["weight"].unique().tolist() == [float(changed[name])]
        there = weights.apply(table, changed)
        assert part[["score", "rank"]].to_numpy().tolist() == there[["score", "rank"]].to_numpy().tolist()
        assert part[["base_score", "base_rank"]].to_numpy().tolist() == base[["score", "rank"]].to_numpy().tolist()


def test_a_weight_stays_within_0_and_1():
    found = weights.sensitivity(TABLE, CENTRE, by=0.5).drop_duplicates(["dimension", "direction"])
    told = found.set_index(["dimension", "direction"])["weight"].to_dict()
    assert told == {
        ("a", "lower"): 0.1, ("a", "higher"): 1.0, ("b", "lower"): 0.0, ("b", "higher"): 0.9, ("c", "lower"): 0.0,
        ("c", "higher"): 0.5,
    }  # fmt: skip


def test_a_weight_of_1_gives_way_to_all_others_evenly():
    found = weights.sensitivity(TABLE.iloc[:1], {"a": 1, "b": 0, "c": 0}, by=0.5)
    lower = found[(found["dimension"] == "a") & (found["direction"] == "lower")]
    assert lower["score"].tolist() == [0.5 * 7 + 0.25 * 4 + 0.25 * 1]


def test_a_single_dimension_has_nothing_to_give_way():
    found = weights.sensitivity(TABLE[["a"]], {"a": 1})
    assert found["weight"].eq(1).all()
    assert (found["score"] == found["base_score"]).all()


def test_a_plan_without_a_score_has_rows_without_values():
    found = weights.sensitivity(TABLE, CENTRE)
    assert found.columns.tolist() == [
        "plan", "dimension", "direction", "weight", "score", "rank", "base_score", "base_rank",
    ]  # fmt: skip
    lacking = found[found["plan"] == "z"]
    assert len(lacking) == 6
    assert lacking[["score", "rank", "base_score", "base_rank"]].isna().all(axis=None)
    assert found.loc[found["plan"] != "z", "rank"].notna().all()
    assert found.attrs == {"by": 0.1}


def test_without_plans_there_are_no_rows():
    found = weights.sensitivity(TABLE.iloc[:0], CENTRE)
    assert len(found) == 0
    assert found.dtypes.to_dict() == weights.sensitivity(TABLE, CENTRE).dtypes.to_dict()


@pytest.mark.parametrize("by", [0, -0.1, 1.01, float("nan"), True, "0.1", 10**400, None, Decimal("0.1")])
def test_a_step_that_is_none_is_told_in_words(by):
    with pytest.raises(SettingsError, match=r"by: .* is out of range. Fix: give a number above 0 and up to 1"):
        weights.sensitivity(TABLE, CENTRE, by=by)

"""Weights on the simplex: presets, decimals, moving one of them; whatever is done, they sum to exactly 1."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.analysis import weights
from verifyplan.errors import SettingsError
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.rules.scoring import WEIGHTS, check_weights


@st.composite
def simplexes(draw, least=1):
    """Weights of any number of dimensions, as exact fractions."""
    parts = draw(st.lists(st.integers(0, 1000), min_size=least, max_size=8).filter(sum))
    return {f"d{i}": Fraction(part, sum(parts)) for i, part in enumerate(parts)}


def test_presets_are_what_the_rules_take():
    found = weights.presets()
    assert found["default"] == WEIGHTS
    assert sorted(found["equal"].values()) == [Decimal("0.1666")] * 2 + [Decimal("0.1667")] * 4
    for preset in found.values():
        assert list(preset) == list(DIMENSIONS)
        assert sum(preset.values()) == 1
        check_weights(preset)


def test_presets_are_no_ones_to_change():
    weights.presets()["default"]["risk_coverage"] = Decimal(1)
    assert weights.presets()["default"]["risk_coverage"] == Decimal("0.20")


def test_other_dimensions_have_equal_weights_alone():
    assert weights.presets(["wit", "depth", "wit"]) == {"equal": {"wit": Decimal("0.5"), "depth": Decimal("0.5")}}
    with pytest.raises(SettingsError, match="name at least one"):
        weights.presets([])


@given(simplexes(), st.integers(0, 12))
def test_decimals_sum_to_exactly_1_and_none_is_off_by_a_unit(exact, places):
    found = weights.to_decimals(exact, places)
    assert sum(found.values()) == 1
    assert list(found) == list(exact)
    for name, weight in found.items():
        assert weight >= 0
        assert weight == round(weight, places)
        assert abs(Fraction(weight) - exact[name]) < Fraction(1, 10**places)


def test_what_rounding_leaves_goes_to_those_that_lost_most_and_first_to_the_first():
    assert weights.to_decimals({"a": 0.334, "b": 0.337, "c": 0.329}, 2) == {
        "a": Decimal("0.33"),
        "b": Decimal("0.34"),
        "c": Decimal("0.33"),
    }
    thirds = dict.fromkeys("abc", Fraction(1, 3))
    assert list(weights.to_decimals(thirds, 1).values()) == [Decimal("0.4"), Decimal("0.3"), Decimal("0.3")]


@given(simplexes(), st.data())
def test_a_moved_weight_stays_on_the_simplex_and_the_others_in_proportion(exact, data):
    name = data.draw(st.sampled_from(sorted(exact)))
    locked = data.draw(st.sets(st.sampled_from(sorted(exact))).map(lambda found: found - {name}))
    to = data.draw(st.fractions(0, 1))
    found = weights.rebalance(exact, name, to, locked=locked)
    assert sum(found.values()) == 1
    assert all(0 <= weight <= 1 for weight in found.values())
    assert all(found[one] == exact[one] for one in locked)
    free = [one for one in exact if one != name and one not in locked]
    assert all(found[a] * exact[b] == found[b] * exact[a] for a in free for b in free)
    room = 1 - sum(exact[one] for one in locked)
    assert found[name] == (min(to, room) if free else room)


@given(simplexes(least=2), st.fractions(0, Fraction(99, 100)))
def test_a_weight_moved_there_and_back_loses_nothing(exact, to):
    if exact["d0"] < 1:
        assert weights.rebalance(weights.rebalance(exact, "d0", to), "d0", exact["d0"]) == exact


def test_others_that_are_all_0_share_evenly():
    assert weights.rebalance({"a": "1", "b": "0", "c": "0"}, "a", "0.5") == {
        "a": Fraction(1, 2),
        "b": Fraction(1, 4),
        "c": Fraction(1, 4),
    }


def test_a_series_of_binary_fractions_that_nearly_sum_to_1_is_taken():
    given = pd.Series({"a": 0.1, "b": 0.2, "c": 0.7 - 4e-10})
    found = weights.rebalance(given, "a", np.float64(0.1))
    assert sum(found.values()) == 1


@pytest.mark.parametrize(
    ("given", "place", "message"),
    [
        ({"a": "0.5", "b": "0.4999999999"}, "weights", "sum to 0.9999999999"),
        ({"a": 0.5, "b": 0.499999998}, "weights", "sum to 0.999999998"),
        ({"a": "-0.5", "b": "1.5"}, "weights.a", "must be at least 0, got '-0.5'"),
        ({"a": True}, "weights.a", "must be a number from 0 to 1, got True"),
        ({"a": float("nan")}, "weights.a", "got nan"),
        ({"a": Decimal("Infinity")}, "weights.a", "got Decimal('Infinity')"),
        ({"a": "1/3"}, "weights.a", "got '1/3'"),
        ({"a": "1e999999999"}, "weights.a", "got '1e999999999'"),
        ({"a": "1e-999999999"}, "weights.a", "must be a number from 0 to 1, got "),
        ({"a": "0." + "3" * 100_000}, "weights.a", "must be a number from 0 to 1, got "),
        ({"a": 10**4000}, "weights.a", "must be a number from 0 to 1, got "),
        ({"a": None}, "weights.a", "got None"),
        ({}, "weights", "must not be empty"),
        (["0.5"], "weights", "are a list, not a mapping"),
    ],
)
def test_invalid_weights_are_refused_in_words(given, place, message):
    with pytest.raises(SettingsError, match="Fix: ") as raised:
        weights.to_decimals(given)
    [problem] = raised.value.problems
    assert problem.place == place
    assert message in problem.message
    assert len(problem.message) < 200


def test_what_cannot_be_moved_is_told_at_once():
    with pytest.raises(SettingsError) as raised:
        weights.rebalance({"a": 1}, "x", "much", locked=["y", "x"])
    assert {problem.place: problem.message for problem in raised.value.problems} == {
        "locked": "'y' has no weight",
        "dimension": "'x' is locked",
        "to": "must be a number from 0 to 1, got 'much'",
    }
    with pytest.raises(SettingsError, match="16 is out of range"):
        weights.to_decimals({"a": 1}, 16)

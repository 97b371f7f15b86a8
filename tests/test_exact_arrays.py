"""Lists that certainly fit their columns become the arrays that pandas would make of them, and no others are taken."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.columns import Column, fitted
from verifyplan.errors import TableError

COLUMNS = (
    Column("id", "text", "the id", key=True),
    Column("class", ("a", "b"), "a closed set"),
    Column("n", "whole", "a count"),
    Column("x", "number", "a measure"),
    Column("yes", "yesno", "an answer"),
    Column("at", "time", "a time"),
    Column("names", "names", "names"),
    Column("absent", "text", "not given"),
    Column("filled", "whole", "a default", default=1),
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "class": st.sampled_from(["a", "b", None]),
    "n": st.integers(-(2**62), 2**62) | st.none(),
    "x": st.floats() | st.integers(-9, 9) | st.none(),
    "yes": st.booleans() | st.none(),
    "at": st.datetimes().map(lambda at: f"{at.isoformat(timespec='milliseconds')}+00:00") | st.none(),
    "names": st.lists(st.text(max_size=2), max_size=2),
}
ROWS = st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=5)


def _lists(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    columns = {name: [row[name] for row in rows] for name in VALUES}
    return {"id": [f"F-{number}" for number in range(len(rows))], **columns}


@given(ROWS)
def test_lists_give_the_table_that_a_data_frame_gives(rows):
    lists = _lists(rows)
    frame = pd.DataFrame({name: pd.Series(values, dtype="object") for name, values in lists.items()})
    pd.testing.assert_frame_equal(fitted(COLUMNS, lists, "t"), fitted(COLUMNS, frame, "t"))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("id", None, "is missing in 1 of 1 rows"),
        ("class", "c", "holds .c."),
        ("n", 2**63, "does not fit its type"),
        ("n", "many", "does not fit its type"),
        ("x", "much", "does not fit its type"),
        ("at", "2026-02-30T00:00:00.000+00:00", "does not fit its type"),
        ("names", "ann", "does not fit its type"),
    ],
)
def test_values_that_do_not_fit_are_refused_in_the_same_words(name, value, words):
    lists = {"id": ["F-1"]} | {name: [value]}
    with pytest.raises(TableError, match=words) as of_lists:
        fitted(COLUMNS, lists, "t")
    with pytest.raises(TableError) as of_frame:
        fitted(COLUMNS, pd.DataFrame(lists), "t")
    assert of_lists.value.problems == of_frame.value.problems


def test_a_repeated_key_is_refused():
    with pytest.raises(TableError, match="1 rows repeat the key of another, the first at id F"):
        fitted(COLUMNS, {"id": ["F", "F"]}, "t")

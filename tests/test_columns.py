"""Lists become columns of the declared types, with their values exactly as they are, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
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
def test_lists_keep_their_values_in_columns_of_the_declared_types(rows):
    lists = _lists(rows)
    table = fitted(COLUMNS, lists, "t")
    assert table.dtypes.to_dict() == {column.name: column.dtype for column in COLUMNS}
    for name in ("id", "class", "n", "yes", "names"):
        assert table[name].astype("object").where(table[name].notna(), None).tolist() == lists[name]
    np.testing.assert_array_equal(table["x"], np.array(lists["x"], dtype="float64"))
    assert [None if pd.isna(at) else at.isoformat(timespec="milliseconds") for at in table["at"]] == lists["at"]
    assert table["absent"].isna().all()
    assert table["filled"].eq(1).all()


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
def test_values_that_do_not_fit_are_refused(name, value, words):
    with pytest.raises(TableError, match=words):
        fitted(COLUMNS, {"id": ["F-1"]} | {name: [value]}, "t")


def test_a_repeated_key_is_refused():
    with pytest.raises(TableError, match="1 rows repeat the key of another, the first at id F"):
        fitted(COLUMNS, {"id": ["F", "F"]}, "t")

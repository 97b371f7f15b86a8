"""Numbers of names and rows are those of pandas, sorted or not, missing or not (rule E4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.frames.codes import coded, first_rows, joined, row_numbers

ROWS = st.lists(st.tuples(st.sampled_from(["r", "s", None]), st.integers(-1, 2)), max_size=12)


@given(ROWS, st.sampled_from(["str", "object", "category"]))
def test_rows_are_numbered_in_order_of_appearance(rows, dtype):
    table = pd.DataFrame(rows, columns=["run", "round"]).astype({"run": dtype, "round": "int64"})
    found = row_numbers(table["run"], table["round"].to_numpy())
    known = dict.fromkeys(rows)
    assert found.tolist() == [[*known].index(row) for row in rows]
    assert first_rows(found).tolist() == np.flatnonzero(~table.duplicated()).tolist()


@given(st.lists(st.integers(-1, 4), max_size=9))
def test_first_rows_leave_missing_values_out(values):
    codes = pd.factorize(np.where(np.array(values, dtype=float) < 0, np.nan, values))[0]
    assert first_rows(codes).tolist() == [codes.tolist().index(code) for code in range(codes.max(initial=-1) + 1)]


@given(st.lists(st.tuples(*[st.sampled_from(["a", " a ", "a/b", "b", "b/a", 1, 1.0, "", None])] * 2), max_size=8))
def test_joined_names_are_those_of_their_rows(rows):
    parts = [coded(pd.Series(values, dtype="object")) for values in zip(*rows, strict=True)] if rows else []
    if not parts:
        return
    found = joined(parts).texts.tolist()
    expected = [None if None in row else row for row in zip(*(part.texts for part in parts), strict=True)]
    assert [name is None for name in found] == [row is None for row in expected]
    assert len({name for name in found if name}) == len({row for row in expected if row})


def test_lists_are_no_names():
    with pytest.raises(TypeError):
        coded(pd.Series([["a"], ["b"]]))

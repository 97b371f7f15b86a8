"""A table of which constant columns are not decoded is the table that the file holds."""

from __future__ import annotations

from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.frames.constant_columns import constants, read_all

VALUES = {
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int32(), st.integers(-1, 1)),
    "flag": (pa.bool_(), st.booleans()),
    "fraction": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, float("inf")])),
    "text": (pa.large_string(), st.text(max_size=2)),
    "names": (pa.list_(pa.string()), st.lists(st.sampled_from(["a", "b"]), max_size=2)),
    "a.b": (pa.int64(), st.integers(0, 1)),
}


def columns(n: int) -> st.SearchStrategy[pa.Table]:
    """Return tables of `n` rows, of whose columns many are constant, or hold nothing."""
    made = {}
    for name, (kind, values) in VALUES.items():
        same = (values | st.none()).map(lambda value: [value] * n)
        lists = same | st.lists(values | st.none(), min_size=n, max_size=n)
        made[name] = lists.map(lambda each, kind=kind: pa.array(each, kind))
    return st.fixed_dictionaries({}, optional=made).map(pa.table)


def written(table: pa.Table, **options: int | bool) -> pq.ParquetFile:
    """Return the file of a table."""
    stream = BytesIO()
    pq.write_table(table, stream, **options)
    return pq.ParquetFile(stream)


@pytest.mark.parametrize("options", [{}, {"row_group_size": 2}, {"write_statistics": False}], ids=str)
@given(data=st.data())
def test_a_table_is_read_as_it_is(options, data):
    table = data.draw(columns(data.draw(st.integers(1, 5))))
    file = written(table, **options)
    if table.num_columns:
        assert read_all(file).equals(file.read())


def test_columns_of_one_number_or_of_nothing_are_constant():
    none = pa.nulls(2, pa.string())
    table = pa.table({"one": [3, 3], "none": none, "two": [1, 2], "some": [1, None], "text": ["a", "a"]})
    assert constants(written(table)) == {"one": 3, "none": None}
    assert constants(written(table, row_group_size=1)) == {"one": 3, "none": None}
    assert constants(written(table, write_statistics=False)) == {}


def test_two_columns_of_one_name_are_both_read():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert read_all(written(table)).equals(table)

"""Numbers of texts and rows are those of pandas, sorted or not, missing or not, in one chunk or several."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.frames import text_codes
from verifyplan.frames.text_codes import by_appearance, first_rows, numbered, numbered_rows

repeated = st.lists(st.tuples(st.sampled_from(["a", "b", "bb", "", "é", None]), st.integers(1, 4)), max_size=8).map(
    lambda runs: [text for text, times in runs for _ in range(times)]
)


@given(repeated, st.booleans())
def test_texts_are_numbered_as_pandas_does(texts, in_order):
    texts = sorted(texts, key=lambda text: (text is None, text)) if in_order else texts
    series = pd.Series(texts, dtype="str")
    assert numbered(series).tolist() == pd.factorize(series)[0].tolist()
    assert numbered(series.astype("category")).tolist() == pd.factorize(series)[0].tolist()
    halves = pa.chunked_array([pa.array(texts[:2], pa.large_string()), pa.array(texts[2:], pa.large_string())])
    codes, names = text_codes.text_codes(halves)
    named = [*names.to_pylist(), None]
    assert [named[code] for code in codes] == texts


@pytest.mark.parametrize("n_texts", [5, 126, 127, 128, 200])
@pytest.mark.parametrize("rows", [2, 10_000])
def test_how_many_rows_are_looked_at_first_or_at_once_changes_nothing(rows, n_texts, monkeypatch):
    monkeypatch.setattr(text_codes, "SAMPLE_ROWS", rows)
    monkeypatch.setattr(text_codes, "BLOCK_ROWS", 10 * rows)
    texts = pd.Series(["a", "a", *(f"{n % n_texts}" for n in range(500)), None, None, "a"], dtype="str")
    assert numbered(texts).tolist() == pd.factorize(texts)[0].tolist()


@given(st.lists(st.tuples(st.sampled_from("rst"), st.integers(-2, 2)), max_size=12), st.booleans())
def test_rows_are_numbered_in_order_of_appearance(rows, in_order):
    rows = sorted(rows) if in_order else rows
    table = pd.DataFrame(rows, columns=["run", "round"]).astype({"run": "str", "round": "Int64"})
    expected = table.groupby(["run", "round"], sort=False).ngroup()
    found = numbered_rows([table["run"], table["round"]])
    assert found.tolist() == expected.tolist()
    assert first_rows(found).tolist() == np.flatnonzero(~table.duplicated()).tolist()


@given(st.lists(st.integers(-1, 4), max_size=9), st.booleans())
def test_codes_are_numbered_by_appearance(codes, in_order):
    codes = np.array(sorted(codes) if in_order else codes, dtype=np.int64)
    found, order = by_appearance(codes, 5)
    expected, different = pd.factorize(np.where(codes < 0, np.nan, codes))
    assert found.tolist() == expected.tolist()
    assert order.tolist() == different.tolist()

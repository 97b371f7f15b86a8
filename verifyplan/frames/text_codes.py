"""Number texts and rows in order of appearance, at once where they repeat row after row, as in sorted tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

SAMPLE_ROWS = 10_000
"""Whether texts repeat row after row, and how many are different, is guessed from so many rows."""

BLOCK_ROWS = 2**16
"""Where few texts are different, so many are looked at a time."""

MAX_FEW = 2**7
"""Few different texts have at most so many codes, the missing one among them: a byte each."""


def text_codes(texts: Any) -> tuple[Array, Any]:
    """Return the code of each of some Arrow texts, -1 where it is missing, and the different texts by code.

    Where they repeat row after row, only the first of each such run is looked at; the codes of a dictionary
    array without missing ones are its own.

    >>> text_codes(pa.array(["b", "b", None, "a"]))[0].tolist()
    [0, 0, -1, 1]
    """
    if pa.types.is_dictionary(texts.type):
        return np.asarray(texts.indices), texts.dictionary
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    starts = _starts(texts) if 2 * len(_starts(texts[:SAMPLE_ROWS])) <= min(len(texts), SAMPLE_ROWS) else None
    values = texts if starts is None else texts.take(pa.array(starts))
    if _rise(values[:SAMPLE_ROWS]) and _rise(values):  # and so all are different
        codes, names = np.arange(len(values), dtype=np.min_scalar_type(-max(len(values), 1))), values
    else:
        codes, names = _codes_of_few(values) or _encoded(values)
    return codes if starts is None else codes.repeat(np.diff(starts, append=len(texts))), names


def arrow_texts(values: pd.Series[Any]) -> Any:
    """Return a column of texts for Arrow: a dictionary array where none is missing and it has codes."""
    coded = getattr(values.array, "coded", None)
    return pa.array(values) if coded is None else coded


def texts_if_all(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of objects as one of texts if all are texts or missing; any other column as it is.

    >>> [str(texts_if_all(pd.Series(values, dtype="object")).dtype) for values in (["a", None], ["a", 1])]
    ['str', 'object']
    """
    if values.dtype != "object" or pd.api.types.infer_dtype(values, skipna=True) != "string":
        return values
    dtype: Any = pd.StringDtype("pyarrow", na_value=np.nan)
    texts = pa.array(values, pa.large_string(), from_pandas=True)
    return pd.Series(dtype.construct_array_type()(texts, dtype=dtype), index=values.index, name=values.name)


def _rise(texts: Any) -> bool:
    """Return whether each text is after the one before, and none is missing."""
    return not texts.null_count and bool(pc.all(pc.less(texts[:-1], texts[1:]), min_count=0).as_py())


def _starts(texts: Any) -> Array:
    """Return the rows whose text is another than in the row before, or missing."""
    differs = pc.not_equal(texts[1:], texts[:-1]).fill_null(True)
    return np.flatnonzero(np.append(True, differs.to_numpy(zero_copy_only=False)))


def _codes_of_few(texts: Any) -> tuple[Array, Any] | None:
    """Return the same as `_encoded`, block by block, so that all but a byte a text is for one block; None for many."""
    known = pa.concat_arrays([pa.nulls(1, texts.type), texts[:SAMPLE_ROWS].drop_null().unique()])
    codes = np.empty(len(texts), dtype=np.int8)
    for start in range(0, len(texts), BLOCK_ROWS):
        block = texts[start : start + BLOCK_ROWS]
        found = pc.index_in(block, value_set=known)
        if found.null_count:  # texts that no row before had
            known = pa.concat_arrays([known, block.filter(found.is_null()).unique()])
            found = pc.index_in(block, value_set=known)
        if len(known) > MAX_FEW:
            return None
        np.subtract(found, 1, out=codes[start : start + BLOCK_ROWS], casting="unsafe")
    return codes, known[1:]


def _encoded(texts: Any) -> tuple[Array, Any]:
    """Return the code of each text, -1 where it is missing, and the different texts, in order of appearance."""
    encoded = pc.dictionary_encode(texts, null_encoding="encode")
    names, indices = encoded.dictionary, np.asarray(encoded.indices)
    if names.null_count:
        missing = np.asarray(names.is_null())
        code = np.cumsum(~missing, dtype=np.int32) - np.int32(1)
        code[missing] = -1
        indices = code.take(indices)
    return indices, names.drop_null()


def numbered(values: Any) -> Ints:
    """Return values as numbers from 0 in order of appearance, -1 where one is missing, as `pandas.factorize` does.

    >>> numbered(pd.Series(["b", "b", None, "a"])).tolist()
    [0, 0, -1, 1]
    """
    if _is_text(values):
        return text_codes(arrow_texts(values))[0].astype(np.int64)
    if isinstance(values, pd.Series) and pd.api.types.is_integer_dtype(values.dtype) and not values.hasnans:
        values = values.to_numpy(dtype=np.int64)
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        codes, names = values.cat.codes.to_numpy(), values.cat.categories
        if len(names) <= len(codes):
            return by_appearance(codes, len(names))[0].astype(np.int64)
        values = codes if codes.min(initial=0) >= 0 else values
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and (values[1:] >= values[:-1]).all():
        if len(values) and values[0] == values[-1]:
            return np.zeros(len(values), dtype=np.int64)
        return np.cumsum(np.append(0, values[1:] != values[:-1]))[: len(values)].astype(np.int64)
    return np.asarray(pd.factorize(values)[0], dtype=np.int64)


def by_appearance(codes: Array, n: int) -> tuple[Array, Ints]:
    """Return codes below n, -1 for a missing one, numbered anew by appearance, and the code that each number had.

    >>> by_appearance(np.array([2, 2, -1, 0]), 3)
    (array([ 0,  0, -1,  1], dtype=int8), array([2, 0]))
    """
    if len(codes) and codes[0] >= 0 and (codes[1:] >= codes[:-1]).all():
        order = codes[np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))].astype(np.int64)
    else:
        first = np.full(n + 1, len(codes), dtype=np.int64)  # the last is that of missing ones
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        order = np.argsort(first[:-1], kind="stable")[: np.count_nonzero(first[:-1] < len(codes))]
    place = np.full(n + 1, -1, dtype=index_type(len(order)))
    place[order] = np.arange(len(order))
    return place[codes], order


def index_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the type of the codes of n names: equal columns then have equal codes."""
    return np.int8 if n < 2**7 else np.int32


def any_missing(values: pd.Series[Any]) -> bool:
    """Return whether any value of a column is missing; names that are codes are not looked at.

    >>> any_missing(pd.Series(["a", None]))
    True
    """
    return getattr(values.array, "coded", None) is None and bool(values.isna().any())


def are_equal(first: pd.Series[Any], second: pd.Series[Any]) -> bool:
    """Return whether two columns have the same values, row by row; names that are codes are compared by these.

    >>> are_equal(pd.Series(["a", "b"]), pd.Series(["a", "c"]))
    False
    """
    codes, others = (getattr(values.array, "coded", None) for values in (first, second))
    if codes is None or others is None:
        return bool(first.array.equals(second.array))
    return codes is others or bool(codes.equals(others))


def numbered_names(values: pd.Series[Any]) -> tuple[Ints, list[str]]:
    """Return names as numbers from 0 in order of appearance, none of which is missing, and the different names.

    >>> numbered_names(pd.Series(["b", "b", "a"]))
    (array([0, 0, 1]), ['b', 'a'])
    """
    numbers = numbered(values)
    return numbers, list(map(str, values.iloc[first_rows(numbers)].tolist()))


def whole_numbers(values: pd.Series[Any]) -> Ints:
    """Return a column of whole numbers, none of which is missing, as an array.

    >>> whole_numbers(pd.Series(["1", "2"]))
    array([1, 2])
    """
    numbers = values if pd.api.types.is_integer_dtype(values.dtype) else pd.to_numeric(values)
    return numbers.to_numpy(dtype=np.int64)


def positions(values: pd.Series[Any], places: Mapping[Any, int], kind: type[np.integer[Any]] = np.int64) -> Array:
    """Return the place of each value among some; -1 for one that is missing or not among them.

    >>> positions(pd.Series(["b", None, "a"], dtype="category"), {"a": 0, "b": 1}).tolist()
    [1, -1, 0]
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, names = values.cat.codes.to_numpy(), values.cat.categories
    else:
        codes, names = pd.factorize(values)
    return np.array([*(places.get(name, -1) for name in names), -1], dtype=kind)[codes]


def numbered_rows(columns: Sequence[Any]) -> Ints:
    """Return the number of each row of some columns, equal rows alike, in order of appearance; nothing is missing.

    >>> numbered_rows([pd.Series(["r", "r", "s"]), pd.Series([1, 1, 1])]).tolist()
    [0, 0, 1]
    """
    codes = [_codes(column) for column in columns]
    if len(columns[0]) and all((each[1:] >= each[:-1]).all() for each in codes):  # equal rows are side by side
        differs = np.logical_or.reduce([each[1:] != each[:-1] for each in codes])
        return np.append(0, differs).cumsum(dtype=np.int64)
    first, *others = (
        each if _is_text(column) else numbered(column) for column, each in zip(columns, codes, strict=True)
    )
    combined = first.astype(np.int64)
    for numbers in others:
        if numbers.any():
            combined = numbered(combined * (int(numbers.max(initial=0)) + 1) + numbers)
    return combined


def _is_text(column: Any) -> bool:
    return isinstance(column, pd.Series) and isinstance(column.dtype, pd.StringDtype)


def _codes(column: Any) -> Array:
    """Return whole numbers that are equal where the values of a column are: the codes of texts, in order."""
    if _is_text(column):
        return text_codes(arrow_texts(column))[0]
    if isinstance(column, pd.Series) and pd.api.types.is_integer_dtype(column.dtype) and not column.hasnans:
        return column.to_numpy(dtype=np.int64)
    return column.cat.codes.to_numpy() if isinstance(column.dtype, pd.CategoricalDtype) else numbered(column)


def shared_numbers(*columns: pd.Series[Any]) -> list[Ints]:
    """Return columns of texts as numbers from 0, equal texts alike in all columns; -1 where one is missing.

    >>> [numbers.tolist() for numbers in shared_numbers(pd.Series(["a", "b"]), pd.Series(["b", None]))]
    [[0, 1], [1, -1]]
    """
    texts = (each if isinstance(each.dtype, pd.StringDtype) else each.astype("str") for each in columns)
    parts = [pa.array(each, pa.large_string()) for each in texts]
    chunks = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    coded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
    numbers = np.asarray(coded.indices.fill_null(-1)).astype(np.int64)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def row_numbers(*columns: Ints) -> Ints:
    """Return a number for each row of columns of numbers from -1, from 0 in order of appearance, equal rows alike.

    >>> row_numbers(np.array([7, 7, -1]), np.array([1, 1, 1])).tolist()
    [0, 0, 1]
    """
    together, size = columns[0], int(columns[0].max(initial=-1)) + 2
    for column in columns[1:]:
        width = int(column.max(initial=-1)) + 2
        if size * width >= 2**62:
            together = np.asarray(pd.factorize(together)[0], dtype=np.int64)
            size = len(together) + 1
        together, size = together * width + column + 1, size * width
    return np.asarray(pd.factorize(together, use_na_sentinel=False)[0], dtype=np.int64)


def rows_of(table: pd.DataFrame, known: pd.DataFrame, key: Sequence[str]) -> Ints:
    """Return for each row of a table the row of another that has the same key, of several the last; -1 for none.

    >>> rows_of(pd.DataFrame({"id": ["b", "c"]}), pd.DataFrame({"id": ["a", "b"]}), ["id"]).tolist()
    [1, -1]
    """
    together = numbered_rows([pd.concat([known[name], table[name]], ignore_index=True) for name in key])
    row = np.full(int(together.max(initial=-1)) + 1, -1, dtype=np.int64)
    row[together[: len(known)]] = np.arange(len(known))
    return row[together[len(known) :]]


def first_rows(numbers: Ints) -> Ints:
    """Return the first row of each number, of numbers from 0 in order of appearance.

    >>> first_rows(np.array([0, 0, 1, 0, 2])).tolist()
    [0, 2, 4]
    """
    highest = numbers if (numbers[1:] >= numbers[:-1]).all() else np.maximum.accumulate(numbers)
    return np.flatnonzero(np.append(highest[:1] >= 0, highest[1:] != highest[:-1]))

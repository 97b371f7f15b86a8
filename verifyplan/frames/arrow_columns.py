"""Make columns of Arrow the columns of a table, without a look at each value, where they certainly fit (rule E4)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from verifyplan.columns import Column
from verifyplan.frames.late_texts import CodedTexts, LateTexts
from verifyplan.frames.text_codes import first_rows

_MAX_KEY, _MAX_SHORT_KEY, _MAX_TINY = 2**62, 2**31, 2**7
_SPARSE = 64
"""Keys are marked in an array of all possible ones, unless that has more than so many for each row."""


def exact_array(values: pa.ChunkedArray, column: Column) -> Any:
    """Return values as an array of a column's type; None where they may not fit, or are of another kind.

    >>> exact_array(pa.chunked_array([[1, None]]), Column("round", "whole", "the round"))
    <IntegerArray>
    [1, <NA>]
    Length: 2, dtype: Int64
    """
    kind, stored, types = column.kind, values.type, pa.types
    if isinstance(kind, tuple):
        return _category(values, column.dtype) if types.is_dictionary(stored) else None
    if kind == "text" and types.is_dictionary(stored) and pa.types.is_string(stored.value_type):
        return LateTexts.of(CodedTexts(one_array(values)))
    if kind == "text" and types.is_large_string(stored):
        return column.dtype.construct_array_type()(values, dtype=column.dtype)
    if (kind == "whole" and types.is_signed_integer(stored)) or (kind == "yesno" and types.is_boolean(stored)):
        return _masked(values, column.dtype)
    if kind == "number" and types.is_float64(stored):
        return np.array(values) if values.null_count else _writable(one_array(values))
    if kind == "time" and stored == pa.timestamp(column.dtype.unit, str(column.dtype.tz)):
        return values.to_pandas().array
    if kind == "names" and types.is_list(stored):
        return _lists(*different_lists(one_array(values)))
    if kind == "names" and types.is_dictionary(stored) and types.is_list(stored.value_type):
        return _lists(_places(one_array(values)), one_array(values).dictionary)
    return None


def one_array(values: pa.ChunkedArray) -> Any:
    """Return a column as one array; the codes of its names then mean the same in all rows."""
    return values.chunk(0) if values.num_chunks == 1 else values.unify_dictionaries().combine_chunks()


def _category(values: pa.ChunkedArray, dtype: Any) -> Any:
    coded = one_array(values)
    place = {name: number for number, name in enumerate(dtype.categories)}
    places = [place.get(name) for name in coded.dictionary.to_pylist()]
    if None in places:
        return None
    is_tiny = max(len(place), len(places)) < _MAX_TINY
    codes: Any = _places(coded, np.int8 if is_tiny else np.int64)
    if places != list(range(len(places))):
        codes = np.array([*places, -1], dtype=codes.dtype).take(codes)
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def _places(coded: pa.DictionaryArray, kind: type[np.signedinteger[Any]] = np.int64) -> npt.NDArray[Any]:
    """Return the codes of names, or of lists of them, as numbers; -1 where one is missing."""
    codes = np.empty(len(coded), dtype=kind)
    write_codes(coded.indices, codes)
    return codes


def write_codes(indices: pa.Array, codes: npt.NDArray[Any]) -> None:
    """Write indices into an array of codes, a missing one as -1: by arithmetic, since it is faster than to fill them.

    >>> codes = np.zeros(3, dtype=np.int8)
    >>> write_codes(pa.array([9, 2, None, 0], pa.int32())[1:], codes)
    >>> codes.tolist()
    [2, -1, 0]
    """
    if not indices.null_count:
        codes[:] = np.asarray(indices)
        return
    rows = slice(indices.offset, indices.offset + len(indices))
    bits, values = indices.buffers()
    is_known = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")[rows]
    codes[:] = np.frombuffer(values, dtype=indices.type.to_pandas_dtype())[rows]  # anything, where it is missing
    codes += 1
    codes *= is_known.view(np.int8)
    codes -= 1


def _masked(values: pa.ChunkedArray, dtype: Any) -> Any:
    """Return whole numbers, or true and false, with their missing values beside."""
    array = one_array(values)
    if pa.types.is_signed_integer(array.type):
        array = array.cast(pa.int64())
    if not array.null_count:
        return dtype.construct_array_type()(_writable(array), np.zeros(len(array), dtype=bool))
    known = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    return dtype.construct_array_type()(_writable(known), _writable(array.is_null()))


def _writable(values: Any) -> npt.NDArray[Any]:
    """Return values without missing ones as an array that can be written to, in Arrow's memory where it may be."""
    memory, rows = values.buffers()[1], slice(values.offset, values.offset + len(values))
    if pa.types.is_boolean(values.type):
        return np.unpackbits(np.frombuffer(memory, dtype=np.uint8), bitorder="little")[rows].view(bool)
    array = np.frombuffer(memory, dtype=values.type.to_pandas_dtype())[rows]
    return array if array.flags.writeable else array.copy()


def _lists(places: npt.NDArray[np.int64], different: pa.ListArray) -> npt.NDArray[Any]:
    """Return lists of names as objects, of each row the one at its place; rows whose lists are equal share one."""
    coded = _coded(different)
    names = np.array([*coded.dictionary.to_pylist(), None], dtype="object")
    flat, ends = names[_codes_of(coded)].tolist(), different.offsets.to_pylist()
    made = [*(flat[start:end] for start, end in pairwise(ends)), None]
    return np.fromiter(made, dtype="object", count=len(made)).take(places)


def different_lists(values: pa.ListArray) -> tuple[npt.NDArray[np.int64], pa.ListArray]:
    """Return the place of each row's list among the different ones, of which a table has few, -1 for none; and these.

    >>> places, different = different_lists(pa.array([["a"], None, ["b", "a"], ["a"]]))
    >>> different.take(pa.array(places, mask=places < 0)).to_pylist()
    [['a'], None, ['b', 'a'], ['a']]
    """
    number = _numbered(values)
    row_of = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    row_of[number] = np.arange(len(number))
    numbers = np.flatnonzero(row_of >= 0)
    place = np.empty(len(row_of), dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    places = place[number]
    if values.null_count:
        places[np.asarray(values.is_null())] = -1
    filled = pa.ListArray.from_arrays(values.offsets, values.values)  # a missing list is numbered as an empty one
    return places, filled.take(pa.array(row_of[numbers]))


def _numbered(values: pa.ListArray) -> npt.NDArray[np.int64]:
    """Return a number by row which rows share whose lists are equal; the numbers are below four times the rows.

    A list is read as the digits of a number. Where that is too large to be exact, the lists are compared.
    """
    coded, ends = _coded(values), np.asarray(values.offsets)
    starts, lengths, base = ends[:-1], np.diff(ends), (len(coded.dictionary) + 2) | 1
    codes, longest = _codes_of(coded) + 1, int(lengths.max(initial=0))
    totals = np.zeros(len(values), dtype=np.int64)
    shortest = int(lengths.min(initial=longest))
    for position in range(shortest):
        totals *= base
        totals += codes.take(starts + position)
    rows = np.flatnonzero(lengths > shortest)
    for position in range(shortest, longest):
        totals[rows] = totals[rows] * base + codes.take(starts[rows] + position)
        rows = rows[lengths[rows] > position + 1]
    if base**longest <= 4 * len(values):
        return totals
    number = np.asarray(pd.factorize(totals)[0], dtype=np.int64)
    if base**longest < _MAX_KEY or values.take(pa.array(first_rows(number)[number])).equals(values):
        return number
    return np.arange(len(values))


def _coded(values: pa.ListArray) -> Any:
    """Return all names of some lists as codes."""
    return values.values if pa.types.is_dictionary(values.values.type) else values.values.dictionary_encode()


def _codes_of(coded: Any) -> npt.NDArray[np.int32]:
    """Return the codes of names; where one is missing, the number of different names."""
    codes = coded.indices.cast(pa.int32())
    return np.asarray(codes.fill_null(len(coded.dictionary)) if codes.null_count else codes)


def has_keys(table: pa.Table, key: list[str]) -> bool:
    """Return whether each row certainly has a key of its own.

    >>> has_keys(pa.table({"round": [1, 2]}), ["round"]), has_keys(pa.table({"round": [1, 1]}), ["round"])
    (True, False)
    """
    together: Any = np.zeros(len(table), dtype=np.int32)
    size = 1
    for name in key:
        column = table[name] if name in table.column_names else None
        codes = None if column is None or column.null_count else _codes(column)
        if codes is None:
            return False
        width = int(codes.max(initial=0)) + 1
        size *= width
        if size >= _MAX_KEY:
            return False
        if width > 1:
            kind = np.int32 if size < _MAX_SHORT_KEY else np.int64
            together = together.astype(kind, copy=False)
            together *= width
            together += codes.astype(kind, copy=False)
    if (together[1:] > together[:-1]).all():
        return True
    if size > _SPARSE * len(table):
        return len(pd.unique(together)) == len(table)
    seen = np.zeros(size, dtype=bool)
    seen[together] = True
    return int(np.count_nonzero(seen)) == len(table)


def _codes(column: pa.ChunkedArray) -> Any:
    """Return whole numbers or codes of names from 0 on; None for a column of anything else."""
    if pa.types.is_dictionary(column.type):
        return np.asarray(one_array(column).indices)
    if not pa.types.is_integer(column.type):
        return None
    numbers = np.asarray(one_array(column), dtype=np.int64)
    return numbers if numbers.min(initial=0) >= 0 else None


def strangers(values: pa.ChunkedArray, known: pa.Array) -> list[str]:
    """Return the different names that are not among the known ones, in order of appearance."""
    if pa.types.is_dictionary(values.type):
        names = one_array(values).dictionary.cast(pa.large_string())
        if names.equals(known) or not _unknown(names, known):
            return []
    return _unknown(values.unique().cast(pa.large_string()), known)


def _unknown(names: pa.Array, known: pa.Array) -> list[str]:
    unknown: list[str] = names.filter(pc.invert(pc.is_in(names, value_set=known))).to_pylist()
    return unknown

"""Arrays of declared types from lists of values that certainly fit them, without pandas' guess at what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00$"


def exact_array(values: Sequence[Any], kind: str | tuple[str, ...], dtype: Any) -> Any:
    """Return a list of values as an array of a column's type; None where a value may not fit, or not be exact.

    >>> exact_array([True, None], "yesno", pd.BooleanDtype())
    <BooleanArray>
    [True, <NA>]
    Length: 2, dtype: boolean
    >>> exact_array([1, "2"], "whole", pd.Int64Dtype()) is None
    True
    """
    allowed, make = ((str, type(None)), _category) if isinstance(kind, tuple) else _MAKERS[kind]
    if not set(map(type, values)).issubset(allowed):
        return None
    try:
        return make(values, dtype)
    except (ValueError, KeyError, OverflowError):
        return None


def _category(names: Sequence[str | None], dtype: Any) -> Any:
    code = {name: number for number, name in enumerate(dtype.categories)} | {None: -1}
    codes = np.array(list(map(code.__getitem__, names)), dtype=np.int64)
    return pd.Categorical.from_codes(codes, dtype=dtype)


def _text(texts: Sequence[str | None], dtype: Any) -> Any:
    return dtype.construct_array_type()(pa.array(texts, pa.large_string()), dtype=dtype)


def _masked(numbers: Sequence[Any], dtype: Any) -> Any:
    mask = np.zeros(len(numbers), dtype=bool)
    if None in numbers:
        mask = np.array([number is None for number in numbers], dtype=bool)
        numbers = [number or 0 for number in numbers]
    return dtype.construct_array_type()(np.array(numbers, dtype=dtype.numpy_dtype), mask)


def _number(numbers: Sequence[float | None], dtype: Any) -> Any:
    return np.array(numbers, dtype=dtype)


def _time(times: Sequence[str | None], dtype: Any) -> Any:
    """Return times as logs write them, to the millisecond in UTC; ValueError for one that is written otherwise."""
    texts = pa.array(times, pa.string())
    if not pc.all(pc.match_substring_regex(texts, _INSTANT), min_count=0).as_py():
        raise ValueError("a time is not to the millisecond in UTC")
    instants = texts.cast(pa.timestamp("ms", "UTC")).to_numpy(zero_copy_only=False)
    return pd.DatetimeIndex(instants, tz=dtype.tz).array


def _names(lists: Sequence[list[Any]], dtype: Any) -> Any:
    return np.fromiter(lists, dtype=dtype, count=len(lists))


_NONE = type(None)
_MAKERS: Mapping[str, tuple[tuple[type, ...], Callable[[Sequence[Any], Any], Any]]] = {
    "text": ((str, _NONE), _text),
    "whole": ((int, _NONE), _masked),
    "number": ((int, float, _NONE), _number),
    "yesno": ((bool, _NONE), _masked),
    "time": ((str, _NONE), _time),
    "names": ((list,), _names),
}
"""The types of values that a kind of column takes as they are, and what makes its array."""

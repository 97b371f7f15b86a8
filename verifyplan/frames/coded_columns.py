"""Read columns of names as integer codes: equal names have one code, however they are written (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Ints = npt.NDArray[np.int64]


class Coded(NamedTuple):
    """A column of names as codes: -1 for a missing value, else the position in `names`."""

    codes: Ints
    names: list[str]


def coded(values: pd.Series[Any]) -> Coded:
    """Return a column as names: 1.0 is 1, spaces around do not count, an empty text is missing.

    Raises TypeError for values that are no names, such as lists.

    >>> coded(pd.Series([1.0, "1", " b ", "", None], dtype="object"))
    Coded(codes=array([ 0,  0,  1, -1, -1]), names=['1', 'b'])
    """
    codes, distinct = pd.factorize(values)
    values_of = np.asarray(distinct, dtype="object").tolist()  # to iterate over Arrow texts takes long
    return _merged(codes, [value.strip() if isinstance(value, str) else _name(value) for value in values_of])


def joined(parts: Sequence[Coded]) -> Coded:
    """Return several columns as one: their names joined by slashes, missing where one of them is.

    Where two different rows would so get one name, names are written as tuples.

    >>> joined([coded(pd.Series(["a", "a/b"])), coded(pd.Series(["b/c", "c"]))]).names
    ["('a', 'b/c')", "('a/b', 'c')"]
    """
    together, missing = np.zeros_like(parts[0].codes), np.zeros(len(parts[0].codes), dtype=bool)
    for part in parts:
        together, _ = pd.factorize(together * (len(part.names) + 1) + part.codes + 1)
        missing |= part.codes < 0
    codes, distinct = pd.factorize(np.where(missing, -1, together), use_na_sentinel=False)
    first = np.unique(codes, return_index=True)[1]
    rows = list(zip(*(np.array([*part.names, ""], dtype="object")[part.codes[first]] for part in parts), strict=True))
    known = distinct >= 0
    names = ["/".join(row) if of else "" for row, of in zip(rows, known, strict=True)]
    if len(set(names)) < len(names):
        names = [str(row) if of else "" for row, of in zip(rows, known, strict=True)]
    return _merged(codes, names)


def renamed(column: Coded, words: Mapping[str, str]) -> Coded:
    """Return a column whose names are looked up in `words`, by `plain`; the empty text is a missing value."""
    return _merged(column.codes, [words.get(plain(name), name) for name in column.names]) if words else column


def plain(word: object) -> str:
    """Return a word as it is looked up: 1 and 1.0, Yes and yes are the same.

    >>> plain(1.0), plain(" Yes ")
    ('1', 'yes')
    """
    text = str(word).strip().lower()
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def _name(value: object) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _merged(codes: npt.NDArray[Any], names: Sequence[str]) -> Coded:
    """Return codes of names that may be empty or repeat."""
    if len(set(names)) == len(names) and "" not in names:
        return Coded(codes.astype(np.int64), list(names))
    new, distinct = pd.factorize(np.array([name or None for name in names], dtype="object"))
    return Coded(np.append(new, -1)[codes].astype(np.int64), list(distinct))

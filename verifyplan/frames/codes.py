"""Numbers for names and for rows of a table: equal ones alike, in order of appearance (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Ints = npt.NDArray[np.int64]


def row_numbers(*columns: Any) -> Ints:
    """Return the number of each row of some columns, from 0; a missing value is equal to another.

    >>> row_numbers(pd.Series(["s", "s", "r"]), np.array([1, 1, 1])).tolist()
    [0, 0, 1]
    """
    table = pd.DataFrame({place: getattr(column, "array", column) for place, column in enumerate(columns)})
    rows = table.groupby(list(table), sort=False, dropna=False, observed=True)
    return np.asarray(rows.ngroup(), dtype=np.int64)


def first_rows(numbers: Ints) -> Ints:
    """Return the first row of each number, of numbers from 0 in order of appearance; -1 stands for a missing value.

    >>> first_rows(np.array([0, 0, -1, 1, 0, 2])).tolist()
    [0, 3, 5]
    """
    return np.flatnonzero(~pd.Series(numbers).duplicated().to_numpy() & (numbers >= 0))


def shared_numbers(*columns: pd.Series[Any]) -> list[Ints]:
    """Return columns of texts as numbers from 0, equal texts alike in all columns; -1 where one is missing.

    >>> [numbers.tolist() for numbers in shared_numbers(pd.Series(["a", "b"]), pd.Series(["b", None]))]
    [[0, 1], [1, -1]]
    """
    together = pd.concat([column.astype("str") for column in columns], ignore_index=True)
    numbers = np.asarray(pd.factorize(together)[0], dtype=np.int64)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


class Coded(NamedTuple):
    """A column of names as codes: -1 for a missing value, else the position in `names`."""

    codes: Ints
    names: list[str]

    @property
    def texts(self) -> npt.NDArray[Any]:
        """The name in each row, None where it is missing."""
        return np.array([*self.names, None], dtype="object")[self.codes]


def coded(values: pd.Series[Any]) -> Coded:
    """Return a column as names: 1.0 is 1, spaces around do not count, an empty text is missing.

    Raises TypeError for values that are no names, such as lists.

    >>> coded(pd.Series([1.0, "1", " b ", "", None], dtype="object"))
    Coded(codes=array([ 0,  0,  1, -1, -1]), names=['1', 'b'])
    """
    codes, different = pd.factorize(values)
    return _merged(codes, [_name(value) for value in different.tolist()])


def joined(parts: Sequence[Coded]) -> Coded:
    """Return several columns as one: their names joined by slashes, missing where one of them is.

    Where two different rows would so get one name, names are written as tuples.

    >>> joined([coded(pd.Series(["a", "a/b"])), coded(pd.Series(["b/c", "c"]))]).names
    ["('a', 'b/c')", "('a/b', 'c')"]
    """
    rows = row_numbers(*(part.codes for part in parts))
    different = [*zip(*(part.texts[first_rows(rows)] for part in parts), strict=True)]
    names = ["" if None in names else "/".join(names) for names in different]
    known = [name for name in names if name]
    if len(set(known)) < len(known):
        names = ["" if None in names else str(names) for names in different]
    return _merged(rows, names)


def renamed(column: Coded, words: Mapping[str, str]) -> Coded:
    """Return a column whose names are looked up in `words`, by `plain`; the empty text is a missing value."""
    return _merged(column.codes, [words.get(plain(name), name) for name in column.names])


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
    new, different = pd.factorize(np.array([*(name or None for name in names), None], dtype="object"))  # the last is -1
    return Coded(new[codes].astype(np.int64), list(different))

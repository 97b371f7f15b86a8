"""Join tables by their keys, at once where these are the same row by row; look whether lists hold anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from verifyplan.frames.text_codes import are_equal


def joined_rows(
    left: pd.DataFrame,
    right: pd.DataFrame,
    key: Sequence[str],
    *,
    suffixes: tuple[str, str] = ("_x", "_y"),
    how: Literal["left", "inner"] = "left",
) -> pd.DataFrame:
    """Return what `left.merge(right)` does for tables of which one has each key once.

    Tables of the same findings in the same order, as those of one set, are put side by side without a look-up.

    >>> table = pd.DataFrame({"id": ["F", "G"], "x": [1, 2]})
    >>> joined_rows(table, table, ["id"], suffixes=("", "_next")).columns.tolist()
    ['id', 'x', 'x_next']
    """
    if len(left) != len(right) or not all(are_equal(left[name], right[name]) for name in key):
        return left.merge(right, on=list(key), suffixes=suffixes, how=how)
    shared = (set(left.columns) & set(right.columns)).difference(key)
    own, others = left.reset_index(drop=True), right.drop(columns=list(key)).reset_index(drop=True)
    columns = {
        f"{name}{end}" if name in shared else name: table[name]
        for table, end in zip((own, others), suffixes, strict=True)
        for name in table.columns
    }
    return pd.DataFrame(columns, copy=False)


def any_names(lists: pd.Series[Any]) -> bool:
    """Return whether any of some lists of names has one; a missing list has none.

    >>> any_names(pd.Series([[], None, ["ann"]]))
    True
    """
    values = lists.tolist()
    try:
        return any(isinstance(names, list | tuple) for names in filter(None, values))
    except TypeError:  # pandas.NA is neither true nor false
        return any(isinstance(names, list | tuple) for names in filter(None, lists.dropna().tolist()))

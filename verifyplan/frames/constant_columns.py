"""Columns that hold the same number, or nothing, in every row: their value is noted once (rule E4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from verifyplan.columns import Column


def constant(values: Any) -> tuple[Any, ...]:
    """Return the one whole number or flag of a column of Arrow, None where all are missing; nothing for any other.

    >>> constant(pa.array([3, 3])), constant(pa.nulls(2)), constant(pa.array([3, None])), constant(pa.array(["a"]))
    ((3,), (None,), (), ())
    """
    if values.null_count == len(values):
        return (None,)
    if values.null_count or not (pa.types.is_signed_integer(values.type) or pa.types.is_boolean(values.type)):
        return ()
    least, greatest = pc.min_max(values).values()
    return (least.as_py(),) if least == greatest else ()


def repeated(value: Any, n: int, column: Column) -> Any:
    """Return an array of a column's type that holds the same number, or nothing where it is None, in `n` rows.

    >>> repeated(None, 2, Column("round", "whole", "the round"))
    <IntegerArray>
    [<NA>, <NA>]
    Length: 2, dtype: Int64
    """
    kind, dtype = column.kind, column.dtype
    if kind in ("whole", "yesno"):
        values: Any = np.zeros(n, bool if kind == "yesno" else np.int64)  # memory that the system clears on first use
        if value:
            values[:] = value
        return dtype.construct_array_type()(values, (np.ones if value is None else np.zeros)(n, bool))
    if isinstance(kind, tuple):
        return pd.Categorical.from_codes(np.full(n, -1, np.int8), dtype=dtype, validate=False)
    if kind == "text":
        return dtype.construct_array_type()(pa.nulls(n, pa.large_string()), dtype=dtype)
    if kind == "names":
        return np.full(n, None, dtype="object")
    return np.full(n, np.nan) if kind == "number" else pd.array([pd.NaT], dtype=dtype).take(np.zeros(n, np.intp))

"""Columns of a Parquet file that hold the same number, or nothing, in every row: they need not be decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def constants(file: pq.ParquetFile) -> dict[str, Any]:
    """Return the number or flag that a column holds in every row, or None where each is missing, by column.

    This is what the statistics of the file say. Columns of texts, lists and fractions count only where all values are
    missing.
    """
    schema, metadata = file.schema_arrow, file.metadata
    kinds = {field.name: field.type for field in schema if "." not in field.name}  # paths within a column have dots
    if len(kinds) < len(schema):  # or two columns have one name
        return {}
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    found: dict[str, Any] = {}
    for place in range(metadata.num_columns if groups else 0):
        chunks = [group.column(place) for group in groups]
        name = chunks[0].path_in_schema
        values = stated_values(chunks, kinds[name]) if name in kinds else ()
        if len(values) == 1:
            (found[name],) = values
    return found


def stated_values(chunks: Iterable[pq.ColumnChunkMetaData], kind: pa.DataType) -> set[Any]:
    """Return the least and the greatest number of a column, None for a part without any; nothing if not all are known.

    Only of a column that holds one value throughout these are all its values.
    """
    values: set[Any] = set()
    is_exact = pa.types.is_signed_integer(kind) or pa.types.is_boolean(kind)
    for chunk in chunks:
        known = chunk.statistics
        if known is None or not known.has_null_count:
            return set()
        if known.null_count == chunk.num_values:
            values.add(None)
        elif is_exact and known.has_min_max and not known.null_count:
            values |= {known.min, known.max}
        else:
            return set()
    return values


def read_all(file: pq.ParquetFile) -> pa.Table:
    """Return what a file holds, of which its constant columns are not decoded."""
    same = constants(file)
    if not same:
        return file.read()
    schema, n = file.schema_arrow, file.metadata.num_rows
    rest = file.read([name for name in schema.names if name not in same])
    made = {name: _repeated(value, n, schema.field(name).type) for name, value in same.items()}
    return pa.table({name: made[name] if name in made else rest[name] for name in schema.names})


def _repeated(value: Any, n: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(n, kind) if value is None else pa.array(np.full(n, value), kind)

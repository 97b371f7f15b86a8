"""Read columns of a part as the integer codes that they are stored as, without a table in between (rule E5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import union_categoricals

from verifyplan.frames.arrow_columns import write_codes
from verifyplan.frames.columns import TABLES
from verifyplan.frames.dataset.manifest import Part
from verifyplan.frames.dataset.part_files import part_file, part_path, read_texts, reading
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.table_limits import refuse_large

Array = npt.NDArray[Any]


def read_codes(storage: Storage, part: Part, table: str, columns: list[str], *, texts: bool = False) -> pd.DataFrame:
    """Return columns of a part: names as categoricals, whose codes are those of the file, rounds as small integers.

    A column that holds one number throughout, as its statistics say, is not read; one that the file lacks is left out.
    With `texts`, long texts are read, too.
    Raises InputError where a file is gone or damaged.
    """
    with reading(storage, part_file(part.name, table)) as stream:
        file = pq.ParquetFile(stream)
        refuse_large(file.metadata, part_path(storage, part, table))
        columns = [name for name in columns if name in file.schema_arrow.names]
        same = {name: value for name in columns if (value := _only_value(file, name)) is not None}
        read = [name for name in columns if name not in same]
        names = [name for name in read if pa.types.is_dictionary(file.schema_arrow.field(name).type)]
        found = pq.ParquetFile(stream, metadata=file.metadata, read_dictionary=names).read(read, use_threads=False)
        values = {name: _column(found[name], table, name) for name in read}
    n = part.count(table)
    frame = pd.DataFrame(
        {name: values[name] if name in values else np.full(n, same[name]) for name in columns}, copy=False
    )
    return pd.concat([frame, read_texts(storage, part, table)], axis=1) if texts else frame


def joined_codes(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return tables of the same columns as one; a categorical has the categories of all, in order of appearance.

    >>> tables = [pd.DataFrame({"worker": pd.Categorical(names)}) for names in (["b"], ["a", "b"])]
    >>> joined_codes(tables)["worker"].cat.categories.tolist()
    ['b', 'a']
    """
    if len(frames) == 1:
        return frames[0]
    columns: dict[str, Any] = {}
    for name in frames[0]:
        parts = [frame[name] for frame in frames]
        same = all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts)
        if same and any(part.dtype != parts[0].dtype for part in parts):
            columns[str(name)] = union_categoricals([part.cat.remove_unused_categories() for part in parts])
        else:
            columns[str(name)] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns, copy=False)


def _only_value(file: pq.ParquetFile, name: str) -> Any:
    """Return the number or flag that a column holds in each row; None where it holds several, names, or nothing."""
    kind = file.schema_arrow.field(name).type
    if not (pa.types.is_int32(kind) or pa.types.is_boolean(kind)):
        return None
    place, groups = file.schema_arrow.get_field_index(name), range(file.metadata.num_row_groups)
    found = _stated_values([file.metadata.row_group(group).column(place) for group in groups], kind)
    value = found.pop() if len(found) == 1 else None
    return value if value is None or isinstance(value, bool) else np.min_scalar_type(-1 - abs(value)).type(value)


def _stated_values(chunks: Iterable[pq.ColumnChunkMetaData], kind: pa.DataType) -> set[Any]:
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


def _column(values: pa.ChunkedArray, table: str, name: str) -> Any:
    if not pa.types.is_dictionary(values.type):
        found = values.to_pandas()
        return found.astype("boolean") if pa.types.is_boolean(values.type) and values.null_count else found
    values = values.unify_dictionaries()
    categories = values.chunk(0).dictionary
    codes, start = np.empty(len(values), dtype=_narrowest(len(categories))), 0
    for chunk in values.chunks:
        write_codes(chunk.indices, codes[start : start + len(chunk)])
        start += len(chunk)
    stored = pd.CategoricalDtype(categories.to_pandas())
    column = pd.Categorical.from_codes(codes, dtype=stored, validate=False)
    declared = next((each.dtype for each in TABLES[table] if each.name == name), None)
    return column.astype(declared) if isinstance(declared, pd.CategoricalDtype) else column


def _narrowest(n: int) -> Any:
    """Return the type of codes of so many names, as pandas chooses it."""
    return next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if n <= np.iinfo(kind).max)

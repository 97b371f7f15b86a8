"""A table as small numbers and codes, within its Parquet file, before the columns for other programs (rule E4).

Programs find the columns of a Parquet file by the places that its end names, so bytes between are allowed. A program
that writes the file anew leaves them out. Decoding them takes a tenth of the time that the columns take.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from verifyplan.frames.addresses import RunFile
from verifyplan.frames.arrow_columns import different_lists, one_array
from verifyplan.frames.constant_columns import constant
from verifyplan.frames.table_limits import MAX_TABLE_BYTES

NOTE = b"verifyplan-packed"
"""The entry of a file's metadata that says how many bytes are packed, and their checksum."""
START = 4
"""The place of these bytes: after the mark with which a Parquet file begins."""
MAX_PACKED_BYTES = MAX_TABLE_BYTES // 255
"""LZ4 makes at most 255 bytes of each, so no more packed bytes fill the memory."""
_CONSTANTS = b"verifyplan-constants"
_DAMAGED = (OSError, ValueError, KeyError, pa.ArrowException)


class Packed(NamedTuple):
    """The columns of a table that differ by row, and the values of those that do not."""

    table: pa.Table
    constants: dict[str, Any]


def pack(table: pa.Table) -> bytes:
    """Return a table as bytes; nothing where they would be too many.

    >>> data = pack(pa.table({"run_id": ["a", "b", "a"], "round": [1, 1, 1]}))
    >>> unpack(data).table["run_id"].to_pylist(), unpack(data).constants
    (['a', 'b', 'a'], {'round': 1})
    """
    columns = {name: one_array(table[name]) for name in table.column_names}
    constants = {name: value for name, values in columns.items() for value in constant(values)}
    small = pa.table({name: _small(values) for name, values in columns.items() if name not in constants})
    small = small.replace_schema_metadata({_CONSTANTS: json.dumps(constants)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, small.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(small)
    data: bytes = sink.getvalue().to_pybytes()
    return data if len(data) <= MAX_PACKED_BYTES else b""


def _small(values: Any) -> Any:
    """Return whole numbers as the smallest that hold them, names and lists of names as codes."""
    if pa.types.is_dictionary(values.type):
        codes, names = _smallest(values.indices), values.dictionary.cast(pa.string())
        return pa.DictionaryArray.from_arrays(codes, names)
    if pa.types.is_list(values.type):
        places, lists = different_lists(values)
        return pa.DictionaryArray.from_arrays(_smallest(pa.array(places, mask=places < 0)), lists)
    return _smallest(values) if pa.types.is_signed_integer(values.type) else values


def _smallest(numbers: Any) -> Any:
    least, greatest = (each.as_py() for each in pc.min_max(numbers).values())
    bits = next(bits for bits in (8, 16, 32, 64) if -(2 ** (bits - 1)) <= least <= greatest < 2 ** (bits - 1))
    return numbers.cast(f"int{bits}")


def note_of(data: bytes) -> dict[bytes, bytes]:
    """Return the entry of the file's metadata for packed bytes; none without any.

    >>> note_of(b"packed")
    {b'verifyplan-packed': b'6 569816080'}
    """
    return {NOTE: f"{len(data)} {zlib.crc32(data)}".encode()} if data else {}


def read_packed(file: RunFile, note: bytes | None, columns: Iterable[str] | None = None) -> Packed | None:
    """Return what is packed in a file, or some columns of it; None where there is nothing, or not what was noted."""
    try:
        size, checksum = map(int, (note or b"0 0").split())
        if not 0 < size <= MAX_PACKED_BYTES:
            return None
        data: bytes = file.system.cat_file(file.path, START, START + size)
        return unpack(data, columns) if zlib.crc32(data) == checksum else None
    except _DAMAGED:
        return None


def unpack(data: bytes, columns: Iterable[str] | None = None) -> Packed:
    """Return what `pack` made bytes of; ValueError, or what Arrow raises, for bytes that do not hold a table."""
    stream = pa.py_buffer(data)
    schema = pa.ipc.open_stream(stream).schema
    chosen = None if columns is None else [schema.get_field_index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=chosen, use_threads=False)
    table = pa.ipc.open_stream(stream, options=options).read_all()
    table.validate()
    for column in table.columns:
        _expect_whole(one_array(column))
    return Packed(table, json.loads(schema.metadata[_CONSTANTS]))


def _expect_whole(values: Any) -> None:
    """Raise ValueError for codes of no name, or texts that are none: Arrow would read beyond them."""
    if not pa.types.is_dictionary(values.type):
        values.validate(full=True)
        return
    values.dictionary.validate(full=True)
    least, greatest = (each.as_py() for each in pc.min_max(values.indices).values())
    if least is not None and not 0 <= least <= greatest < len(values.dictionary):
        raise ValueError("a code has no name")

"""Refuse tables that would fill the memory, before they are read: 400 kB may hold 40 million rows (rule H3)."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from verifyplan.errors import Problem, TableError

MAX_TABLE_ROWS = 20_000_000
"""Rows of a table that are read at once."""
MAX_TABLE_BYTES = 4 * 2**30
"""A table that would be larger in memory is not read as a whole."""
MAX_TABLE_COLUMNS = 10_000
"""Columns of a table; pandas takes minutes for some hundred thousands."""
MAX_TEXT_TABLE_BYTES = 2**30
"""Bytes of a table of CSV, TSV or JSON, decompressed: in memory it takes some five times that."""
LARGE_TABLES_VARIABLE = "VERIFYPLAN_LARGE_TABLES"
"""Set to 1, all tables are read, however large."""

_FIX = (
    "if you trust the file and have the memory, set "
    f"{LARGE_TABLES_VARIABLE}=1, or read it in parts by pandas or pyarrow and give the tables"
)
_BYTES = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = (*_OPENERS, ".zip")
"""Suffixes of compressed files that are read."""
_DAMAGED = (
    EOFError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def refuse_large(metadata: pq.FileMetaData, place: str) -> None:
    """Raise TableError for a Parquet file of too many rows, columns or bytes in memory, as its metadata say."""
    if _allowed():
        return
    refuse_wide(metadata.num_columns, place)
    values, size = metadata.num_rows, 0
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for place_of_column in range(metadata.num_columns):
        chunks = [group.column(place_of_column) for group in groups]
        n = sum(chunk.num_values for chunk in chunks)  # of lists more than rows
        width = _BYTES.get(chunks[0].physical_type, 8) if chunks else 0
        size += max(n * width, sum(chunk.total_uncompressed_size for chunk in chunks))
        values = max(values, n)
    if values > MAX_TABLE_ROWS:
        message = f"has {values:,} rows (or values in lists), and {MAX_TABLE_ROWS:,} are read at once"
        raise TableError(Problem(place, message, _FIX))
    _expect_bytes(size, place)


def refuse_wide(n_columns: int, place: str) -> None:
    """Raise TableError for a table of too many columns."""
    if n_columns > MAX_TABLE_COLUMNS and not _allowed():
        message = f"has {n_columns:,} columns, and {MAX_TABLE_COLUMNS:,} are read"
        raise TableError(Problem(place, message, "keep the columns of votes, and leave out the others"))


def refuse_repeated_texts(source: Any, place: str) -> None:
    """Raise TableError for a Parquet file whose texts, of which it may keep each once, are too large row by row.

    Texts in lists and structs count, too.
    """
    file = pq.ParquetFile(source)
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    leaves = [file.schema.column(number) for number in range(file.metadata.num_columns)]
    texts = [(number, leaf.path) for number, leaf in enumerate(leaves) if leaf.physical_type == "BYTE_ARRAY"]
    n = max((group.column(number).num_values for number, _ in texts for group in groups), default=0)
    longest = max((group.total_byte_size for group in groups), default=0)
    if _allowed() or n * len(groups) * longest <= MAX_TABLE_BYTES:  # even if each were as long
        return
    paths = [path for _, path in texts]
    columns = list(dict.fromkeys(path.split(".")[0] for path in paths))
    coded = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=paths).read(columns)
    chunks = (chunk for column in coded.columns for chunk in column.chunks)
    _expect_bytes(sum(_decoded_bytes(names) for chunk in chunks for names in _coded_parts(chunk)), place)


def text_table(path: Path) -> IO[bytes] | Path:
    """Return a CSV or JSON file to be read; of a compressed one (.gz, .bz2, .xz, .zip), its bytes.

    TableError for one that is too large, before it is read, or decompressed further; and for a damaged one.
    """
    suffix, place = path.suffix.lower(), str(path)
    try:
        if suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_only_name(archive, place)) as stream:
                return _bounded(stream, place)
        if suffix in _OPENERS:
            with _OPENERS[suffix](path) as stream:
                return _bounded(stream, place)
    except _DAMAGED as error:
        message = f"cannot be decompressed ({error})"
        raise TableError(Problem(place, message, "give a whole file, or decompress it first")) from None
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise TableError(Problem(place, "is not a readable file", "name a file"))
    if path.stat().st_size > MAX_TEXT_TABLE_BYTES and not _allowed():
        raise _too_long(place)
    return path


def _only_name(archive: zipfile.ZipFile, place: str) -> str:
    names = archive.namelist()
    if len(names) != 1:
        raise TableError(Problem(place, f"holds {len(names):,} files", "give an archive of one file"))
    return names[0]


def _bounded(stream: IO[bytes], place: str) -> IO[bytes]:
    """Return what a stream holds, in memory; TableError as soon as that is too much."""
    copy = BytesIO()
    while part := stream.read(2**20):
        copy.write(part)
        if copy.tell() > MAX_TEXT_TABLE_BYTES and not _allowed():
            raise _too_long(place)
    copy.seek(0)
    return copy


def _too_long(place: str) -> TableError:
    message = f"has more than {MAX_TEXT_TABLE_BYTES / 2**20:,.0f} MB of text, which is what is read at once"
    return TableError(Problem(place, message, _FIX))


def _expect_bytes(size: int, place: str) -> None:
    if size > MAX_TABLE_BYTES:
        message = f"has {size / 2**30:,.1f} GB in memory, and {MAX_TABLE_BYTES / 2**30:.0f} GB are read at once"
        raise TableError(Problem(place, message, _FIX))


def _coded_parts(values: pa.Array) -> Iterator[pa.DictionaryArray]:
    """Yield the coded texts of an array, those in its lists and structs among them."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        yield values
    elif pa.types.is_map(kind):
        yield from _coded_parts(values.keys)
        yield from _coded_parts(values.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _coded_parts(values.values)
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from _coded_parts(values.field(number))


def _decoded_bytes(chunk: pa.DictionaryArray) -> int:
    """Return the bytes of the texts of a chunk, each as often as it occurs."""
    lengths = np.asarray(pc.binary_length(chunk.dictionary), dtype=np.int64)
    counts = np.bincount(np.asarray(chunk.indices.drop_null()), minlength=len(lengths))
    return int(counts @ lengths)


def _allowed() -> bool:
    return os.environ.get(LARGE_TABLES_VARIABLE, "") not in ("", "0")

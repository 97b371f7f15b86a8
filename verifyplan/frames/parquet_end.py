"""A checksum of the end of a Parquet file, which says where its columns are: before it, so that programs pass over it.

Arrow writes checksums of pages, but none of the end. Where a bit of that is wrong, values may be read as others, and
some versions of Arrow end the process. A program that writes the file anew leaves the checksum out.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

_MARK = b"verifyplan-end"
_CHECKSUM_BYTES, _TAIL_BYTES = 4, 8
"""The tail of a Parquet file is the length of its end, in 4 bytes, and a mark."""
_READ_BYTES = 2**16
"""So many bytes are read at once, as Arrow does: few ends are longer, and each read of a store takes a request."""


def add_checksum(path: Path) -> None:
    """Write the checksum of the end of a Parquet file before it.

    >>> from io import BytesIO
    >>> from tempfile import mkdtemp
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> path = Path(mkdtemp()) / "table.parquet"
    >>> pq.write_table(pa.table({"a": [1]}), path)
    >>> add_checksum(path)
    >>> expect_whole_end(BytesIO(path.read_bytes()))
    >>> pq.read_table(path).to_pydict()
    {'a': [1]}
    """
    with path.open("r+b") as stream:
        stream.seek(-_TAIL_BYTES, 2)
        end_bytes = int.from_bytes(stream.read(4), "little") + _TAIL_BYTES
        stream.seek(-end_bytes, 2)
        end = stream.read(end_bytes)
        stream.seek(-end_bytes, 2)
        stream.write(_MARK + zlib.crc32(end).to_bytes(_CHECKSUM_BYTES, "little") + end)


def expect_whole_end(stream: Any) -> None:
    """Raise ValueError where a file has a checksum of its end, and its end is another; leave the stream at its start.

    >>> from io import BytesIO
    >>> expect_whole_end(BytesIO(b"verifyplan-end" + bytes(4) + bytes(8)))
    Traceback (most recent call last):
    ValueError: its end is damaged
    """
    size = stream.seek(0, 2)
    stream.seek(max(size - _READ_BYTES, 0))
    data = stream.read()
    end_bytes = int.from_bytes(data[-_TAIL_BYTES:-4], "little") + _TAIL_BYTES
    all_bytes = len(_MARK) + _CHECKSUM_BYTES + end_bytes
    if len(data) < all_bytes <= size:
        stream.seek(-all_bytes, 2)
        data = stream.read()
    mark, checksum, end = data[-all_bytes:][: len(_MARK)], data[:-end_bytes][-_CHECKSUM_BYTES:], data[-end_bytes:]
    if mark == _MARK and int.from_bytes(checksum, "little") != zlib.crc32(end):
        raise ValueError("its end is damaged")
    stream.seek(0)

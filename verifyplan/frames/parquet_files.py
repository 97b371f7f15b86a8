"""One table as one Parquet file: checksums of its pages are written with it, and checked as it is read (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from verifyplan.frames.table_limits import refuse_large

UNREADABLE = (OSError, ValueError, KeyError, pa.ArrowException)
"""What reading raises of a file that is gone, damaged or something else; TableError is of a file that is too large."""


def write_frame(frame: pd.DataFrame, target: Any) -> None:
    """Write a table to a path or stream."""
    frame.to_parquet(target, index=False, compression="zstd", write_page_checksum=True)


def read_frame(stream: Any, place: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table, or those of some columns that it has; raises TableError if it is too large, or `UNREADABLE`.

    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> write_frame(pd.DataFrame({"run_id": ["r"], "round": [1]}), stream)
    >>> read_frame(stream, "memory", ["round", "cost"]).to_dict("list")
    {'round': [1]}
    """
    stream.seek(0)
    file = pq.ParquetFile(stream)
    refuse_large(file.metadata, place)
    known = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
    stream.seek(0)
    return pd.read_parquet(stream, columns=known, page_checksum_verification=True)

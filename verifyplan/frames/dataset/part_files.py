"""The tables of one part as Parquet files: keys as integer codes, votes sorted, long texts in files of their own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.columns import LONG_TEXTS, TABLES, empty
from verifyplan.frames.dataset.manifest import PARTS, Part
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.frames.table_limits import refuse_large

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id")
_SMALL = ("iteration", "round")
_MAX_DICTIONARY_BYTES = 2**27
"""Names are dictionaries whatever their size; long texts are only as long as that saves something."""

_MAX_WORKERS = 1000
_ROWS_TO_WEIGH = 1000


def write_part(storage: Storage, *sets: RunSet) -> Part:
    """Write the tables of some runs as a new part, and return what the manifest says of it; empty tables get no file.

    Votes are sorted by run, finding and round, each in the order of appearance. No run may be in two of the sets.
    """
    name = secrets.token_hex(8)
    rows: dict[str, int] = {}
    memory: dict[str, int] = {}
    for table, frame in _joined(sets):
        rows[table], memory[table] = len(frame), memory_of(frame)
        long = [column for column in LONG_TEXTS.get(table, ()) if column in frame]
        names = _coded(frame.drop(columns=long))
        _write(storage, part_file(name, table), _arrow(names, table), dictionary_pagesize_limit=_MAX_DICTIONARY_BYTES)
        if long:
            _write(storage, part_file(name, table, texts=True), _arrow(frame[long], table))
    storage.sync(f"{PARTS}/{name}")
    run_ids = [run_id for runs in sets for run_id in runs.runs["run_id"]]
    workers = {str(worker) for runs in sets for worker in runs.votes["worker"].unique()}
    return Part(
        name=name,
        rows=rows,
        memory=memory,
        first_run=min(run_ids),
        last_run=max(run_ids),
        modes=tuple(dict.fromkeys(str(mode) for runs in sets for mode in runs.runs["mode"].dropna().unique())),
        workers=tuple(sorted(workers)[:_MAX_WORKERS]),
        missing_bases=sum(_missing_bases(runs.votes) for runs in sets),
        synthetic=any(bool(runs.runs["synthetic"].fillna(False).any()) for runs in sets),
    )


def _joined(sets: Sequence[RunSet]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each table that has rows, of all sets; as long as no other is needed, no other is copied."""
    for table in TABLE_NAMES:
        frames = [frame for runs in sets if len(frame := getattr(runs, table))]
        if table == "votes":
            frames = [sorted_votes(frame) for frame in frames]
        if frames:
            yield table, frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _missing_bases(votes: pd.DataFrame) -> int:
    return int((votes["verdict"].eq("disagree") & votes["disagree_basis"].isna()).sum())


def memory_of(frame: pd.DataFrame) -> int:
    """Return the bytes of a table in memory; what its lists take is estimated from the first thousand rows.

    >>> memory_of(pd.DataFrame({"round": [1, 2]}))
    16
    """
    return sum(_bytes_of(column) for _, column in frame.items())


def _bytes_of(column: pd.Series[Any]) -> int:
    if not pd.api.types.is_object_dtype(column.dtype):
        return int(column.array.nbytes)
    first = column.iloc[:_ROWS_TO_WEIGH]
    return int(first.memory_usage(index=False, deep=True)) * len(column) // max(1, len(first))


def read_table(storage: Storage, part: Part, table: str, *, texts: bool = True) -> pd.DataFrame:
    """Return a table of a part with its declared types; without `texts` the long ones are missing.

    Raises InputError where its file is gone or damaged.
    """
    if not part.count(table):
        return empty(table)
    frame = _read(storage, part_file(part.name, table))
    long = [column.name for column in TABLES[table] if column.name in LONG_TEXTS.get(table, ())]
    if long and texts:
        frame = pd.concat([frame, read_texts(storage, part, table)], axis=1)
    columns: dict[str, Any] = {}
    for column in TABLES[table]:
        if column.name not in frame:  # a text that nobody needs
            columns[column.name] = pd.Series(None, index=frame.index, dtype=column.dtype)
        elif column.kind == "names":
            columns[column.name] = frame[column.name].map(list, na_action="ignore")
        else:
            columns[column.name] = frame[column.name].astype(column.dtype)
    return pd.DataFrame(columns | {name: frame[name] for name in frame if name not in columns})


def read_texts(storage: Storage, part: Part, table: str) -> pd.DataFrame:
    """Return the long texts of a table of a part, row by row as the table."""
    return _read(storage, part_file(part.name, table, texts=True))


def part_path(storage: Storage, part: Part, table: str) -> str:
    """Return the path of the file of a table, without its long texts."""
    return storage.path(part_file(part.name, table))


def sorted_votes(votes: pd.DataFrame) -> pd.DataFrame:
    """Return votes sorted by run, finding and round; runs and findings stay in the order in which they first appear.

    >>> votes = pd.DataFrame({"run_id": "r", "iteration": 0, "finding_id": ["b", "a", "b"], "round": [1, 1, 2]})
    >>> sorted_votes(votes)["finding_id"].tolist()
    ['b', 'b', 'a']
    """
    run = place = np.asarray(pd.factorize(votes["run_id"])[0], dtype=np.int64)
    for name in ("iteration", "finding_id"):
        codes, names = pd.factorize(votes[name])
        place = np.asarray(pd.factorize(place * len(names) + codes)[0], dtype=np.int64)
    rounds = votes["round"].to_numpy(dtype=np.int64)
    key = (run * len(votes) + place) * (int(rounds.max(initial=0)) + 1) + rounds
    if (np.diff(key) >= 0).all():
        return votes
    return votes.iloc[np.argsort(key, kind="stable")].reset_index(drop=True)


def _coded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose names are categoricals and whose rounds are small integers."""
    names = {column: "category" for column in _CODED if column in frame}
    small = {column: "int32" for column in _SMALL if column in frame and not frame[column].isna().any()}
    return frame.astype({**names, **small})


def part_file(part: str, table: str, *, texts: bool = False) -> str:
    """Return the path in the dataset of the file of a table, or of its long texts."""
    return f"{PARTS}/{part}/{table}{'-texts' if texts else ''}.parquet"


def _arrow(frame: pd.DataFrame, table: str) -> pa.Table:
    """Return columns of a table for Arrow; lists come last."""
    frame.attrs = {}
    lists = [column.name for column in TABLES[table] if column.kind == "names" and column.name in frame]
    arrow = pa.Table.from_pandas(frame.drop(columns=lists), preserve_index=False)
    for column in lists:  # whose type would be looked for in every row
        arrow = arrow.append_column(column, pa.array(frame[column], pa.list_(pa.string()), from_pandas=True))
    return arrow


def _write(storage: Storage, name: str, table: pa.Table, **options: Any) -> None:
    with storage.writing(name) as stream:
        pq.write_table(table, stream, **options)


def _read(storage: Storage, name: str) -> pd.DataFrame:
    with reading(storage, name) as stream:
        refuse_large(pq.read_metadata(stream), storage.path(name))
        return pd.read_parquet(stream)


@contextmanager
def reading(storage: Storage, name: str) -> Iterator[Any]:
    """Open a file of a part; InputError if it is gone or damaged."""
    path = storage.path(name)
    try:
        with pa.OSFile(path, "rb") if storage.is_local else storage.system.open(path, "rb") as stream:
            yield stream
    except TableError:
        raise
    except FileNotFoundError:
        fix = "open it again: it was compiled anew since"
        raise InputError(Problem(path, "is no longer part of the dataset", fix)) from None
    except (OSError, pa.ArrowException, ValueError) as error:
        fix = "remove the dataset and compile it again"
        raise InputError(Problem(path, f"cannot be read ({error})", fix)) from None

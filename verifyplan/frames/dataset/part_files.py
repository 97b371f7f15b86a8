"""The tables of one part as Parquet files: names as categoricals, votes sorted by run, finding and round (rule E5)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.columns import LONG_TEXTS, TABLES, empty, typed
from verifyplan.frames.dataset.manifest import PARTS, Part
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.parquet_files import UNREADABLE, read_frame, write_frame
from verifyplan.frames.runset import TABLE_NAMES, RunSet

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id")
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
        with storage.writing(_file(name, table)) as stream:
            write_frame(frame.astype({column: "category" for column in _CODED if column in frame}), stream)
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
    left_out = () if texts else LONG_TEXTS.get(table, ())
    frame = read_columns(storage, part, table, [each.name for each in TABLES[table] if each.name not in left_out])
    return typed(table, frame, part_path(storage, part, table), keys_checked=True)


def read_columns(storage: Storage, part: Part, table: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a table of a part, names as categoricals; one that the file lacks is left out.

    Raises InputError where the file is gone or damaged.
    """
    path = part_path(storage, part, table)
    try:
        with storage.system.open(path, "rb") as stream:
            return read_frame(stream, path, columns)
    except TableError:
        raise
    except FileNotFoundError:
        fix = "open it again: it was compiled anew since"
        raise InputError(Problem(path, "is no longer part of the dataset", fix)) from None
    except UNREADABLE as error:
        fix = "remove the dataset and compile it again"
        raise InputError(Problem(path, f"cannot be read ({error})", fix)) from None


def joined_categories(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return tables of the same columns as one; a categorical has the categories of all, in order of appearance.

    >>> tables = [pd.DataFrame({"worker": pd.Categorical(names)}) for names in (["b"], ["a", "b"])]
    >>> joined_categories(tables)["worker"].cat.categories.tolist()
    ['b', 'a']
    """
    columns: dict[str, Any] = {}
    for name in frames[0]:
        parts = [frame[name] for frame in frames]
        coded = all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts)
        if coded and any(part.dtype != parts[0].dtype for part in parts):
            columns[str(name)] = union_categoricals([part.cat.remove_unused_categories() for part in parts])
        else:
            columns[str(name)] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns)


def part_path(storage: Storage, part: Part, table: str) -> str:
    """Return the path of the file of a table."""
    return storage.path(_file(part.name, table))


def _file(part: str, table: str) -> str:
    """Return the path in the dataset of the file of a table."""
    return f"{PARTS}/{part}/{table}.parquet"


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

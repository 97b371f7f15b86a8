"""The tables of one part as Parquet files: keys as integer codes, votes sorted, long texts in files of their own."""

from __future__ import annotations

import secrets
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from verifyplan.errors import InputError, Problem
from verifyplan.frames.columns import TABLES, empty
from verifyplan.frames.dataset.manifest import PARTS, Part
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.runset import TABLE_NAMES, RunSet

TEXTS = {"votes": ["explanation"], "messages": ["content"]}
"""The columns of long texts, which are in a file of their own and read only where they are needed."""

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id")
_SMALL = ("iteration", "round")
_MAX_DICTIONARY_BYTES = 2**27
_MAX_WORKERS = 1000


def write_part(storage: Storage, runs: RunSet) -> Part:
    """Write the tables of some runs as a new part, and return what the manifest says of it; empty tables get no file.

    Votes are sorted by run, finding and round, each in the order of appearance.
    """
    name = secrets.token_hex(8)
    tables = {table: frame for table in TABLE_NAMES if len(frame := getattr(runs, table))}
    if "votes" in tables:
        tables["votes"] = sorted_votes(tables["votes"])
    for table, frame in tables.items():
        long = [column for column in TEXTS.get(table, ()) if column in frame]
        _write(storage, _file(name, table), _coded(frame.drop(columns=long)))
        if long:
            _write(storage, _file(name, table, texts=True), frame[long])
    votes = runs.votes
    disagrees = votes["verdict"].eq("disagree") & votes["disagree_basis"].isna()
    return Part(
        name=name,
        rows={table: len(frame) for table, frame in tables.items()},
        memory={table: int(frame.memory_usage(deep=True).sum()) for table, frame in tables.items()},
        first_run=min(runs.runs["run_id"]),
        last_run=max(runs.runs["run_id"]),
        modes=tuple(map(str, runs.runs["mode"].dropna().unique())),
        workers=tuple(sorted(map(str, votes["worker"].unique()))[:_MAX_WORKERS]),
        missing_bases=int(disagrees.sum()),
        synthetic=bool(runs.runs["synthetic"].fillna(False).any()),
    )


def read_table(storage: Storage, part: Part, table: str, *, texts: bool = True) -> pd.DataFrame:
    """Return a table of a part with its declared types; without `texts` the long ones are missing.

    Raises InputError where its file is gone or damaged.
    """
    if not part.count(table):
        return empty(table)
    frame = read_coded(storage, part, table)
    long = [column.name for column in TABLES[table] if column.name in TEXTS.get(table, ())]
    if long and texts:
        frame = pd.concat([frame, _read(storage, _file(part.name, table, texts=True))], axis=1)
    columns: dict[str, Any] = {}
    for column in TABLES[table]:
        if column.name not in frame:  # a text that nobody needs
            columns[column.name] = pd.Series(None, index=frame.index, dtype=column.dtype)
        elif column.kind == "names":
            columns[column.name] = frame[column.name].map(list, na_action="ignore")
        else:
            columns[column.name] = frame[column.name].astype(column.dtype)
    return pd.DataFrame(columns | {name: frame[name] for name in frame if name not in columns})


def read_coded(
    storage: Storage, part: Part, table: str, columns: list[str] | None = None, *, texts: bool = False
) -> pd.DataFrame:
    """Return a table of a part as it is stored: names as categoricals, rounds as small integers."""
    frame = _read(storage, _file(part.name, table), columns)
    return pd.concat([frame, _read(storage, _file(part.name, table, texts=True))], axis=1) if texts else frame


def part_path(storage: Storage, part: Part, table: str) -> str:
    """Return the path of the file of a table, without its long texts."""
    return storage.path(_file(part.name, table))


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


def _file(part: str, table: str, *, texts: bool = False) -> str:
    return f"{PARTS}/{part}/{table}{'-texts' if texts else ''}.parquet"


def _write(storage: Storage, name: str, frame: pd.DataFrame) -> None:
    data = BytesIO()
    frame.attrs = {}
    frame.to_parquet(data, index=False, dictionary_pagesize_limit=_MAX_DICTIONARY_BYTES)
    storage.write(name, data.getvalue())


def _read(storage: Storage, name: str, columns: list[str] | None = None) -> pd.DataFrame:
    path = storage.path(name)
    try:
        with storage.system.open(path, "rb") as stream:
            return pd.read_parquet(stream, columns=columns)
    except FileNotFoundError:
        fix = "open it again: it was compiled anew since"
        raise InputError(Problem(path, "is no longer part of the dataset", fix)) from None
    except (OSError, pa.ArrowException, ValueError) as error:
        fix = "remove the dataset and compile it again"
        raise InputError(Problem(path, f"cannot be read ({error})", fix)) from None

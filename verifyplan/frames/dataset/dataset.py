"""A dataset of compiled runs: a RunSet whose tables are read when they are first needed (rule E5)."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.columns import TABLES, empty
from verifyplan.frames.cut_rounds import TELLING, may_be_cut
from verifyplan.frames.dataset.manifest import MANIFEST, Part, read_manifest
from verifyplan.frames.dataset.part_files import joined_categories, part_path, read_columns, read_table
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.own_words import as_truth
from verifyplan.frames.runset import TABLE_NAMES, RunSet, no_errors, table_sizes
from verifyplan.frames.table_files import Truth, truth_table
from verifyplan.frames.table_limits import MAX_TABLE_BYTES
from verifyplan.text import counted


@dataclass(frozen=True)
class _StoredTables:
    """Where the tables of a dataset come from."""

    storage: Storage
    parts: tuple[Part, ...]
    chosen: frozenset[str] | None = None
    """The runs that were selected; None for all."""
    texts: bool = True
    """Whether long texts are read."""
    truths: tuple[pd.DataFrame, ...] = ()
    """Tables of truth, the later before the earlier."""
    errors: tuple[dict[str, str], ...] = ()


class Dataset(RunSet):
    """Runs that were compiled into a dataset; every table is read when it is first asked for, and then kept.

    It can be given wherever runs are taken. `replay` and `compare` go through its parts one by one, and other
    functions read the tables that they need whole, which is refused where one of them would need more than 4 GB.
    """

    @classmethod
    def open(cls, address: str | os.PathLike[str]) -> Dataset:
        """Return the dataset at an address; only its manifest is read.

        Raises InputError where there is none, or it was compiled by another version.
        """
        storage = Storage.at(address)
        manifest = read_manifest(storage)
        if manifest is None:
            there = storage.exists(MANIFEST)
            message = "was compiled by another version of verifyplan" if there else "is not a dataset"
            fix = "compile it again: verifyplan compile DIR --out DATASET"
            raise InputError(Problem(storage.address, message, fix))
        return cls.of(storage, manifest.parts, manifest.errors)

    @classmethod
    def of(cls, storage: Storage, parts: Iterable[Part], errors: tuple[dict[str, str], ...] = ()) -> Dataset:
        """Return some parts of a dataset."""
        return cls._from(_StoredTables(storage, tuple(parts), errors=errors))

    @classmethod
    def _from(cls, source: _StoredTables) -> Dataset:
        made = object.__new__(cls)
        made.__dict__["_source"] = source
        return made

    def __dir__(self) -> list[str]:
        """Return all names, those of tables that are not read yet among them, for notebooks to complete."""
        return sorted({*super().__dir__(), *TABLE_NAMES})

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Read a table when it is first asked for."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None or (name not in TABLES and name != "errors"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = table = _table(source, name)
        return table

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not the tables, where these can be read again."""
        return {"_source": self.__dict__["_source"]} if "_source" in self.__dict__ else dict(self.__dict__)

    @property
    def parts(self) -> tuple[Dataset, ...]:
        """The parts, each a dataset; none where its tables are no longer those of its files."""
        source: _StoredTables | None = self.__dict__.get("_source")
        return () if source is None else tuple(self._from(replace(source, parts=(part,))) for part in source.parts)

    @property
    def statistics(self) -> tuple[Part, ...]:
        """The entry of each part in the manifest: its rows, runs, modes and workers."""
        source: _StoredTables | None = self.__dict__.get("_source")
        return () if source is None else source.parts

    def without_texts(self) -> Dataset:
        """Return the dataset with long texts missing: the explanations of votes, the contents of messages."""
        source: _StoredTables | None = self.__dict__.get("_source")
        return self if source is None else self._from(replace(source, texts=False))

    def paths(self, table: str) -> list[str]:
        """Return the paths of the Parquet files of a table, for other programs."""
        source: _StoredTables = self.__dict__["_source"]
        return [part_path(source.storage, part, table) for part in source.parts if part.count(table)]

    def coded_votes(self, columns: list[str], *, texts: bool = False) -> pd.DataFrame:
        """Return columns of votes as they are stored, with names as categoricals; they are not kept.

        With `texts`, `explanation` is read, too.
        """
        source: _StoredTables = self.__dict__["_source"]
        kept = [*columns, *(["explanation"] if texts else [])]
        named = kept if source.chosen is None else list(dict.fromkeys([*kept, "run_id"]))
        frames = [read_columns(source.storage, part, "votes", named) for part in source.parts if part.count("votes")]
        if source.chosen is not None:
            frames = [frame.loc[frame["run_id"].isin(source.chosen), kept].reset_index(drop=True) for frame in frames]
        return joined_categories(frames) if frames else empty("votes")[kept]

    @property
    def n_findings(self) -> int:
        """The number of findings, from the manifest unless some runs were selected; their table is not kept."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None:
            return len(self.findings)
        parts = [part for part in source.parts if part.count("findings")]
        if source.chosen is None:
            return sum(part.count("findings") for part in parts)
        of_runs = (read_columns(source.storage, part, "findings", ["run_id"])["run_id"] for part in parts)
        return sum(int(runs.isin(source.chosen).sum()) for runs in of_runs)

    @cached_property
    def may_be_cut(self) -> bool:
        """Whether a limit may have held back votes of a run of its parts; few columns are read."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None:
            return bool(may_be_cut(self.runs).any())
        parts = (part for part in source.parts if part.count("runs"))
        return any(may_be_cut(read_columns(source.storage, part, "runs", TELLING)).any() for part in parts)

    def votes_by_part(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield columns of the votes part by part, with names as categoricals; they are not kept."""
        if not self.parts:
            yield from super().votes_by_part(columns)
        found = False
        for part in self.parts:
            votes = part.coded_votes(list(columns))
            if len(votes):
                found = True
                yield votes
        if self.parts and not found:
            yield empty("votes")[list(columns)]

    def explanations(self) -> pd.Series[Any]:
        """Return the words of the votes, discoverers' own left out; of the votes no other column is kept."""
        if not self.parts:
            return super().explanations()
        votes = self.coded_votes(["is_origin"], texts=True)
        cast = ~votes["is_origin"].fillna(False).to_numpy(dtype=bool)
        return votes["explanation"][cast].reset_index(drop=True)

    def in_memory(self) -> RunSet:
        """Return all tables, read, as a RunSet that no longer needs the files."""
        return RunSet(**{name: getattr(self, name) for name in TABLE_NAMES}, errors=self.errors)

    def select(self, chosen: Callable[[pd.DataFrame], Any] | str | Iterable[str]) -> Dataset:
        """Return only some runs (see `RunSet.select`); of parts that have none of them nothing is read."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None:
            return super().select(chosen)  # type: ignore[return-value]  # in memory: made by `replace`
        wanted = frozenset(self.wanted_runs(chosen))
        ids = sorted(wanted)
        parts = tuple(part for part in source.parts if _may_hold(part, ids))
        return self._from(replace(source, parts=parts, chosen=wanted))

    def with_truth(self, truth: Truth, truths: Mapping[Any, bool | None] | None = None) -> Dataset:
        """Return the same runs with `findings.truth` filled (see `RunSet.with_truth`), whenever findings are read."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None:
            return super().with_truth(truth, truths)  # type: ignore[return-value]
        table = truth_table(truth)
        if "truth" in table:
            table = table.assign(truth=as_truth(table["truth"], "truth", truths))
        parts = (part.findings for part in self.parts)
        findings = next((part for part in parts if _is_about(table, part).any()), empty("findings"))
        _truly(findings, table)
        return self._from(replace(source, truths=(*source.truths, table)))

    def __len__(self) -> int:
        """Return the number of runs, from the manifest unless some were selected."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None or source.chosen is not None:
            return len(self.runs)
        return sum(part.count("runs") for part in source.parts)

    def __repr__(self) -> str:
        """Return the sizes of the tables as the manifest has them; nothing is read."""
        source: _StoredTables | None = self.__dict__.get("_source")
        if source is None:
            return super().__repr__()
        counts = {name: sum(part.count(name) for part in source.parts) for name in TABLE_NAMES}
        if source.chosen is not None:
            where = counted(len(source.parts), "part")
            return f"Dataset({counted(len(source.chosen), 'selected run')} in {where} of {source.storage.address!r})"
        return f"Dataset({table_sizes(counts)} in {counted(len(source.parts), 'part')} of {source.storage.address!r})"

    def __str__(self) -> str:
        """Return the sizes, as the manifest has them."""
        return repr(self)

    def _repr_html_(self) -> str:
        """Return the sizes, as text."""
        return f"<p>{escape(str(self))}</p>"


def _may_hold(part: Part, ids: list[str]) -> bool:
    """Return whether some of the sorted run ids are among those of a part."""
    place = bisect_left(ids, part.first_run)
    return place < len(ids) and ids[place] <= part.last_run


def _table(source: _StoredTables, name: str) -> pd.DataFrame:
    """Return a table of all parts; InputError where it would be too large."""
    if name == "errors":
        return pd.DataFrame(source.errors, dtype="str") if source.errors else no_errors()
    if source.chosen is None:
        _expect_small(source.parts, name)
    tables = [_part_table(source, part, name) for part in source.parts if part.count(name)]
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else empty(name)


def _part_table(source: _StoredTables, part: Part, name: str) -> pd.DataFrame:
    table = read_table(source.storage, part, name, texts=source.texts)
    if source.chosen is not None:
        table = table[table["run_id"].isin(source.chosen).to_numpy(dtype=bool)].reset_index(drop=True)
    return with_truths(table, source.truths) if name == "findings" else table


def _is_about(truth: pd.DataFrame, findings: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each row of a table of truth is about one of the findings."""
    keys = [name for name in ("run_id", "finding_id") if name in truth]
    about = [truth[name].astype("str").isin(findings[name].unique()) for name in keys]
    return pd.concat(about, axis=1).all(axis=1) if about else pd.Series(dtype="bool")


def _truly(findings: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Return findings with their truth; raises as `RunSet.with_truth`."""
    runs = pd.DataFrame({"run_id": findings["run_id"].unique()})
    return RunSet(runs=runs, findings=findings).with_truth(truth).findings


def with_truths(findings: pd.DataFrame, truths: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the findings with the truths that are about them."""
    for truth in truths:
        about = _is_about(truth, findings).to_numpy()
        findings = _truly(findings, truth[about]) if about.any() else findings
    return findings


def _expect_small(parts: Sequence[Part], name: str) -> None:
    size = sum(part.memory.get(name, 0) for part in parts)
    if size > MAX_TABLE_BYTES:
        message = f"has {size / 2**30:,.1f} GB in memory, and {MAX_TABLE_BYTES / 2**30:.0f} GB are read at once"
        fix = "select fewer runs, go through .parts one by one, or use the functions that do (docs/scale.md)"
        raise InputError(Problem(f"table {name}", message, fix))

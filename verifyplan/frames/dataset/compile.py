"""Compile run files into a dataset: what is new or changed alone, and never half (rule E5)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.files import free_space
from verifyplan.frames.columns import empty
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.dataset.manifest import (
    MANIFEST,
    Manifest,
    Part,
    read_manifest,
    remove_left_over,
    write_manifest,
)
from verifyplan.frames.dataset.part_files import memory_of, write_part
from verifyplan.frames.dataset.sources import (
    Changes,
    CompiledFile,
    batches,
    changes,
    read_sources,
    run_files,
    write_sources,
)
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.dataset.truth import TruthFile, truth_beside
from verifyplan.frames.load import FILES_FOR_PROGRESS_BAR, error_table, refuse
from verifyplan.frames.run_files import Failure, read_files
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.progress import progress as progress_bar
from verifyplan.text import counted

Address = str | os.PathLike[str]

PART_VOTES = 500_000
"""A part is ended by the run that brings it to so many votes ..."""

PART_BYTES = 2**28
"""... or to so many bytes in memory."""

MAX_SMALL_PARTS = 16
"""With more parts of less than half of that, small ones are joined: each compile may leave one."""

_BATCH_BYTES = 2**25


@with_field_docs
@dataclass(frozen=True)
class Compiled:
    """The result of a compile."""

    dataset: str
    """The address of the dataset."""
    n_runs: int
    """The runs that it holds now."""
    n_parts: int
    """The parts that they are in."""
    added: int
    """Run files that are new, and gave a run."""
    changed: int
    """Run files that were compiled before, have other bytes, and gave a run."""
    removed: int
    """Run files that were compiled before and are gone."""
    written: int
    """Parts that were written."""
    errors: tuple[dict[str, str], ...] = ()
    """What is wrong with run files that were left out, or read all the same: source, place, message, fix."""
    read_anyway: frozenset[str] = frozenset()
    """Of these files, those whose runs are in the dataset all the same."""
    truth: str = ""
    """The file in the folder of runs by which the truth of findings is known; empty where there is none."""
    left_out: int = 0
    """Files that gave no run: damaged ones, and those of other programs; `.errors` says why."""
    read_again: int = 0
    """Run files that are as they were, and were read again as the file of truth has changed."""

    def __str__(self) -> str:
        """Return what was done in two lines, where truth is from, and a line for each error."""
        what = f"{self.added:,} added, {self.changed:,} changed, {self.removed:,} removed"
        what += f", {self.read_again:,} read again" if self.read_again else ""
        what += f", {self.left_out:,} left out" if self.left_out else ""
        lines = [
            f"{self.dataset}: {counted(self.n_runs, 'run')} in {counted(self.n_parts, 'part')}",
            f"run files: {what}; {counted(self.written, 'part')} written",
            *([f"truth of findings: {self.truth}"] if self.truth else []),
        ]
        return "\n".join([*lines, *self.error_lines()])

    __repr__ = __str__  # a console and a notebook show the words, not every field

    def error_lines(self) -> list[str]:
        """Return a line for each error: whether the run was left out, what is wrong, what to do."""
        return [
            f"{'read all the same' if each['source'] in self.read_anyway else 'left out'}: "
            f"{each['place']}: {each['message']}. Fix: {each['fix']}."
            for each in self.errors
        ]


def compile_dataset(
    paths: Address,
    dataset: Address,
    *,
    strict: bool = True,
    progress: bool | None = None,
    part_votes: int = PART_VOTES,
) -> Compiled:
    """Compile the run logs and artifacts at an address into a dataset, or bring that up to date.

    Only files that are new, or whose size, time and bytes have changed, are read; a run whose file is gone is removed.
    New parts are written beside the old ones, and then one manifest is replaced: whenever the process dies, the
    dataset is the old one or the new one, whole, and the next compile removes what is left over. A second process
    that compiles into the same folder of this machine is refused; elsewhere nobody looks, so that one at a time must.

    A file `truth.csv` or `claims.csv` in the folder that has `finding_id` and `truth`, as `with_truth` takes them,
    fills the truth of findings; where it has changed, everything is compiled again.

    Args:
        paths: a folder, a glob or an fsspec address of run files, as `load` takes it.
        dataset: the folder of the dataset, or its fsspec address; it is made.
        strict: whether a damaged file refuses the compile; else it is left out, and `.errors` says why.
        progress: whether to show a bar; by default from 200 files on, where somebody can see it.
        part_votes: the votes after which a part is ended.

    Raises:
        InputError: listing every problem of every damaged file; where there are no run files; for a folder that was
            compiled from other runs, holds something else, is being compiled, or cannot be written.

    >>> import verifyplan as vp
    >>> print(compile_dataset(vp.datasets.path("contract"), "memory://compiled-example"))
    memory://compiled-example: 15 runs in 1 part
    run files: 15 added, 0 changed, 0 removed; 1 part written
    >>> vp.load("memory://compiled-example")
    Dataset(15 runs, 27 findings, 84 votes, 21 rounds, 51 dispatches in 1 part of 'memory://compiled-example')
    """
    source, storage = _full(paths), Storage.at(dataset)
    files = run_files(source)
    _expect_own(storage)
    with storage.locked():
        truth = truth_beside(source)
        old = _manifest_of(storage, source)
        known = read_sources(storage, old) if old else []
        before = {source.path for source in known}
        remove_left_over(storage)
        found = since_before = changes(files, known)
        if is_other_truth := old is not None and old.truth != truth.digest:
            old, known, found = None, [], changes(files, [])
        writer = _Writer(storage, part_votes)
        if old is not None and not found.to_read and set(found.same) == set(known):
            manifest = old
        else:
            try:
                manifest = _new_manifest(storage, source, truth, old, found, writer, strict=strict, progress=progress)
                write_manifest(storage, manifest)
            except OSError as error:
                raise _unwritable(storage, error) from None
            finally:
                remove_left_over(storage)
    compiled = [now.path in before for _, now in since_before.to_read if now.run_id in writer.part_of]
    read_anyway = _read_anyway(storage, manifest)
    return Compiled(
        dataset=storage.address,
        n_runs=sum(part.count("runs") for part in manifest.parts),
        n_parts=len(manifest.parts),
        added=compiled.count(False),
        changed=compiled.count(True),
        removed=len(since_before.gone) - since_before.n_changed,
        written=len(writer.parts),
        errors=manifest.errors,
        read_anyway=read_anyway,
        truth=truth.name,
        left_out=len({error["source"] for error in manifest.errors} - read_anyway),
        read_again=len(since_before.same) if is_other_truth else 0,
    )


def _read_anyway(storage: Storage, manifest: Manifest) -> frozenset[str]:
    """Return the files with an error whose runs are in the dataset."""
    wrong = {error["source"] for error in manifest.errors}
    sources = read_sources(storage, manifest) if wrong else []
    return frozenset(source.path for source in sources if source.part and source.path in wrong)


def _unwritable(storage: Storage, error: OSError) -> InputError:
    free = free_space(error, storage.root) if storage.is_local else ""
    message = f"cannot be written ({error.strerror or error}){free}; it is as it was before"
    return InputError(
        Problem(storage.address, message, "make room, or check the folder and your rights; compile again")
    )


def _full(address: Address) -> str:
    text = os.fspath(address)
    return text if "://" in text else Path(text).expanduser().absolute().as_posix()


def _expect_own(storage: Storage) -> None:
    """Raise InputError for a folder that holds something else."""
    if storage.is_foreign and not storage.exists(MANIFEST):
        message = "holds files that are not a dataset"
        raise InputError(Problem(storage.address, message, "name a folder that is empty or new"))


def _manifest_of(storage: Storage, source: str) -> Manifest | None:
    """Return the manifest that is brought up to date, None where there is none; InputError for other runs."""
    manifest = read_manifest(storage)
    if manifest is not None and manifest.source != source:
        message = f"was compiled from {manifest.source}, and not from {source}"
        raise InputError(Problem(storage.address, message, "name another folder for this dataset, or remove it"))
    return manifest


@dataclass
class _Writer:
    """Gathers runs, and writes a part whenever there are enough of them."""

    storage: Storage
    part_votes: int
    parts: list[Part] = field(default_factory=list)
    part_of: dict[str, str] = field(default_factory=dict)
    """The part of each run that was written."""
    waiting: list[RunSet] = field(default_factory=list)
    waiting_bytes: int = 0

    def add(self, runs: RunSet) -> None:
        if len(runs):
            self.waiting.append(runs)
            tables = (getattr(runs, name) for name in TABLE_NAMES)
            self.waiting_bytes += sum(memory_of(table) for table in tables if len(table))
        if sum(len(each.votes) for each in self.waiting) >= self.part_votes or self.waiting_bytes >= PART_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting as one part."""
        if self.waiting:
            part = write_part(self.storage, *self.waiting)
            self.parts.append(part)
            for runs in self.waiting:
                self.part_of |= dict.fromkeys(runs.runs["run_id"], part.name)
            self.waiting, self.waiting_bytes = [], 0


def _new_manifest(
    storage: Storage,
    source: str,
    truth: TruthFile,
    old: Manifest | None,
    found: Changes,
    writer: _Writer,
    *,
    strict: bool,
    progress: bool | None,
) -> Manifest:
    """Write the parts that have to be written, and return the manifest that has them."""
    failures: list[Failure] = []
    foreign: list[Failure] = []
    kept = _keep_parts(storage, old, found, writer)
    shown = progress if progress is not None or len(found.to_read) >= FILES_FOR_PROGRESS_BAR else False
    with progress_bar("compiling runs", len(found.to_read), shown) as step:
        for batch in batches(found.to_read, _BATCH_BYTES):
            read = read_files([file for file, _ in batch], step)
            failures += read.failures
            foreign += read.foreign
            if not (strict and failures):  # then the other files are read for their problems alone
                writer.add(truth.fill(_each_alone(read.runs)))
    if strict:
        refuse(failures)
    writer.flush()
    if not any(part.count("runs") for part in [*kept, *writer.parts]):
        refuse(failures or [_nothing(source, foreign)])
    damaged = {path for path, _ in failures}
    files = [*found.same, *(each for _, each in found.to_read)]
    rows = [
        CompiledFile(*each[:-1], part=writer.part_of[each.run_id]) if each.run_id in writer.part_of else each
        for each in files
        if each.run_id in writer.part_of or each.path not in damaged
    ]
    errors = error_table([*failures, *foreign]).to_dict("records")
    return Manifest(
        source=source,
        parts=(*kept, *writer.parts),
        files=write_sources(storage, rows),
        truth=truth.digest,
        errors=(*_lasting(old, found.same), *({str(k): str(v) for k, v in row.items()} for row in errors)),
    )


def _each_alone(runs: RunSet) -> RunSet:
    """Return runs without the flag that depends on which others were read with them: a part holds some of them."""
    known = runs.calls["run_repeated"].notna().any()
    return replace(runs, calls=runs.calls.assign(run_repeated=empty("calls")["run_repeated"])) if known else runs


def _nothing(source: str, foreign: Sequence[Failure]) -> Failure:
    """Return that there is no run, and which files are of something else."""
    first = foreign[0][1].problems[0].message.removesuffix(": passed over") if foreign else ""
    passed = f"; {counted(len(foreign), 'file')} passed over, the first ({foreign[0][0]}) {first}" if foreign else ""
    fix = "name a folder of run logs (.jsonl) or state artifacts (.json)"
    return source, InputError(Problem(source, f"holds no run{passed}", fix))


def _keep_parts(storage: Storage, old: Manifest | None, found: Changes, writer: _Writer) -> list[Part]:
    """Return the parts that stay as they are; what stays of the others is given to the writer.

    A part is written again without the runs that are gone, and where there are many small parts.
    """
    parts = old.parts if old else ()
    touched = {source.part for source in found.gone}
    small = [part.name for part in parts if _is_small(part, writer.part_votes)]
    if len(small) >= MAX_SMALL_PARTS and found.to_read:
        touched |= set(small)
    gone = {source.run_id for source in found.gone}
    for part in parts:
        if part.name in touched:
            runs = Dataset.of(storage, [part]).in_memory()
            ids = [run_id for run_id in runs.runs["run_id"] if run_id not in gone]
            writer.add(runs.select(ids))
    return [part for part in parts if part.name not in touched]


def _is_small(part: Part, part_votes: int) -> bool:
    return part.count("votes") < part_votes / 2 and sum(part.memory.values()) < PART_BYTES / 2


def _lasting(old: Manifest | None, same: Iterable[CompiledFile]) -> list[dict[str, str]]:
    """Return the errors of files that are still the same."""
    paths = {source.path for source in same}
    return [error for error in (old.errors if old else ()) if error["source"] in paths]

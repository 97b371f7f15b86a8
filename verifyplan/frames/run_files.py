"""Read run files, logs and artifacts, into the tables of all their runs (rule E4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic_core import from_json

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.addresses import ARTIFACT, LOG, RunFile, bytes_of, size_of
from verifyplan.frames.artifact import check_artifact, parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.run_tables import log_columns
from verifyplan.frames.runset import RunSet, TableLists, assemble
from verifyplan.frames.table_files import WORKBOOKS
from verifyplan.frames.vote_files import SIDECAR_SUFFIX, is_vote_file, sidecar_of
from verifyplan.runlog.reader import parse_log

MAX_FILE_BYTES = 2**30
"""A run file that is larger is refused: its tables would take some five times that in memory. A run of 50,000 findings
and 5 workers, one call each, writes a log of 0.6 GB, and an artifact of a ninth of that."""

_MARKS = {ARTIFACT: (b"schemaVersion",), LOG: (b"run-started", b'"digest"')}
"""What the bytes of every run file hold, damaged ones too; a file in a folder that has none of it is not a run."""

_LOG_START = b'{"seq":1,"at":"'
"""The bytes with which every log begins; they tell a log that was cut within its first line from one of another
program."""

T = TypeVar("T")


Failure = tuple[str, InputError]
"""The path of a file, and what is wrong with it."""


class FilesRead(NamedTuple):
    """The runs of some files, and what is wrong with the files that gave none, or not all."""

    runs: RunSet
    """The tables of all runs that could be read, in the order of their files."""
    failures: list[Failure]
    """The path and the error of each damaged file; of one that breaks rule B9 and nothing else, the run is read."""
    foreign: list[Failure]
    """The path and the error of each file that is clearly of something else."""


def read_files(files: Iterable[RunFile], step: Callable[[], None] = lambda: None) -> FilesRead:
    """Return the runs of some files as tables; `step` is called after each file. TableError where two have one id."""
    failures: list[Failure] = []
    foreign: list[Failure] = []
    read: list[tuple[str, TableLists]] = []
    order: dict[str, int] = {}
    for file in files:
        shown = os.fsencode(file.path).decode("utf-8", "backslashreplace")
        order[shown] = len(order)
        if shown != file.path:  # no table could hold it
            failures.append((shown, InputError(Problem(shown, "has a name that is not UTF-8", "rename it"))))
        else:
            columns = attempt(partial(_columns, file, failures, foreign), file.path, failures)
            read += [(file.path, columns)] if columns is not None else []
        step()
    runs = _assembled(read, failures)
    failures.sort(key=lambda failure: order[failure[0]])
    return FilesRead(runs, failures, foreign)


def attempt(read: Callable[[], T], path: str, failures: list[Failure]) -> T | None:
    """Return what `read` returns; None, and a failure of the path, where it raises InputError."""
    try:
        return read()
    except InputError as error:
        failures.append((path, error))
        return None


def _columns(file: RunFile, failures: list[Failure], foreign: list[Failure]) -> TableLists | None:
    """Return the columns of one run; an artifact that breaks rule B9 and nothing else is also a failure."""
    data = _content(file, foreign)
    if data is None:
        return None
    if file.path.endswith(LOG):
        return log_columns(parse_log(data, file.path).records, file.run_id, file.path)
    artifact = parse_artifact(data, file.path, checked=False)
    attempt(partial(check_artifact, artifact, file.path), file.path, failures)
    return artifact_columns(artifact, file.run_id, file.path)


def _assembled(parts: Sequence[tuple[str, TableLists]], failures: list[Failure]) -> RunSet:
    """Return the columns of files as tables; what does not fit by itself is a failure, and left out."""
    try:
        return assemble(columns for _, columns in parts)
    except TableError:
        fitting = _fitting(parts, failures)
    return assemble(columns for _, columns in fitting)  # raises if two files are one run: no file is wrong by itself


def _fitting(parts: Sequence[tuple[str, TableLists]], failures: list[Failure]) -> Sequence[tuple[str, TableLists]]:
    """Return the parts whose columns fit, found by halving: among thousands, few do not."""
    try:
        assemble(columns for _, columns in parts)
    except TableError as error:
        if len(parts) > 1:
            half = len(parts) // 2
            return [*_fitting(parts[:half], failures), *_fitting(parts[half:], failures)]
        path = parts[0][0]
        if path not in {named for named, _ in failures}:  # else rule B9 says why
            problems = [Problem(f"{path}: {p.place}", p.message, p.fix) for p in error.problems]
            failures.append((path, TableError(problems)))
        return []
    return parts


def _content(file: RunFile, foreign: list[Failure]) -> bytes | None:
    """Return the bytes of a run file; None where it is of something else, InputError where it cannot be read."""
    suffix = LOG if file.path.endswith(LOG) else ARTIFACT
    if not file.path.endswith(suffix):
        kind = Path(file.path).suffix or "file without suffix"
        fix = (
            "load a .json artifact or a .jsonl run log, or a folder of saved tables; "
            "read votes in CSV or Parquet by pandas, and give the table to from_table (any labels) "
            f"or from_votes (verdicts){_shell_fix(file.path)}"
        )
        raise InputError(Problem(file.path, f"a {kind} is not a run", fix))
    data = _bytes(file)
    if file.named or any(mark in data for mark in _MARKS[suffix]) or not data.strip():
        return data
    may_be_run = suffix == ARTIFACT or data.startswith(_LOG_START) or _LOG_START.startswith(data)
    if may_be_run and _is_cut_off(data):
        return data
    lacks = "schemaVersion" if suffix == ARTIFACT else "run-started event"
    fix = "nothing, if it is of another program; else name the file itself to see what is wrong with it"
    foreign.append((file.path, InputError(Problem(file.path, f"is not a run, as it has no {lacks}: passed over", fix))))
    return None


def _is_cut_off(data: bytes) -> bool:
    """Return whether a JSON object ends before its end: it may be a run of which the disk lost the rest.

    Files of other programs that are no JSON, with comments or one value a line, fail before their end.

    >>> _is_cut_off(b'{"a":'), _is_cut_off(b"{ // a comment"), _is_cut_off(b'{"a": 1}')
    (True, False, False)
    """
    try:
        from_json(data)
    except ValueError as error:
        return data.lstrip().startswith(b"{") and str(error).startswith("EOF")
    return False


def _shell_fix(path: str) -> str:
    """Return how a file that may hold votes is read by names of columns beside it; a workbook must be saved as CSV."""
    if Path(path).suffix.lower() in WORKBOOKS:
        return "; in a shell save the sheet as CSV (UTF-8), and name that"
    if not is_vote_file(path):
        return ""
    name, sidecar = Path(path).name, sidecar_of(path)
    other = sidecar.with_name(f"{Path(path).stem}{SIDECAR_SUFFIX}")
    near = f"; {other.name} beside it would be read under the name {sidecar.name}" if other.is_file() else ""
    shell = f"`verifyplan panel {name}` says which columns and words it seems to have"
    return f"{near}; or write the file {sidecar.name}, which names its columns: load then reads it. {shell}"


def _bytes(file: RunFile) -> bytes:
    try:
        size = size_of(file)
        if size is None:  # a dead link, or a pipe that would be waited for without end
            raise InputError(Problem(file.path, "is not a readable file", "remove it, or name another"))
        if size > MAX_FILE_BYTES:
            megabytes = f"{size / 2**20:,.0f} MB, and {MAX_FILE_BYTES / 2**20:,.0f} MB are allowed"
            fix = "remove it, or name the run files alone"
            if file.path.endswith(LOG):
                fix = (
                    "name the artifact (.json) beside it, which has its findings and votes, or go through "
                    "read_run(path).records one by one; verify fewer findings a run (docs/scale.md, Live runs)"
                )
            raise InputError(Problem(file.path, f"is too large for a run: {megabytes}", fix))
        return bytes_of(file)
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(file.path, message, "check the file and your rights")) from None

"""Read a run log and check each line; keep few records in memory, and read many from the file again (rule E1)."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, overload

from pydantic import ValidationError
from pydantic_core import from_json

from verifyplan.errors import LogError, Problem, one_of
from verifyplan.protocol.event import EVENT, Event
from verifyplan.protocol.event_run import RunStarted
from verifyplan.runlog.chain import START, Record, decode, share_field_names
from verifyplan.runlog.versions import check_version

SUFFIX = ".jsonl"

MAX_RECORDS_IN_MEMORY = 20_000
"""Records of a run that are kept in memory, some 2 kB each; of a longer one, all are read from its log again."""

MAX_LOGS_NAMED = 3


class StoredRecords(Sequence[Record]):
    """The first `count` records of a log, read from the file each time; only the places of lines are in memory.

    The file must stay where it is; lines may be added to it. LogError where it is gone or damaged.
    """

    def __init__(self, path: Path, places: array[int], count: int) -> None:
        self.path, self._places, self._count = path, places, count

    def __len__(self) -> int:
        """Return how many records there are."""
        return self._count

    def __iter__(self) -> Iterator[Record]:
        """Yield all records in order; every line is checked."""
        with _opened(self.path) as stream:
            yield from islice(_records(stream, str(self.path), Log()), self._count)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        """Return one record; those of a slice are all in memory."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            return tuple(islice(self, start, stop, step)) if step > 0 else tuple(self)[index]
        with _opened(self.path) as stream:
            stream.seek(self._places[range(self._count)[index]])
            values = from_json(stream.readline())
        values.pop("digest")
        return _record(values, values["seq"], str(self.path))

    def mention(self, words: str) -> bool:
        """Return whether the line of a record contains these words, as its type or in a text."""
        searched = words.encode()
        with _opened(self.path) as stream:
            return any(searched in line for line in islice(stream, self._count))

    def __eq__(self, other: object) -> bool:
        """Return whether the other has the same records."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(own == theirs for own, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as lists of records, whose events hold dictionaries


@dataclass
class Log:
    """The content of a log, and what a writer needs to go on."""

    records: Sequence[Record] = ()
    digest: str = START
    """The digest of the last whole line."""
    whole_bytes: int = 0
    """The length of all whole lines; what follows them is torn."""
    torn_bytes: int = 0
    ends_in_line_feed: bool = False
    lines: int = 0
    """Whole lines."""
    places: array[int] = field(default_factory=lambda: array("Q"))
    """Where the line of each record begins, in bytes."""


def read_log(path: str | Path) -> Log:
    """Return all records of a log; its last line is dropped if the process died while it was written.

    If there are more than `MAX_RECORDS_IN_MEMORY` records, none is kept in memory. Raises LogError for a file that
    cannot be read, contains no run, or is damaged anywhere else, naming the line. Source: rule E1.
    """
    log, kept = Log(), list[Record]()
    with _opened(path) as stream:
        for record in _records(stream, str(path), log):
            if len(log.places) <= MAX_RECORDS_IN_MEMORY:
                kept.append(record)
            else:
                kept.clear()
    count = len(log.places)
    is_stored = count > MAX_RECORDS_IN_MEMORY
    log.records = StoredRecords(Path(path), log.places, count) if is_stored else tuple(kept)
    return log


def parse_log(data: bytes, place: str) -> Log:
    """Return the same from the bytes of a log, all its records in memory; `place` names it in errors.

    Line ends of Windows, as git's autocrlf writes them, are read as line feeds: within a line, JSON has no raw one.
    """
    log = Log()
    log.records = tuple(_records(BytesIO(data), place, log))
    return log


def _records(stream: BinaryIO, place: str, log: Log) -> Iterator[Record]:
    """Yield the records of a log, and note in `log` how far it was read.

    LogError if a line is damaged, or the log contains no run.
    """
    carriage, is_run = b"", False
    for line in stream:
        text = line.removesuffix(b"\n")
        carriage = b"\r" if line.endswith(b"\r\n") else carriage  # as git's autocrlf writes it
        decoded = decode(text.removesuffix(carriage), log.digest)
        if decoded is None:
            if text is not line or (log.lines and decode(text[:-1].removesuffix(carriage), log.digest)):
                message = "is damaged: its digest is not that of its text and the line before"
                fix = "restore the file from a copy; the lines before it are whole"
                raise LogError(Problem(f"{place}: line {log.lines + 1}", message, fix))
            log.torn_bytes = len(line)
            break
        values, log.digest = decoded
        first, begin = not log.lines, log.whole_bytes
        log.lines, log.whole_bytes = log.lines + 1, begin + len(line)
        log.ends_in_line_feed = text is not line
        if first and values.get("type") == "run-started":
            check_version(values, place)
        record = _record(values, log.lines, place)
        is_run = is_run or isinstance(record.event, RunStarted)
        if is_run:
            log.places.append(begin)
            yield record
    if not log.places:
        fix = "name a log that `verify` or `crossverify` wrote; a run that died at once must be started again"
        raise LogError(Problem(place, "contains no run: it has no complete run-started line", fix))


def _opened(path: str | Path) -> BufferedReader:
    """Open a log; LogError where it cannot be read."""
    try:
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe or a device may be read without end
            raise ValueError("it is not an ordinary file")
        return Path(path).open("rb")
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        raise not_a_log(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from None


def not_a_log(path: str | Path, message: str) -> LogError:
    """Return the error for a path that is no log, for the reason given; of a folder it names the logs in it."""
    fix = "name a run log (.jsonl)"
    if os.path.isdir(path):  # noqa: PTH112  (Path.is_dir raises for a path that is too long)
        message = "is a folder, not a run log"
        logs = sorted(Path(path).glob(f"*{SUFFIX}"))
        which = "its run log" if len(logs) == 1 else f"one of its {len(logs)} run logs"
        more = " ..." if len(logs) > MAX_LOGS_NAMED else ""
        fix = f"name {which}: {one_of(logs[:MAX_LOGS_NAMED])}{more}" if logs else fix
    return LogError(Problem(str(path), message, fix))


def _record(values: dict[str, object], number: int, place: str) -> Record:
    """Return the record of a line's JSON values; LogError if it is not an event."""
    seq, at = values.pop("seq", None), values.pop("at", None)
    try:
        if seq != number or not isinstance(at, str):
            raise ValueError(f"it is numbered {seq!r}")
        event: Event = EVENT.validator.validate_python(values, strict=False)
        share_field_names(event)
        return Record(number, at, event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        reason = f"{'/'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        reason = str(error)
    fix = "read it with the verifyplan that wrote it"
    raise LogError(Problem(f"{place}: line {number}", f"is not an event of this version ({reason})", fix))

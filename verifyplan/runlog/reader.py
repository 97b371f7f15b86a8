"""Read a run log and check each line; keep few records in memory, and read many from the file again (rule E1)."""

from __future__ import annotations

import stat
from array import array
from collections.abc import Iterator, Sequence
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, overload

from pydantic import ValidationError
from pydantic_core import from_json

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event import EVENT, Event
from verifyplan.protocol.event_run import LOG_VERSION, RunStarted
from verifyplan.runlog.chain import START, Record, decode, share_field_names
from verifyplan.runlog.migrate import Step, migrate, steps_from

SUFFIX = ".jsonl"

MAX_RECORDS_IN_MEMORY = 20_000
"""Records of a run that are kept in memory, some 2 kB each; of a longer one, all are read from its log again."""


class StoredRecords(Sequence[Record]):
    """The first `count` records of a log, read from the file each time; only the places of lines are in memory.

    The file must stay where it is; lines may be added to it. LogError where it is gone or damaged.
    """

    def __init__(self, path: Path, places: array[int], count: int, steps: Sequence[Step] = ()) -> None:
        self.path, self._places, self._count, self._steps = path, places, count, list(steps)

    def __len__(self) -> int:
        """Return how many records there are."""
        return self._count

    def __iter__(self) -> Iterator[Record]:
        """Yield all records in order; every line is checked."""
        with _opened(self.path) as stream:
            yield from islice(LogLines(stream, str(self.path)), self._count)

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
        record = record_of(values, values["seq"], self._steps, str(self.path))
        assert record is not None  # noqa: S101  (dropped events have no place)
        return record

    def content(self) -> bytes:
        """Return the bytes of their lines."""
        with _opened(self.path) as stream:
            stream.seek(self._places[self._count - 1])
            end = stream.tell() + len(stream.readline())
            stream.seek(0)
            return stream.read(end)

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


class Log(NamedTuple):
    """The content of a log, and what a writer needs to go on."""

    records: Sequence[Record]
    digest: str
    """Of the last whole line."""
    whole_bytes: int
    """The length of all whole lines; what follows them is torn."""
    torn_bytes: int
    ends_in_line_feed: bool
    lines: int
    """Whole lines, those of dropped events included."""
    version: int
    """Of the event model that wrote it."""
    places: array[int]
    """Where the line of each record begins, in bytes."""
    steps: Sequence[Step] = ()
    """The steps from that event model to the present one."""


def read_log(path: str | Path) -> Log:
    """Return all records of a log; its last line is dropped if the process died while it was written.

    If there are more than `MAX_RECORDS_IN_MEMORY` records, none is kept in memory. Raises LogError for a file that
    cannot be read, contains no run, or is damaged anywhere else, naming the line. Source: rule E1.
    """
    with _opened(path) as stream:
        lines, kept = LogLines(stream, str(path)), list[Record]()
        for number, record in enumerate(lines):
            if number < MAX_RECORDS_IN_MEMORY:
                kept.append(record)
            else:
                kept.clear()
    count = len(lines.places)
    if count <= MAX_RECORDS_IN_MEMORY:
        return _log(lines, tuple(kept))
    return _log(lines, StoredRecords(Path(path), lines.places, count, lines.steps))


def parse_log(data: bytes, place: str) -> Log:
    """Return the same from the bytes of a log, all its records in memory; `place` names it in errors.

    Line ends of Windows, as git's autocrlf writes them, are read as line feeds: within a line, JSON has no raw one.
    """
    lines = LogLines(BytesIO(data), place)
    records = tuple(lines)
    return _log(lines, records)


def _log(lines: LogLines, records: Sequence[Record]) -> Log:
    return Log(
        records=records,
        digest=lines.digest,
        whole_bytes=lines.whole_bytes,
        torn_bytes=lines.torn_bytes,
        ends_in_line_feed=lines.ends_in_line_feed,
        lines=lines.lines,
        version=lines.version,
        places=lines.places,
        steps=lines.steps,
    )


def _opened(path: str | Path) -> BufferedReader:
    """Open a log; LogError where it cannot be read."""
    try:
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe or a device may be read without end
            raise ValueError("it is not an ordinary file")
        return Path(path).open("rb")
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        message = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise LogError(Problem(str(path), message, "name a run log (.jsonl)")) from None


class LogLines:
    """Iterates once over the records of a log; after that, its fields are what a writer needs to go on."""

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self.digest, self.whole_bytes, self.lines = START, 0, 0
        self.torn_bytes = 0
        self.ends_in_line_feed = False
        self.places = array("Q")
        """Where the line of each record begins, in bytes."""
        self.steps: list[Step] = []
        """The steps from the event model of the log to the present one."""
        self._stream, self._place = stream, place

    @property
    def version(self) -> int:
        """The version of the event model that wrote the log."""
        return LOG_VERSION - len(self.steps)

    def __iter__(self) -> Iterator[Record]:
        """Yield the records; LogError if a line is damaged, or the log contains no run."""
        carriage, is_run = b"", False
        for line in self._stream:
            text = line.removesuffix(b"\n")
            carriage = b"\r" if line.endswith(b"\r\n") else carriage  # as git's autocrlf writes it
            decoded = decode(text.removesuffix(carriage), self.digest)
            if decoded is None:
                if text is not line or (self.lines and decode(text[:-1].removesuffix(carriage), self.digest)):
                    raise LogError(_damage(self._place, self.lines + 1))
                self.torn_bytes = len(line)
                break
            values, self.digest = decoded
            first, place = not self.lines, self.whole_bytes
            self.lines, self.whole_bytes = self.lines + 1, place + len(line)
            self.ends_in_line_feed = text is not line
            if first:
                self.steps = steps_of(values, self._place)
            record = record_of(values, self.lines, self.steps, self._place)
            if record is None:
                continue
            is_run = is_run or isinstance(record.event, RunStarted)
            if is_run:
                self.places.append(place)
                yield record
        if not self.places:
            fix = "name a log that `verify` or `crossverify` wrote; a run that died at once must be started again"
            raise LogError(Problem(self._place, "contains no run: it has no complete run-started line", fix))


def steps_of(values: dict[str, object], place: str) -> list[Step]:
    """Return the steps from the version of a log, which its first event states, to the present one."""
    return steps_from(values.get("version"), place) if values.get("type") == "run-started" else []


def record_of(values: dict[str, object], number: int, steps: list[Step], place: str) -> Record | None:
    """Return the record of a line's JSON values; None for a dropped event, LogError if it is not an event."""
    seq, at = values.pop("seq", None), values.pop("at", None)
    changed = migrate(values, steps)
    if changed is None:
        return None
    try:
        if seq != number or not isinstance(at, str):
            raise ValueError(f"it is numbered {seq!r}")
        event: Event = EVENT.validator.validate_python(changed, strict=False)
        share_field_names(event)
        return Record(number, at, event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        reason = f"{'/'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        reason = str(error)
    fix = "read it with the verifyplan that wrote it"
    raise LogError(Problem(f"{place}: line {number}", f"is not an event of this version ({reason})", fix))


def _damage(place: str, line: int) -> Problem:
    message = "is damaged: its digest is not that of its text and the line before"
    return Problem(f"{place}: line {line}", message, "restore the file from a copy; the lines before it are whole")

"""A run log read whole: every line checked, a torn last one dropped and reported (rule E1)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event import EVENT
from verifyplan.protocol.event_run import LOG_VERSION, RunStarted
from verifyplan.runlog.chain import START, Record, decode
from verifyplan.runlog.migrate import Step, migrate, steps_from

SUFFIX = ".jsonl"


class Log(NamedTuple):
    """The content of a log, and what a writer needs to go on."""

    records: tuple[Record, ...]
    digest: str
    """Of the last whole line."""
    whole_bytes: int
    """The length of all whole lines; what follows them is torn."""
    torn_bytes: int
    ends_in_line_feed: bool
    lines: int
    """Whole lines, events that are no more included."""
    version: int
    """Of the event model that wrote it."""


def read_log(path: str | Path) -> Log:
    """Return all records of a log; its last line is dropped if the process died while it was written.

    Raises LogError for a file that cannot be read, holds no run, or is damaged anywhere else, naming the line.
    Source: rule E1.
    """
    try:
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe or a device may be read without end
            raise ValueError("it is not an ordinary file")
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        message = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise LogError(Problem(str(path), message, "name a run log (.jsonl)")) from None
    return parse_log(data, str(path))


def parse_log(data: bytes, place: str) -> Log:
    """Return the same from the bytes of a log; `place` names it in errors.

    Line ends of Windows, as git's autocrlf writes them, are read as line feeds: within a line, JSON has no raw one.
    """
    records: list[Record] = []
    steps: list[Step] | None = None
    digest, position, number = START, 0, 0
    carriage = b"\r" if b"\r\n" in data else b""
    while position < len(data):
        end = data.find(b"\n", position)
        stop = len(data) if end < 0 else end
        decoded = decode(data[position:stop].removesuffix(carriage), digest)
        if decoded is None:
            if end >= 0 or (number and decode(data[position : stop - 1].removesuffix(carriage), digest)):
                raise LogError(_damage(place, number + 1))
            break
        number, (values, digest), position = number + 1, decoded, stop + (end >= 0)
        if steps is None:
            steps = steps_of(values, place)
        record = record_of(values, number, steps, place)
        records += [record] if record else []
    if not records or not isinstance(records[0].event, RunStarted):
        fix = "name a log that `verifyplan verify` or `crossverify` wrote; a run that died at once is begun anew"
        raise LogError(Problem(place, "holds no run: it has no whole run-started line", fix))
    whole = data[position - 1 : position] == b"\n"
    version = LOG_VERSION - len(steps or ())
    return Log(tuple(records), digest, position, len(data) - position, whole, number, version)


def steps_of(values: dict[str, object], place: str) -> list[Step]:
    """Return what leads from the version of a log, by the values of its first event, to the present one."""
    return steps_from(values.get("version"), place) if values.get("type") == "run-started" else []


def record_of(values: dict[str, object], number: int, steps: list[Step], place: str) -> Record | None:
    """Return the record of a line; None where its event is no more, LogError where it is no event."""
    seq, at = values.pop("seq", None), values.pop("at", None)
    changed = migrate(values, steps)
    if changed is None:
        return None
    try:
        if seq != number or not isinstance(at, str):
            raise ValueError(f"it is numbered {seq!r}")
        return Record(number, at, EVENT.validator.validate_python(changed, strict=False))
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

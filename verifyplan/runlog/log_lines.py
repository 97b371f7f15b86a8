"""Go through a run log line by line: every line checked, a torn last one dropped and reported (rule E1)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import BinaryIO

from pydantic import ValidationError

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event import EVENT, Event
from verifyplan.protocol.event_run import LOG_VERSION, RunStarted
from verifyplan.runlog.chain import START, Record, decode, share_field_names
from verifyplan.runlog.migrate import Step, migrate, steps_from


class LogLines:
    """The records of a log, gone through once; then its fields say what a writer needs to go on."""

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self.digest, self.whole_bytes, self.lines = START, 0, 0
        self.torn_bytes = 0
        self.ends_in_line_feed = False
        self.places = array("Q")
        """Where the line of each record begins, in bytes."""
        self.steps: list[Step] = []
        """What leads from the event model of the log to the present one."""
        self._stream, self._place = stream, place

    @property
    def version(self) -> int:
        """The version of the event model that wrote the log."""
        return LOG_VERSION - len(self.steps)

    def __iter__(self) -> Iterator[Record]:
        """Yield the records; LogError where a line is damaged, or where the log holds no run."""
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
            fix = "name a log that `verifyplan verify` or `crossverify` wrote; a run that died at once is begun anew"
            raise LogError(Problem(self._place, "holds no run: it has no whole run-started line", fix))


def steps_of(values: dict[str, object], place: str) -> list[Step]:
    """Return what leads from the version of a log, by the values of its first event, to the present one."""
    return steps_from(values.get("version"), place) if values.get("type") == "run-started" else []


def record_of(values: dict[str, object], number: int, steps: list[Step], place: str) -> Record | None:
    """Return the record of a line's JSON values; None where its event is no more, LogError where it is none."""
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

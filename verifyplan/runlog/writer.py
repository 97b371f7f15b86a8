"""Write a run log: lines are appended, external events reach the disk before anything acts on them (rule E1)."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from verifyplan.errors import LogError, Problem
from verifyplan.files import disk_error
from verifyplan.protocol.event import EXTERNAL_EVENTS, Event
from verifyplan.protocol.event_run import CallRequested, Checkpoint, RunEnded, RunStarted, TurnSent
from verifyplan.runlog.chain import START, Record, encode, now
from verifyplan.runlog.reader import SUFFIX, Log, StoredRecords, not_a_log, read_log
from verifyplan.runlog.versions import rules_changed, writer_of

ASKED = (CallRequested, TurnSent)
"""Events written before the call is paid for: on disk with the reply at the latest, safe from a crash at once."""

DURABLE = (*(event for event in EXTERNAL_EVENTS if event not in ASKED), Checkpoint, RunEnded)
"""Events forced to the disk at once; all others follow from these and can be derived again."""

NAME_BYTES = 200
"""Longest name of a log, number and suffix left out: file systems allow 255, with those of its lock."""


class LogWriter:
    """Appends events to one log; a context manager that locks it against other writers."""

    def __init__(self, path: Path, lock: FileLock, log: Log | None = None, made: Sequence[Path] = ()) -> None:
        """Write on a log, or a new one, for which folders were `made`, the innermost first."""
        self.path, self._made = path, made
        self._lock = lock
        self._file = path.open("ab", buffering=0)
        self._digest, self._seq, self._whole = (log.digest, log.lines, log.whole_bytes) if log else (START, 0, 0)
        self._places = log.places if log else array("Q")
        self._torn = log is not None and log.torn_bytes > 0  # bytes follow the last whole line
        self._lead = b"\n" if log is not None and not log.ends_in_line_feed else b""

    @classmethod
    def create(cls, folder: str | Path, name: str) -> Self:
        """Return the writer of a new log `name-001.jsonl` in `folder`, or the next free number, even for runs at once.

        Raises LogError if the folder cannot be written to.
        """
        short, place = name.encode()[:NAME_BYTES].decode(errors="ignore"), Path(folder)
        try:
            made = [path for path in (place, *place.parents) if not path.exists()]
            place.mkdir(parents=True, exist_ok=True)
            try:
                path = _fresh(place, short)
            except FileNotFoundError:  # another run that wrote nothing has just removed the folder that it had made
                place.mkdir(parents=True, exist_ok=True)
                path = _fresh(place, short)
        except OSError as error:
            fix = "name another folder for the log, or None to write none"
            raise LogError(Problem(str(folder), f"cannot hold a log ({error.strerror or error})", fix)) from None
        return cls(path, _locked(path), None, made)

    @classmethod
    def resume(cls, path: str | Path) -> tuple[Self, Log]:
        """Return the writer that continues a log, and the log's content; the next line replaces a torn last one.

        Raises LogError if the log cannot be read or written, is being written already, or is damaged.
        """
        _expect_file(Path(path))
        lock = _locked(Path(path))
        try:
            log = read_log(path)
            _expect_same_rules(log, path)
            return cls(Path(path), lock, log), log
        except OSError as error:
            _release(lock)
            raise _unwritable(path, error) from None
        except BaseException:
            _release(lock)
            raise

    def append(self, event: Event, at: str | None = None, *, sync: bool = True) -> Record:
        """Write an event, numbered and stamped; with `sync`, an external event or an end is on disk when this returns.

        Its time is `at`, by default now. What an earlier call left half-written, as on a full disk, is cut off first.
        """
        record = Record(self._seq + 1, at or now(), event)
        line, digest = encode(record, self._digest)
        line = self._lead + line
        try:
            if self._torn:
                self._file.truncate(self._whole)
            self._torn, written = True, 0
            while written < len(line):  # one call but for a full disk or a signal
                written += self._file.write(line[written:]) or 0
        except OSError as error:
            raise disk_error(error, self.path) from None
        if sync and isinstance(event, DURABLE):
            self.sync()
        self._places.append(self._whole + len(self._lead))
        self._torn, self._lead, self._whole = False, b"", self._whole + len(line)
        self._seq, self._digest = record.seq, digest
        return record

    def stored(self) -> StoredRecords:
        """Return all records that the log holds by now, read from the file as they are gone through."""
        return StoredRecords(self.path, self._places, len(self._places))

    def sync(self) -> None:
        """Force all that was written to the disk; safe in another thread than that which appends."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise disk_error(error, self.path) from None

    def close(self) -> None:
        """Close the file and release the lock; closing twice is harmless."""
        if not self._file.closed:
            self._file.close()
            if self._seq == 0:  # nothing was written: an empty log is not a run
                self.path.unlink(missing_ok=True)
            _release(self._lock)
            with suppress(OSError):  # a folder holds another run by now
                for folder in self._made if self._seq == 0 else ():
                    folder.rmdir()

    def __enter__(self) -> Self:
        """Nothing but the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()


def _fresh(folder: Path, name: str) -> Path:
    """Create an empty file of the first number that neither a log nor an artifact has."""
    number = 1
    while True:
        path = folder / f"{name}-{number:03d}{SUFFIX}"
        with suppress(FileExistsError):
            if not path.with_suffix(".json").exists():  # else an artifact that was written without a log
                path.touch(exist_ok=False)
                return path
        number += 1


def _expect_same_rules(log: Log, path: str | Path) -> None:
    """Raise LogError for a log of a run that other rules decided."""
    started = log.records[0].event
    assert isinstance(started, RunStarted)  # noqa: S101  (`parse_log` refuses a log that begins otherwise)
    if changed := rules_changed(started):
        writer = writer_of(started.versions)
        fix = f"resume it with {writer}, or start the run again; this verifyplan reads and replays it"
        raise LogError(Problem(str(path), f"cannot be resumed: {changed}", fix))


def _expect_file(path: Path) -> None:
    """Raise LogError unless the file exists, as a lock is created beside it."""
    try:
        exists = path.is_file()
    except OSError as error:
        raise _unwritable(path, error) from None
    if not exists:
        raise not_a_log(path, "does not exist")


def _locked(path: Path) -> FileLock:
    """Lock a log for writing, by its real path; LogError if another process has locked it."""
    real = path.resolve()
    lock = FileLock(real.with_name(f".{real.name}.lock"), blocking=False, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        fix = "wait for the other to end, or end it; then resume"
        raise LogError(Problem(str(path), "is being written by another run", fix)) from None
    except OSError as error:
        raise _unwritable(path, error) from None
    return lock


def _release(lock: FileLock) -> None:
    with suppress(OSError):  # where an open file cannot be removed, it stays and does no harm
        Path(lock.lock_file).unlink()
    lock.release()


def _unwritable(path: str | Path, error: OSError) -> LogError:
    fix = "make the log and its folder writable, or copy the log to where you may write"
    return LogError(Problem(str(path), f"cannot be written ({error.strerror or error})", fix))

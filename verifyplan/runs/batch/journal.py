"""The journal of message batches: on disk before a batch is sent, so that nothing is sent twice (rule E2)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError

from verifyplan.errors import LogError, Problem
from verifyplan.files import disk_error
from verifyplan.protocol.base import Model
from verifyplan.protocol.event_run import call_of
from verifyplan.redaction import redact
from verifyplan.runlog.chain import Record
from verifyplan.runlog.recorder import Past

NAME = "batches.journal"
"""The file's name, in the folder of the run logs; it is not a run log, and is not read into tables."""

VERSION = 1


class BatchedExchange(Model):
    """One exchange of a run that travels in a batch."""

    run: str = Field(
        description="The run's log by its name, and when it was begun: a log made anew is another run. Of a call "
        "that is asked again after it failed, also in which reopening."
    )
    turn: str = Field(description="The turn of the exchange, such as i2/challenger/t3.")
    sha256: str = Field(description="The digest of its request.")


class JournalVersion(Model):
    """The first line: which version of the journal this is."""

    type: Literal["begun"] = "begun"
    version: int = VERSION


class Intent(Model):
    """A batch is about to be sent."""

    type: Literal["intent"] = "intent"
    nonce: str = Field(description="What all its custom ids begin with, and those of no other batch.")
    address: str | None = Field(description="The endpoint; null for the environment's.")
    newest: str | None = Field(description="The youngest batch that the endpoint had before; null if it had none.")
    requests: dict[str, BatchedExchange] = Field(description="What is sent, by custom id.")


class Submitted(Model):
    """The endpoint has the batch."""

    type: Literal["submitted"] = "submitted"
    nonce: str
    batch: str = Field(description="Its id at the endpoint.")


class Dropped(Model):
    """The endpoint never had the batch; its requests go with others."""

    type: Literal["dropped"] = "dropped"
    nonce: str


class Collected(Model):
    """All results of the batch were read."""

    type: Literal["collected"] = "collected"
    nonce: str


Line = JournalVersion | Intent | Submitted | Dropped | Collected
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


class BatchSlot(NamedTuple):
    """Where an exchange travels: in the batch of that nonce, under that custom id."""

    nonce: str
    custom_id: str
    sha256: str


class Journal:
    """The journal of a folder; only `open_journal` gives one to write. Every line is on disk when a method returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.intents: dict[str, Intent] = {}
        """All that were sent or may have been, by nonce."""
        self.batches: dict[str, str] = {}
        """The id at the endpoint, by nonce, of those that were sent."""
        self._places: dict[tuple[str, str], list[BatchSlot]] = {}
        self._empty = True
        for line in self._read():
            self._take(line)

    def place(self, run: str, turn: str) -> BatchSlot | None:
        """Where an exchange travels, or travelled last; None if it never was in a batch."""
        places = self._places.get((run, turn), ())
        return next((slot for slot in reversed(places) if slot.nonce in self.intents), None)

    def has(self, run: str) -> bool:
        """Return whether an exchange of a run ever was in a batch."""
        return any(name.startswith(run) for name, _ in self._places)

    def times(self, run: str, turn: str) -> int:
        """How often an exchange was sent."""
        return sum(slot.nonce in self.batches for slot in self._places.get((run, turn), ()))

    def intend(self, address: str | None, newest: str | None, entries: Sequence[BatchedExchange]) -> Intent:
        """Note what is about to be sent, under new custom ids."""
        nonce = secrets.token_hex(8)
        requests = {f"{nonce}-{number}": entry for number, entry in enumerate(entries)}
        redacted = None if address is None else redact(address)
        intent = Intent(nonce=nonce, address=redacted, newest=newest, requests=requests)
        self.note(intent)
        return intent

    def note(self, line: Line) -> None:
        """Write a line, and know it from now on."""
        if self._empty and not isinstance(line, JournalVersion):
            self.note(JournalVersion())
        data = line.model_dump_json().encode() + b"\n"
        with self.path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                while data:  # one call but for a full disk or a signal
                    data = data[file.write(data) or 0 :]
                os.fsync(file.fileno())
            except BaseException as error:  # no later line may follow half a line
                file.truncate(before)
                raise disk_error(error, self.path) if isinstance(error, OSError) else error from None
        self._take(line)

    def _take(self, line: Line) -> None:
        self._empty = False
        match line:
            case Intent():
                self.intents[line.nonce] = line
                for custom_id, entry in line.requests.items():
                    place = BatchSlot(line.nonce, custom_id, entry.sha256)
                    self._places.setdefault((entry.run, entry.turn), []).append(place)
            case Submitted():
                self.batches[line.nonce] = line.batch
            case Dropped():
                self.intents.pop(line.nonce, None)

    def _read(self) -> Iterator[Line]:
        """The whole lines; a torn last one was written by a process that died, and nothing was sent after it."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self.path, f"cannot be read ({error.strerror or error})") from None
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                entry = _LINE.validate_json(line)
            except ValidationError:
                raise _unusable(self.path, f"is damaged in line {number}") from None
            if isinstance(entry, JournalVersion) and entry.version != VERSION:
                raise _unusable(self.path, f"has version {entry.version}, and {VERSION} is known")
            yield entry


def journal_run_name(log: Path, records: Sequence[Record], reopening: int = 0) -> str:
    """Return the name of a run in the journal; a new log under an old name is another run.

    So are the calls that a reopening asks again: earlier replies to them in a batch no longer count.
    """
    return f"{log.stem} of {records[0].at}{f', reopening {reopening}' if reopening else ''}"


def name_of_turn(log: Path, records: Sequence[Record], past: Past, turn: str) -> str:
    """Return the name of a run in the journal for one of its turns."""
    return journal_run_name(log, records, past.asked_in.get(call_of(turn), 0))


def was_in_batches(log: Path, records: Sequence[Record]) -> bool:
    """Return whether any exchange of a run went in a message batch, by the journal beside its log."""
    return Journal(log.parent / NAME).has(journal_run_name(log, records))


def turns_in_batches(log: Path, records: Sequence[Record], past: Past) -> list[str]:
    """Return the turns of a run that are in a batch: without a reply on disk, and in the journal beside its log."""
    journal = Journal(log.parent / NAME)
    return [turn for turn in past.in_flight if journal.place(name_of_turn(log, records, past, turn), turn) is not None]


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal of a folder, which is made if need be, with the only right to write it.

    A torn last line is cut off. Raises LogError if another process has it, or if it cannot be used.
    """
    path = folder / NAME
    lock = FileLock(folder / f".{NAME}.lock", blocking=False, thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        fix = "wait for the other command to end, or end it; then give this one again"
        raise LogError(Problem(str(path), "is being written by another command", fix)) from None
    except OSError as error:
        raise _unusable(path, f"cannot be written ({error.strerror or error})") from None
    try:
        journal = Journal(path)
        _cut(path)
        yield journal
    finally:
        with suppress(OSError):  # where an open file cannot be removed, it stays and does no harm
            Path(lock.lock_file).unlink()
        lock.release()


def _cut(path: Path) -> None:
    with suppress(FileNotFoundError), path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _unusable(path: Path, message: str) -> LogError:
    fix = "restore it from a copy; without it, what it says to be under way would be sent again"
    return LogError(Problem(str(path), message, fix))

"""Try a fault on a run, and say what does not hold after it; each check is a column of the table.

*ends*: the run comes to its end, or its process ends with an error that says what to do; *log*: what was returned is
what is on disk, and replays the same; *resume*: a run that has ended stays as it is, another goes on to the events
of the undisturbed run; *retry*: its failed calls asked again, it has the events of the undisturbed run; *accounts*:
attempts, statuses and tokens in the log are those that the server counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from benchmarks.fault_server import CountingServer, misaccounted
from benchmarks.fault_subjects import SUBJECTS
from tests.live.live_runs import derived, speaking_to
from tests.live.scripted_replies import Answer
from verifyplan.errors import SettingsError
from verifyplan.protocol.event_run import CallFailed
from verifyplan.runlog.reader import read_log
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run, resume
from verifyplan.runs.run import Run

CHECKS = {
    "ends": "ends in order",
    "log": "log whole",
    "resume": "resumed: same",
    "retry": "retried: same",
    "accounts": "accounts",
}
"""The checks, and the heads of their columns."""

Then = Literal["same", "failed", "stopped", "read"]
"""What a fault does to its run: nothing in the end; a call fails; the process ends with advice; it is read as it is."""


class ReplyFault(NamedTuple):
    """What some turns of a run hear first, and what is to come of it."""

    family: str
    name: str
    kind: str
    first: Mapping[str, Answer | Sequence[Answer]]
    then: Then
    reason: str = ""
    """How the failure of the call begins, or the advice reads."""
    backend: Mapping[str, Any] = {"max_retries": 1}

    def tried(self) -> Outcome:
        """Make a run that hears it, resume that from a server that is well, and return what was wrong."""
        return _tried(self)


class Outcome(NamedTuple):
    """What was wrong after a fault: a sentence for each check that failed."""

    family: str
    name: str
    kind: str
    wrong: Mapping[str, Sequence[str]]
    """By check, of those that the fault was held to."""

    @property
    def held(self) -> bool:
        """Whether nothing was wrong."""
        return not any(self.wrong.values())


class Wrong(dict[str, list[str]]):
    """Collects what is wrong, by check."""

    def check(self, name: str, holds: bool, sentence: str) -> None:
        """Note that a check was made, and the sentence where it does not hold."""
        self.setdefault(name, [])
        if not holds:
            self[name].append(sentence)

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Note an error within the block as what is wrong."""
        self.setdefault(name, [])
        try:
            yield
        except Exception as error:
            self[name].append(f"{type(error).__name__}: {error}")


class Undisturbed(NamedTuple):
    """A run without a fault."""

    events: tuple[str, ...]
    """Those that were derived."""
    calls: tuple[str, ...]
    log_bytes: int


@cache
def undisturbed(kind: str) -> Undisturbed:
    """Return the run of a kind without a fault."""
    subject = SUBJECTS[kind]
    with TemporaryDirectory() as folder, CountingServer(subject.played()) as server:
        run = subject.begin(speaking_to(server), Path(folder, "logs"), None)
        if failed := failures(run):
            raise RuntimeError(f"a call of the undisturbed run failed: {failed}")
        calls = tuple(event.call_id for event in run.events if event.type == "call-requested")
        assert run.log_path is not None
        return Undisturbed(tuple(derived(run)), calls, run.log_path.stat().st_size)


def failures(run: Run) -> list[CallFailed]:
    """Return the failed calls of a run."""
    return [event for event in run.events if isinstance(event, CallFailed)]


def _tried(fault: ReplyFault) -> Outcome:
    subject, wrong = SUBJECTS[fault.kind], Wrong()
    expected = list(undisturbed(fault.kind).events)
    with TemporaryDirectory() as folder:
        logs = Path(folder, "logs")
        with CountingServer(subject.played(fault.first)) as server:
            run = _disturbed(fault, lambda: subject.begin(speaking_to(server, **fault.backend), logs, None), wrong)
            server.heal(subject.played())
            [log] = logs.rglob("*.jsonl")
            if run is not None:
                _check_log(run, log, wrong)
                _check_outcome(run, fault, expected, wrong)
            before = log.read_bytes()
            with wrong.checking("resume"):
                again = resume(log, backend=speaking_to(server), progress=False)
                same = log.read_bytes() == before if run is not None else derived(again) == expected
                wrong.check("resume", same, "resumed, it is another run")
            if run is not None and fault.then == "failed":
                with wrong.checking("retry"):
                    again = resume(log, backend=speaking_to(server), retry_failed=True, progress=False)
                    _check_retried(again, log, expected, wrong)
        with wrong.checking("accounts"):
            for sentence in misaccounted(log, server.exchanges):
                wrong.check("accounts", False, sentence)
    return Outcome(fault.family, fault.name, fault.kind, wrong)


def _disturbed(fault: ReplyFault, begin: Callable[[], Run], wrong: Wrong) -> Run | None:
    """Return the run that hears a fault; None where it ended its process, as faults of settings do."""
    try:
        run = begin()
    except SettingsError as error:
        advised = fault.then == "stopped" and fault.reason in str(error) and "verifyplan resume" in _notes(error)
        wrong.check("ends", advised, f"{error} {_notes(error)}")
        return None
    wrong.check("ends", run.has_ended and fault.then != "stopped", "the run did not end as expected")
    return run


def _notes(error: BaseException) -> str:
    return " ".join(getattr(error, "__notes__", []))


def _check_log(run: Run, log: Path, wrong: Wrong) -> None:
    """The log holds what was returned, and the same comes of its replies."""
    with wrong.checking("log"):
        wrong.check("log", read_run(log).events == run.events, "the log has other events than the run")
        wrong.check("log", not read_log(log).torn_bytes, "the last line is torn")
        wrong.check("log", replay_run(log).same, "it replays otherwise")


def _check_outcome(run: Run, fault: ReplyFault, expected: list[str], wrong: Wrong) -> None:
    """What the fault did to the run is what it was to do."""
    failed = failures(run)
    if fault.then == "failed":
        reasons = [event.reason for event in failed]
        right = bool(reasons) and all(fault.reason in reason for reason in reasons)
        wrong.check("ends", right, f"failed calls: {reasons}")
    else:
        wrong.check("ends", not failed, f"failed calls: {[event.reason for event in failed]}")
    if fault.then == "same":
        wrong.check("ends", derived(run) == expected, "it comes to other events than the undisturbed run")
    if fault.then == "read":
        votes, others = ({e for e in events if _is_first_vote(e)} for events in (derived(run), expected))
        wrong.check("ends", votes <= others and len(others - votes) <= 1, f"votes of others: {votes - others}")


def _check_retried(run: Run, log: Path, expected: list[str], wrong: Wrong) -> None:
    """The run whose failed calls were asked again is the undisturbed one."""
    failed = [event.call_id for event in failures(run)]
    wrong.check("retry", not failed, f"still failed: {failed}")
    wrong.check("retry", derived(run) == expected, "it comes to other events than the undisturbed run")
    wrong.check("retry", replay_run(log).same, "it replays otherwise")


def _is_first_vote(event: str) -> bool:
    """Return whether this is a vote of the first round that was cast."""
    return "'vote-cast'" in event and "'round': 1" in event and "'verification-error'" not in event

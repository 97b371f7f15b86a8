"""Begin a run of any kind: its log and its first event (rule E1)."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

from verifyplan.agents.base import Backend
from verifyplan.errors import without_keys_in_tracebacks
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import CrossInputs, DebateInputs, PlanInputs, RunStarted
from verifyplan.protocol.settings import Limits
from verifyplan.redaction import redacted
from verifyplan.repository.repository import Repository
from verifyplan.rules.going_on import LogPlace, how_to_go_on, is_made_by_name
from verifyplan.runlog.current import CountedRecords
from verifyplan.runlog.recorder import Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.arguments import check_names
from verifyplan.version import VERSION

P = ParamSpec("P")
R = TypeVar("R")
RunT_co = TypeVar("RunT_co", covariant=True)

MAX_SKIPPED_FILES = 50
"""The largest number of unreadable files that the log names; all are counted."""


class OpenLog(NamedTuple):
    """The log of a run that begins; without a file where none is to be written."""

    recorder: Recorder
    path: Path | None = None
    run_id: str = "run"


@contextmanager
def open_log(
    folder: str | Path | None, stem: str, sink: Sink | None = None, top: str | Path | None = None
) -> Iterator[OpenLog]:
    """Open a new log in a folder, its name beginning with `stem`; the run's id is its path under `top`."""
    if folder is None:
        yield OpenLog(Recorder(sink=sink))
        return
    with LogWriter.create(folder, stem) as writer, resume_hint(writer.path):
        run_id = writer.path.relative_to(top or folder).with_suffix("").as_posix()
        yield OpenLog(Recorder(writer, sink=sink), writer.path, run_id)


@contextmanager
def resume_hint(log: Path, options: str = "") -> Iterator[None]:
    """Add to any error the command that resumes the run, with these options, or the Python call that does.

    Nothing is added if the first event of the run is not completely on disk.
    """
    try:
        yield
    except BaseException as error:
        if (backend := _logged_backend(log)) is not None:
            if is_made_by_name(backend):
                error.add_note(f"The run goes on by: verifyplan resume {quote(str(log))}{options}")
            else:
                call = how_to_go_on(LogPlace(str(log)), backend, retry_failed=bool(options))
                error.add_note(f"The run goes on in Python, which makes its backend: {call}")
        raise


def _logged_backend(log: Path) -> dict[str, Any] | None:
    """Return the backend that the first event of a log describes; None if that is not completely on disk."""
    with suppress(OSError, ValueError), log.open("rb") as file:
        line = file.readline()
        if line.endswith(b"\n"):
            backend = json.loads(line).get("backend")
            return backend if isinstance(backend, dict) else {}
    return None


class PreparedRun(Protocol[RunT_co]):
    """A run whose arguments were read; nothing is written and no agent is called before it is driven."""

    def drive(self) -> RunT_co:
        """Drive the run, and write its log."""


def driven(result: type[R]) -> Callable[[Callable[P, PreparedRun[R]]], Callable[P, R]]:
    """Make a function that prepares a run also drive it, and return the `result`.

    `inspect.unwrap` returns the function that only prepares: a batch uses it, and drives all its runs together.
    """

    def decorate(prepare: Callable[P, PreparedRun[R]]) -> Callable[P, R]:
        shown = signature(prepare).replace(return_annotation=result.__name__)

        @without_keys_in_tracebacks
        @wraps(prepare)
        def prepare_and_drive(*arguments: P.args, **named: P.kwargs) -> R:
            check_names(named, shown.parameters, prepare.__name__, "agents.Anthropic")
            return prepare(*arguments, **named).drive()

        prepare_and_drive.__signature__ = shown  # type: ignore[attr-defined]  # as inspect and help read it
        return prepare_and_drive

    return decorate


def start_event(
    task_key: str,
    inputs: CrossInputs | DebateInputs | PlanInputs,
    backend: Backend,
    *,
    synthetic: bool,
    repetition: int,
) -> RunStarted:
    """Return the first event of a run, without keys."""
    started: RunStarted = redacted(
        RunStarted(
            task_key=task_key,
            inputs=inputs,
            versions=versions(),
            rules_digest=_rules_digest(inputs),
            backend=backend.describe(),
            synthetic=synthetic,
            repetition=repetition,
        )
    )
    return started


def _rules_digest(inputs: CrossInputs | DebateInputs | PlanInputs) -> str | None:
    if isinstance(inputs, CrossInputs):
        return inputs.rules.digest
    return inputs.settings.rules.digest if isinstance(inputs, PlanInputs) else None


def at_present(started: RunStarted, past: CountedRecords) -> RunStarted:
    """Return the first event with the present limits and timeout, which a resumption may have changed."""
    changed: dict[str, Any] = {} if past.timeout is None else {"timeout": past.timeout}
    inputs = started.inputs
    if isinstance(inputs, PlanInputs):
        limits = {} if past.limits is None else dict(past.limits)
        settings = inputs.settings.model_copy(update=limits | changed)
        return started.model_copy(update={"inputs": inputs.model_copy(update={"settings": settings})})
    limits = {} if past.limits is None else {"limits": past.limits}
    return started.model_copy(update={"inputs": inputs.model_copy(update=limits | changed)})


def limits_of(started: RunStarted) -> Limits:
    """Return the limits that the first event of a run states."""
    inputs = started.inputs
    if isinstance(inputs, PlanInputs):
        return Limits(max_tokens=inputs.settings.max_tokens, max_cost=inputs.settings.max_cost)
    return inputs.limits


def versions() -> dict[str, str]:
    """Return what drives a run: the versions of verifyplan and Python."""
    return {"verifyplan": VERSION, "python": platform.python_version()}


def describe_repository(repository: Repository) -> dict[str, Any]:
    """Return the description of a repository for a log: root, commit, files, and which could not be read."""
    return {
        "root": str(repository.root),
        "commit": repository.commit,
        "files": len(repository.files),
        "skipped": [f"{file.path}: {file.reason}" for file in repository.skipped[:MAX_SKIPPED_FILES]],
        "n_skipped": len(repository.skipped),
    }

"""A run in its own thread: it emits its events, waits for a person's answers, and can be stopped."""

from __future__ import annotations

import ast
import asyncio
import re
import shlex
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from verifyplan.errors import InputError, Problem
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import (
    Attempt,
    CallFailed,
    CallReplied,
    CallRequested,
    RunEnded,
    RunReopened,
    RunResumed,
    TurnReplied,
    TurnSent,
    call_of,
)
from verifyplan.runs.plan.pauses import Answer, Pause, PauseHandler, answer_event, read_answer
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run

State = Literal["ready", "running", "asking", "stopping", "cancelled", "waiting", "ended", "failed"]
"""The state of a run: `asking` has a question that can be answered here, `waiting` left its question open."""

FINAL_STATES: tuple[State, ...] = ("cancelled", "waiting", "ended", "failed")
"""The states of a run that is over."""

RunFunction = Callable[[Sink, PauseHandler], Run]
"""Drives a run, given a sink for its events and a handler of its questions."""

_OF_CALLS = CallReplied | CallFailed | TurnSent | Attempt | TurnReplied
"""Events of calls under way; a run that is to stop lets these calls end, with all their turns."""

_GOES_ON = re.compile(r"The run goes on by: verifyplan resume (?P<shell>.+)", re.DOTALL)
_GOES_ON_IN_PYTHON = re.compile(r"The run goes on in Python.*?: vp\.resume\((?P<path>.+), backend=.*\)", re.DOTALL)


class StoppedError(Exception):
    """Raised in a run's sink to end it at once."""


class BackgroundRun:
    """One run, from the start of its thread to its end; its methods may be called from any thread.

    `tell` is called in the run's thread with each event, `changed` whenever there is something new to see; `spent` is
    the number of seconds that the run has worked already.
    """

    def __init__(
        self,
        work: RunFunction,
        tell: Sink,
        changed: Callable[[], None],
        log_path: Path | None = None,
        spent: float = 0.0,
    ) -> None:
        self.state: State = "running"
        self.pause: Pause | None = None
        self.run: Run | None = None
        self.error: BaseException | None = None
        self.log_path = log_path
        """The log; for a new run, known when it ends or stops."""
        self._work, self._tell, self._changed = work, tell, changed
        self._turn = threading.Condition()
        self._answer: Answer | None = None
        self._stop, self._now, self._left = False, False, False
        self._in_flight: set[str] = set()
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[object]] | None = None
        self._spent, self._since = spent, time.monotonic()
        self.thread = threading.Thread(target=self._drive, name="verifyplan live run", daemon=True)

    @property
    def over(self) -> bool:
        """Whether the run is over."""
        return self.state in FINAL_STATES

    @property
    def seconds(self) -> float:
        """How long the run has worked, without the time that it waited for a person."""
        going = self.state in ("running", "stopping")
        return self._spent + (time.monotonic() - self._since if going else 0.0)

    @property
    def in_flight(self) -> int:
        """The number of calls under way."""
        return len(self._in_flight)

    def answer(self, given: Answer | str, note: str = "", to: str | None = None) -> None:
        """Answer the question, which must have the pause id `to` if that is given; InputError for what does not fit.

        After an error the run still waits.
        """
        with self._turn:
            if self.pause is None or self._answer is not None:
                fix = "answer when the run asks; `.state` is 'asking' then"
                raise InputError(Problem("answer", "answers no question: the run does not wait for an answer", fix))
            if to is not None and to != self.pause.pause_id:
                fix = "read the present question, and answer that"
                raise InputError(Problem("answer", f"answers {to}, but the run asks {self.pause.pause_id}", fix))
            answer = read_answer(given, note) if isinstance(given, str) else given
            answer_event(answer, self.pause)
            self._answer = answer
            self._turn.notify_all()

    def leave(self) -> None:
        """Leave the question open: the run ends here, and its log waits for the answer."""
        with self._turn:
            if self.pause is None:
                fix = "cancel a run that is under way; leave only a question open"
                raise InputError(Problem("leave", "leaves no question open: the run does not ask one", fix))
            self._left = True
            self._turn.notify_all()

    def cancel(self, *, now: bool = False) -> None:
        """End the run once the replies of calls under way are on disk, or `now` without them.

        A question is left open. A run that is over stays as it is. A backend that blocks its event loop (for example
        with `time.sleep`) cannot be stopped before it returns, not even `now`.
        """
        with self._turn:
            if self.over:
                return
            self._stop, self._now = True, self._now or now
            if self.state == "running":
                self.state = "stopping"
            self._turn.notify_all()
        if now and self._task is not None:
            loop, task = self._task
            with suppress(RuntimeError):  # it just ended
                loop.call_soon_threadsafe(task.cancel)
        self._changed()

    def rest(self, timeout: float | None = None) -> bool:
        """Wait until the run is over or asks; return whether it is or does."""
        with self._turn:
            return self._turn.wait_for(lambda: self.over or (self.state == "asking" and not self._decided), timeout)

    @property
    def _decided(self) -> bool:
        """Whether the question, if any, needs no answer any more."""
        return self._answer is not None or self._left or self._stop

    def _drive(self) -> None:
        try:
            run = self._work(self._sink, self._ask)
        except BaseException as error:  # nothing catches errors of a thread: a person must see any
            stopped = isinstance(error, StoppedError) or (self._now and isinstance(error, asyncio.CancelledError))
            self.log_path = log_of_error(error) or self.log_path
            self.error = None if stopped else error
            self._enter("cancelled" if stopped else "failed")
        else:
            self.run, self.log_path = run, run.log_path
            self._enter("waiting" if isinstance(run, PlanRun) and run.waiting else "ended")

    def _enter(self, state: State) -> None:
        with self._turn:
            going = self.state in ("running", "stopping")
            now = time.monotonic()
            self._spent, self._since = self._spent + (now - self._since if going else 0.0), now
            self.state = state
            self._turn.notify_all()
        self._changed()

    def _sink(self, event: Event) -> None:
        self.note_call(event)
        self._tell(event)
        self._changed()
        if self._task is None:
            with suppress(RuntimeError):  # the first events come before there is a loop
                task = asyncio.current_task()
                self._task = (asyncio.get_running_loop(), task) if task else None
        paid = isinstance(event, _OF_CALLS) and bool(self._in_flight)  # more are under way
        if self._stop and not isinstance(event, RunEnded) and (self._now or not paid):
            raise StoppedError

    def note_call(self, event: Event) -> None:
        """Note which calls are in flight; for a reopened run, also from recorded replies that count again."""
        match event:
            case RunResumed():
                self._in_flight |= set(event.repeated)
            case RunReopened():
                self._in_flight |= set(event.retried)
            case CallRequested():
                self._in_flight.add(event.call_id)
            case TurnSent() if not any(_is_or_contains(call, event.of_call) for call in self._in_flight):
                self._in_flight.add(event.of_call)  # it continues a call that another process began
            case CallReplied() | CallFailed():
                self._in_flight = {call for call in self._in_flight if not _is_or_contains(call, event.call_id)}
            case _:
                pass

    def _ask(self, pause: Pause) -> Answer | None:
        with self._turn:
            self.pause, self._answer = pause, None
            self._enter("stopping" if self._stop else "asking")
            self._turn.wait_for(lambda: self._decided)
            answer = self._answer
            self.pause = self._answer = None
            self._enter("stopping" if self._stop else "running")
        return answer


def _is_or_contains(open_one: str, call: str) -> bool:
    """Return whether `open_one` is this call, or one of its turns, which a resumed run may repeat."""
    return open_one == call or call_of(open_one) == call


def log_of_error(error: BaseException) -> Path | None:
    """Return the log from which an error says that the run goes on; None if no log was begun.

    >>> error = ValueError("disk full")
    >>> error.add_note("The run goes on by: verifyplan resume 'my runs/plan-001.jsonl' --retry-failed")
    >>> log_of_error(error).name, log_of_error(ValueError())
    ('plan-001.jsonl', None)
    """
    for note in reversed(getattr(error, "__notes__", ())):
        if match := _GOES_ON.fullmatch(note):
            return Path(shlex.split(match["shell"])[0])
        if match := _GOES_ON_IN_PYTHON.fullmatch(note):
            return Path(ast.literal_eval(match["path"]))
    return None

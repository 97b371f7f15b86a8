"""`LiveRun`: a run that is started, watched, answered, cancelled and taken up again in a notebook (rules A4, E2)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from verifyplan.errors import InputError, Problem, expect
from verifyplan.plans.plan import Plan
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import RunReopened
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import CountedRecords, current, is_reopened
from verifyplan.runs.arguments import Workers
from verifyplan.runs.plan.pauses import Answer, PauseHandler
from verifyplan.runs.read_findings import RowSource
from verifyplan.runs.resume import read_run
from verifyplan.runs.run import Run
from verifyplan.widgets.live.background_run import BackgroundRun, RunFunction, State
from verifyplan.widgets.live.progress import LiveProgress
from verifyplan.widgets.live.retry import calls_to_retry
from verifyplan.widgets.live.tasks import (
    LiveTask,
    cross_task,
    plan_task,
    resume_task,
)
from verifyplan.widgets.live.view import LiveView, PauseForm
from verifyplan.widgets.panel import Panel, guarded
from verifyplan.widgets.repaint import Repainter


class LiveRun(Panel):
    """A run in its own thread, with its progress, its questions and its outcome.

    `LiveRun(plan, repo, **options of verify)` verifies a plan; `LiveRun.cross` lets workers vote on findings,
    `LiveRun.resume` goes on with a log. The buttons do what the methods do: `start`, `cancel`, `answer`, `leave`,
    `go_on`, `retry_failed`. A blocked run asks here, unless `on_blocked` says otherwise. Every reply that arrived is in
    the log: a run that was cancelled, was left at a question, or ended with its kernel goes on from there.

    TypeError for an option that the function behind it lacks, InputError for a `start` that is not a boolean; all other
    arguments are checked when it starts, and their errors are shown.

    Args:
        plan: the plan to verify: a path, or a `Plan`.
        repo: the repository that the plan is about; it is only read.
        start: whether the run starts at once, not when Start is pressed.
        options: all other arguments of `verify`.
    """

    def __init__(
        self, plan: str | Path | Plan | LiveTask, repo: str | Path = ".", *, start: bool = False, **options: Any
    ) -> None:
        self._job: BackgroundRun | None = None
        self._painter: Repainter | None = None
        super().__init__("Live run")
        expect(start, bool, "start", "give True to start the run at once, or False")
        self._task = plan if isinstance(plan, LiveTask) else plan_task(plan, repo, options)
        self.label = f"Live run: {self._task.title}"
        self._progress = LiveProgress()
        self._lock = threading.RLock()  # of the progress and of what is shown; events come from another thread
        clicks = (self._on_start, self._on_cancel, self._on_now, self._on_resume, self._on_retry)
        self.form = PauseForm(self._on_answer, self._on_leave, self._on_choice)
        self._view = view = LiveView(self._task, self.form, clicks)
        self.header.show(self._task.title)
        self.header.act(*view.buttons, view.clock)
        self.fill(view.about, view.status, view.failed, self.form, view.calls, view.end, view.steps)
        self._paint()
        if start:
            self.start()

    @classmethod
    def cross(cls, findings: RowSource, workers: Workers, *, start: bool = False, **options: Any) -> Self:
        """Return a cross run with the arguments of `crossverify`."""
        return cls(cross_task(findings, workers, options), start=start)

    @classmethod
    def resume(cls, log_path: str | Path, *, start: bool = False, **options: Any) -> Self:
        """Return a run that was interrupted or waits, from its log, with the arguments of `resume`."""
        return cls(resume_task(log_path, options), start=start)

    @property
    def state(self) -> State:
        """The state of the run."""
        return self._job.state if self._job else "ready"

    @property
    def run(self) -> Run | None:
        """The run, once it has ended or its question was left open; else None."""
        return self._job.run if self._job else None

    @property
    def error(self) -> BaseException | None:
        """The error that the run failed with, if it did."""
        return self._job.error if self._job else None

    @property
    def log_path(self) -> Path | None:
        """The run's log, for a new run once it ends or stops; None where none is written."""
        return self._job.log_path if self._job else self._task.log

    def start(self) -> Self:
        """Start the run and return at once; does nothing for a run that was started.

        A run that failed before its log was begun, for example for a setting, is started anew.
        """
        if self._job is None or (self.state == "failed" and self.log_path is None):
            self._begin(lambda sink, ask: self._task.begin(sink, ask), self._task.log)
        return self

    def go_on(self) -> Self:
        """Go on with a run that was cancelled, failed, or was left at a question; InputError for any other."""
        job = self._job
        if job is None or job.state not in ("cancelled", "waiting", "failed") or job.log_path is None:
            fix = "start it, or wait; only a run that stopped and has a log goes on"
            raise InputError(Problem("run", f"is {self.state}{'' if self.log_path else ' and has no log'}", fix))
        path = job.log_path
        self._begin(lambda sink, ask: self._task.go_on(path, sink, ask), path, job.seconds)
        return self

    def retry_failed(self) -> Self:
        """Ask the failed calls of a run that ended again; what followed from them is decided anew, and both are logged.

        InputError if no call failed.
        """
        job = self._job
        path = job.log_path if job else None
        if job is None or path is None or job.run is None or not calls_to_retry(job.run):
            fix = "wait until it ends; only a run with a log of which calls failed asks them again"
            raise InputError(Problem("run", f"is {self.state} and has no failed call to ask again", fix))
        self._begin(lambda sink, ask: self._task.retry(path, sink, ask), path, job.seconds)
        return self

    def answer(self, given: Answer | str, note: str = "") -> None:
        """Answer the run's question: `"acknowledge:C3"`, `"override:C3"`, `"context"`, `"abort"`, or an `Answer`.

        InputError for an answer that does not fit; the run still waits. The note goes with an answer that is a text.
        """
        self._expect_job().answer(given, note)

    def leave(self) -> None:
        """Leave the question open: the run stops here, and its log waits for `go_on` or `vp.resume`."""
        self._expect_job().leave()

    def cancel(self, *, now: bool = False) -> None:
        """Stop the run once the replies of calls under way, which are paid for, are on disk; or `now` without them.

        A backend that blocks its event loop (for example with `time.sleep`) cannot be stopped before it returns, not
        even `now`.
        """
        if self._job is not None:
            self._job.cancel(now=now)

    def wait(self, timeout: float | None = None) -> State:
        """Wait until the run is over or asks, at most `timeout` seconds, and return its state. Raises its failure.

        In a notebook, the buttons do nothing while a cell waits; interrupting the cell does not stop the run.
        """
        job = self._expect_job()
        if job.rest(timeout) and job.over and self._painter is not None:
            job.thread.join()
            self._painter.thread.join()
        self._paint()
        if job.error is not None:
            raise job.error
        return job.state

    def close(self) -> None:
        """Remove the widget from the page and stop its run, whose log can be resumed."""
        self.cancel(now=True)
        super().close()

    def static(self) -> str:
        """Return the state of the run as HTML that needs neither kernel nor script."""
        with self._lock:
            return self._view.static(self._job, self._progress)

    def _begin(self, work: RunFunction, log: Path | None, spent: float = 0.0) -> None:
        self._progress = LiveProgress()

        def tell(event: Event) -> None:
            with self._lock:
                self._progress.take(event)

        def again(event: Event) -> None:
            job.note_call(event)
            with self._lock:
                self._progress.take(event, is_new=False)

        def drive(sink: Sink, ask: PauseHandler) -> Run:
            if log is not None:  # what happened before is shown, too; what was superseded cost as well
                records = read_run(log).records
                with self._lock:
                    self._progress.book(record.event for record in records)
                sink = CountedEvents(records, self._count_anew, sink, again)
            return work(sink, ask)

        self._job = job = BackgroundRun(drive, tell, lambda: painter.nudge(), log, spent)
        self._painter = painter = Repainter(self._paint, lambda: job.over)
        job.thread.start()
        painter.thread.start()
        self._paint()

    def _count_anew(self, events: Iterable[Event]) -> None:
        """Begin steps and counts from these earlier events; usage stays as it was booked."""
        with self._lock:
            self._progress = self._progress.begun_anew(events)

    def _expect_job(self) -> BackgroundRun:
        if self._job is None:
            raise InputError(Problem("run", "has not been started", "start it first"))
        return self._job

    @guarded
    def _paint(self) -> None:
        """Show the present state."""
        with self._lock:
            before = self.form.shown
            self._view.show(self._job, self._progress)
            if self.form.shown is not before:  # what went wrong with an answer to it is of no use any more
                self._worked(self._decide.__qualname__)

    # ---- what is clicked

    @guarded
    def _on_start(self, _: object) -> None:
        self.start()

    @guarded
    def _on_cancel(self, _: object) -> None:
        self.cancel()

    @guarded
    def _on_now(self, _: object) -> None:
        self.cancel(now=True)

    @guarded
    def _on_resume(self, _: object) -> None:
        if self._job is None or not self._job.over:
            return  # a second click
        self.go_on()

    @guarded
    def _on_retry(self, _: object) -> None:
        if self._job is not None and self._job.over:  # else it is a second click
            self.retry_failed()

    def _on_answer(self, _: object) -> None:
        self._decide(lambda job, to: job.answer(self.form.answer(), to=to))

    def _on_leave(self, _: object) -> None:
        self._decide(lambda job, _: job.leave())

    @guarded
    def _on_choice(self, _: object) -> None:
        self.form.choose()

    @guarded
    def _decide(self, act: Callable[[BackgroundRun, str], None]) -> None:
        """Do this to the question that the form shows; a late second click does nothing."""
        with self._lock:
            shown = self.form.shown
            if shown is not None and self.form.asks:
                act(self._expect_job(), shown.pause_id)
                self.form.taken()


class CountedEvents:
    """A sink that passes each new event on, and passes recorded replies that count again to `again`.

    `restart` is called with all events that count so far: at first, and when the run is reopened.
    """

    def __init__(
        self, records: Sequence[Record], restart: Callable[[Iterable[Event]], None], sink: Sink, again: Sink
    ) -> None:
        self._records, self._restart, self._sink, self._again = records, restart, sink, again
        self._counted = CountedRecords(records) if is_reopened(records) else None
        self._position = len(records)
        restart(record.event for record in current(records))

    def __call__(self, event: Event) -> None:
        """Take a new event."""
        if isinstance(event, RunReopened):
            records = (*self._records, Record(self._position + 1, "", event))
            self._counted = CountedRecords(records)
            self._restart(record.event for record in current(records) if record.event is not event)
        self._sink(event)
        if self._counted is not None:
            self._position += 1
            for old in self._counted.take_up(event, self._position):
                self._again(self._records[old].event)

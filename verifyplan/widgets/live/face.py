"""What a live run shows around its question: what it was given, the buttons, where it stands, its steps, its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import ipywidgets as ipw

from verifyplan.reports.visible import one_line
from verifyplan.text import counted
from verifyplan.widgets.live.ending import ended_html, headline
from verifyplan.widgets.live.job import Job
from verifyplan.widgets.live.pause import PauseForm, question_html
from verifyplan.widgets.live.progress import Progress, facts_html
from verifyplan.widgets.live.status import Status
from verifyplan.widgets.live.task import Task
from verifyplan.widgets.panel import failure_html


class Face:
    """The controls of a live run but for the question's; `show` sets them all, from any thread that has the lock."""

    def __init__(self, task: Task, form: PauseForm, clicks: Sequence[Callable[[object], None]]) -> None:
        self._task, self._form = task, form
        self._head = ipw.HTML(_head_html(task))
        self.start = ipw.Button(description="Start", button_style="primary")
        self.cancel = ipw.Button(description="Cancel", tooltip="Keep the replies of calls under way")
        self.now = ipw.Button(description="Stop now", tooltip="Drop the calls under way; a resumed run asks them again")
        self.resume = ipw.Button(description="Resume", tooltip="Go on from the log")
        buttons = (self.start, self.cancel, self.now, self.resume)
        for button, clicked in zip(buttons, clicks, strict=True):
            button.on_click(clicked)
        self.status, self._clock = Status(), ipw.HTML(layout=ipw.Layout(margin="2px 8px"))
        self.steps, self.end = ipw.HTML(), ipw.HTML()
        self._ended: Job | None = None
        self._since = " since it was taken up" if task.log else ""  # what a log's run took before, nobody knows
        self.above = (self._head, ipw.HBox([*buttons, self._clock]), self.status)
        self.below = (self.end, self.steps)

    def show(self, job: Job | None, progress: Progress) -> None:
        """Show how the run stands; None for one that was not started."""
        state, pause = (job.state, job.pause) if job else ("ready", None)
        log = (job.log_path if job else self._task.log) is not None
        self.start.disabled = not (state == "ready" or (state == "failed" and not log))
        self.cancel.disabled = state not in ("running", "asking")
        self.now.disabled = state not in ("running", "stopping")
        self.resume.disabled = not (log and state in ("cancelled", "waiting", "failed"))
        self.status.text = told(job, progress)
        self._clock.value = f"{job.seconds:,.0f} s{self._since}" if job else ""
        self.steps.value = progress.html()
        self._form.show(pause if state == "asking" else None, progress.evidence)
        self._show_end(job)

    def _show_end(self, job: Job | None) -> None:
        if job is None or job is self._ended:
            return  # what is at the end is long: it is made once
        self.end.value = ""
        if job.state == "ended" and job.run is not None:
            self._ended, self.end.value = job, ended_html(job.run)
        elif job.state == "failed" and job.error is not None:
            self._ended, self.end.value = job, failure_html(job.error)

    def static(self, job: Job | None, progress: Progress) -> str:
        """All that is shown, for a page without a kernel."""
        pause = job.pause if job else None
        asked = question_html(pause, progress.evidence) if pause else ""
        status = f"<p><b>{escape(told(job, progress))}</b></p>"
        return f"{self._head.value}{status}{asked}{self.end.value}{progress.html()}"


def told(job: Job | None, progress: Progress) -> str:
    """Where a run stands, on one line."""
    match job.state if job else "ready":
        case "running":
            return f"{progress.now()}."
        case "asking":
            pause = job.pause if job else None
            return f"The run waits for your answer: {counted(len(pause.challenges) if pause else 0, 'challenge')} open."
        case "stopping":
            under_way = job.in_flight if job else 0
            return f"Stopping: {counted(under_way, 'call')} under way, whose replies are kept; Stop now drops them."
        case "ended":
            return f"Ended: {headline(job.run) if job and job.run else ''}"
        case "waiting":
            return f"Stopped, with its question open. {_hint(job)}"
        case "cancelled":
            return f"Cancelled. {_hint(job)}"
        case "failed" if job and job.log_path is None:
            return "Failed, and there is no log to resume from: mend what is said below, and start again."
        case "failed":
            return f"Failed. {_hint(job)}"
        case _:
            return "Ready to start."


def _hint(job: Job | None) -> str:
    if job is None or job.log_path is None:
        return "It has no log, so that it cannot be resumed."
    return f"Resume goes on here; elsewhere, resume with vp.resume({one_line(str(job.log_path))!r})."


def _head_html(task: Task) -> str:
    title = f'<div style="font-size:15px;font-weight:600;line-height:1.6">{escape(task.title)}</div>'
    return f"{title}{facts_html(task.about.items())}"

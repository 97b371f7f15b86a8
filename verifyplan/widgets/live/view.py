"""The view of a live run: its inputs, buttons, state, steps, the form for its question (rule A4), and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape

import ipywidgets as ipw

from verifyplan.charts.theme import GREEN, ORANGE, VERMILLION
from verifyplan.protocol.event_run import AnswerKind
from verifyplan.protocol.records import UNSETTLED, Challenge
from verifyplan.reports.visible import lines, one_line, truncated
from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.plan.pauses import ABOUT_A_CHALLENGE, Answer, Pause
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run
from verifyplan.text import counted
from verifyplan.widgets.live.background_run import BackgroundRun
from verifyplan.widgets.live.progress import LiveProgress, facts_html
from verifyplan.widgets.live.tasks import LiveTask
from verifyplan.widgets.panel import failure_html
from verifyplan.widgets.repaint import StatusLine


class LiveView:
    """The controls of a live run but for the question's; `show` sets them all, from any thread that has the lock."""

    def __init__(self, task: LiveTask, form: PauseForm, clicks: Sequence[Callable[[object], None]]) -> None:
        self._task, self._form = task, form
        self._head = ipw.HTML(_head_html(task))
        self.start = ipw.Button(description="Start", button_style="primary")
        self.cancel = ipw.Button(description="Cancel", tooltip="Keep the replies of calls under way")
        self.now = ipw.Button(description="Stop now", tooltip="Drop the calls under way; a resumed run asks them again")
        self.resume = ipw.Button(description="Resume", tooltip="Go on from the log")
        buttons = (self.start, self.cancel, self.now, self.resume)
        for button, clicked in zip(buttons, clicks, strict=True):
            button.on_click(clicked)
        self.status, self._clock = StatusLine(), ipw.HTML(layout=ipw.Layout(margin="2px 8px"))
        self.steps, self.end = ipw.HTML(), ipw.HTML()
        self._ended: BackgroundRun | None = None
        self._since = " since it was taken up" if task.log else ""  # what a log's run took before, nobody knows
        self.above = (self._head, ipw.HBox([*buttons, self._clock]), self.status)
        self.below = (self.end, self.steps)

    def show(self, job: BackgroundRun | None, progress: LiveProgress) -> None:
        """Show the state of the run; None for a run that was not started."""
        state, pause = (job.state, job.pause) if job else ("ready", None)
        log = (job.log_path if job else self._task.log) is not None
        self.start.disabled = not (state == "ready" or (state == "failed" and not log))
        self.cancel.disabled = state not in ("running", "asking")
        self.now.disabled = state not in ("running", "stopping")
        self.resume.disabled = not (log and state in ("cancelled", "waiting", "failed"))
        self.status.text = status_line(job, progress)
        self._clock.value = f"{job.seconds:,.0f} s{self._since}" if job else ""
        self.steps.value = progress.html()
        self._form.show(pause if state == "asking" else None, progress.evidence)
        self._show_end(job)

    def _show_end(self, job: BackgroundRun | None) -> None:
        if job is None or job is self._ended:
            return  # the end is long: it is made once
        self.end.value = ""
        if job.state == "ended" and job.run is not None:
            self._ended, self.end.value = job, outcome_html(job.run)
        elif job.state == "failed" and job.error is not None:
            self._ended, self.end.value = job, failure_html(job.error)

    def static(self, job: BackgroundRun | None, progress: LiveProgress) -> str:
        """Return all that is shown, for a page without a kernel."""
        pause = job.pause if job else None
        question = question_html(pause, progress.evidence) if pause else ""
        status = f"<p><b>{escape(status_line(job, progress))}</b></p>"
        return f"{self._head.value}{status}{question}{self.end.value}{progress.html()}"


def status_line(job: BackgroundRun | None, progress: LiveProgress) -> str:
    """Return the state of a run on one line."""
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
            return f"Ended: {outcome_line(job.run) if job and job.run else ''}"
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


def _hint(job: BackgroundRun | None) -> str:
    if job is None or job.log_path is None:
        return "It has no log, so that it cannot be resumed."
    return f"Resume goes on here; elsewhere, resume with vp.resume({one_line(str(job.log_path))!r})."


def _head_html(task: LiveTask) -> str:
    title = f'<div style="font-size:15px;font-weight:600;line-height:1.6">{escape(task.title)}</div>'
    return f"{title}{facts_html(task.about.items())}"


MAX_CHALLENGE_CHARACTERS = 3000
"""Characters that are shown of one text of a challenge; the log has the whole."""

DOUBLE_CLICK_S = 0.5
"""Seconds after an answer in which no other is taken: longer than a double click."""

CHOICES: tuple[tuple[str, AnswerKind], ...] = (
    ("Acknowledge: the risk of the challenge is accepted, and the plan is judged again", "acknowledge"),
    ("Override: the run ends, judged without the challenge", "override"),
    ("Context: the note is given to the next iteration", "context"),
    ("Abort: the run ends without a verdict", "abort"),
)
_STYLE = {"description_width": "6em"}


class PauseForm(ipw.VBox):
    """The question with the challenges that block, and controls for the answer; hidden while nothing is asked.

    Answer and Stop here are disabled once one of them did its work, and for a moment longer if the run asks again at
    once: the second half of a double click must not answer a question that nobody has read.
    """

    def __init__(
        self,
        on_answer: Callable[[object], None],
        on_leave: Callable[[object], None],
        on_choice: Callable[[object], None],
    ) -> None:
        wide = ipw.Layout(width="95%")
        self._question = ipw.HTML(layout=wide)
        self.kind = ipw.RadioButtons(
            options=CHOICES, description="Answer", style=_STYLE, layout=ipw.Layout(width="95%", height="auto")
        )
        self.challenge = ipw.Dropdown(options=[("none", "")], description="Challenge", style=_STYLE, layout=wide)
        self.note = ipw.Textarea(description="Note", rows=3, style=_STYLE, layout=wide)
        self.send = ipw.Button(description="Answer", button_style="primary")
        self.leave = ipw.Button(description="Stop here", tooltip="Leave the question open; the log waits")
        self.send.on_click(on_answer)
        self.leave.on_click(on_leave)
        self.kind.observe(on_choice, "value")
        buttons = ipw.HBox([self.send, self.leave])
        super().__init__([self._question, self.kind, self.challenge, self.note, buttons])
        self.shown: Pause | None = None
        self._taken: Pause | None = None
        self._rests_until = 0.0
        self.show(None, {})

    def show(self, pause: Pause | None, evidence: Mapping[str, str]) -> None:
        """Show this question, with nothing filled in, or none; the same question again leaves all as it is."""
        if pause is not self.shown:
            self._fill(pause, evidence)
            self.shown = pause
            self.layout.display = "none" if pause is None else "flex"
        self._set_buttons()

    def taken(self) -> None:
        """The question that is shown needs nobody any more: from now on, no click is about it."""
        self._taken, self._rests_until = self.shown, time.monotonic() + DOUBLE_CLICK_S
        self._set_buttons()

    @property
    def asks(self) -> bool:
        """Whether a click is about the question that is shown."""
        return self.shown is not None and self.shown is not self._taken and time.monotonic() >= self._rests_until

    def choose(self) -> None:
        """Let a challenge be chosen if the kind of answer is about a challenge."""
        self.challenge.disabled = self.kind.value not in ABOUT_A_CHALLENGE

    def _set_buttons(self) -> None:
        self.send.disabled = self.leave.disabled = not self.asks

    def _fill(self, pause: Pause | None, evidence: Mapping[str, str]) -> None:
        if pause is not None:
            self._question.value = question_html(pause, evidence)
            self.challenge.options = [
                (f"{each.id}, {each.severity}{_follows(pause, each.id)}: {one_line(each.claim, 80)}", each.id)
                for each in pause.challenges
            ]
            self.challenge.index = 0
            self.kind.value, self.note.value = CHOICES[0][1], ""

    def answer(self) -> Answer:
        """The answer as it is filled in, not yet checked."""
        kind: AnswerKind = self.kind.value
        return Answer(kind, self.challenge.value if kind in ABOUT_A_CHALLENGE else None, self.note.value)


def _follows(pause: Pause, name: str) -> str:
    verdict = pause.if_overridden.get(name)
    return f" (overridden: {verdict})" if verdict else ""


def question_html(pause: Pause, evidence: Mapping[str, str]) -> str:
    """Return the question and the challenges that block, as HTML without scripts; long texts are cut.

    >>> "&lt;b&gt;" in question_html(Pause("i1/pause-1", 1, "<b>How?", ()), {})
    True
    """
    blocking = "".join(_challenge_html(each, evidence.get(each.id, "")) for each in pause.challenges)
    style = f"border-left:4px solid {ORANGE};padding:4px 12px;margin:6px 0;line-height:1.5;overflow-wrap:anywhere"
    return (
        f'<section aria-label="Question of the run" style="{style}"><b>The run asks '
        f"({escape(pause.pause_id)}):</b> {_paragraph(pause.question)}{blocking}</section>"
    )


def _challenge_html(challenge: Challenge, evidence: str) -> str:
    rows = [
        ("Claim", challenge.claim),
        ("Concern", challenge.concern),
        ("Then breaks", challenge.failure_scenario),
        ("Alternative", challenge.alternative),
        ("Evidence", evidence),
        ("So far", challenge.resolution),
    ]
    fields = "".join(f"<div><b>{name}:</b> {_paragraph(text)}</div>" for name, text in rows if text.strip())
    head = f"{escape(challenge.id)}, {challenge.severity}, {challenge.status}, raised by {challenge.origin}"
    return f'<div style="margin:6px 0"><b>{head}</b>{fields}</div>'


def _paragraph(text: str) -> str:
    return "<br>".join(escape(line) for line in lines(truncated(text, MAX_CHALLENGE_CHARACTERS))) or "-"


MAX_LISTED_CHALLENGES = 20
"""Challenges that are listed; the report has all."""

_BOX_STYLE = "border-left:4px solid {};padding:4px 10px;margin:6px 0;line-height:1.5;overflow-wrap:anywhere"
_COLORS = {
    "PROCEED": GREEN,
    "REVISE": ORANGE,
    "RETHINK": VERMILLION,
    "converged": GREEN,
    "max-rounds-reached": ORANGE,
}


def outcome_html(run: Run) -> str:
    """Return the outcome of a run that ended, its open challenges, files, and report or findings; texts are escaped."""
    outcome = _plan_html(run) if isinstance(run, PlanRun) else ""
    if isinstance(run, CrossRun):
        counts = "<br>".join(escape(one_line(line, 400)) for line in str(run).splitlines())
        gate = {None: "", True: "<br>Every plan item held.", False: "<br>Not every plan item held."}[run.gate_passed]
        outcome = f"<b>{escape(str(run.status))}</b><br>{counts}{gate}"
    paths = {"Log": run.log_path, "Artifact": run.path if isinstance(run, CrossRun) else None}
    files = "".join(
        f"<div>{name}: <code>{escape(one_line(path))}</code></div>" for name, path in paths.items() if path is not None
    )
    color = _COLORS.get(str(run.verdict if isinstance(run, PlanRun) else getattr(run, "status", "")), VERMILLION)
    head = f'<section aria-label="How the run ended" style="{_BOX_STYLE.format(color)}">{outcome}{files}</section>'
    return head + _report_html(run)


def outcome_line(run: Run) -> str:
    """Return the outcome on one line: the verdict of a plan run, the status and the counts of a cross run."""
    if isinstance(run, PlanRun) and run.outcome is not None:
        verdict = verdict_words(run.verdict, run.outcome.strong)
        return verdict if run.verdict else f"{verdict}: {one_line(run.outcome.exit_reason, 300)}"
    return f"{run.status}" if isinstance(run, CrossRun) else "no outcome"


def _plan_html(run: PlanRun) -> str:
    """Return the verdict, its reason, the score, the challenges that are open, and those that a person accepted."""
    parts = [f"<b>{'Verdict: ' if run.verdict else ''}{escape(outcome_line(run))}</b>"]
    parts[0] += f" ({run.status})" if run.status else ""
    reason = run.outcome.exit_reason if run.outcome and run.verdict else ""
    if reason.strip():
        parts.append(escape(one_line(reason, 300)))
    if run.score is not None:
        parts.append(f"Score {run.score} of 10; it informs and never decides the verdict.")
    unsettled = [challenge for challenge in run.state.pool if challenge.status in UNSETTLED]
    items = [
        f"<li>{escape(each.id)}, {each.severity}, {each.status}: {escape(one_line(each.claim, 200))}</li>"
        for each in unsettled[:MAX_LISTED_CHALLENGES]
    ]
    if len(unsettled) > MAX_LISTED_CHALLENGES:
        items.append(f"<li>and {len(unsettled) - MAX_LISTED_CHALLENGES} more</li>")
    if unsettled:
        parts.append(f"What stands: {counted(len(unsettled), 'challenge')}<ul style='margin:0'>{''.join(items)}</ul>")
    else:
        parts.append("No challenge stands.")
    history = run.frames.challenge_history
    accepted = history.loc[history["by"].eq("user").fillna(False).astype(bool), "challenge_id"].unique()
    if len(accepted):
        parts.append(f"Accepted by a person: {escape(', '.join(accepted))}.")
    return "<br>".join(parts)


def _report_html(run: Run) -> str:
    if isinstance(run, PlanRun):
        return f"<details open><summary>Report</summary>{run._repr_html_()}</details>"
    if isinstance(run, CrossRun):
        shown = run.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        table = shown.to_html(index=False, max_rows=20, border=0, justify="left")  # escapes, and cuts long texts
        table = table.replace("<table ", '<table cellpadding="4" style="border-collapse:collapse;line-height:1.4" ', 1)
        return f'<details open><summary>Findings</summary><div style="overflow:auto">{table}</div></details>'
    return ""

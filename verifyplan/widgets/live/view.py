"""The view of a live run: its inputs, buttons, state, steps, the form for its question (rule A4), and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape

import ipywidgets as ipw

from verifyplan.protocol.event_run import AnswerKind
from verifyplan.protocol.records import UNSETTLED, Challenge
from verifyplan.reports.visible import lines, one_line, truncated
from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.plan.pauses import ABOUT_A_CHALLENGE, Answer, Pause
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run
from verifyplan.text import counted
from verifyplan.widgets.html import box, facts, paragraph, table
from verifyplan.widgets.live.background_run import BackgroundRun
from verifyplan.widgets.live.progress import LiveProgress
from verifyplan.widgets.live.retry import RetryOffer, retry_offer
from verifyplan.widgets.live.tasks import LiveTask
from verifyplan.widgets.panel import failure_html, group
from verifyplan.widgets.repaint import StatusLine


class LiveView:
    """The controls of a live run, except those of its question; `show` sets them, from any thread that has the lock."""

    def __init__(self, task: LiveTask, form: PauseForm, clicks: Sequence[Callable[[object], None]]) -> None:
        self._task, self._form = task, form
        self.about = ipw.HTML(facts(task.about.items()))
        self.start = ipw.Button(description="Start", button_style="primary")
        self.cancel = ipw.Button(description="Cancel", tooltip="Keep the replies of calls under way")
        self.now = ipw.Button(description="Stop now", tooltip="Drop the calls under way; a resumed run asks them again")
        self.resume = ipw.Button(description="Resume", tooltip="Go on from the log")
        self.buttons = (self.start, self.cancel, self.now, self.resume)
        self.retry = ipw.Button(description="Ask failed calls again", layout=ipw.Layout(width="auto"))
        for button, clicked in zip((*self.buttons, self.retry), clicks, strict=True):
            button.on_click(clicked)
        self._failed_words = ipw.HTML()
        self.failed = group("vp-row", self.retry, self._failed_words)
        self._offer(None)
        self.status, self.clock = StatusLine(), ipw.HTML()
        self.calls, self.steps, self.end = ipw.HTML(), ipw.HTML(), ipw.HTML()
        self._ended: BackgroundRun | None = None
        self._since = " since it was resumed" if task.log else ""  # the time before is not known

    def show(self, job: BackgroundRun | None, progress: LiveProgress) -> None:
        """Show the state of the run; `job` is None for a run that was not started."""
        state, pause = (job.state, job.pause) if job else ("ready", None)
        log = (job.log_path if job else self._task.log) is not None
        self.start.disabled = not (state == "ready" or (state == "failed" and not log))
        self.cancel.disabled = state not in ("running", "asking")
        self.now.disabled = state not in ("running", "stopping")
        self.resume.disabled = not (log and state in ("cancelled", "waiting", "failed"))
        self.status.text = status_line(job, progress)
        self.clock.value = f"{job.seconds:,.0f} s{self._since}" if job else ""
        self.calls.value = self._calls_html(job, progress)
        self.steps.value = progress.html()
        self._form.show(pause if state == "asking" else None, progress.evidence)
        self._show_end(job)

    @staticmethod
    def _calls_html(job: BackgroundRun | None, progress: LiveProgress) -> str:
        return progress.calls_html() if job and not job.over else ""

    def _show_end(self, job: BackgroundRun | None) -> None:
        if job is None or job is self._ended:
            return  # the end is long, so it is made once
        self.end.value = ""
        self._offer(None)
        if job.state == "ended" and job.run is not None:
            self._ended, self.end.value = job, outcome_html(job.run)
            self._offer(retry_offer(job.run, self._task.backend))
        elif job.state == "failed" and job.error is not None:
            self._ended, self.end.value = job, failure_html(job.error)

    def _offer(self, offer: RetryOffer | None) -> None:
        """Show what asking failed calls again would cost; nothing if no call failed."""
        self.failed.layout.display = "none" if offer is None else "flex"
        self.retry.disabled = offer is None or not offer.is_possible
        self._failed_words.value = "" if offer is None else paragraph(offer.words)

    def static(self, job: BackgroundRun | None, progress: LiveProgress) -> str:
        """Return all that is shown, for a page without a kernel."""
        pause = job.pause if job else None
        question = question_html(pause, progress.evidence) if pause else ""
        status = f'<p class="vp-status">{escape(status_line(job, progress))}</p>'
        calls = self._calls_html(job, progress)
        parts = (self.about.value, status, self._failed_words.value, question, calls, self.end.value, progress.html())
        return "".join(parts)


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
            return f"Stopping: {counted(under_way, 'call')} under way; their replies are kept. Stop now drops them."
        case "ended":
            return f"Ended: {outcome_line(job.run) if job and job.run else ''}"
        case "waiting":
            return f"Stopped, with its question open. {_hint(job)}"
        case "cancelled":
            return f"Cancelled. {_hint(job)}"
        case "failed" if job and job.log_path is None:
            return "Failed, and there is no log to resume from: correct what the message below names, and start again."
        case "failed":
            return f"Failed. {_hint(job)}"
        case _:
            return "Ready to start."


def _hint(job: BackgroundRun | None) -> str:
    if job is None or job.log_path is None:
        return "It has no log, so it cannot be resumed."
    return f"Resume goes on here; elsewhere, resume with vp.resume({one_line(str(job.log_path))!r})."


MAX_CHALLENGE_CHARACTERS = 3000
"""Characters of one text of a challenge that are shown; the log has the whole."""

DOUBLE_CLICK_S = 0.5
"""Seconds after an answer in which no other is accepted: longer than a double click."""

CHOICES: tuple[tuple[str, AnswerKind], ...] = (
    ("Acknowledge: the risk of the challenge is accepted, and the plan is judged again", "acknowledge"),
    ("Override: the run ends, judged without the challenge", "override"),
    ("Context: the note is given to the next iteration", "context"),
    ("Abort: the run ends without a verdict", "abort"),
)


class PauseForm(ipw.VBox):
    """The question with the challenges that block, and controls for the answer; hidden while there is no question.

    Answer and Stop here are disabled once one of them was used, and for a moment longer if the run asks again at once:
    the second half of a double click must not answer a question that nobody has read.
    """

    def __init__(
        self,
        on_answer: Callable[[object], None],
        on_leave: Callable[[object], None],
        on_choice: Callable[[object], None],
    ) -> None:
        self._question = ipw.HTML()
        self.kind = ipw.RadioButtons(options=CHOICES, description="Answer")
        self.challenge = ipw.Dropdown(options=[("none", "")], description="Challenge")
        self.note = ipw.Textarea(description="Note", rows=3)
        self.send = ipw.Button(description="Answer", button_style="primary")
        self.leave = ipw.Button(description="Stop here", tooltip="Leave the question open; the log waits")
        self.send.on_click(on_answer)
        self.leave.on_click(on_leave)
        self.kind.observe(on_choice, "value")
        for field in (self.kind, self.challenge, self.note):
            field.add_class("vp-wide")
        fields = group("vp-fields", self.kind, self.challenge, self.note)
        super().__init__([self._question, fields, group("vp-row", self.send, self.leave)])
        self.shown: Pause | None = None
        self.layout.display = "none"
        self._taken: Pause | None = None
        self._rests_until = 0.0
        self.show(None, {})

    def show(self, pause: Pause | None, evidence: Mapping[str, str]) -> None:
        """Show this question with nothing filled in, or none; the same question again changes nothing."""
        if pause is not self.shown:
            self._fill(pause, evidence)
            self.shown = pause
            self.layout.display = "none" if pause is None else "flex"
        self._set_buttons()

    def taken(self) -> None:
        """Note that the question shown is settled: later clicks are not about it."""
        self._taken, self._rests_until = self.shown, time.monotonic() + DOUBLE_CLICK_S
        self._set_buttons()

    @property
    def asks(self) -> bool:
        """Whether a click is about the question that is shown."""
        return self.shown is not None and self.shown is not self._taken and time.monotonic() >= self._rests_until

    def choose(self) -> None:
        """Enable the choice of a challenge if the kind of answer is about a challenge."""
        self.challenge.disabled = self.kind.value not in ABOUT_A_CHALLENGE

    def _set_buttons(self) -> None:
        self.send.disabled = self.leave.disabled = not self.asks

    def _fill(self, pause: Pause | None, evidence: Mapping[str, str]) -> None:
        if pause is not None:
            self._question.value = question_html(pause, evidence)
            self.challenge.options = [
                (f"{each.id}, {each.severity}{_if_overridden(pause, each.id)}: {one_line(each.claim, 80)}", each.id)
                for each in pause.challenges
            ]
            self.challenge.index = 0
            self.kind.value, self.note.value = CHOICES[0][1], ""

    def answer(self) -> Answer:
        """Return the answer as it is filled in, unchecked."""
        kind: AnswerKind = self.kind.value
        return Answer(kind, self.challenge.value if kind in ABOUT_A_CHALLENGE else None, self.note.value)


def _if_overridden(pause: Pause, name: str) -> str:
    verdict = pause.if_overridden.get(name)
    return f" (overridden: {verdict})" if verdict else ""


def question_html(pause: Pause, evidence: Mapping[str, str]) -> str:
    """Return the question and the challenges that block, as HTML without scripts; long texts are cut.

    >>> "&lt;b&gt;" in question_html(Pause("i1/pause-1", 1, "<b>How?", ()), {})
    True
    """
    blocking = "".join(_challenge_html(each, evidence.get(each.id, "")) for each in pause.challenges)
    asks = f"<b>The run asks ({escape(pause.pause_id)}):</b> {_paragraph(pause.question)}"
    return box("warn", f"{asks}{blocking}", "Question of the run")


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
    return f'<div class="vp-card"><b>{head}</b>{fields}</div>'


def _paragraph(text: str) -> str:
    return "<br>".join(escape(line) for line in lines(truncated(text, MAX_CHALLENGE_CHARACTERS))) or "-"


MAX_LISTED_CHALLENGES = 20
"""Challenges that are listed; the report has all."""
MAX_LISTED_FINDINGS = 20
"""Findings that are listed; `.run.frames` has all."""

_LOOKS = {
    "PROCEED": "good",
    "REVISE": "warn",
    "RETHINK": "alert",
    "converged": "good",
    "max-rounds-reached": "warn",
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
    look = _LOOKS.get(str(run.verdict if isinstance(run, PlanRun) else getattr(run, "status", "")), "alert")
    return box(look, f"{outcome}{files}", "How the run ended") + _report_html(run)


def outcome_line(run: Run) -> str:
    """Return the outcome on one line: the verdict of a plan run, the status and the counts of a cross run."""
    if isinstance(run, PlanRun) and run.outcome is not None:
        verdict = verdict_words(run.verdict, run.outcome.strong)
        return verdict if run.verdict else f"{verdict}: {one_line(run.outcome.exit_reason, 300)}"
    return f"{run.status}" if isinstance(run, CrossRun) else "no outcome"


def _plan_html(run: PlanRun) -> str:
    """Return the verdict, its reason, the score, the unsettled challenges, and those that a person accepted."""
    status = f" ({run.status})" if run.status else ""
    parts = [f"<b>{'Verdict: ' if run.verdict else ''}{escape(outcome_line(run))}</b>{status}"]
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
        parts.append(f"Not settled: {counted(len(unsettled), 'challenge')}<ul>{''.join(items)}</ul>")
    else:
        parts.append("All challenges are settled.")
    history = run.frames.challenge_history
    accepted = history.loc[history["by"].eq("user").fillna(False).astype(bool), "challenge_id"].unique()
    if len(accepted):
        parts.append(f"Accepted by a person: {escape(', '.join(accepted))}.")
    return "<br>".join(parts)


def _report_html(run: Run) -> str:
    if isinstance(run, PlanRun):
        return f'<details class="vp-fold"><summary>The whole report</summary>{run._repr_html_()}</details>'
    if isinstance(run, CrossRun):
        findings = run.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        more = f"; the first {MAX_LISTED_FINDINGS} are shown" if len(findings) > MAX_LISTED_FINDINGS else ""
        rows = findings.head(MAX_LISTED_FINDINGS).itertuples(index=False)
        heads = ("Finding", "Claim", "Class", "Rounds")
        return table(f"{counted(len(findings), 'finding')}{more}", heads, rows, numbers=frozenset({3}))
    return ""

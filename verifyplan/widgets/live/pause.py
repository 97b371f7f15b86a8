"""The question of a run that is blocked, and the form in which a person answers it (rule A4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from html import escape

import ipywidgets as ipw

from verifyplan.charts.theme import ORANGE
from verifyplan.protocol.event_run import AnswerKind
from verifyplan.protocol.records import Challenge
from verifyplan.reports.visible import lines, one_line, truncated
from verifyplan.runs.plan.ruling import ABOUT_A_CHALLENGE, Answer, Pause

MOST = 3000
"""Characters that are shown of one text of a challenge; the log has the whole."""

REST = 0.5
"""Seconds after an answer in which no other is taken: longer than a double click."""

CHOICES: tuple[tuple[str, AnswerKind], ...] = (
    ("Acknowledge: the risk of the challenge is accepted, and the plan is judged again", "acknowledge"),
    ("Override: the run ends, judged without the challenge", "override"),
    ("Context: the note is given to the next iteration", "context"),
    ("Abort: the run ends without a verdict", "abort"),
)
_WIDE = {"description_width": "6em"}


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
            options=CHOICES, description="Answer", style=_WIDE, layout=ipw.Layout(width="95%", height="auto")
        )
        self.challenge = ipw.Dropdown(options=[("none", "")], description="Challenge", style=_WIDE, layout=wide)
        self.note = ipw.Textarea(description="Note", rows=3, style=_WIDE, layout=wide)
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
        self._taken, self._rests_until = self.shown, time.monotonic() + REST
        self._set_buttons()

    @property
    def asks(self) -> bool:
        """Whether a click is about the question that is shown."""
        return self.shown is not None and self.shown is not self._taken and time.monotonic() >= self._rests_until

    def choose(self) -> None:
        """Let a challenge be chosen if the kind of answer is about one."""
        self.challenge.disabled = self.kind.value not in ABOUT_A_CHALLENGE

    def _set_buttons(self) -> None:
        self.send.disabled = self.leave.disabled = not self.asks

    def _fill(self, pause: Pause | None, evidence: Mapping[str, str]) -> None:
        if pause is not None:
            self._question.value = question_html(pause, evidence)
            self.challenge.options = [
                (f"{one.id}, {one.severity}{_follows(pause, one.id)}: {one_line(one.claim, 80)}", one.id)
                for one in pause.challenges
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
    """The question and what blocks, as HTML without scripts; texts are escaped, long ones cut.

    >>> "&lt;b&gt;" in question_html(Pause("i1/pause-1", 1, "<b>How?", ()), {})
    True
    """
    blocking = "".join(_challenge_html(one, evidence.get(one.id, "")) for one in pause.challenges)
    style = f"border-left:4px solid {ORANGE};padding:4px 12px;margin:6px 0;line-height:1.5;overflow-wrap:anywhere"
    return (
        f'<section aria-label="Question of the run" style="{style}"><b>The run asks '
        f"({escape(pause.pause_id)}):</b> {_text(pause.question)}{blocking}</section>"
    )


def _challenge_html(one: Challenge, evidence: str) -> str:
    rows = [
        ("Claim", one.claim),
        ("Concern", one.concern),
        ("Then breaks", one.failure_scenario),
        ("Alternative", one.alternative),
        ("Evidence", evidence),
        ("So far", one.resolution),
    ]
    told = "".join(f"<div><b>{name}:</b> {_text(text)}</div>" for name, text in rows if text.strip())
    head = f"{escape(one.id)}, {one.severity}, {one.status}, raised by {one.origin}"
    return f'<div style="margin:6px 0"><b>{head}</b>{told}</div>'


def _text(text: str) -> str:
    return "<br>".join(escape(line) for line in lines(truncated(text, MOST))) or "-"

"""Present a recorded debate: how it ended, the diff and whether it applies, and every message (rules C2, C3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from verifyplan.diffs import PatchError, apply
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.event_run import DebateInputs, DebateOutcome, DebateReason, DebateStatus
from verifyplan.protocol.message import Message
from verifyplan.reports.debate import debate_html, debate_text
from verifyplan.reports.visible import one_line
from verifyplan.runlog.debate_state import DebateState, fold_debate
from verifyplan.runs.run import Run
from verifyplan.text import counted

MAX_NOTE_CHARACTERS = 300


@with_field_docs
@dataclass(frozen=True, repr=False)
class Debate(Run):
    """A debate: ended, or broken off."""

    @cached_property
    def state(self) -> DebateState:
        """The fold of the events."""
        return fold_debate(self._events)

    @property
    def outcome(self) -> DebateOutcome | None:
        """How the debate ended; None where it was broken off."""
        return self.state.outcome

    @property
    def status(self) -> DebateStatus | None:
        """CONVERGED or FAILED; None where an agent failed, a budget ended the debate, or it was broken off."""
        return self.outcome.status if self.outcome else None

    @property
    def reason(self) -> DebateReason | None:
        """VERIFIED, NO_IMPROVEMENT, MAX_TURNS, AGENT_FAILED or BUDGET; None where it was broken off."""
        return self.outcome.reason if self.outcome else None

    @property
    def ending(self) -> str:
        """How the debate ended: status and reason, or that it was broken off."""
        return " ".join(filter(None, (self.status, self.reason))) or "broken off"

    @property
    def _counts(self) -> list[str]:
        return [counted(self.turns, "turn")]

    @property
    def turns(self) -> int:
        """The turn in which it ended, or the last one so far."""
        return self.state.turns

    @property
    def diff(self) -> str:
        """The builder's last diff; blank if there is none."""
        return self.state.diff

    @property
    def log(self) -> tuple[Message, ...]:
        """Every message, in order; for the same replies the same, byte for byte."""
        return tuple(self.state.messages)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Why the diff does not apply to the files as they are now, or was not checked; empty where it applies."""
        problem = diff_problem(self.diff, self.state.inputs)
        return (problem,) if problem else ()

    def __str__(self) -> str:
        """How it ended, and its messages turn by turn."""
        return debate_text(self.state, (*self._of_calls, *self.notes))

    def _repr_html_(self) -> str:
        """The same for a notebook, with the grounds of each message and the last diff."""
        return debate_html(self.state, (*self._of_calls, *self.notes))

    @property
    def _of_calls(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.failed_calls, *self.call_notes, self.cost_words)))


def diff_problem(diff: str, inputs: DebateInputs) -> str:
    """Return why a diff does not apply to the documents and files of a debate; blank where it does, or there is none.

    Nothing is recorded: the files are read as they are now. A folder or file that cannot be read is "not checked".
    CRLF counts as LF unless the diff itself has any.
    """
    root = Path(str(inputs.repository.get("root", "")))

    def read(path: str) -> str | None:
        text = inputs.documents.get(path)
        if text is None:
            if not root.is_dir():
                raise OSError(f"the folder {str(root)!r} is not there any more")
            file = root / path
            text = file.read_bytes().decode("utf-8") if file.exists() else None
        return text if text is None or "\r" in diff else text.replace("\r\n", "\n")

    if not diff.strip():
        return ""
    try:
        apply(diff, read)
    except PatchError as error:
        return f"the diff does not apply: {one_line(error.problems[0].message, MAX_NOTE_CHARACTERS)}"
    except (OSError, ValueError) as error:
        return f"whether the diff applies was not checked: {one_line(str(error), MAX_NOTE_CHARACTERS)}"
    return ""

"""What a debate leaves behind: how it ended, the diff, and every message (rules C2, C3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from verifyplan.protocol.event_run import DebateOutcome, DebateReason, DebateStatus
from verifyplan.protocol.message import Message
from verifyplan.reports.debate import debate_html, debate_text
from verifyplan.runlog.debate_state import DebateState, fold_debate
from verifyplan.runs.debate.fitting import diff_problem
from verifyplan.runs.run import Run


@dataclass(frozen=True, repr=False)
class Debate(Run):
    """A debate: ended, or broken off."""

    @cached_property
    def state(self) -> DebateState:
        """The fold of the events."""
        return fold_debate(self.events)

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
    def turns(self) -> int:
        """The turn in which it ended, or that it has come to."""
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
        told = diff_problem(self.diff, self.state.inputs)
        return (told,) if told else ()

    def __str__(self) -> str:
        """How it ended, and its messages turn by turn."""
        return debate_text(self.state, self.notes)

    def _repr_html_(self) -> str:
        """The same for a notebook, with the grounds of each message and the last diff."""
        return debate_html(self.state, self.notes)

"""State as a fold over events: the messages of a debate and its present diff (rules C2, E1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.protocol.event_run import DebateInputs, DebateOutcome, RunEnded, RunStarted
from verifyplan.protocol.message import Message


@dataclass
class DebateState:
    """The state of a debate, folded from its events."""

    started: RunStarted | None = None
    messages: list[Message] = field(default_factory=list)
    diffs: dict[int, str] = field(default_factory=dict)
    """The builder's diff of each turn that has one."""
    ended: RunEnded | None = None

    @property
    def inputs(self) -> DebateInputs:
        """The inputs of the debate; ValueError before its first event."""
        if self.started is None:
            raise ValueError("the debate has not begun: its events have no run-started")
        return self.started.debate

    @property
    def outcome(self) -> DebateOutcome | None:
        """How the debate ended; None while it goes on."""
        return self.ended.outcome if self.ended and isinstance(self.ended.outcome, DebateOutcome) else None

    @property
    def diff(self) -> str:
        """The builder's present diff; blank before the first."""
        return self.diffs[max(self.diffs)] if self.diffs else ""

    @property
    def turns(self) -> int:
        """The last turn so far; 0 before the first message, unless the debate ended there."""
        if self.outcome is not None:
            return self.outcome.turns
        return self.messages[-1].turn if self.messages else 0

    def add(self, event: Event) -> None:
        """Take in one more event; events that carry no state are ignored."""
        match event:
            case RunStarted():
                self.started = event
            case MessagePublished():
                self.messages.append(event.message)
                if event.diff is not None:
                    self.diffs[event.message.turn] = event.diff
            case RunEnded():
                self.ended = event


def fold_debate(events: Iterable[Event]) -> DebateState:
    """Return the state that a sequence of events adds up to; any prefix of a debate folds, too."""
    state = DebateState()
    for event in events:
        state.add(event)
    return state

"""The events of one exchange with a model: a call that uses tools makes several (rules E2, G1).

Both are facts from outside. A call's last turn is followed by `call-replied`, which holds its answer.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import ReplySource, ToolUse, Usage


class TurnSent(Model):
    """A model is about to be asked: what this turn adds to the conversation, written before it is sent."""

    type: Literal["turn-sent"] = "turn-sent"
    call_id: str = Field(description="Where the exchange stands: the call and the turn, as in i2/challenger/t3.")
    model: str = Field(description="The model that is asked.")
    request_sha256: str = Field(description="Digest of the whole request as it is sent.")
    added: tuple[dict[str, Any], ...] = Field(
        default=(), description="Blocks that this turn adds: results of tools, a wish for repair; none in the first."
    )
    tools: tuple[ToolUse, ...] = Field(default=(), description="The tool calls behind those blocks, in order.")

    @property
    def of_call(self) -> str:
        """The call that this turn belongs to.

        >>> TurnSent(call_id="i2/challenger/t3", model="m", request_sha256="").of_call
        'i2/challenger'
        """
        return call_of(self.call_id)


class TurnReplied(Model):
    """A model's reply, as it came; it is on disk before anything acts on it."""

    type: Literal["turn-replied"] = "turn-replied"
    call_id: str = Field(description="The exchange that it ends.")
    message: dict[str, Any] = Field(description="The message as the endpoint sent it: content, stop reason, usage.")
    usage: Usage
    duration_ms: int
    source: ReplySource = "live"
    batch: str | None = Field(default=None, description="The message batch that it came in, if it came in one.")

    @property
    def of_call(self) -> str:
        """The call that this turn belongs to."""
        return call_of(self.call_id)


def call_of(turn: str) -> str:
    """The call that a turn belongs to, by its id; web look-ups within a turn are turns, too.

    >>> call_of("i1/resolver/t2/w1"), call_of("r1/ann/t1")
    ('i1/resolver', 'r1/ann')
    """
    head, _, last = turn.rpartition("/")
    return head.rpartition("/")[0] if last.startswith("w") and _is_turn(head.rpartition("/")[2]) else head


def _is_turn(name: str) -> bool:
    return name.startswith("t") and name[1:].isdigit()

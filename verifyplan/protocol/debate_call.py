"""What architect and builder are asked and what each answers (rules C2, C4, G1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictStr

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool
from verifyplan.protocol.challenge import Challenge
from verifyplan.protocol.message import DebateRole, Message, MessageType


class DebateRequest(Model):
    """One call of architect or builder: the task, what was said so far, and the diff as it stands."""

    call_id: str = Field(description="Where the call stands, such as t2/critique.")
    role: DebateRole
    type: MessageType = Field(description="What is asked for: a proposal, a critique, a diff, a verification.")
    turn: int
    max_turns: int
    task: str
    documents: dict[str, str] = Field(
        default={}, description="Texts under debate beside the repository's files, by the name that a diff gives them."
    )
    challenges: tuple[Challenge, ...] = Field(default=(), description="What is open about a plan that is revised.")
    diff: str = Field(default="", description="The builder's diff as it stands; blank before the first.")
    messages: tuple[Message, ...] = Field(default=(), description="Every message so far.")
    tools: dict[Tool, int] = Field(default={}, description="Tool calls allowed in this call.")


class ArchitectAnswer(Model):
    """What an architect answers: the message's text and what it rests on."""

    content: Annotated[StrictStr, Field(min_length=1)]
    reasons: tuple[StrictStr, ...] = ()
    evidence: tuple[StrictStr, ...] = ()
    risks: tuple[StrictStr, ...] = ()


class BuilderAnswer(ArchitectAnswer):
    """What a builder answers: its message, and the whole diff as it now stands."""

    diff: StrictStr = Field(description="A unified diff of files of the repository, or of the documents; may be blank.")

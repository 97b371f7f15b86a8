"""The events of a debate, which rules derive from replies (rules C2, C3, E1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verifyplan.protocol.base import Model
from verifyplan.protocol.message import Message


class MessagePublished(Model):
    """A message was found valid and published."""

    type: Literal["message-published"] = "message-published"
    message: Message
    diff: str | None = Field(default=None, description="The builder's diff, with an implement message; else null.")

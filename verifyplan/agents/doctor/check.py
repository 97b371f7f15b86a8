"""One thing that was looked at: how it stands, and what to do."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verifyplan.protocol.base import Model

State = Literal["ok", "missing", "wrong", "skipped"]


class Check(Model):
    """How one thing stands. What is missing is not needed by everything; what is wrong has to be mended."""

    name: str
    state: State
    message: str
    fix: str = Field(default="", description="What to do, as a sentence without its full stop; blank if nothing.")

    def __str__(self) -> str:
        """The check as one line; lines of a fix that are to be written into a file follow, indented.

        >>> print(Check(name="git", state="missing", message="not found", fix="install git"))
        missing  git: not found. Fix: install git.
        """
        fix = f". Fix: {self.fix}." if self.fix else ""
        return f"{self.state:<8} {self.name}: {self.message}{fix}".replace("\n", "\n" + 9 * " ")

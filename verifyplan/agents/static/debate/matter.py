"""What is debated, as both roles see it: criteria, what a state of the files leaves unmet, and a better state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from verifyplan.protocol.call import ToolUse

Files = Mapping[str, str | None]
"""The files that were changed, with their texts as they are then; None for one that was removed."""


class Unmet(NamedTuple):
    """A criterion that a state of the files does not meet, and why; `place` is where that is seen."""

    criterion: str
    why: str
    place: str = ""

    def __str__(self) -> str:
        """As it stands in a message."""
        return f"{self.criterion}: {self.why}"


class Draft(NamedTuple):
    """What the builder makes of the files, what was done and why, and what was left and why."""

    files: dict[str, str]
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Matter(Protocol):
    """A task, or the challenges of a plan, over files that can be read and not written."""

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The tool calls made so far."""

    def read(self, path: str) -> str | None:
        """The text of a file before any change; None where there is none that can be read."""

    def checklist(self) -> tuple[str, ...]:
        """The criteria, numbered, each checkable in a diff."""

    def places(self) -> tuple[str, ...]:
        """The files that it is about."""

    def unjudged(self) -> tuple[str, ...]:
        """What a verification says nothing of, although the task may ask for it."""

    def unmet(self, files: Files) -> tuple[Unmet, ...]:
        """What a changed state of the files leaves unmet; empty where all is met."""

    def draft(self, files: Files, critique: str) -> Draft:
        """A state of the files that meets more, made of the one that is there; `critique` is blank for the first."""

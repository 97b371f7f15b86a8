"""A new section of a text: begun for its author, with a checklist of what it has to say."""

from __future__ import annotations

import re
from dataclasses import dataclass

from verifyplan.agents.static.debate.errands.wanted import Texts, ended

CHECKLIST = "Acceptance checklist"
"""The heading under which a section lists what is to be accepted, as in document 004."""

TO_WRITE = "To be written:"
"""How a line begins that says what an author has to write."""

_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_LIST_ITEM = re.compile(r"\s*[-*+]\s+\S")
_WORD = re.compile(r"[A-Za-z_][\w-]{3,}")
_ENOUGH = 0.6


@dataclass(frozen=True)
class Written:
    """A new section of a text speaks of what the task asks for; without a model it is begun, and not written."""

    path: str
    title: str
    points: tuple[str, ...]
    page: str = ""
    """The title of the text, where it is new and the section is a part of it."""

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"`{self.path}` has a new section with a heading, which speaks of: {'; '.join(self.points)}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether there is no new heading, or a point whose words stand in no line that is new."""
        new = gained(before.get(self.path), after.get(self.path))
        if not any(_HEADING.match(line) for line in new):
            return f"no heading is added to {self.path}"
        return next(
            (f"nothing new in {self.path} speaks of: {one}" for one in self.points if not _spoken(one, new)), ""
        )

    def made(self, text: str, newline: str, /) -> str | None:
        """The section begun at the end: its heading, and a line for each point that is to be written."""
        part = bool(text.strip() or self.page)
        title = [] if text.strip() or not self.page else [f"# {self.page}", ""]
        body = [
            *title,
            f"{'##' if part else '#'} {self.title}",
            "",
            *(f"- {TO_WRITE} {_sentence(one)}" for one in self.points),
            "",
        ]
        return ended(text, newline) + (newline if text.strip() else "") + newline.join(body)


@dataclass(frozen=True)
class Listed:
    """The section has an acceptance checklist."""

    path: str
    points: tuple[str, ...]

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"The section of `{self.path}` has an {CHECKLIST} with an item for each point."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether no new line names the checklist, or fewer new items follow than there are points."""
        new = gained(before.get(self.path), after.get(self.path))
        at = next((n for n, line in enumerate(new) if CHECKLIST.lower() in line.lower()), None)
        if at is None:
            return f"{self.path} has no {CHECKLIST}"
        items = sum(1 for line in new[at + 1 :] if _LIST_ITEM.match(line))
        return "" if items >= len(self.points) else f"the {CHECKLIST} has fewer items than the task has points"

    def made(self, text: str, newline: str, /) -> str | None:
        """The checklist at the end, its boxes open: a person ticks them."""
        items = [f"- [ ] It says what is asked for on: {_sentence(one)}" for one in self.points]
        return ended(text, newline) + newline + newline.join([f"### {CHECKLIST}", "", *items, ""])


def gained(before: str | None, after: str | None) -> list[str]:
    """The lines that a text has and had not before, in order."""
    was = set((before or "").splitlines())
    return [line for line in (after or "").splitlines() if line.strip() and line not in was]


def _spoken(clause: str, lines: list[str]) -> bool:
    words = {word.lower() for word in _WORD.findall(clause)}
    text = "\n".join(lines).lower()
    return sum(word in text for word in words) >= _ENOUGH * len(words)


def _sentence(point: str) -> str:
    return point if point.endswith((".", "!", "?")) else f"{point}."

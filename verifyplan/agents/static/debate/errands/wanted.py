"""What a task asks for, each a criterion that a diff meets or not, and the edit that meets it where one is plain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Texts = Mapping[str, str | None]

CHECKLIST = "Acceptance checklist"
"""The heading under which a section lists what is to be accepted, as in document 004."""

_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_LIST_ITEM = re.compile(r"\s*[-*+]\s+\S")
_WORD = re.compile(r"[A-Za-z_][\w-]{3,}")
_SOURCE = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|hpp|kt|swift|sh|bash|sql|tf|ya?ml|toml|json|css|html)$"
)
_ENOUGH = 0.6


class Wanted(Protocol):
    """One criterion."""

    @property
    def path(self) -> str:
        """The file that it is about; blank for any file of code."""

    @property
    def says(self) -> str:
        """The criterion in words."""

    def missing(self, before: Texts, after: Texts) -> str:
        """What the files after a change lack; empty where nothing is."""

    def made(self, text: str, newline: str, /) -> str | None:
        """The file's text edited so that it is met; None where that takes an author, or cannot be done."""


@dataclass(frozen=True)
class Replaced:
    """Words that stand in a file are replaced by others."""

    path: str
    old: str
    new: str

    @property
    def says(self) -> str:
        """The criterion in words."""
        return (
            f"`{self.path}` has {self.new!r} in place of {self.old!r}."
            if self.new
            else f"`{self.path}` no longer has {self.old!r}."
        )

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether the old words are still there, or the new ones are not."""
        was, now = before.get(self.path) or "", after.get(self.path) or ""
        if not self._standing.search(was):
            return f"{self.path} does not hold {self.old!r}, so nothing can be replaced"
        if self._standing.search(now.replace(self.new, "\0") if self.old in self.new else now):
            return f"{self.old!r} still stands in {self.path}"
        return "" if self.new in now else f"{self.path} does not hold {self.new!r}"

    def made(self, text: str, _newline: str, /) -> str | None:
        """Every place of the old words replaced; where they go, one of the spaces around them goes, too."""
        if not self._standing.search(text):
            return None
        if self.new:
            return self._standing.sub(lambda _: self.new, text)
        return re.sub(rf"(?m)(?:(?<=\S) |^)?{self._standing.pattern}(?:(?<=\A)|(?<=^)) ?", "", text)

    @property
    def _standing(self) -> re.Pattern[str]:
        """The old words; where they begin or end as a word does, not as a part of a longer one."""
        begin, end = (r"(?<!\w)" if self.old[0].isalnum() else ""), (r"(?!\w)" if self.old[-1].isalnum() else "")
        return re.compile(f"{begin}{re.escape(self.old)}{end}")


@dataclass(frozen=True)
class Added:
    """Words that the task gives are added to a file."""

    path: str
    words: str

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"`{self.path}` gains {self.words!r}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether the words stand in the file more often than before."""
        was, now = before.get(self.path) or "", after.get(self.path) or ""
        return "" if now.count(self.words) > was.count(self.words) else f"{self.path} does not gain {self.words!r}"

    def made(self, text: str, newline: str, /) -> str | None:
        """The words as a last line."""
        return f"{ended(text, newline)}{self.words}{newline}"


@dataclass(frozen=True)
class Written:
    """A section of a text says what the task asks for."""

    path: str
    title: str
    clauses: tuple[str, ...]

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"`{self.path}` gets a section with a heading, on: {'; '.join(self.clauses)}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether there is no new heading, or a clause whose words stand in no line that is new."""
        new = gained(before.get(self.path), after.get(self.path))
        if not any(_HEADING.match(line) for line in new):
            return f"no heading is added to {self.path}"
        return next(
            (f"nothing new in {self.path} speaks of: {one}" for one in self.clauses if not _spoken(one, new)), ""
        )

    def made(self, text: str, newline: str, /) -> str | None:
        """The section at the end: its heading, and a sentence for each clause."""
        body = [
            f"{'##' if text.strip() else '#'} {self.title}",
            "",
            *(f"- {_sentence(one)}" for one in self.clauses),
            "",
        ]
        return ended(text, newline) + (newline if text.strip() else "") + newline.join(body)


@dataclass(frozen=True)
class Listed:
    """The section has an acceptance checklist."""

    path: str
    clauses: tuple[str, ...]

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"The section of `{self.path}` has an {CHECKLIST} with an item for each point."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether no new line names the checklist, or fewer new items follow than there are clauses."""
        new = gained(before.get(self.path), after.get(self.path))
        at = next((n for n, line in enumerate(new) if CHECKLIST.lower() in line.lower()), None)
        if at is None:
            return f"{self.path} has no {CHECKLIST}"
        items = sum(1 for line in new[at + 1 :] if _LIST_ITEM.match(line))
        return "" if items >= len(self.clauses) else f"the {CHECKLIST} has fewer items than the task has points"

    def made(self, text: str, newline: str, /) -> str | None:
        """The checklist at the end, its boxes open: a person ticks them."""
        items = [f"- [ ] {_sentence(one)}" for one in self.clauses]
        return ended(text, newline) + newline + newline.join([f"### {CHECKLIST}", "", *items, ""])


@dataclass(frozen=True)
class Coded:
    """Code is changed, which takes an author; a blank path is any file of code."""

    path: str
    what: str

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"{f'`{self.path}`' if self.path else 'A file of code'} is changed: {self.what}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether the file, or any file of code, is as it was."""
        changed = [path for path, text in after.items() if text != before.get(path)]
        if self.path in changed or (not self.path and any(_SOURCE.search(path) for path in changed)):
            return ""
        return f"{self.path or 'no file of code'} is {'not ' if self.path else ''}changed"

    def made(self, _text: str, _newline: str, /) -> str | None:
        """None: without a model nobody writes code."""
        return None


def is_code(path: str) -> bool:
    """Whether a path is that of code or of settings, which only an author changes."""
    return _SOURCE.search(path.lower()) is not None


def gained(before: str | None, after: str | None) -> list[str]:
    """The lines that a text has and had not before, in order."""
    was = set((before or "").splitlines())
    return [line for line in (after or "").splitlines() if line.strip() and line not in was]


def ended(text: str, newline: str) -> str:
    """A text whose last line has its end."""
    return text if not text or text.endswith("\n") else text + newline


def _spoken(clause: str, lines: list[str]) -> bool:
    words = {word.lower() for word in _WORD.findall(clause)}
    text = "\n".join(lines).lower()
    return sum(word in text for word in words) >= _ENOUGH * len(words)


def _sentence(clause: str) -> str:
    text = clause[:1].upper() + clause[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."

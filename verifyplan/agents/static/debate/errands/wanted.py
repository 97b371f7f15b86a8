"""What a task asks for, each a criterion that a diff meets or not, and the edit that meets it where one is plain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Texts = Mapping[str, str | None]

_SOURCE = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|hpp|kt|swift|sh|bash|sql|tf|ya?ml|toml|json|css|html)$"
)


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
    code: bool = False
    """Whether a name of code is renamed: what else bears or uses the name is seen by an author alone."""

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
        """Every place of the old words replaced; where words go, one of the spaces beside them goes, too. No code."""
        if self.code or not self._standing.search(text):
            return None
        if self.new:
            return self._standing.sub(lambda _: self.new, text)
        return re.sub(rf"( ?){self._standing.pattern}( ?)", _gap, text)

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
class Kept:
    """A file stays as it is; a blank path is what the task calls by other words, which nobody checks."""

    path: str
    what: str

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"`{self.path}` stays as it is." if self.path else f"To be looked at by a person: {self.what}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether the file was changed."""
        return f"{self.path} is changed" if after.get(self.path) != before.get(self.path) else ""

    def made(self, text: str, _newline: str, /) -> str | None:
        """The text as it is."""
        return text


@dataclass(frozen=True)
class Authored:
    """A change that takes an author: code, a translation, all that is not given word by word.

    A blank path is any file, or any file of code.
    """

    path: str
    what: str
    code: bool = False
    outside: bool = False

    @property
    def says(self) -> str:
        """The criterion in words."""
        return f"{f'`{self.path}`' if self.path else f'A {self._file}'} is changed: {self.what}."

    def missing(self, before: Texts, after: Texts) -> str:
        """Whether the file, or any file, is as it was; what lies outside of the folder cannot be changed."""
        if self.outside:
            return "it names a place outside of the folder, where nothing may be changed"
        changed = [path for path, text in after.items() if text != before.get(path)]
        if self.path in changed or (not self.path and any(is_code(path) or not self.code for path in changed)):
            return ""
        return f"{self.path} is not changed" if self.path else f"no {self._file} is changed"

    def made(self, _text: str, _newline: str, /) -> str | None:
        """None: without a model nobody writes it."""
        return None

    @property
    def _file(self) -> str:
        return "file of code" if self.code else "file"


def is_code(path: str) -> bool:
    """Whether a path is that of code or of settings, which only an author changes."""
    return _SOURCE.search(path.lower()) is not None


def ended(text: str, newline: str) -> str:
    """A text whose last line has its end."""
    return text if not text or text.endswith("\n") else text + newline


def _gap(found: re.Match[str]) -> str:
    """What stays of the spaces around words that go: one between words, none at the start or the end of a line."""
    at = found.start()
    begins = at == 0 or found.string[at - 1] == "\n"
    return " " if found[2] and (found[1] or not begins) else ""

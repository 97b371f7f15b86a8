"""What a repository answers with: small frozen records, each of which says where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["function", "class", "method", "type", "constant", "variable", "field", "module", "macro"]
Runner = Literal["make", "npm", "script", "just", "pdm", "poe"]
Ecosystem = Literal["pypi", "npm", "crates", "go", "maven", "conda"]
Polarity = Literal["must", "must-not"]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the repository: its path with forward slashes, bytes, and language, None if it is not known."""

    path: str
    size: int
    language: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """Something that was not read, and why, in words. The path `.` stands for the whole folder."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: `line` is where its name stands, `last` where it ends, `container` what it is defined in.

    `signature` is its text up to the body, on one line and at most 300 characters long. `container` is dotted,
    and empty at the top of a file.
    """

    name: str
    kind: Kind
    path: str
    line: int
    last: int
    signature: str
    container: str = ""

    @property
    def qualified(self) -> str:
        """The name behind that of its container, such as `Class.method`."""
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True, slots=True)
class Match:
    """A line that was looked for; of lines above 1,000 characters only so many are kept."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Package:
    """A package that a manifest declares; `version` is as written, such as `>=2.0`, and empty if none is stated."""

    name: str
    version: str
    path: str
    line: int
    ecosystem: Ecosystem

    @property
    def key(self) -> str:
        """The name by which two spellings are the same package: `Foo_Bar` and `foo-bar` of PyPI are one.

        >>> Package("Typing_Extensions", "", "requirements.txt", 1, "pypi").key
        'typing-extensions'
        """
        name = self.name.lower()
        return re.sub(r"[-_.]+", "-", name) if self.ecosystem in ("pypi", "conda", "crates") else name


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the repository defines, and what runs it."""

    name: str
    runner: Runner
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A sentence of a rules file that asks for something or forbids it.

    `subjects` are what it speaks of: names in backticks first, then names and key words, at most eight.
    """

    text: str
    path: str
    line: int
    polarity: Polarity
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit without its author: hash, date (ISO 8601), first line of its message, files under the root."""

    hash: str
    date: str
    subject: str
    files: tuple[str, ...]

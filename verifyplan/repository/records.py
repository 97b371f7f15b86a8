"""What a repository answers with: small frozen records, each of which says where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


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


class Definition(NamedTuple):
    """A definition: its lines, what it is defined in, and how many arguments it needs and takes at most."""

    name: str
    kind: str
    line: int
    last: int
    container: str
    required: int
    most: int


class Import(NamedTuple):
    """An import: the module as it is written, with leading dots, and the names taken from it."""

    line: int
    module: str
    names: list[str]


class Call(NamedTuple):
    """A call: the last part of what is called, and how many arguments it is given."""

    line: int
    name: str
    arguments: int


class Outline(NamedTuple):
    """What a text of code defines, imports and calls."""

    definitions: list[Definition]
    imports: list[Import]
    calls: list[Call]


@dataclass(frozen=True, slots=True)
class Match:
    """A line that was looked for; of lines above 1,000 characters only so many are kept."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit without its author: hash, date (ISO 8601), first line of its message, files under the root."""

    hash: str
    date: str
    subject: str
    files: tuple[str, ...]

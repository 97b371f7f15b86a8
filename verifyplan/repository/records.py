"""The records of a repository: files, findings of a search, commits, and the outline of a file of code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the repository: its path with forward slashes, bytes, and language, None if it is not known."""

    path: str
    size: int
    language: str | None = None


@dataclass
class Listing:
    """Files by path, sorted; paths that lead to another listed file; what was left out and why; the commit."""

    files: dict[str, FileEntry] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    commit: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """Something that was not read, and why, in words. The path `.` is the whole folder."""

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
    """A call: the last part of the called name, and the number of arguments."""

    line: int
    name: str
    arguments: int


class Outline(NamedTuple):
    """The definitions, imports and calls in a text of code."""

    definitions: list[Definition]
    imports: list[Import]
    calls: list[Call]


@dataclass(frozen=True, slots=True)
class Match:
    """A line in which a pattern was found, cut after 1,000 characters."""

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

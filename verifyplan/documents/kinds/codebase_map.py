"""Codebase map: what stack, structure, conventions and concerns a repository has, file by file (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple

from verifyplan.documents.kinds.findings import outermost
from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import tables
from verifyplan.documents.reading.form import Form, other_form
from verifyplan.documents.reading.source import Source
from verifyplan.plans.code_names import is_glob, is_path, without_place
from verifyplan.plans.word_lists import words

Focus = Literal["tech", "arch", "quality", "concerns"]

MAPS: dict[str, Focus] = {
    "STACK": "tech",
    "INTEGRATIONS": "tech",
    "ARCHITECTURE": "arch",
    "STRUCTURE": "arch",
    "CONVENTIONS": "quality",
    "TESTING": "quality",
    "CONCERNS": "concerns",
}
"""The maps by name, and the focus that each belongs to. Source: document 003."""

_LONGEST, _LONGEST_PATH = 20_000, 300
_WORD = re.compile(r"[^\s|`'\"(),;<>]+")


_MAP_SECTIONS = (
    "Tech Stack",
    "Package Manager",
    "Architecture Overview",
    "Key Components",
    "Code Conventions",
    "Concerns",
)

CODEBASE_MAP_FORMS = (
    Form(
        "get-shit-done",
        "a map that begins with the date of its analysis, with lists under headings of its own",
        seen_by=("label:Analysis Date",),
    ),
    other_form(
        *(f"part:{title}" for title in _MAP_SECTIONS),
        *(f"stem:{name}" for name in ("INTEGRATIONS", "STRUCTURE", "TESTING")),
    ),
)


class NamedPath(NamedTuple):
    """A path that a map names, without a place behind it, and its line."""

    path: str
    line: int


class Claim(NamedTuple):
    """A table's row or an outermost list item: what a map says, the paths that it names, and its section."""

    text: str
    paths: tuple[NamedPath, ...]
    section: str
    line: int


class CodebaseMap(Document):
    """One map of a repository; `map` is its name ("STACK"), `focus` what it is about, both None for other names.

    Source: document 003, Codebase-Mapper; rule D1.
    """

    FORMS: ClassVar[tuple[Form, ...]] = CODEBASE_MAP_FORMS

    kind: Kind = "codebase-map"
    map: str | None = None
    focus: Focus | None = None
    claims: tuple[Claim, ...] = ()
    paths: tuple[NamedPath, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (maps have one form)
        """The typed fields of a codebase map."""
        name = PurePosixPath(source.path.replace("\\", "/")).stem.upper()
        found = {number: paths_in(line, number) for number, line in source.prose_of()}
        return {
            "map": name if name in MAPS else None,
            "focus": MAPS.get(name),
            "claims": tuple(sorted(_read_claims(source, found), key=lambda claim: claim.line)),
            "paths": tuple(path for paths in found.values() for path in paths),
        }


def paths_in(line: str, number: int) -> tuple[NamedPath, ...]:
    """The paths that a line names, patterns of paths as well, without a place behind them.

    >>> [found.path for found in paths_in("| Routes | `src/app.py:12`, docs/api.md | tests/**/*.py |", 1)]
    ['src/app.py', 'docs/api.md', 'tests/**/*.py']
    """
    return tuple(NamedPath(name, number) for name in map(_name, _WORD.findall(line[:_LONGEST])) if _is_named(name))


def _name(word: str) -> str:
    """A word without the marks of emphasis around it; stars, underscores and brackets that belong to a path stay.

    >>> [_name(word) for word in ("**src/a.py**:", "*_test.go", "**/*.py", "_private.py", "[a.py]", "src/*")]
    ['src/a.py', '*_test.go', '**/*.py', '_private.py', 'a.py', 'src/*']
    """
    bare = word.rstrip(".:!?")
    mark = next((m for m in _EMPHASIS if len(bare) > 2 * len(m) and bare.startswith(m) and bare.endswith(m)), "")
    bare = bare[len(mark) : len(bare) - len(mark)] if mark else _OPENED.sub("", _CLOSED.sub("", bare))
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    return without_place(bare).removeprefix("./")


_EMPHASIS = ("***", "**", "__", "*", "_")
_OPENED = re.compile(r"^\*{1,3}(?=[A-Za-z0-9])")
_CLOSED = re.compile(r"(?<=[A-Za-z0-9])\*{2,3}$")


def _is_named(name: str) -> bool:
    if "." not in name and "/" not in name:
        return name in words("paths", "names")
    return len(name) <= _LONGEST_PATH and (is_path(name) or is_glob(name))


def _read_claims(source: Source, found: dict[int, tuple[NamedPath, ...]]) -> Iterator[Claim]:
    ends = [part.first - 1 for part in source.parts[1:]] + [len(source.lines)]
    for part, end in zip(source.parts, ends, strict=False):
        lines = list(enumerate(source.prose[part.head : end], part.head + 1))
        rows = [(row.line, row.line, " | ".join(row.cells)) for table in tables(lines) for row in table.rows]
        for first, last, text in [*rows, *_read_items(lines, end)]:
            paths = tuple(path for number in range(first, last + 1) for path in found.get(number, ()))
            yield Claim(text, paths, part.title, first)


def _read_items(lines: list[tuple[int, str]], end: int) -> Iterator[tuple[int, int, str]]:
    """First and last line and text of each outermost list item."""
    items = outermost(lines)
    lasts = [item.line - 1 for item in items[1:]] + [end]
    return ((item.line, last, item.text) for item, last in zip(items, lasts, strict=False))

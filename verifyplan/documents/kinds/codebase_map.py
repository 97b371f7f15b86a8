"""Codebase map: stack, structure, conventions and concerns of a repository, file by file (rules D1, D2)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.kinds.research_note import outermost
from verifyplan.documents.reading.body import find_tables
from verifyplan.documents.reading.document import Document, DocumentKind, Form, other_form
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.documents.walk import LEFT_OUT, is_folder
from verifyplan.errors import one_of
from verifyplan.plans.code_names import is_glob, is_path, is_variable, without_place
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
"""The maps by name, and the focus that each belongs to."""

SECTIONS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "STACK": {"Tech Stack": ("Category", "Technology", "Version", "Config File"), "Package Manager": None},
    "ARCHITECTURE": {"Architecture Overview": None, "Key Components": (), "Data Flow": None},
    "CONVENTIONS": {"Code Conventions": ("Convention", "Pattern", "Example File"), "Naming Patterns": None},
    "CONCERNS": {"Concerns": ("Severity", "Area", "Description", "File"), "Security Considerations": None},
}
"""The sections of each map and the columns of their tables: None requires no table, () any table.

The contract states no minimum for INTEGRATIONS, STRUCTURE and TESTING: they have a section at least.
"""

_MAX_LINE_CHARACTERS, _MAX_PATH_CHARACTERS = 20_000, 300
_MAX_PATHS, _MAX_NAMES = 2_000, 50_000  # of one document that are looked up; of the repository that are known
_WORD = re.compile(r"[^\s|`'\"(),;<>]+")
_EMPHASIS = ("***", "**", "__", "*", "_")
_OPENED = re.compile(r"^\*{1,3}(?=[A-Za-z0-9])")
_CLOSED = re.compile(r"(?<=[A-Za-z0-9])\*{2,3}$")


class NamedPath(NamedTuple):
    """A path that a map names, without a place behind it, and its line."""

    path: str
    line: int


class MapClaim(NamedTuple):
    """A table's row or an outermost list item: its text, the paths that it names, and its section."""

    text: str
    paths: tuple[NamedPath, ...]
    section: str
    line: int


class CodebaseMap(Document):
    """One map of a repository; `map` is its name ("STACK"), `focus` its subject, both None for other names."""

    FORMS = (
        Form(
            "get-shit-done",
            "a map that begins with the date of its analysis, with lists under headings of its own",
            seen_by=("label:Analysis Date",),
        ),
        other_form(
            *("part:Tech Stack", "part:Package Manager", "part:Architecture Overview", "part:Key Components"),
            *("part:Code Conventions", "part:Concerns", "stem:INTEGRATIONS", "stem:STRUCTURE", "stem:TESTING"),
        ),
    )

    kind: DocumentKind = "codebase-map"
    map: str | None = None
    focus: Focus | None = None
    claims: tuple[MapClaim, ...] = ()
    paths: tuple[NamedPath, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (all forms are read alike)
        """Return the typed fields of a codebase map."""
        name = PurePosixPath(source.path.replace("\\", "/")).stem.upper()
        paths = {number: paths_in(line, number) for number, line in source.prose_of()}
        return {
            "map": name if name in MAPS else None,
            "focus": MAPS.get(name),
            "claims": tuple(sorted(_read_claims(source, paths), key=lambda claim: claim.line)),
            "paths": tuple(path for named in paths.values() for path in named),
        }


def paths_in(line: str, number: int) -> tuple[NamedPath, ...]:
    """Return the paths and patterns of paths that a line names, without a place behind them.

    >>> [named.path for named in paths_in("| Routes | `src/app.py:12`, docs/api.md | tests/**/*.py |", 1)]
    ['src/app.py', 'docs/api.md', 'tests/**/*.py']
    """
    names = map(_without_emphasis, _WORD.findall(line[:_MAX_LINE_CHARACTERS]))
    return tuple(NamedPath(name, number) for name in names if _is_path(name))


def _without_emphasis(word: str) -> str:
    """Return a word without emphasis around it; stars, underscores and brackets that belong to a path stay.

    >>> list(map(_without_emphasis, ("**src/a.py**:", "*_test.go", "**/*.py", "_private.py", "[a.py]", "src/*")))
    ['src/a.py', '*_test.go', '**/*.py', '_private.py', 'a.py', 'src/*']
    """
    bare = word.rstrip(".:!?")
    mark = next((m for m in _EMPHASIS if len(bare) > 2 * len(m) and bare.startswith(m) and bare.endswith(m)), "")
    bare = bare[len(mark) : len(bare) - len(mark)] if mark else _OPENED.sub("", _CLOSED.sub("", bare))
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    return without_place(bare).removeprefix("./")


def _is_path(name: str) -> bool:
    if "." not in name and "/" not in name:
        return name in words("paths", "names")
    return len(name) <= _MAX_PATH_CHARACTERS and (is_path(name) or is_glob(name))


def _read_claims(source: Source, named: dict[int, tuple[NamedPath, ...]]) -> Iterator[MapClaim]:
    ends = [section.first - 1 for section in source.sections[1:]] + [len(source.lines)]
    for section, end in zip(source.sections, ends, strict=False):
        lines = list(enumerate(source.prose[section.head : end], section.head + 1))
        claims = [(row.line, row.line, " | ".join(row.cells)) for table in find_tables(lines) for row in table.rows]
        items = outermost(lines)
        lasts = [item.line - 1 for item in items[1:]] + [end]
        claims += [(item.line, last, item.text) for item, last in zip(items, lasts, strict=False)]
        for first, last, text in claims:
            paths = tuple(path for number in range(first, last + 1) for path in named.get(number, ()))
            yield MapClaim(text, paths, section.title, first)


def check_codebase_map(document: CodebaseMap) -> Iterator[Violation]:
    """Yield the violations of one codebase map by itself (rule D2)."""
    required, source = SECTIONS.get(document.map or "", {}), document.source
    tables = {
        title: (columns, next(iter(source.tables(section)), None) if (section := source.section(title)) else None)
        for title, columns in required.items()
        if columns is not None
    }
    yield from check_layout(document, tables, required)
    if document.map is None:
        yield violation("codebase-map/focus", document.path, 1, allowed=one_of(MAPS))
    if document.held_to_contract:
        if not required and not any(section.level == 2 for section in source.sections):
            message, fix = "the map has no section", "divide it by headings with ##"
            yield violation("codebase-map/section-missing", document.path, 1, message=message, fix=fix)
        for claim in document.claims:
            if not claim.paths and not says_nothing(claim.text):
                values = {"claim": claim.text, "section": claim.section}
                yield violation("codebase-map/claim-without-path", document.path, claim.line, **values)


def check_paths(document: CodebaseMap, root: Path | None) -> Iterator[Violation]:
    """Yield the paths of a map that lie outside of the repository, or do not exist in the folder `root` (rule D2).

    Paths are looked up inside of `root` alone; without it none is looked up.
    A name without a folder may be that of any file. A map of another form also names what is made later (`dist/`,
    `.env`): of its paths, only those in folders that exist are looked up.
    """
    held = document.held_to_contract
    seen: set[str] = set()
    root = root.resolve() if root is not None else None
    names: frozenset[str] | None = None
    for path, line in document.paths:
        if path in seen or is_variable(path) or len(seen) >= _MAX_PATHS:
            continue
        seen.add(path)
        if path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts:
            if held:
                yield violation("codebase-map/path-outside", document.path, line, path=path)
        elif root is not None and not _exists(root, path):
            head, _, rest = path.rstrip("/").partition("/")
            if not rest:
                names = _names_in(root) if names is None else names
            if (not rest and names and head in names) or not (held or (rest and is_folder(root / head))):
                continue
            yield violation("codebase-map/path-missing", document.path, line, path=path)


def _names_in(root: Path) -> frozenset[str]:
    """Return the names of the files and folders of a repository, of 50,000 at most, without those of packages."""
    names: set[str] = set()
    for _, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in LEFT_OUT and (not f.startswith(".") or f == ".github")]
        names.update(folders, files)
        if len(names) > _MAX_NAMES:
            break
    return frozenset(names)


def _exists(root: Path, path: str) -> bool:
    """Whether a path, its links resolved, exists under the resolved root; of a pattern, the folder before it."""
    parts = PurePosixPath(path).parts
    if is_glob(path):
        fixed = next((at for at, part in enumerate(parts) if is_glob(f"{part}/")), len(parts))
        parts = parts[:fixed]
    try:
        place = root.joinpath(*parts).resolve()
        return place.is_relative_to(root) and place.exists()
    except (OSError, ValueError, RuntimeError):
        return False

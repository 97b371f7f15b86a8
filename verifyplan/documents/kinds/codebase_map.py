"""Codebase map: what stack, structure, conventions and concerns a repository has, file by file (document 003)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_columns, check_form, find_section, held_to_contract
from verifyplan.documents.kinds.research_note import outermost
from verifyplan.documents.reading.body import find_tables
from verifyplan.documents.reading.document import Document, Form, Kind, other_form
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.documents.walk import LEFT_OUT
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


class MapClaim(NamedTuple):
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
    claims: tuple[MapClaim, ...] = ()
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


def _read_claims(source: Source, found: dict[int, tuple[NamedPath, ...]]) -> Iterator[MapClaim]:
    ends = [part.first - 1 for part in source.sections[1:]] + [len(source.lines)]
    for part, end in zip(source.sections, ends, strict=False):
        lines = list(enumerate(source.prose[part.head : end], part.head + 1))
        rows = [(row.line, row.line, " | ".join(row.cells)) for table in find_tables(lines) for row in table.rows]
        for first, last, text in [*rows, *_read_items(lines, end)]:
            paths = tuple(path for number in range(first, last + 1) for path in found.get(number, ()))
            yield MapClaim(text, paths, part.title, first)


def _read_items(lines: list[tuple[int, str]], end: int) -> Iterator[tuple[int, int, str]]:
    """First and last line and text of each outermost list item."""
    items = outermost(lines)
    lasts = [item.line - 1 for item in items[1:]] + [end]
    return ((item.line, last, item.text) for item, last in zip(items, lasts, strict=False))


SECTIONS: dict[str, tuple[tuple[str, tuple[str, ...] | None], ...]] = {
    "STACK": (("Tech Stack", ("Category", "Technology", "Version", "Config File")), ("Package Manager", None)),
    "ARCHITECTURE": (("Architecture Overview", None), ("Key Components", ()), ("Data Flow", None)),
    "CONVENTIONS": (("Code Conventions", ("Convention", "Pattern", "Example File")), ("Naming Patterns", None)),
    "CONCERNS": (("Concerns", ("Severity", "Area", "Description", "File")), ("Security Considerations", None)),
}
"""The sections of each map and the columns of their tables; None means no table is asked, () any table.

Document 003 states no minimum for INTEGRATIONS, STRUCTURE and TESTING: they have a section at least.
"""

_MOST = 2_000  # paths of one document that are looked up
_MOST_NAMES = 50_000


def check_codebase_map(document: CodebaseMap, root: Path | None = None) -> Iterator[Violation]:
    """The violations of one codebase map; without `root`, the folder of the repository, no path is looked up.

    Paths are looked up inside of `root` alone. Source: document 003, Codebase-Mapper; rule D2.
    """
    held = (_check_sections(document), _check_claims(document)) if held_to_contract(document) else ()
    return chain(check_form(document), _check_focus(document), *held, _check_paths(document, root))


def _check_focus(document: CodebaseMap) -> Iterator[Violation]:
    if document.map is None:
        message = "the file is none of the maps of the four focus areas"
        yield violation("codebase-map/focus", document.path, 1, message, f"name it one of {one_of(MAPS)}, with .md")


def _check_sections(document: CodebaseMap) -> Iterator[Violation]:
    wanted = SECTIONS.get(document.map or "", ())
    if not wanted and not any(part.level == 2 for part in document.source.sections):
        message = "the map has no section"
        yield violation("codebase-map/section-missing", document.path, 1, message, "divide it by headings with ##")
    for title, names in wanted:
        part, missing = find_section(document, title, names or ())
        yield from missing
        if part is not None and names is not None:
            table = next(iter(document.source.tables(part)), None)
            yield from check_columns(document, part, table, names)


def _check_claims(document: CodebaseMap) -> Iterator[Violation]:
    for claim in document.claims:
        if not claim.paths and not says_nothing(claim.text):
            message = f"{claim.text[:80]!r} (## {claim.section[:40]}) names no file"
            fix = "name the file or folder that shows it"
            yield violation("codebase-map/claim-without-path", document.path, claim.line, message, fix)


def _check_paths(document: CodebaseMap, root: Path | None) -> Iterator[Violation]:
    """Paths that lie outside or do not exist.

    A name without a folder may be that of a file anywhere. A map of another tool speaks of what is made later, too
    (`dist/`, `.env`): of it, only files of folders that exist are looked up.
    """
    seen: set[str] = set()
    root = root.resolve() if root is not None else None
    names: frozenset[str] | None = None
    for named in document.paths:
        if named.path in seen or is_variable(named.path) or len(seen) >= _MOST:
            continue
        seen.add(named.path)
        if _outside(named.path):
            if not held_to_contract(document):
                continue
            fix = "name files by their path in the repository"
            message = f"{named.path[:80]!r} lies outside of the repository"
            yield violation("codebase-map/path-outside", document.path, named.line, message, fix)
        elif root is not None and not _exists(root, named):
            head, _, rest = named.path.rstrip("/").partition("/")
            if not rest:
                names = _names_in(root) if names is None else names
                if head in names:
                    continue
            if not held_to_contract(document) and not (rest and _is_folder(root, head)):
                continue
            message = f"{named.path[:80]!r} does not exist in the repository"
            yield violation(
                "codebase-map/path-missing", document.path, named.line, message, "name a file that is there"
            )


def _names_in(root: Path) -> frozenset[str]:
    """The names of all files and folders of a repository, as far as 50,000 of them; those of packages are left out."""
    found: set[str] = set()
    for _, folders, files in os.walk(root):
        folders[:] = [
            name for name in folders if name not in LEFT_OUT and (not name.startswith(".") or name == ".github")
        ]
        found.update(folders, files)
        if len(found) > _MOST_NAMES:
            break
    return frozenset(found)


def _is_folder(root: Path, name: str) -> bool:
    try:
        return (root / name).is_dir()
    except (OSError, ValueError):
        return False


def _outside(path: str) -> bool:
    return path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts


def _exists(root: Path, named: NamedPath) -> bool:
    """Whether a path exists under the root, which is resolved, links included; of a pattern, the folder before it."""
    parts = PurePosixPath(named.path).parts
    if is_glob(named.path):
        fixed = next((at for at, part in enumerate(parts) if is_glob(f"{part}/")), len(parts))
        parts = parts[:fixed]
    try:
        place = root.joinpath(*parts).resolve()
        return place.is_relative_to(root) and place.exists()
    except (OSError, ValueError, RuntimeError):
        return False

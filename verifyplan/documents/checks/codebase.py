"""The check of a codebase map: its sections and tables, and that its paths are real (document 003; rule D2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_columns, check_form, find_section, held_to_contract
from verifyplan.documents.kinds.codebase_map import MAPS, CodebaseMap, NamedPath
from verifyplan.documents.reading.labelled import says_nothing
from verifyplan.documents.walk import LEFT_OUT
from verifyplan.errors import one_of
from verifyplan.plans.code_names import is_glob, is_variable

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
    if not wanted and not any(part.level == 2 for part in document.source.parts):
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

"""A folder of code, seen by offline agents: files, text, syntax, history (rules G2, G4)."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from verifyplan.errors import InputError, Problem
from verifyplan.repository import git, grep, likeness
from verifyplan.repository.careful import Careful, GaveUpError
from verifyplan.repository.languages import PARSED
from verifyplan.repository.listing import Listing, list_files
from verifyplan.repository.records import (
    Call,
    Commit,
    Definition,
    FileEntry,
    Import,
    Match,
    Outline,
    Skipped,
)
from verifyplan.repository.texts import Texts

LARGEST_PARSED = 1_000_000
"""Characters above which a file is not parsed; it was then made by a program."""
PARSING_S = 10.0
"""How long parsing one file may take."""


class Repository:
    """A read-only view of one folder; nothing outside it is read, and nothing in it is run or changed.

    Opening lists the files; texts are read when a question needs them. Answers are those of the moment in which they
    are first given. Safe to use from several threads. Source: rules G2, G4, H3.
    """

    def __init__(self, root: Path, listing: Listing) -> None:
        self.root = root
        self.commit = listing.commit
        self.files: Mapping[str, FileEntry] = MappingProxyType(listing.files)
        self.folders = _folders(listing.files)
        self._texts = Texts(root, listing)
        self._careful = Careful()
        self._outlines: dict[str, Outline] = {}
        self._lock = threading.RLock()

    @classmethod
    def open(cls, root: str | Path, plan: str = "") -> Repository:
        """The repository in a folder, which may be empty, no git repository, or a part of one.

        What holds the text of `plan`, and run logs, are left out: a plan does not vouch for itself.
        Raises InputError if there is no such folder.
        """
        try:
            resolved = Path(root).resolve(strict=True)
            found = resolved.is_dir()
        except (OSError, RuntimeError, ValueError):
            found = False
        if not found:
            raise InputError(Problem(f"repository {str(root)!r}", "there is no such folder", "give an existing folder"))
        return cls(resolved, list_files(resolved, plan))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was not read so far, and why, by path; `.` tells of the whole folder."""
        with self._lock:
            return tuple(sorted(Skipped(path, reason) for path, reason in self._texts.skipped.items()))

    def has(self, path: str) -> bool:
        """Whether a listed file or a folder of listed files has this path; `./`, `a/../` and a last `/` are folded.

        A path that begins with `/` must lie under the root.
        """
        folded = self._folded(path)
        return folded in self.files or folded in self.folders or folded == "."

    def similar(self, path: str, n: int = 3) -> list[str]:
        """Up to `n` listed paths near `path`: files of the same name in other folders first, then by likeness."""
        folded = self._folded(path)
        return likeness.similar_paths(folded, self._paths, self._by_name, n)

    def text(self, path: str) -> str | None:
        """The text of a listed file; None if it cannot be read, and `skipped` then says why."""
        with self._lock:
            folded = self._folded(path)
            return self._texts.text(folded) if folded in self.files else None

    def lines(self, path: str) -> tuple[str, ...] | None:
        """The lines of a listed file, None as in `text`."""
        text = self.text(path)
        return None if text is None else tuple(text.split("\n"))

    def outline(self, path: str) -> Outline:
        """What a listed file defines, imports and calls; nothing where its language is not parsed or it is damaged."""
        with self._lock:
            folded = self._folded(path)
            if folded not in self._outlines:
                entry, text = self.files.get(folded), self.text(folded)
                language = (entry.language if entry else None) or ""
                grammar = "tsx" if folded.endswith(".tsx") else language
                self._outlines[folded] = self.outline_of(text or "", grammar, folded)
            return self._outlines[folded]

    def outline_of(self, text: str, language: str, path: str = "") -> Outline:
        """What a text of code defines, imports and calls; `skipped` says why where it could not be parsed."""
        if language not in (*PARSED, "tsx") or not text:
            return Outline([], [], [])
        try:
            if len(text) > LARGEST_PARSED:
                raise GaveUpError(f"it has more than {LARGEST_PARSED:,} characters")
            with self._lock:
                rows = self._careful.ask("outline", text, language, seconds=PARSING_S)
        except GaveUpError as error:
            if path:
                self._texts.skipped.setdefault(path, f"was not parsed ({error})")
            return Outline([], [], [])
        return Outline([Definition(*r) for r in rows[0]], [Import(*r) for r in rows[1]], [Call(*r) for r in rows[2]])

    def ignored(self, path: str) -> bool:
        """Whether git is told to ignore a path, which may not be there; never where git cannot tell."""
        folded = self._folded(path)
        return self.commit is not None and self._inside(folded) and git.ignores(self.root, folded)

    def grep(self, pattern: str, limit: int = 50) -> list[Match]:
        """Lines in which a regular expression (Python's) is found, in order of path and line, up to `limit`.

        Only the first 1,000 characters of a line are looked at. InputError for a pattern that is none, and for a
        search that takes longer than 20 seconds.
        """
        with self._lock:
            return grep.grep(self._careful, pattern, self._texts.scan(), limit)

    def history(self, paths: Sequence[str] = (), limit: int = 20) -> list[Commit]:
        """The latest commits that touch `paths` (none: anything), newest first; merges are left out.

        Each with all files under the root that it changed. Empty without git, and where git cannot tell.
        """
        if self.commit is None or limit < 1:
            return []
        asked = [folded for path in paths if self._inside(folded := self._folded(path))]
        if paths and not asked:
            return []
        try:
            return git.log(self.root, asked, limit)
        except git.GitError as error:
            with self._lock:
                self._texts.skipped.setdefault(".", f"{error}, so the history is not known")
            return []

    @cached_property
    def _paths(self) -> list[str]:
        return [*self.files, *sorted(self.folders)]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths:
            found.setdefault(posixpath.basename(path).lower(), []).append(path)
        return found

    def _folded(self, path: str) -> str:
        """The path relative to the root, in its plainest form."""
        plain = path.replace("\\", "/") if path not in self.files else path
        if plain.startswith("/"):
            plain = plain.removeprefix(f"{self.root.as_posix()}/")
        return posixpath.normpath(plain) if plain else ""

    def _inside(self, path: str) -> bool:
        return bool(path) and not path.startswith(("/", "../")) and path != ".." and "\0" not in path


def _folders(files: Iterable[str]) -> frozenset[str]:
    """All folders above the files; the root is not among them."""
    found: set[str] = set()
    for path in files:
        while (path := posixpath.dirname(path)) and path not in found:
            found.add(path)
    return frozenset(found)

"""A folder of code, seen by offline agents: files, text, syntax, history (rules G2, G4)."""

from __future__ import annotations

import hashlib
import posixpath
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from rapidfuzz import fuzz, process

from verifyplan.errors import InputError, Problem
from verifyplan.repository import git
from verifyplan.repository.grep import grep
from verifyplan.repository.helper_process import HelperError, HelperProcess
from verifyplan.repository.listing import PARSED, list_files
from verifyplan.repository.reading import ListedTexts
from verifyplan.repository.records import Call, Commit, Definition, FileEntry, Import, Listing, Match, Outline, Skipped

MAX_PARSED_CHARACTERS = 1_000_000
"""Characters above which a file is not parsed; it was then made by a program."""
PARSING_S = 10.0
"""How long parsing one file may take."""
MAX_OUTLINES_KEPT = 4_096
"""How many outlines this process keeps, so that runs on one repository parse a text once."""
MIN_SIMILARITY = 60.0
"""Similarity, of 100, below which two names are not near."""

_OUTLINES: dict[tuple[str, bytes], Outline] = {}
"""Outlines by language and digest of the text: equal texts have equal outlines."""


class Repository:
    """A read-only view of one folder; nothing outside it is read, and nothing in it is run or changed.

    Opening lists the files; texts are read when a question needs them. An answer shows the folder as it was when
    it was first given. Safe to use from several threads. Source: rules G2, G4, H3.
    """

    def __init__(self, root: Path, listing: Listing, allowed_files: Sequence[str] = ()) -> None:
        self.root = root
        self.allowed_files = tuple(allowed_files)
        self.commit = listing.commit
        self.files: Mapping[str, FileEntry] = MappingProxyType(listing.files)
        self.folders = _folders(listing.files)
        self._texts = ListedTexts(root, listing)
        self._outlines: dict[str, Outline] = {}
        self._lock = threading.RLock()

    @classmethod
    def open(cls, root: str | Path, plan: str = "", allowed_files: Sequence[str] = ()) -> Repository:
        """Open the repository in a folder, which may be empty, outside of git, or a part of a git repository.

        What holds the text of `plan`, and run logs, are left out: a plan does not vouch for itself. `allowed_files` are
        patterns of files that models may open although they look secret. Raises InputError if there is no such folder.
        """
        try:
            resolved = Path(root).resolve(strict=True)
            exists = resolved.is_dir()
        except (OSError, RuntimeError, ValueError):
            exists = False
        if not exists:
            raise InputError(Problem(f"repository {str(root)!r}", "there is no such folder", "give an existing folder"))
        return cls(resolved, list_files(resolved, plan), allowed_files)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The reason by path for all that was not read so far; `.` is the whole folder."""
        with self._lock:
            return tuple(sorted(Skipped(path, reason) for path, reason in self._texts.skipped.items()))

    def has(self, path: str) -> bool:
        """Whether a listed file or a folder of listed files has this path; `./`, `a/../` and a last `/` are folded.

        A path that begins with `/` must lie under the root.
        """
        folded = self._folded(path)
        return folded in self.files or folded in self.folders or folded == "."

    def similar(self, path: str, n: int = 3) -> list[str]:
        """Return up to `n` listed paths near `path`: files of the same name in other folders, then by similarity."""
        return similar_paths(self._folded(path), self._paths, self._by_name, n)

    def text(self, path: str) -> str | None:
        """Return the text of a listed file; None if it cannot be read, and `skipped` then says why."""
        with self._lock:
            folded = self._folded(path)
            return self._texts.text(folded) if folded in self.files else None

    def lines(self, path: str) -> tuple[str, ...] | None:
        """Return the lines of a listed file, None as in `text`."""
        text = self.text(path)
        return None if text is None else tuple(text.split("\n"))

    def outline(self, path: str) -> Outline:
        """Return what a listed file defines, imports and calls; nothing if its language is not parsed."""
        with self._lock:
            folded = self._folded(path)
            if folded not in self._outlines:
                entry, text = self.files.get(folded), self.text(folded)
                language = (entry.language if entry else None) or ""
                grammar = "tsx" if folded.endswith(".tsx") else language
                self._outlines[folded] = self.outline_of(text or "", grammar, folded)
            return self._outlines[folded]

    def outline_of(self, text: str, language: str, path: str = "") -> Outline:
        """Return what a text of code defines, imports and calls; `skipped` says why where it could not be parsed."""
        if language not in (*PARSED, "tsx") or not text:
            return Outline([], [], [])
        try:
            if len(text) > MAX_PARSED_CHARACTERS:
                raise HelperError(f"it has more than {MAX_PARSED_CHARACTERS:,} characters")
            return self._parsed(text, language)
        except HelperError as error:
            if path:
                self._texts.skipped.setdefault(path, f"was not parsed ({error})")
            return Outline([], [], [])

    def _parsed(self, text: str, language: str) -> Outline:
        """Return the outline of a text, from before where this process has parsed it; HelperError if it cannot be."""
        key = language, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if (known := _OUTLINES.get(key)) is not None:
            return known
        with self._lock:
            rows = self._helper.request("outline", text, language, seconds=PARSING_S)
        definitions, imports = [Definition(*r) for r in rows[0]], [Import(*r) for r in rows[1]]
        if len(_OUTLINES) >= MAX_OUTLINES_KEPT:
            _OUTLINES.clear()
        _OUTLINES[key] = outline = Outline(definitions, imports, [Call(*r) for r in rows[2]])
        return outline

    def ignored(self, path: str) -> bool:
        """Whether git ignores a path, which need not exist; False where git cannot tell."""
        folded = self._folded(path)
        return self.commit is not None and self._inside(folded) and git.ignores(self.root, folded)

    def grep(self, pattern: str, limit: int = 50) -> list[Match]:
        """Return up to `limit` lines in which a regular expression (Python's) is found, in order of path and line.

        Only the first 1,000 characters of a line are looked at. InputError for an invalid pattern, and for a
        search that takes longer than 20 seconds.
        """
        with self._lock:
            return grep(self._helper, pattern, self._texts.scan(), limit)

    def history(self, paths: Sequence[str] = (), limit: int = 20) -> list[Commit]:
        """Return the latest commits that touch `paths` (none: anything), newest first; merges are left out.

        Each with all files under the root that it changed. Empty without git, and where git cannot tell.
        """
        if self.commit is None or limit < 1:
            return []
        inside = [folded for path in paths if self._inside(folded := self._folded(path))]
        if paths and not inside:
            return []
        try:
            return git.log(self.root, inside, limit)
        except git.GitError as error:
            with self._lock:
                self._texts.skipped.setdefault(".", f"{error}, so the history is not known")
            return []

    @cached_property
    def _helper(self) -> HelperProcess:
        return HelperProcess()

    @cached_property
    def _paths(self) -> list[str]:
        return [*self.files, *sorted(self.folders)]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        for path in self._paths:
            paths.setdefault(posixpath.basename(path).lower(), []).append(path)
        return paths

    def _folded(self, path: str) -> str:
        """Return the path relative to the root, in its plainest form."""
        plain = path.replace("\\", "/") if path not in self.files else path
        if plain.startswith("/"):
            plain = plain.removeprefix(f"{self.root.as_posix()}/")
        return posixpath.normpath(plain) if plain else ""

    def _inside(self, path: str) -> bool:
        return bool(path) and not path.startswith(("/", "../")) and path != ".." and "\0" not in path


def _folders(files: Iterable[str]) -> frozenset[str]:
    """Return all folders above the files; the root is not among them."""
    folders: set[str] = set()
    for path in files:
        while (path := posixpath.dirname(path)) and path not in folders:
            folders.add(path)
    return frozenset(folders)


def similar_paths(path: str, known: Collection[str], by_name: Mapping[str, list[str]], n: int) -> list[str]:
    """Return up to `n` other known paths near `path`: those of the same file name first, then by similarity.

    Ties are in path order.

    >>> similar_paths("lib/app.py", ["src/app.py", "src/apps.py"], {"app.py": ["src/app.py"]}, 2)
    ['src/app.py', 'src/apps.py']
    """
    same_name = most_similar(path, by_name.get(posixpath.basename(path).lower(), []), n + 1, least=0)
    similar = most_similar(path, known, n + 1 + len(same_name)) if len(same_name) <= n else []
    return [other for other in dict.fromkeys([*same_name, *similar]) if other != path][: max(n, 0)]


def most_similar(name: str, known: Iterable[str], n: int, least: float = MIN_SIMILARITY) -> list[str]:
    """Return up to `n` known names by similarity, letters' case aside; ties in alphabetical order.

    >>> most_similar("pars_file", ["write_file", "parse_file", "ParseFile"], 2)
    ['parse_file', 'ParseFile']
    """
    choices = known if isinstance(known, list) else list(known)
    hits = process.extract(name[:300], choices, scorer=fuzz.ratio, processor=str.lower, limit=None, score_cutoff=least)
    return [choice for choice, _, _ in sorted(hits, key=lambda hit: (-hit[1], hit[0]))][: max(n, 0)]

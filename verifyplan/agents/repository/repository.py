"""A folder of code, seen by offline agents: files, text, symbols, packages, commands, rules, history (SPEC G2, G4)."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from verifyplan.agents.repository import git, grep, likeness
from verifyplan.agents.repository.careful import Careful
from verifyplan.agents.repository.commands import read_commands
from verifyplan.agents.repository.importing.search import Code, find_importers
from verifyplan.agents.repository.languages import PARSED
from verifyplan.agents.repository.listing import Listing, list_files
from verifyplan.agents.repository.manifests.packages import read_packages
from verifyplan.agents.repository.records import Command, Commit, FileEntry, Match, Package, RuleLine, Skipped, Symbol
from verifyplan.agents.repository.rulefiles import read_rules
from verifyplan.agents.repository.symbols import Symbols
from verifyplan.agents.repository.texts import Texts
from verifyplan.agents.repository.words import Words, whole_word
from verifyplan.errors import InputError, Problem

_LONGEST_LINE = 1_000


class Repository:
    """A read-only view of one folder; nothing outside it is read, and nothing in it is run or changed.

    Opening lists the files; texts are read when a question needs them. The first question about words or symbols
    reads every text once, to note which file holds which words. Answers are those of the moment in which they are
    first given. Safe to use from several threads. Source: SPEC G2, G4, H3.
    """

    def __init__(self, root: Path, listing: Listing) -> None:
        self.root = root
        self.commit = listing.commit
        self.files: Mapping[str, FileEntry] = MappingProxyType(listing.files)
        self.folders = _folders(listing.files)
        self._texts = Texts(root, listing)
        self._careful = Careful()
        self._symbols = Symbols(self.files, self._texts, self._careful)
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

    def symbols(self, name: str, limit: int = 20) -> list[Symbol]:
        """Definitions of the last part of `name`, in order of path and line, up to `limit`.

        For `Class.method` or `module.function`, only those in that class or file if there are any. Fields,
        constants and variables at the top of a file or class count; what is local to a function does not.

        Languages: Python, JavaScript, TypeScript, Go, Rust, Java.
        """
        with self._lock:
            return self._symbols.named(name, self._words, limit)

    def similar_symbols(self, name: str, n: int = 3) -> list[Symbol]:
        """Definitions of up to `n` names near the last part of `name`, the nearest first, one for each name."""
        with self._lock:
            return self._symbols.similar(name, self._words, n)

    def definitions(self, path: str) -> list[Symbol]:
        """All definitions in one file, in order; none if its language is not parsed or it cannot be read."""
        with self._lock:
            return self._symbols.of_file(self._folded(path))

    def prefetch(self, names: Iterable[str]) -> None:
        """Look up the definitions of names now, so that later questions about them cost nothing.

        The pass over all texts is made once, by this or by the first question, however many names are asked for.
        """
        for name in sorted(set(names)):
            self.symbols(name)

    def mentions(self, word: str, limit: int = 50) -> list[Match]:
        """Lines that hold `word` as a whole word, in order of path and line, up to `limit`; case counts."""
        pattern = whole_word(word)
        found: list[Match] = []
        with self._lock:
            for path, text in self._texts.scan(self._words.files(word) if word.strip() else ()):
                if len(found) >= limit:
                    break
                if word in text:
                    found += _matching(pattern.search, path, text, limit - len(found))
        return found

    def grep(self, pattern: str, limit: int = 50) -> list[Match]:
        """Lines in which a regular expression (Python's) is found, in order of path and line, up to `limit`.

        Only the first 1,000 characters of a line are looked at. InputError for a pattern that is none, and for a
        search that takes longer than 20 seconds.
        """
        with self._lock:
            return grep.grep(self._careful, pattern, self._texts.scan(), limit)

    def packages(self) -> list[Package]:
        """Packages that manifests declare, in order of path and line; a damaged manifest is noted in `skipped`."""
        with self._lock:
            return list(self._packages)

    def commands(self) -> list[Command]:
        """Commands that Makefiles, `package.json`, `pyproject.toml` and justfiles define, by path and line."""
        with self._lock:
            return list(self._commands)

    def rules(self) -> list[RuleLine]:
        """Sentences of rules files (CLAUDE.md, AGENTS.md, CONTRIBUTING.md and the like) that ask or forbid."""
        with self._lock:
            return list(self._rules)

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

    def importers(self, path: str, limit: int = 100) -> list[Match]:
        """Lines that import a file or its module, at most one for each file, in path order, up to `limit`."""
        with self._lock:
            folded = self._folded(path)
            return find_importers(folded, self._code, limit) if folded in self.files else []

    @cached_property
    def _paths(self) -> list[str]:
        return [*self.files, *sorted(self.folders)]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths:
            found.setdefault(posixpath.basename(path).lower(), []).append(path)
        return found

    @cached_property
    def _words(self) -> Words:
        languages = {path: entry.language for path, entry in self.files.items() if entry.language in PARSED}
        return Words(self._texts.scan(), languages)

    @cached_property
    def _code(self) -> Code:
        return Code(self.files, self._texts, self._words, self._symbols)

    @cached_property
    def _packages(self) -> list[Package]:
        return read_packages(self.files, self._texts)

    @cached_property
    def _commands(self) -> list[Command]:
        return read_commands(self.files, self._texts)

    @cached_property
    def _rules(self) -> list[RuleLine]:
        return read_rules(self.files, self._texts)

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


def _matching(search: Callable[[str], object], path: str, text: str, limit: int) -> list[Match]:
    numbered = enumerate(text.split("\n"), 1)
    hits = (Match(path, number, line[:_LONGEST_LINE]) for number, line in numbered if search(line))
    return list(islice(hits, limit))

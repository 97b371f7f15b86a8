"""What a repository is known to hold, asked by the names that people write in plans (SPEC G2).

All of it is the repository's table of contents: which files, definitions, packages and commands there are.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cached_property

from verifyplan.agents.repository.records import Command, Match, Package, RuleLine, Symbol
from verifyplan.agents.repository.repository import Repository
from verifyplan.agents.static.roles.wordsets import words
from verifyplan.documents.values import normalised

_PLACEHOLDER = re.compile(
    r"[*?<>{}$\[\]|…%@]|\.\.\.|(?:^|/)(?:path|some|your|my|foo|bar|example)(?:/|\.|$)|\bXX+\b|NNN", re.IGNORECASE
)
_ELSEWHERE = re.compile(
    r"^(?:[a-z]+://|~|/|[A-Za-z]:|\.\./|-)|^(?:www|localhost)\b|\.(?:com|org|net|io|dev|example|local)(?:/|$)"
)
_MOST_FILES = 400
_MADE = words(
    "dist build out target node_modules .venv venv env __pycache__ coverage htmlcov .git tmp temp logs",
    ".cache .pytest_cache .next .terraform site-packages vendor",
)


class Known:
    """The table of contents of one repository, worked out once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository

    @cached_property
    def empty(self) -> bool:
        """Whether there is nothing to compare a plan with."""
        return not self.repository.files

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.repository.files:
            found[posixpath.basename(path)].append(path)
        return dict(found)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(self.repository.folders)

    @cached_property
    def _folder_ends(self) -> frozenset[str]:
        """Every end of a folder's path that begins at a slash."""
        ends: set[str] = set()
        for folder in self._folders:
            parts = folder.split("/")
            ends.update("/".join(parts[at:]) for at in range(len(parts)))
        return frozenset(ends)

    def files(self, name: str) -> list[str]:
        """The files that a name can mean: that path itself, else all paths that end in it."""
        path = normalised(name)
        if self.repository.has(path) and path not in self._folders:
            return [path]
        same = self._by_name.get(posixpath.basename(path), [])
        return [found for found in same if found.endswith(f"/{path}")]

    def file(self, name: str) -> str | None:
        """The one file that a name means; None if there is none, or more than one."""
        found = self.files(name)
        return found[0] if len(found) == 1 else None

    def exists(self, name: str) -> bool:
        """Whether a name means some file or folder, by its whole path or by the end of it."""
        path = normalised(name)
        return bool(self.files(name)) or path == "." or path in self._folders or path in self._folder_ends

    def like(self, name: str) -> str | None:
        """The path nearest to a name that is not there; one of the same file name is nearest of all."""
        same = self._by_name.get(posixpath.basename(normalised(name)), [])
        if same:
            return same[0]
        near = self.repository.similar(normalised(name), 1)
        return near[0] if near else None

    def symbols(self, name: str) -> list[Symbol]:
        """The definitions that a name can mean; of a dotted name, those of its last part inside of the one before."""
        if name not in self._symbols:
            self._symbols[name] = self._find(name.removesuffix("()"))
        return self._symbols[name]

    def _find(self, bare: str) -> list[Symbol]:
        found = list(self.repository.symbols(bare))
        if found or "." not in bare:
            return found
        owner, _, last = bare.rpartition(".")
        return [one for one in self.repository.symbols(last) if _owned(one, owner.rpartition(".")[2])]

    def mentions(self, name: str) -> list[Match]:
        """The lines of the repository in which a name stands as a whole word."""
        if name not in self._mentions:
            self._mentions[name] = list(self.repository.mentions(name))
        return self._mentions[name]

    @cached_property
    def _symbols(self) -> dict[str, list[Symbol]]:
        return {}

    @cached_property
    def _mentions(self) -> dict[str, list[Match]]:
        return {}

    @cached_property
    def tops(self) -> tuple[Symbol, ...]:
        """Functions and classes at the top of the repository's files, tests left out; of large repositories, a part."""
        files = [path for path, entry in self.repository.files.items() if entry.language and "test" not in path.lower()]
        found = (symbol for path in files[:_MOST_FILES] for symbol in self.repository.definitions(path))
        return tuple(one for one in found if one.kind in ("function", "class") and not one.container)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that manifests declare, in small letters and with hyphens."""
        return frozenset(key(package.name) for package in self.declared)

    @cached_property
    def declared(self) -> tuple[Package, ...]:
        """The packages as the manifests declare them, by path and line."""
        return tuple(self.repository.packages())

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands that manifests define, by path and line."""
        return tuple(self.repository.commands())

    @cached_property
    def own(self) -> frozenset[str]:
        """Names under which the repository's own code can be imported: its folders and files, without suffixes."""
        files = {posixpath.basename(path).partition(".")[0] for path in self.repository.files}
        return frozenset(key(name) for name in files | {part for folder in self._folders for part in folder.split("/")})

    @cached_property
    def rules(self) -> tuple[RuleLine, ...]:
        """The sentences of the rules files that ask for something or forbid it."""
        return tuple(self.repository.rules())


def key(package: str) -> str:
    """A package's name as it is compared.

    >>> key("Foo_Bar")
    'foo-bar'
    """
    return re.sub(r"[-_.]+", "-", package.lower())


def plain(name: str) -> bool:
    """Whether a path names one thing in the repository: no pattern, placeholder, URL, or path outside of it.

    >>> plain("src/a.py"), plain("src/*.py"), plain("/etc/passwd"), plain("dist/app.js")
    (True, False, False, False)
    """
    if not name.strip() or len(name) > 300 or _PLACEHOLDER.search(name) or _ELSEWHERE.search(name):
        return False
    return not set(normalised(name).split("/")) & _MADE


def _owned(symbol: Symbol, owner: str) -> bool:
    module = posixpath.basename(symbol.path).partition(".")[0]
    package = posixpath.basename(posixpath.dirname(symbol.path))
    return owner in (symbol.container.rpartition(".")[2], module, package)

"""What a repository holds, asked by the names that people write in plans: files, manifests, code (rule G2)."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from verifyplan.plans.values import normalised
from verifyplan.repository.languages import PARSED
from verifyplan.repository.listing import list_files
from verifyplan.repository.records import Outline
from verifyplan.repository.repository import Repository

_PLACEHOLDER = re.compile(
    r"[*?<>{}$\[\]|\u2026%@]|\.\.\.|(?:^|/)(?:path|to|some|your|my|foo|bar|example)(?:/|\.|$)|\bX{2,}|NN|YYYY|\s",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"^(?:[a-z]+:|~|/|\.\./|-)|\.\./|^(?:www|localhost)\b", re.IGNORECASE)
_BUILT = re.compile(
    r"(?:^|/)(?:dist|build|out|target|node_modules|\.?venv|env|\.git|te?mp|logs|coverage|\.?cache)(?:/|$)"
)
_MANIFESTS = {
    "python": re.compile(
        r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|tox\.ini|meta\.ya?ml|.*requirements[^/]*\.(?:txt|in)"
        r"|(?:[^/]*(?:env|environment|conda)[^/]*)\.ya?ml|[^/]+\.def|(?:.*\.)?Dockerfile[^/]*)$"
    ),
    "javascript": re.compile(r"(?:^|/)(?:package|deno)\.jsonc?$"),
    "go": re.compile(r"(?:^|/)go\.mod$"),
}
_MAX_CODE = 30_000_000


class Known:
    """The files of one repository by name, its manifests and its code, each worked out once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare a plan with."""
        return not self.repository.files

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.repository.files:
            found[posixpath.basename(path)].append(path)
        return dict(found)

    def files(self, name: str) -> list[str]:
        """The files that a name can mean: that path itself, else all paths that end in it."""
        path = normalised(name)
        if path in self.repository.files:
            return [path]
        same = self._by_name.get(posixpath.basename(path), [])
        return [found for found in same if found.endswith(f"/{path}")]

    def same_name(self, name: str) -> list[str]:
        """The files of the same name in any folder."""
        return self._by_name.get(posixpath.basename(normalised(name)), [])

    def exists(self, name: str) -> bool:
        """Whether a name means some file or folder, by its whole path or by the end of it."""
        path = normalised(name)
        return bool(self.files(path)) or any(f"/{folder}/".endswith(f"/{path}/") for folder in self.repository.folders)

    @cached_property
    def _code(self) -> tuple[tuple[str, str], ...]:
        """Path and text of each file of code in a language that is parsed."""
        found, size = [], 0
        for path, entry in self.repository.files.items():
            if entry.language in PARSED and size + entry.size <= _MAX_CODE:
                size += entry.size
                found.append((path, self.repository.text(path) or ""))
        return tuple(found)

    def outlines(self, word: str) -> Iterator[tuple[str, Outline]]:
        """The outlines of the files of code that hold a word, in path order."""
        for path, text in self._code:
            if word in text:
                yield path, self.repository.outline(path)

    def manifests(self, language: str) -> list[str]:
        """The paths of the manifests of a language's packages; none for one whose manifests are not read."""
        pattern = _MANIFESTS.get("javascript" if language in ("typescript", "tsx") else language)
        return [path for path in self.repository.files if pattern and pattern.search(path)]

    def texts(self, paths: list[str]) -> str:
        """The texts of some files, one behind the other."""
        return "\n".join(self.repository.text(path) or "" for path in paths)

    @cached_property
    def own(self) -> frozenset[str]:
        """Names under which the repository's own code can be imported: its folders and files, without suffixes."""
        parts = (part.partition(".")[0] for path in self.repository.files for part in path.split("/"))
        return frozenset(parts)


def plain(name: str) -> bool:
    """Whether a path names one thing in the repository: no pattern, placeholder, URL, built or outside path.

    >>> plain("src/a.py"), plain("src/*.py"), plain("/etc/passwd"), plain("dist/app.js"), plain("path/to/a.py")
    (True, False, False, False, False)
    """
    if not name.strip() or len(name) > 300 or _PLACEHOLDER.search(name) or _OUTSIDE.search(name):
        return False
    return _BUILT.search(normalised(name)) is None


_TEXTS = (".md", ".markdown", ".txt", ".mdx", ".rst")
_MIN_LINES, _MIN_SHARED = 4, 0.7


def open_repository(root: Path, plan: str) -> Repository:
    """Open the repository in a folder; texts that share most of their lines with the plan are left out, too.

    A plan that was revised lies there as it was, and must not vouch for what it says now. InputError if there is no
    such folder.
    """
    opened = Repository.open(root, plan)
    lines = {line.strip() for line in plan.split("\n")} - {""}
    size = len(plan.encode(errors="replace"))
    near = range(size // 2, 2 * size + 1) if len(lines) >= _MIN_LINES else range(0)  # to read few files
    texts = [path for path, entry in opened.files.items() if entry.size in near and path.lower().endswith(_TEXTS)]
    earlier = [path for path in texts if _shared(opened.text(path) or "", lines) >= _MIN_SHARED]
    if not earlier:
        return opened
    listing = list_files(opened.root, plan)
    for path in earlier:
        listing.files.pop(path, None)
        listing.skipped[path] = "the plan as it was, or one that is almost the same"
    return Repository(opened.root, listing)


def _shared(text: str, lines: set[str]) -> float:
    """The share of a text's lines that the plan has, too."""
    own = [line.strip() for line in text.split("\n") if line.strip()]
    return sum(line in lines for line in own) / len(own) if own else 0.0

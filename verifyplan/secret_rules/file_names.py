"""Tell by its name whether a file looks secret: `file_names.tsv` (rules G4, H3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
from importlib.resources import files

WORDS = "words"
"""The rows whose patterns are words, which hold for no code."""
KEPT = " are kept"
"""Ends the content of a folder."""

CODE = "code"
"""The row of the endings of code, of documents and of pictures: `password_reset.py` is read, `passwords.txt` is not."""

_CHOICE = re.compile(r"\{([^{}]*)\}")
_WILD = re.compile(r"[*?\[]")
_EXAMPLE = re.compile(
    r"(?:^|[._-])(?:(?:example|sample|template|tmpl|dist|schema)(?=[._-]|$)"
    r"|(?:defaults?|policy|consent|notice)(?=[.]|$))"
)
_COPY = re.compile(r"(?:\.(?:bak|backup|old|orig|save|copy|swp|tmp|[0-9]+)|~)+$")


MAX_NAMES_KEPT = 200_000
"""Paths whose answer this process keeps: every search asks for all files of a repository."""


class _Names:
    """Patterns of names that say the same of a file: whole names, endings and beginnings are compared fast."""

    def __init__(self, content: str, patterns: Sequence[str]) -> None:
        self.content = "secrets by its name" if content == WORDS else content
        paths = [f"/{pattern}" for pattern in patterns if "/" in pattern]
        self._path_ends = tuple(path for path in paths if not _WILD.search(path))
        self._paths = tuple(path for path in paths if _WILD.search(path))
        names = [pattern for pattern in patterns if "/" not in pattern]
        self._whole = {name for name in names if not _WILD.search(name)}
        self._ends = tuple(name[1:] for name in names if name[0] == "*" and not _WILD.search(name[1:]))
        self._begins = tuple(name[:-1] for name in names if name[-1] == "*" and not _WILD.search(name[:-1]))
        self._held = tuple(name[1:-1] for name in names if name[0] == name[-1] == "*" and not _WILD.search(name[1:-1]))
        others = {*names} - self._whole
        others -= {f"*{end}" for end in self._ends} | {f"{begin}*" for begin in self._begins}
        others -= {f"*{held}*" for held in self._held}
        self._others = re.compile("|".join(map(translate, sorted(others))) or r"(?!)")

    def fit(self, name: str, path: str) -> bool:
        """Return whether one of the patterns is that of a file."""
        return (
            name in self._whole
            or name.endswith(self._ends)
            or name.startswith(self._begins)
            or any(held in name for held in self._held)
            or path.endswith(self._path_ends)
            or self._others.match(name) is not None
            or any(fnmatchcase(path, f"*{ending}") for ending in self._paths)
        )


@lru_cache(MAX_NAMES_KEPT)
def looks_secret(path: str) -> str:
    """Return why a file is not opened, by its path; empty where nothing speaks against it.

    Case does not matter, nor the mark of a copy (`.env.bak`). Examples that are meant to be read (`.env.example`),
    policies (`cookie_policy.txt`) and public keys (`id_rsa.pub`) are no secrets. A link is judged by its own name
    alone: ask for its target, too.

    >>> looks_secret("deploy/.env"), looks_secret(".env.example"), looks_secret("shop/password_reset.py")
    ('it looks like settings of an environment', '', '')
    >>> looks_secret("home/.ssh/config")
    'it is where keys are kept'
    """
    whole = "/" + path.replace("\\", "/").casefold().strip("/")
    for content, folder in _folders():
        if f"/{folder}/" in f"{whole}/":
            return f"it is where {content}"
    name = _COPY.sub("", posixpath.basename(whole)) or posixpath.basename(whole)
    whole = f"{posixpath.dirname(whole)}/{name}"
    if name.endswith(".pub") or _EXAMPLE.search(name):
        return ""
    fitting = (names for names in _names(is_code=name.rpartition(".")[2] in _code()) if names.fit(name, whole))
    return next((f"it looks like {names.content}" for names in fitting), "")


@cache
def _rows() -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = files("verifyplan.secret_rules").joinpath("file_names.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    return tuple((content, tuple(_expanded(patterns))) for content, patterns in rows)


def _expanded(patterns: str) -> Iterator[str]:
    """Yield the patterns of a text with each choice of their braces, the innermost first.

    >>> list(_expanded("a{,s}.txt b"))
    ['a.txt', 'as.txt', 'b']
    """
    for pattern in patterns.split():
        if choice := _CHOICE.search(pattern):
            for each in choice[1].split(","):
                yield from _expanded(f"{pattern[: choice.start()]}{each}{pattern[choice.end() :]}")
        else:
            yield pattern


@cache
def _folders() -> tuple[tuple[str, str], ...]:
    """Return what is kept in folders, and single files of others, and their paths."""
    return tuple(
        (content if content.endswith(KEPT) else f"credentials{KEPT}", pattern.rstrip("/"))
        for content, patterns in _rows()
        for pattern in patterns
        if content.endswith(KEPT) or pattern.endswith("/")
    )


@cache
def _code() -> frozenset[str]:
    return frozenset(dict(_rows())[CODE])


@cache
def _names(*, is_code: bool) -> tuple[_Names, ...]:
    """Return the patterns of names; for code those alone that name its ending, or a name that begins with a dot."""
    others = (CODE, WORDS) if is_code else (CODE,)
    rows = [(content, names) for content, names in _rows() if content not in others and not content.endswith(KEPT)]
    return tuple(
        _Names(content, [name for name in names if name[-1] != "/" and not (is_code and _is_open(name))])
        for content, names in rows
    )


def _is_open(pattern: str) -> bool:
    """Return whether a pattern leaves the ending open, as `access_token*`; not of a hidden name, as `.env.*`."""
    return pattern[-1] == "*" and pattern[0] != "."

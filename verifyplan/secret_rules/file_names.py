"""Tell by its name whether a file looks secret: `file_names.tsv` (rules G4, H3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import cache, lru_cache

from verifyplan.secret_rules.patterns import expression, rows

CODE, WORDS, KEPT = "code", "words", " are kept"
"""The rows of endings of code and documents, and of words, which hold for no code; the end of the rows of folders."""
MAX_NAMES_KEPT = 200_000
"""Paths whose answer this process keeps: every search asks for all files of a repository."""


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
    if folder := next((content for content, folder in _folders() if folder in f"{whole}/"), ""):
        return f"it is where {folder}"
    name = expression("files", "copy").sub("", posixpath.basename(whole)) or posixpath.basename(whole)
    if name.endswith(".pub") or expression("files", "example").search(name):
        return ""
    # no pattern names more than three folders, and a short end is searched faster
    end = "/".join(["", *whole.split("/")[-4:-1], name])
    kinds = _names(is_code=name.rpartition(".")[2] in dict(_rows())[CODE])
    return next((f"it looks like {kind}" for kind, names, others in kinds if name in names or others.search(end)), "")


@cache
def _rows() -> tuple[tuple[str, list[str]], ...]:
    return tuple((content, patterns.split()) for content, patterns in rows("file_names.tsv"))


@cache
def _folders() -> tuple[tuple[str, str], ...]:
    """Return what is kept in folders, and single files of others, and their paths."""
    return tuple(
        (content if content.endswith(KEPT) else f"credentials{KEPT}", f"/{pattern.rstrip('/')}/")
        for content, patterns in _rows()
        for pattern in patterns
        if content.endswith(KEPT) or pattern[-1] == "/"
    )


@cache
def _names(*, is_code: bool) -> tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]:
    """Return what files are, their whole names, and the expression of the others; for code, those that name its ending.

    Of patterns that leave the ending open, as `access_token*`, those of hidden names hold for code, too (`.env.*`).
    """
    made = []
    for content, patterns in _rows():
        if content.endswith(KEPT) or content == CODE or (is_code and content == WORDS):
            continue
        held = {name for name in patterns if name[-1] != "/" and not (is_code and name[-1] == "*" and name[0] != ".")}
        whole = frozenset(name for name in held if not re.search(r"[/*?\[{]", name))
        made.append(("secrets by its name" if content == WORDS else content, whole, _expression(held - whole)))
    return tuple(made)


def _expression(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return the expression that finds one of a shell's patterns at the end of a path."""
    begun = (re.escape(pattern[1:] if pattern[0] == "*" else f"/{pattern}") for pattern in sorted(patterns))
    text = "|".join(re.sub(r"\\([\[\]-])", r"\1", each).replace(",", "|") for each in begun) or "(?!)"
    for shell, ours in ((r"\*", "[^/]*"), (r"\?", "[^/]"), (r"\{", "(?:"), (r"\}", ")")):
        text = text.replace(shell, ours)
    return re.compile(f"(?:{text})$")

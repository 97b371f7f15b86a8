"""Which names are paths of files or folders, and which only look like them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifyplan.plans.wordlists import words

_SUFFIX = re.compile(r"(?::\d{1,9}(?:[-:]\d{1,9})?|#L\d{1,9}(?:-L?\d{1,9})?)$")
_PATH = re.compile(r"(?:\.{1,2}/)*/?[\w.@+()\[\]-]+(?:/[\w.@+()\[\]-]+)*/?", re.ASCII)
_EXTENSION = re.compile(r"[^/]\.([A-Za-z][A-Za-z0-9]{0,11})$")
_GLOB = re.compile(r"[*?]|\{[^{}]*,[^{}]*\}")
_VARIABLE = re.compile(r"[$<>{}~%]")
_MAX_PATH_CHARACTERS = 300


def without_place(name: str) -> str:
    """A path without a place behind it.

    >>> [without_place(name) for name in ("a.py:12", "a.py:12-20", "src/a.ts#L3-L9", "a.py")]
    ['a.py', 'a.py', 'src/a.ts', 'a.py']
    """
    return _SUFFIX.sub("", name)


def is_glob(name: str) -> bool:
    """Whether a name stands for many paths.

    >>> is_glob("src/**/*.py"), is_glob("src/{a,b}.py"), is_glob("a.py"), is_glob("*args")
    (True, True, False, False)
    """
    return " " not in name and _GLOB.search(name) is not None and ("/" in name or known_extension(name))


def is_variable(name: str) -> bool:
    """Whether a path holds a part that only its reader can fill in, as `$HOME/a.py` and `<name>.py` do."""
    return " " not in name and _VARIABLE.search(name) is not None and ("/" in name or known_extension(name))


def known_extension(name: str) -> bool:
    """Whether a name ends as files do.

    >>> known_extension("a/b.py"), known_extension("1.2.3"), known_extension("os.path")
    (True, False, False)
    """
    found = _EXTENSION.search(name)
    return found is not None and found[1].lower() in words("paths", "extensions")


def is_path(name: str, folders: Iterable[str] = ()) -> bool:
    """Whether a name, without the place behind it, is the path of a file or a folder.

    It is with a known extension or file name, with a slash at its end or a dot before it, or with a first folder
    that is usual or among `folders`. URLs, MIME types, branches, domains, packages with a scope, versions and
    HTTP routes are not. Ties go to "no": a path that is missed costs less than a false one.

    >>> [is_path(n) for n in ("src/a.py", "Makefile", "docs/", "lib/core", "./x", "/abs/a.py")]
    [True, True, True, True, True, True]
    >>> [is_path(n) for n in ("application/json", "origin/main", "/api/users", "v1.2.3", "e.g.", "and/or", "Node.js")]
    [False, False, False, False, False, False, False]
    """
    if not name or len(name) > _MAX_PATH_CHARACTERS or _PATH.fullmatch(name) is None or name.strip("./") == "":
        return False
    first, _, rest = name.removeprefix("./").partition("/")
    if name.lower() in words("paths", "not_files") or (rest and _is_domain(first)) or _is_expression(name):
        return False
    last = name.rstrip("/").rpartition("/")[2]
    if known_extension(last) or last in words("paths", "names") or _is_dotfile(last):
        return not (first.startswith("@") or "@" in last)
    if "/" not in name or name.startswith("/") or "@" in name:
        return False
    return _is_extensionless(name, first, last, frozenset(folders))


def _is_extensionless(name: str, first: str, last: str, folders: frozenset[str]) -> bool:
    """Whether a name with a slash and without a known extension is a path."""
    if first.lower() in words("paths", "mime") and not name.endswith("/"):
        return False
    if first.lower() in words("paths", "branches") and first not in folders:
        return False
    if not re.search(r"[A-Za-z]", last):
        return False
    own = name.endswith("/") or name.startswith(".") or "/." in name
    return own or first in folders or first in words("paths", "folders")


def _is_dotfile(last: str) -> bool:
    known = last in words("paths", "dotfiles") or last.startswith(".env.")
    return known or re.fullmatch(r"\.[a-z]+(?:rc|ignore)", last) is not None


def _is_expression(name: str) -> bool:
    """Whether a name is a value of a configuration language, as `data.aws_policy.logs.json` is one of Terraform's."""
    parts = name.split(".")
    return len(parts) > 2 and "/" not in name and parts[0] in words("symbols", "not_qualifiers")


def _is_domain(name: str) -> bool:
    """Whether a first folder is the name of a host, as in `github.com/a/b`."""
    host, dot, top = name.rpartition(".")
    return bool(dot and host and host[0].isalnum()) and top.lower() in words("paths", "top_level_domains")

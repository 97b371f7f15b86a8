"""Which files may hold a match, asked of ripgrep where it is installed: fast on large folders (rules G4, H3).

Ripgrep only says which files are worth reading. They are then read and searched as without it, so that a search finds
the same on every machine, and nothing is shown that the repository's own confined reading did not give.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_COMMAND = (
    "--no-config",  # RIPGREP_CONFIG_PATH could name a file that makes it run programs
    "--no-pre",
    "--no-search-zip",
    "--no-follow",
    "--no-ignore",
    "--hidden",
    "--no-messages",
    "--no-mmap",  # a file that shrinks meanwhile would end it
    "--regex-size-limit=10M",
    "--dfa-size-limit=10M",
    "--text",
    "--encoding=none",
    "--color=never",
    "--files-with-matches",
    "--null",
)
_PASSED_ON = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
_LONGEST = 30_000
"""Characters of the paths of one call, which some systems limit."""

_TOKEN = re.compile(
    r"""(?P<open>\((?:\?:|\?P<[A-Za-z_][A-Za-z0-9_]*>|(?!\?)))
    |(?P<as_is>[)|])
    |(?P<repeat>(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})\??)
    |(?P<edge>\\[bBAZ]|[\^$])
    |(?P<some>\\[dDsSwW]|\[\^?\]?[^\[\]\\]*\]|\.)
    |(?P<brace>\{(?:(?=\})|(?![0-9]*,?[0-9]*\})))
    |\\(?P<sign>[^A-Za-z0-9\x00-\x1f])
    |(?P<plain>[^\\\[(){*+?|.^$\x00-\x1f])""",
    re.VERBOSE,
)
_CASELESS = "(?i)"
_SIGNS = frozenset(r"\.+*?()|[]{}^$#&-~")
"""What ripgrep takes a backslash before; before others it has a meaning of its own, or is refused."""


def program(root: Path) -> str | None:
    """Where `rg` is on PATH; None without it, and where PATH leads to a relative place or into the folder itself."""
    found = shutil.which("rg")
    if found is None or not Path(found).is_absolute():
        return None
    return None if Path(found).resolve().is_relative_to(root) else found


def holding(rg: str, root: Path, paths: Sequence[str], pattern: str, seconds: float) -> set[str] | None:
    """Those of the files that may hold a match, some of them without one; None where ripgrep cannot tell.

    It cannot for a pattern that is more than simple, when a file is gone, and when it takes longer than `seconds`.
    `paths` are relative to `root`, few enough for one call (see `batches`). Nothing else is searched.
    """
    asked = weaker(pattern)
    if asked is None:
        return None
    flags, plain = asked
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            [rg, *_COMMAND, *flags, "-e", plain, "--", *(f"./{path}" for path in paths)],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if done.returncode not in (0, 1):
        return None
    return {os.fsdecode(path).removeprefix("./") for path in done.stdout.split(b"\0") if path}


def batches(paths: Sequence[str]) -> list[list[str]]:
    """The paths in their order, in lists that are short enough for one call.

    >>> [len(batch) for batch in batches(["x" * 10_000] * 5)]
    [2, 2, 1]
    """
    found: list[list[str]] = []
    left = 0
    for path in paths:
        left -= len(path.encode("utf-8", "surrogateescape")) + 3
        if left < 0 or not found:
            found.append([])
            left = _LONGEST - len(path) - 3
        found[-1].append(path)
    return found


def weaker(pattern: str) -> tuple[list[str], str] | None:
    r"""Flags and a pattern of ripgrep's that finds at least what a simple pattern of Python's finds on a line.

    Classes become "any letter", and borders go, as the two dialects differ there. None for a pattern that holds
    more than letters, classes, groups, alternatives and repetitions, or only what finds something everywhere.

    >>> weaker(r"^def \w+_(load|save)\(")
    ([], 'def .+_(?:load|save)\\(')
    >>> weaker(r"(?<=a)b"), weaker(r"\w+")
    (None, None)
    """
    caseless = pattern.startswith(_CASELESS)
    rest = pattern.removeprefix(_CASELESS) if caseless else pattern
    parts: list[str] = []
    at = 0
    while at < len(rest):
        token = _TOKEN.match(rest, at)
        if token is None:
            return None
        parts.append(_weaker(token, caseless))
        at = token.end()
    whole = "".join(parts)
    return (["--ignore-case"] if caseless else [], whole) if re.search(r"[^\W_]", whole) else None


def _weaker(token: re.Match[str], caseless: bool) -> str:
    """One token in ripgrep's dialect."""
    kind, text = str(token.lastgroup), token[0]
    if kind == "plain" or kind == "sign":
        return _letter(token[kind], caseless)
    return {"open": "(?:", "edge": "", "some": ".", "brace": r"\{"}.get(kind, text)


def _letter(letter: str, caseless: bool) -> str:
    """A letter that stands for itself; cases outside ASCII differ between the dialects, as does that of i."""
    if caseless and not letter.isascii():
        return "."
    if caseless and letter in "iI":
        return "[iI\u0130\u0131]"
    return f"\\{letter}" if letter in _SIGNS else letter

"""Lines that a regular expression finds, whatever the expression is, tried in a helper process (rules G4, H3).

Where ripgrep is installed, it first says which files are worth reading, which is fast on large folders. These are
then read and searched as without it, so that a search finds the same on every machine, and nothing is shown that the
repository's own confined reading did not give.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.repository.helper_process import HelperError, HelperProcess
from verifyplan.repository.records import Match

TIMEOUT_S = 20.0
"""How long one search may take."""
MAX_PATTERN_CHARACTERS = 1_000
"""Characters that a pattern may have."""

_BATCH_CHARACTERS = 1_000_000
_NOT_SIMPLE = re.compile(r"[|\[{]|\(\?|\)[*?]|\\[^bBdDsSwW\W_]")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_RUN = re.compile(r"([A-Za-z0-9_]+)")


def grep(helper: HelperProcess, pattern: str, texts: Iterable[tuple[str, str]], limit: int) -> list[Match]:
    """Return the first `limit` lines in which `pattern` is found, in the order of the texts.

    Only the first 1,000 characters of a line are looked at. InputError for a pattern that is none, or is longer
    than 1,000 characters, and for a search that takes longer than 20 seconds. Source: rules G4, H3.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise _refused(pattern, f"the pattern is longer than {MAX_PATTERN_CHARACTERS:,} characters")
    matches: list[Match] = []
    end = time.monotonic() + TIMEOUT_S
    needed = literals(pattern)
    for batch in _text_batches((path, text) for path, text in texts if all(part in text for part in needed)):
        if len(matches) >= limit:
            break
        try:
            left = max(end - time.monotonic(), 0.01)
            hits = helper.request("grep", pattern, batch, limit - len(matches), seconds=left)
            matches += [Match(*hit) for hit in hits]
        except HelperError as error:
            late = time.monotonic() >= end
            why = f"the search takes longer than {TIMEOUT_S:g} seconds" if late else str(error)
            raise _refused(pattern, why) from None
    return matches


def literals(pattern: str) -> list[str]:
    r"""Return texts that every match of a simple pattern holds; none for a pattern that is not surely simple.

    >>> literals(r"def \w+_artifact\("), literals("read|write"), literals("colou?rs")
    (['def', '_artifact'], [], ['colo'])
    """
    if _NOT_SIMPLE.search(pattern):
        return []
    plain = _ESCAPE.sub(" ", pattern)
    runs = ((run[1], plain[run.end(1) : run.end(1) + 1]) for run in _RUN.finditer(plain))
    needed = (run[:-1] if after in ("*", "?") else run for run, after in runs)
    return [run for run in needed if len(run) >= 3]


def _refused(pattern: str, why: str) -> InputError:
    return InputError(Problem(f"pattern {pattern[:80]!r}", why, "write a simpler regular expression"))


def _text_batches(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield texts by the megabyte; at least one batch, so that an empty repository, too, refuses a bad pattern."""
    batch: list[tuple[str, str]] = []
    size = 0
    for path, text in texts:
        batch.append((path, text))
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    yield batch


_RG_OPTIONS = (
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
_MAX_PATHS_CHARACTERS = 30_000
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
_RG_TOKENS = {"open": "(?:", "edge": "", "some": ".", "brace": r"\{"}
_CASELESS = "(?i)"
_ESCAPED = frozenset(r"\.+*?()|[]{}^$#&-~")
"""Characters before which ripgrep takes a backslash; before others it has a meaning of its own, or is refused."""


def rg_program(root: Path) -> str | None:
    """Return where `rg` is on PATH; None without it, and where PATH leads to a relative place or into the folder."""
    program = shutil.which("rg")
    if program is None or not Path(program).is_absolute():
        return None
    return None if Path(program).resolve().is_relative_to(root) else program


def rg_candidates(rg: str, root: Path, paths: Sequence[str], pattern: str, seconds: float) -> set[str] | None:
    """Return those of the files that may hold a match, some of them without one; None where ripgrep cannot tell.

    It cannot for a pattern that is more than simple, when a file is gone, and when it takes longer than `seconds`.
    `paths` are relative to `root`, few enough for one call (see `path_batches`). Nothing else is searched.
    """
    translated = rg_pattern(pattern)
    if translated is None:
        return None
    flags, plain = translated
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            [rg, *_RG_OPTIONS, *flags, "-e", plain, "--", *(f"./{path}" for path in paths)],
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


def path_batches(paths: Sequence[str]) -> list[list[str]]:
    """Return the paths in their order, in lists that are short enough for one call.

    >>> [len(batch) for batch in path_batches(["x" * 10_000] * 5)]
    [2, 2, 1]
    """
    batches: list[list[str]] = []
    left = 0
    for path in paths:
        left -= len(path.encode("utf-8", "surrogateescape")) + 3
        if left < 0 or not batches:
            batches.append([])
            left = _MAX_PATHS_CHARACTERS - len(path) - 3
        batches[-1].append(path)
    return batches


def rg_pattern(pattern: str) -> tuple[list[str], str] | None:
    r"""Return flags and a pattern of ripgrep's that finds at least what a simple pattern of Python's finds on a line.

    Classes become "any letter", and borders go, as the two dialects differ there. None for a pattern that holds
    more than letters, classes, groups, alternatives and repetitions, or only what finds something everywhere.

    >>> rg_pattern(r"^def \w+_(load|save)\(")
    ([], 'def .+_(?:load|save)\\(')
    >>> rg_pattern(r"(?<=a)b"), rg_pattern(r"\w+")
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
        letter = token["plain"] or token["sign"]
        if letter and caseless and (letter in "iI" or not letter.isascii()):  # cases differ between the dialects
            parts.append("[iI\u0130\u0131]" if letter.isascii() else ".")
        elif letter:
            parts.append(f"\\{letter}" if letter in _ESCAPED else letter)
        else:
            parts.append(_RG_TOKENS.get(str(token.lastgroup), token[0]))
        at = token.end()
    whole = "".join(parts)
    return (["--ignore-case"] if caseless else [], whole) if re.search(r"[^\W_]", whole) else None

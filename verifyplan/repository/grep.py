"""Lines that a regular expression finds, whatever the expression is: it is tried in a process that may be ended."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from verifyplan.errors import InputError, Problem
from verifyplan.repository.careful import Careful, GaveUpError
from verifyplan.repository.records import Match

SECONDS = 20.0
"""How long one search may take."""
LONGEST = 1_000
"""Characters that a pattern may have."""

_BATCH = 1_000_000
_NOT_SIMPLE = re.compile(r"[|\[{]|\(\?|\)[*?]|\\[^bBdDsSwW\W_]")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_RUN = re.compile(r"([A-Za-z0-9_]+)")


def grep(careful: Careful, pattern: str, texts: Iterable[tuple[str, str]], limit: int) -> list[Match]:
    """The first `limit` lines in which `pattern` is found, in the order of the texts.

    Only the first 1,000 characters of a line are looked at. InputError for a pattern that is none, or is longer
    than 1,000 characters, and for a search that takes longer than 20 seconds. Source: rules G4, H3.
    """
    if len(pattern) > LONGEST:
        raise _refused(pattern, f"the pattern is longer than {LONGEST:,} characters")
    found: list[Match] = []
    end = time.monotonic() + SECONDS
    needed = literals(pattern)
    for batch in _batches((path, text) for path, text in texts if all(part in text for part in needed)):
        if len(found) >= limit:
            break
        try:
            left = max(end - time.monotonic(), 0.01)
            found += [Match(*hit) for hit in careful.ask("grep", pattern, batch, limit - len(found), seconds=left)]
        except GaveUpError as error:
            late = time.monotonic() >= end
            raise _refused(
                pattern, f"the search takes longer than {SECONDS:g} seconds" if late else str(error)
            ) from None
    return found


def literals(pattern: str) -> list[str]:
    r"""Texts that every match of a simple pattern holds; none for a pattern that is not surely simple.

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


def _batches(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Texts by the megabyte; one batch at least, so that a bad pattern is refused in an empty repository, too."""
    batch: list[tuple[str, str]] = []
    size = 0
    for path, text in texts:
        batch.append((path, text))
        size += len(text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    yield batch

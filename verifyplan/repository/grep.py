"""Find the lines that match any regular expression, in a helper process (rules G4, H3)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

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

    Only the first 1,000 characters of a line are looked at. InputError for an invalid pattern, one longer
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

"""A search through the repository and the documents of a task, the same with ripgrep and without (rules G4, H3)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from verifyplan.agents.tools.places import NotOpenedError, is_searchable, resolve_listed
from verifyplan.errors import InputError, Problem
from verifyplan.redaction import redact
from verifyplan.repository import grep, ripgrep
from verifyplan.repository.careful import Careful
from verifyplan.repository.records import Match
from verifyplan.repository.repository import Repository


def search(
    repository: Repository, documents: Mapping[str, str], paths: Sequence[str], pattern: str, limit: int
) -> list[Match]:
    """The first `limit` lines in which a regular expression is found: documents first, then files in the order given.

    `paths` are listed files that may be opened. Keys are taken out before the search, so that no pattern can ask for
    their letters. InputError for a pattern that is none, and for a search of more than 20 seconds. The process that
    tries the pattern ends with the search: many agents may wait at once, and each would keep one of 40 MB.
    """
    texts = _until(time.monotonic() + grep.SECONDS, _texts(repository, documents, paths, pattern), pattern)
    with closing(Careful()) as careful:
        found = grep.grep(careful, pattern, texts, limit)
    moved = {path for path in {hit.path for hit in found} - set(documents) if not _in_place(repository, path)}
    return [hit for hit in found if hit.path not in moved]


def _until(end: float, texts: Iterator[tuple[str, str]], pattern: str) -> Iterator[tuple[str, str]]:
    """The texts until the time is over, which ends the search even if none of them holds the pattern."""
    for path, text in texts:
        if time.monotonic() > end:
            why = f"the search takes longer than {grep.SECONDS:g} seconds"
            raise InputError(Problem(f"pattern {pattern[:80]!r}", why, "give a path to look in"))
        if text:
            yield path, text.removesuffix("\n")


def _texts(
    repository: Repository, documents: Mapping[str, str], paths: Sequence[str], pattern: str
) -> Iterator[tuple[str, str]]:
    """Names and texts without keys; the text of a file that cannot hold the pattern is empty."""
    needed = grep.literals(pattern)
    yield from documents.items()
    for path in _likely(repository, paths, pattern):
        raw = repository.text(path) or ""
        yield path, redact(raw) if all(part in raw for part in needed) else ""


def _likely(repository: Repository, paths: Sequence[str], pattern: str) -> Iterator[str]:
    """The files worth reading, in order: without those in which ripgrep, where it is installed, finds nothing."""
    rg = ripgrep.program(repository.root) if len(paths) > 1 else None
    end = time.monotonic() + grep.SECONDS
    for batch in ripgrep.batches(paths):
        there = [path for path in batch if is_searchable(repository, path)]
        left = end - time.monotonic()
        found = ripgrep.holding(rg, repository.root, there, pattern, left) if rg and there and left > 0 else None
        rg = rg if found is not None else None  # it will not do better with the next files
        yield from there if found is None else (path for path in there if path in found)


def _in_place(repository: Repository, path: str) -> bool:
    """Whether a file that was searched lies where it was listed; it may have been replaced by a link meanwhile."""
    try:
        resolve_listed(repository, path)
    except NotOpenedError:
        return False
    return True

"""Answer a tool call from a repository, the documents of a task and a memory, without any key (rules G4, H3)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from verifyplan.agents.tools.definitions import (
    Arguments,
    GitLogArguments,
    GrepArguments,
    MemoryArguments,
    ReadArguments,
)
from verifyplan.agents.tools.file_access import (
    NotOpenedError,
    files_below,
    is_searchable,
    may_be_named,
    read_listed,
    relative_path,
    resolve_listed,
)
from verifyplan.agents.tools.memory import Memory, Note
from verifyplan.agents.untrusted_text import lines_that_fit, one_line, short_line
from verifyplan.errors import InputError, Problem
from verifyplan.redaction import redact
from verifyplan.repository import grep
from verifyplan.repository.helper_process import HelperProcess
from verifyplan.repository.records import Commit, Match
from verifyplan.repository.repository import Repository
from verifyplan.text import counted, truncate

MAX_HITS = 200
"""Hits of one search that an agent sees."""
MAX_COMMITS = 20
"""Commits of one question about the history."""
MAX_PASSAGES = 5
"""Passages that one memory search gives."""
MAX_LINES = 400
"""Lines that Read shows unless the last line is given."""

_MAX_COMMIT_FILES = 10
_MAX_PASSAGE_CHARACTERS = 4_000


class LookupResult(NamedTuple):
    """The text for the model, the number of lines or hits in it, and whether it is a failure."""

    text: str
    results: int = 0
    failed: bool = False


class ToolSources:
    """Answers a call whose arguments fit; NotOpenedError says why it does not.

    Keys are taken out of every text before it is numbered, searched or shown.
    """

    def __init__(self, repository: Repository, documents: Mapping[str, str], memory: Memory | None) -> None:
        self._repository = repository
        self._documents = {name: redact(text) for name, text in documents.items()}
        self._memory = memory

    def is_document(self, name: str) -> bool:
        """Return whether this is the name of a text that the model has already."""
        return name in self._documents

    def answer(self, call: Arguments) -> LookupResult:
        """Return what was looked up; a search whose pattern is invalid, or takes too long, is a failed answer."""
        if isinstance(call, ReadArguments):
            if call.path in self._documents:
                return file_lines(call.path, self._documents[call.path], call)
            path = relative_path(self._repository, call.path)
            return file_lines(path, redact(read_listed(self._repository, path)), call)
        if isinstance(call, GrepArguments):
            try:
                return search_hits(search(self._repository, *self._scope(call.path), call.pattern, MAX_HITS), MAX_HITS)
            except InputError as error:
                return LookupResult(str(error), failed=True)
        if isinstance(call, GitLogArguments):
            paths = [relative_path(self._repository, path) for path in call.paths]
            return commit_list(self._repository.history(paths, MAX_COMMITS), self._repository)
        if isinstance(call, MemoryArguments) and self._memory is not None:
            return note_passages(self._memory.search(call.query, MAX_PASSAGES), len(self._memory))
        raise NotOpenedError("there is nothing to ask")

    def _scope(self, path: str) -> tuple[Mapping[str, str], list[str]]:
        """Return the documents and files to search; NotOpenedError where there are none of this name."""
        if path in self._documents:
            return {path: self._documents[path]}, []
        folder = relative_path(self._repository, path) if path else "."
        if folder == ".":
            return self._documents, files_below(self._repository, folder)
        files = files_below(self._repository, folder)
        if not files:
            read_listed(self._repository, folder)  # says why, unless it is a file that can be read
            files = [resolve_listed(self._repository, folder).relative_to(self._repository.root).as_posix()]
        return {}, files


def file_lines(name: str, text: str, call: ReadArguments) -> LookupResult:
    r"""Return the lines that a call of Read asks for, each behind its number, and how many the file has.

    >>> print(file_lines("a.py", "x\ny\nz\n", ReadArguments(path="a.py", first=2, last=2)).text)
    a.py: line 2 of 3. More: first=3
    2: y
    """
    name, lines = one_line(name), text.removesuffix("\n").split("\n") if text else []
    if not lines:
        return LookupResult(f"{name} is empty")
    if call.first > len(lines):
        behind = f"{name} has {counted(len(lines), 'line')}; first={call.first} is behind them"
        return LookupResult(behind, failed=True)
    last = min(len(lines), call.last or call.first + MAX_LINES - 1)
    numbered = islice(enumerate(lines, 1), call.first - 1, last)
    kept = lines_that_fit(f"{number}: {short_line(line)}" for number, line in numbered)
    end = call.first + len(kept) - 1
    which = f"line {end}" if len(kept) == 1 else f"lines {call.first}-{end}"
    more = f". More: first={end + 1}" if end < len(lines) else ""
    return LookupResult("\n".join([f"{name}: {which} of {len(lines):,}{more}", *kept]), len(kept))


def search_hits(matches: Sequence[Match], limit: int) -> LookupResult:
    """Return the lines that a search found, as `path:line: text`, and whether there may be more."""
    if not matches:
        return LookupResult("No line matches.")
    kept = lines_that_fit(f"{one_line(hit.path)}:{hit.line}: {short_line(hit.text)}" for hit in matches)
    files = len({hit.path for hit in matches[: len(kept)]})
    heading = f"{counted(len(kept), 'hit')} in {counted(files, 'file')}"
    if len(kept) < len(matches) or len(kept) == limit:
        heading = f"The first {heading}; there may be more: ask for less, or give a path"
    return LookupResult("\n".join([heading, *kept]), len(kept))


def commit_list(commits: Sequence[Commit], repository: Repository) -> LookupResult:
    """Return commits, newest first: date, hash, subject, and up to 10 files each that may be named."""
    if not commits:
        return LookupResult("No commit is known that touches this.")

    def entry(commit: Commit) -> str:
        named = [path for path in commit.files if may_be_named(repository, path)]
        files = ", ".join(map(one_line, named[:_MAX_COMMIT_FILES]))
        left = len(commit.files) - len(named[:_MAX_COMMIT_FILES])
        more = f" and {counted(left, 'other file')}" if left > 0 else ""
        return f"{commit.date[:10]} {commit.hash[:10]} {one_line(commit.subject)}\n    {files}{more}"

    kept = lines_that_fit(map(entry, commits))
    return LookupResult("\n".join([f"{counted(len(kept), 'commit')}, newest first", *kept]), len(kept))


def note_passages(notes: Sequence[Note], passages: int) -> LookupResult:
    """Return passages of notes, each behind its place; `passages` is how many were searched."""
    if not notes:
        return LookupResult("No note speaks of that." if passages else "The memory holds no notes.")

    def entry(note: Note) -> str:
        lines = "\n".join(map(short_line, note.passage.split("\n")))
        return f"{one_line(note.path)}:{note.line}\n{truncate(lines, _MAX_PASSAGE_CHARACTERS, '... (cut)')}\n"

    kept = lines_that_fit(map(entry, notes))
    return LookupResult("\n".join([f"{counted(len(kept), 'passage')} that fit best", *kept]), len(kept))


def search(
    repository: Repository, documents: Mapping[str, str], paths: Sequence[str], pattern: str, limit: int
) -> list[Match]:
    """Return the first `limit` lines that match a regular expression: documents first, then files in their order.

    `paths` are listed files that may be opened. Keys are taken out before the search, so that no pattern can ask for
    their letters. InputError for an invalid pattern, and for a search of more than 20 seconds. The process that
    tries the pattern ends with the search: many agents may wait at once, and each would keep one of 40 MB.
    """
    texts = _until(time.monotonic() + grep.TIMEOUT_S, _texts(repository, documents, paths, pattern), pattern)
    with closing(HelperProcess()) as helper:
        matches = grep.grep(helper, pattern, texts, limit)
    moved = {path for path in {hit.path for hit in matches} - set(documents) if not _in_place(repository, path)}
    return [hit for hit in matches if hit.path not in moved]


def _until(end: float, texts: Iterator[tuple[str, str]], pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the texts until the time is over, which ends the search even if none of them holds the pattern."""
    for path, text in texts:
        if time.monotonic() > end:
            message = f"the search takes longer than {grep.TIMEOUT_S:g} seconds"
            raise InputError(Problem(f"pattern {pattern[:80]!r}", message, "give a path to look in"))
        if text:
            yield path, text.removesuffix("\n")


def _texts(
    repository: Repository, documents: Mapping[str, str], paths: Sequence[str], pattern: str
) -> Iterator[tuple[str, str]]:
    """Yield names and texts without keys; the text of a file that cannot hold the pattern is empty."""
    needed = grep.literals(pattern)
    yield from documents.items()
    for path in (path for path in paths if is_searchable(repository, path)):
        raw = repository.text(path) or ""
        yield path, redact(raw) if all(part in raw for part in needed) else ""


def _in_place(repository: Repository, path: str) -> bool:
    """Return whether a searched file lies where it was listed; a link may have replaced it meanwhile."""
    try:
        resolve_listed(repository, path)
    except NotOpenedError:
        return False
    return True

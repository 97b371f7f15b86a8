"""Search the notes that earlier work left in a folder, passage by passage, by BM25 of `bm25s` (rule G4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from verifyplan.agents.tools.file_access import NotOpenedError, files_below, read_listed
from verifyplan.errors import InputError, Problem
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository

NOTE_SUFFIXES = (".md", ".txt")
"""Files that are notes."""
MAX_MEMORY_CHARACTERS = 10_000_000
"""Characters of notes that are searched; what would be beyond is left out, and `skipped` names it."""
MAX_PASSAGE_CHARACTERS = 1_200
"""Characters from which on a passage ends at the next blank line."""

_HEADING = re.compile(r"#{1,6}\s")
_WORD = re.compile(r"[^\W_]+")
_INNER = re.compile(r"[^\W_]*?[a-z0-9](?=[A-Z])|[^\W_]+")


class Note(NamedTuple):
    """A passage of a note: the file, the line at which it begins, its text."""

    path: str
    line: int
    passage: str


class Memory:
    """The passages of the notes in a folder, searched by their words.

    Read once, when it is opened, and the same for every agent of a run. `skipped` holds why notes were left out,
    by path. Safe to use from several threads. Source: rules G4, A12.
    """

    def __init__(self, notes: Sequence[Note], skipped: dict[str, str], library: Any) -> None:
        self.skipped = skipped
        words_of_notes = ((note, words(note.passage)) for note in notes)
        self._words = [(note, terms) for note, terms in words_of_notes if terms]
        self._index = library.BM25() if self._words else None
        if self._index is not None:
            self._index.index([terms for _, terms in self._words], show_progress=False)

    @classmethod
    def open(cls, folder: str | Path) -> Memory:
        """Return the memory in a folder of `.md` and `.txt` files, confined and limited as a repository is.

        Raises InputError if there is no such folder, and with the command that installs what is missing.
        """
        try:
            repository = Repository.open(folder)
        except InputError:
            fix = "give a folder of .md and .txt files"
            raise InputError(Problem(f"memory {str(folder)!r}", "there is no such folder", fix)) from None
        try:
            library = import_module("bm25s")  # only needed here, and takes a third of a second
        except ImportError:
            fix = "pip install 'verifyplan[memory]'"
            raise InputError(Problem("memory", "searching notes needs the package bm25s", fix)) from None
        notes: list[Note] = []
        skipped = {entry.path: entry.reason for entry in repository.skipped if entry.path.endswith(NOTE_SUFFIXES)}
        left = MAX_MEMORY_CHARACTERS
        for path in (path for path in files_below(repository, ".") if path.lower().endswith(NOTE_SUFFIXES)):
            if (repository.root / path).is_symlink():
                continue  # it leads to another note, which is listed by itself, or to what is none
            try:
                text = redact(read_listed(repository, path))
            except NotOpenedError as error:
                skipped[path] = str(error)
                continue
            left -= len(text)
            if left < 0:
                skipped[path] = f"the notes before it hold {MAX_MEMORY_CHARACTERS:,} characters"
                break
            notes += passages(path, text)
        return cls(notes, skipped, library)

    def __len__(self) -> int:
        """Return the number of passages that can be found."""
        return len(self._words)

    def search(self, query: str, limit: int = 5) -> list[Note]:
        """Return up to `limit` passages that share a word with the query, the best first; ties by path and line.

        An empty list for a query without words, and where nothing fits.
        """
        terms = list(dict.fromkeys(words(query)))
        if self._index is None or not terms or limit < 1:
            return []
        scores = map(float, self._index.get_scores(terms))
        matches = ((-score, note) for score, (note, _) in zip(scores, self._words, strict=True) if score > 0)
        return [note for _, note in sorted(matches)[:limit]]


def passages(path: str, text: str) -> Iterator[Note]:
    r"""Yield the passages of a note in order; blank ones are left out, and nothing else is.

    A passage begins at a heading (also at what looks like one within code), or at the first paragraph after 1,200
    characters. A heading stays with what follows it.

    >>> [(note.line, note.passage) for note in passages("a.md", "# A\n\nOne.\n\n# B\nTwo.\n")]
    [(1, '# A\n\nOne.'), (5, '# B\nTwo.')]
    """
    start, size = 1, 0
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        ends = _HEADING.match(line) or (size >= MAX_PASSAGE_CHARACTERS and not line.strip())
        if ends and any(_HEADING.match(earlier) is None and earlier.strip() for earlier in lines):
            yield from _note(path, start, lines)
            start, lines, size = number, [], 0
        lines.append(line)
        size += len(line) + 1
    yield from _note(path, start, lines)


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, in order; the parts of a name like `findOrder` follow it.

    >>> words("Why findOrder, find_order?")
    ['why', 'findorder', 'find', 'order', 'find', 'order']
    """
    terms: list[str] = []
    for word in _WORD.findall(text):
        parts = _INNER.findall(word)
        terms += [word.casefold(), *(part.casefold() for part in parts if len(parts) > 1)]
    return terms


def _note(path: str, start: int, lines: list[str]) -> Iterator[Note]:
    """Yield the passage without blank lines around it, if anything is left."""
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is not None:
        yield Note(path, start + first, "\n".join(lines[first:]).rstrip())

"""Notes that earlier work left in a folder, found by their words: BM25 by `bm25s` (rule G4)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from verifyplan.agents.tools.passages import Note, passages, words
from verifyplan.agents.tools.places import NotOpenedError, files_below, read_listed
from verifyplan.errors import InputError, Problem
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository

NOTE_SUFFIXES = (".md", ".txt")
"""Files that are notes."""
MAX_MEMORY_CHARACTERS = 10_000_000
"""Characters of notes that are searched; what would be beyond is left out, and `skipped` names it."""


class Memory:
    """The passages of the notes in a folder, and which of them speak of something.

    Read once, when it is opened, and the same for every agent of a run. `skipped` tells which notes were left out,
    and why, by path. Safe to use from several threads. Source: rules G4, A12.
    """

    def __init__(self, notes: Sequence[Note], skipped: dict[str, str], library: Any) -> None:
        self.skipped = skipped
        read = ((note, words(note.passage)) for note in notes)
        self._words = [(note, found) for note, found in read if found]
        self._index = library.BM25() if self._words else None
        if self._index is not None:
            self._index.index([found for _, found in self._words], show_progress=False)

    @classmethod
    def open(cls, folder: str | Path) -> Memory:
        """The memory in a folder of `.md` and `.txt` files, confined and limited as a repository is.

        Raises InputError if there is no such folder, and with the command that installs what is missing.
        """
        repository = _opened(folder)
        library = _library()
        notes: list[Note] = []
        skipped = {one.path: one.reason for one in repository.skipped if one.path.endswith(NOTE_SUFFIXES)}
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
        """How many passages there are to be found."""
        return len(self._words)

    def search(self, query: str, limit: int = 5) -> list[Note]:
        """Up to `limit` passages that share a word with the query, the best first; ties by path and line.

        None for a query without words, and where nothing fits.
        """
        asked = list(dict.fromkeys(words(query)))
        if self._index is None or not asked or limit < 1:
            return []
        scores = map(float, self._index.get_scores(asked))
        found = ((-score, note) for score, (note, _) in zip(scores, self._words, strict=True) if score > 0)
        return [note for _, note in sorted(found)[:limit]]


def _opened(folder: str | Path) -> Repository:
    try:
        return Repository.open(folder)
    except InputError:
        raise InputError(
            Problem(f"memory {str(folder)!r}", "there is no such folder", "give a folder of .md and .txt files")
        ) from None


def _library() -> Any:
    """`bm25s`, which is only needed here and takes a third of a second to import."""
    try:
        return import_module("bm25s")
    except ImportError:
        raise InputError(
            Problem("memory", "searching notes needs the package bm25s", "pip install 'verifyplan[memory]'")
        ) from None

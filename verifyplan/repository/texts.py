"""The texts of listed files: read one after another, kept for a while, and a note of what cannot be read."""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

from verifyplan.repository.listing import Listing
from verifyplan.repository.reading import (
    UnreadableError,
    read_bytes,
    read_resolved,
    reason,
    text_of,
)

MOST_KEPT = 8_000_000
"""Characters of text that are kept in memory."""


class Texts:
    """Reads the files of a listing, and no others; `skipped` tells what could not be read, each path once.

    A folder is resolved once, and a file in it is opened without following a link at its end: a fiftieth of the
    time that resolving each path takes. Files that are links take the slow way. Not safe to use from several
    threads at once.
    """

    def __init__(self, root: Path, listing: Listing) -> None:
        self.skipped: dict[str, str] = listing.skipped
        self._root = root
        self._listing = listing
        self._folders: dict[str, str | None] = {}
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def data(self, path: str) -> bytes | None:
        """The bytes of a listed file; None, and a note in `skipped`, if it cannot be read or is no text."""
        try:
            return self._bytes(path)
        except UnreadableError as error:
            self._note(path, str(error).removeprefix(f"{path} "))
        except (OSError, RuntimeError, ValueError) as error:
            self._note(path, f"cannot be opened ({reason(error)})")
        return None

    def text(self, path: str) -> str | None:
        """The text of a listed file, None as in `data`; the last ones read are kept."""
        if path in self._kept:
            self._kept.move_to_end(path)
            return self._kept[path]
        text = self.decoded(path)
        if text is not None:
            self._keep(path, text)
        return text

    def decoded(self, path: str) -> str | None:
        """The text of a listed file, None as in `data`; not kept."""
        data = self.data(path)
        try:
            return None if data is None else text_of(data, path)
        except UnreadableError as error:
            self._note(path, str(error).removeprefix(f"{path} "))
            return None

    def scan(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, str]]:
        """Paths and texts, one after another; all files but links to other files if no paths are given."""
        for path in self._listing.files if paths is None else paths:
            if path not in self._listing.aliases and path not in self.skipped:
                text = self._kept.get(path) or self.decoded(path)
                if text is not None:
                    yield path, text

    def _bytes(self, path: str) -> bytes:
        folder, name = posixpath.split(path)
        if folder not in self._folders:
            self._folders[folder] = self._resolved(folder)
        found = self._folders[folder]
        if found is None or path in self._listing.aliases:
            return read_bytes(self._root, path)
        try:
            return read_resolved(f"{found}/{name}", path)
        except OSError:  # a link, too, which read_bytes resolves
            return read_bytes(self._root, path)

    def _resolved(self, folder: str) -> str | None:
        """Where a folder lies; None if that is not under the root."""
        try:
            found = (self._root / folder).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        return str(found) if found.is_relative_to(self._root) else None

    def _keep(self, path: str, text: str) -> None:
        self._kept[path] = text
        self._size += len(text)
        while self._size > MOST_KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])

    def _note(self, path: str, why: str) -> None:
        self.skipped.setdefault(path, why)

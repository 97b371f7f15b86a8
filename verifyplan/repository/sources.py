"""Cited files, opened to be read: confined to one folder, limited in size, kept for a while (rules G4, H3)."""

from __future__ import annotations

import ast
import threading
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from verifyplan.repository.reading import LARGEST as LARGEST
from verifyplan.repository.reading import UnreadableError as UnreadableError
from verifyplan.repository.reading import read_lines as read_lines

_PARSING = threading.Lock()  # the filter of warnings belongs to the whole process


@dataclass(frozen=True)
class Source:
    """Lines of code that a checker may look at, and where they stand.

    `whole` is false for lines that are only quoted: `first` is then the cited line, and what the lines do not
    show may stand elsewhere.
    """

    path: str
    lines: tuple[str, ...]
    first: int = 1
    whole: bool = True

    def line(self, number: int) -> str:
        """The text of one line, by its number in the file; empty if it does not exist."""
        at = number - self.first
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def numbered(self, first: int = 1, last: int | None = None) -> list[tuple[int, str]]:
        """Line numbers and lines from `first` to `last`, as far as they exist."""
        start = max(first - self.first, 0)
        stop = len(self.lines) if last is None else max(last - self.first + 1, 0)
        return [(self.first + start + at, line) for at, line in enumerate(self.lines[start:stop])]

    def at(self, number: int) -> str:
        """A line as a citation."""
        return f"{self.path}:{number}" if self.path else f"line {number} of the quoted text"

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None if this is not Python, or Python that does not parse."""
        return parse("\n".join(self.lines)) if self.path.endswith((".py", ".pyi")) else None


def parse(text: str) -> ast.Module | None:
    """The syntax tree of a Python text, or None where it has none, for whatever reason."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class Sources:
    """Opens cited files under one root; the last ones opened are kept, up to `most` characters of text.

    Safe to use from several threads.
    """

    def __init__(self, root: str | Path, most: int = 8_000_000) -> None:
        self._root = Path(root)
        self._most = most
        self._kept: OrderedDict[str, Source] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, path: str) -> Source:
        """The file at `path`, relative to the root; UnreadableError says why it cannot be read.

        Links are resolved first, and what then lies outside the root is not opened. Files above 2 MB, binary
        files, files that are not UTF-8 and what is no ordinary file are refused. Source: rules G4, H3.
        """
        with self._lock:
            source = self._kept.pop(path, None) or Source(path, read_lines(self._root, path))
            self._kept[path] = source
            while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > self._most:
                self._kept.popitem(last=False)
            return source


def _size(source: Source) -> int:
    return sum(map(len, source.lines))

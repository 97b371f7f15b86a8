"""Definitions by name: the few files that may hold one are found by the index and parsed."""

from __future__ import annotations

import posixpath
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from verifyplan.agents.repository.careful import Careful, GaveUpError
from verifyplan.agents.repository.languages import PARSED
from verifyplan.agents.repository.likeness import nearest
from verifyplan.agents.repository.patterns import may_define
from verifyplan.agents.repository.records import FileEntry, Symbol
from verifyplan.agents.repository.texts import Texts
from verifyplan.agents.repository.words import Words

SECONDS = 10.0
"""How long parsing one file may take."""
LARGEST = 1_000_000
"""Characters above which a file is not parsed; it was then made by a program."""

_KEPT_FILES = 5_000
_SEPARATORS = re.compile(r"\.|::|#|/|->")


class Symbols:
    """Reads definitions and imports of listed files, each file once; what cannot be parsed is noted as skipped."""

    def __init__(self, files: Mapping[str, FileEntry], texts: Texts, careful: Careful) -> None:
        self._files = files
        self._texts = texts
        self._careful = careful
        self._kept: OrderedDict[tuple[str, str], list[list[object]]] = OrderedDict()

    def of_file(self, path: str) -> list[Symbol]:
        """All definitions of one file, in order; none if its language is not parsed or it cannot be read."""
        return [_symbol(path, row) for row in self.parsed("definitions", path)]

    def parsed(self, task: str, path: str) -> list[list[object]]:
        """What the helping process reads in a file: its `definitions` or its `imports`."""
        if (task, path) not in self._kept:
            self._kept[task, path] = self._parse(task, path)
            if len(self._kept) > _KEPT_FILES:
                self._kept.popitem(last=False)
        self._kept.move_to_end((task, path))
        return self._kept[task, path]

    def named(self, name: str, words: Words, limit: int) -> list[Symbol]:
        """Definitions of the last part of a dotted name, in path order, as `Repository.symbols` gives them."""
        owner, last = _parts(name)
        if not re.search(r"\w", last):
            return []
        if owner:
            likely = {*words.files(f"{owner} {last}"), *(path for path in words.files(last) if _stem(path) == owner)}
            within = self._defined(last, sorted(likely), owner, limit)
            if within:
                return within
        return self._defined(last, words.files(last), "", limit)

    def similar(self, name: str, words: Words, n: int) -> list[Symbol]:
        """The first definition of each of the `n` nearest names that are really defined."""
        _, last = _parts(name)
        found: list[Symbol] = []
        for near in nearest(last, words.names, 3 * n + 3):
            if len(found) >= n:
                break
            if near != last:
                found += self.named(near, words, 1)
        return found

    def _defined(self, name: str, paths: Iterable[str], owner: str, limit: int) -> list[Symbol]:
        """Up to `limit` definitions of a bare name in some files, only those within `owner` unless that is empty."""
        found: list[Symbol] = []
        likely = (path for path in paths if self._files[path].language in PARSED)
        for path, text in self._texts.scan(likely):
            if len(found) >= limit:
                break
            if may_define(name, self._files[path].language or "").search(text):
                found += [one for one in self.of_file(path) if one.name == name and (not owner or _within(one, owner))]
        return found[: max(limit, 0)]

    def _parse(self, task: str, path: str) -> list[list[object]]:
        entry = self._files.get(path)
        if entry is None or entry.language not in PARSED:
            return []
        text = self._texts.text(path)
        if text is None:
            return []
        grammar = "tsx" if path.endswith(".tsx") else entry.language
        try:
            if len(text) > LARGEST:
                raise GaveUpError(f"it has more than {LARGEST:,} characters")
            rows: list[list[object]] = self._careful.ask(task, text, grammar, seconds=SECONDS)
        except GaveUpError as error:
            self._texts.skipped.setdefault(path, f"was not parsed ({error})")
            return []
        return rows


def _symbol(path: str, row: list[object]) -> Symbol:
    name, kind, line, last, signature, container = row
    return Symbol(name, kind, path, line, last, signature, container)  # type: ignore[arg-type]


def _parts(name: str) -> tuple[str, str]:
    """The last part of a dotted name behind the one before it, which may be empty."""
    parts = [part for part in _SEPARATORS.split(name.strip().removesuffix("()")) if part]
    return (parts[-2] if len(parts) > 1 else ""), (parts[-1] if parts else "")


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _within(symbol: Symbol, owner: str) -> bool:
    """Whether a symbol lies in a class of this name, or at the top of a file of this name."""
    return owner == symbol.container.rpartition(".")[2] or (not symbol.container and owner == _stem(symbol.path))

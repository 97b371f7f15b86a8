"""Find secrets in columns and groups by the names at their heads: CSV, Markdown, HTML, aligned text, SQL, mappings."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import NamedTuple

from verifyplan.secret_rules.assignments import Kind, is_secret_value

MAX_CELLS, MAX_HEAD_CHARACTERS = 100, 2000
"""Cells of a row, and characters of a line of names."""

_HINTS = ("pass", "pwd", "secret", "token", "key", "kennwort", "contrase\u00f1a", "senha")
_WORD_BEFORE = r"(?:[^\W_]{1,20}[ _.-]){0,3}?"
_HEADS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "password",
        re.compile(
            rf"(?i){_WORD_BEFORE}(?:[^\W_]{{0,10}}pass(?:word|wd|phrase|code|wort)s?|pass|pwd|kennwort|contrase\u00f1a|senha"
            r"|mot de passe)(?:[ _-]?\(?(?:plain(?:text)?|value|new|old|initial|default|[0-9])\)?)?"
        ),
    ),
    (
        "secret",
        re.compile(
            rf"(?i){_WORD_BEFORE}(?:secret|token|(?:api|access|secret|private|client|auth|account|license|signing|shared)"
            r"[ _-]?(?:key|secret|token)s?)(?:[ _-]?(?:value|key))?"
        ),
    ),
)
_USER = re.compile(r"(?i)(?:.*[ _-])?(?:user|user ?name|login|e-?mail|benutzer|url|host|account)(?:[ _-]?(?:name|id))?")
_NAME = re.compile(r"[^\W\d][\w .()/#-]{0,39}")
_RULE = re.compile(r"[-+=:| \t]{3,}")
_PADDING = " \t\"'`*"
_QUOTED_CELL = re.compile(r'[ \t]*"(?:[^"]|"")*+"')
_ALIGNED = re.compile(r"[^\s]+(?: [^\s]+)*")
_HTML = re.compile(
    r"(?i)<(tr|th|td|/table)\b[^<>]{0,200}>\s{0,20}(?:<(?:b|p|code|span|strong|tt)\b[^<>]{0,100}>)?([^<]{0,200})"
)
_INSERT = re.compile(r"(?i)\binto\s{1,20}[\w.\"`\[\]]{1,100}\s{0,20}\(([^()]{1,2000})\)\s{0,20}values\s{0,20}")
_SQL_ROW = re.compile(r"\s{0,40},?\s{0,40}\((?:'(?:[^'\\]|''|\\.){0,400}'|[^'()]|\([^'()]{0,99}\)){0,200}\)")
_SQL_CELL = re.compile(r"\s*+(?:'((?:[^'\\]|''|\\.)*+)'|((?:\([^()]*+\)|[^,()])*+))\s*+(?:,|$)")
_PARALLEL = re.compile(
    r"[ \t]*(?:(?:const|let|var|local|my)\b)?[ \t(\[]{0,3}((?:[$\w.]{1,40},[ \t]?){1,9}[$\w.]{1,40})"
    r"[ \t)\]]{0,3}:?=[ \t(\[]{0,3}"
    r"(?=[\"'])"
)
_LITERAL = re.compile(r"[ \t]*+(?:\"([^\"\n]*+)\"|'([^'\n]*+)'|([\w.()-]*+))[ \t]*+(?:,|$|(?=[)\];#\n]))")

_GROUPS: dict[str, Kind] = {
    **dict.fromkeys(("passwords", "passwds"), "password"),
    **dict.fromkeys(("credentials", "secrets", "tokens", "keys", "stringdata"), "secret"),
}
_GROUP = re.compile(r"[\"']?[ \t]?(?::=|=>|:|=)[ \t]?[\[({]?")
_ENTRY = re.compile(
    r"(?P<gap>[ \t,]{0,4}|,?[ \t]{0,20}(?:#[^\n]{0,200})?\r?\n(?P<indent>[ \t]{1,60}))(?:-[ \t]{1,4})?"
    r"(?:[\"']?[\w.@/-]{1,60}[\"']?[ \t]?(?::|=>|=)[ \t]?)?"
    r"(?:\"(?P<double>[^\"\n]{1,400})\"|'(?P<single>[^'\n]{1,400})'"
    r"|(?P<bare>[^\s\"',{}\[\]()#|>&!][^\s\"',{}\[\]()]{3,400}(?=[ \t]*(?:[\r\n,}\]]|$))))"
)
MAX_ENTRIES = 200
"""Entries of a group of secrets that are looked at."""


class Head(NamedTuple):
    """The head of a table: the kind of each column that holds secrets, and whether another holds users."""

    kinds: dict[int, Kind]
    with_users: bool


def column_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are below the name of their column; `lower` is the text in small letters, as long."""
    if not any(hint in lower for hint in _HINTS):
        return
    yield from _line_spans(text, lower)
    if "<th" in lower:
        yield from _html_spans(text)
    if "values" in lower:
        yield from _insert_spans(text, lower)
    yield from _group_spans(text, lower)


def _head(names: list[str]) -> Head | None:
    """Return what the names say, if one is that of a secret and all are names."""
    names = [name.strip(_PADDING) for name in names]
    if not all(not name or _NAME.fullmatch(name) for name in names):
        return None
    kinds = {column: kind for column, name in enumerate(names) for kind, pattern in _HEADS if pattern.fullmatch(name)}
    if not kinds:
        return None
    return Head(kinds, any(map(_USER.fullmatch, names)))


def _is_secret(head: Head, column: int, value: str) -> bool:
    kind = head.kinds.get(column)
    return kind is not None and is_secret_value(value, kind, listed=not head.with_users)


def _line_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield secrets of tables whose rows are lines; for each literal, a line is looked at once, as a head or a row."""
    for hint in _HINTS:
        at = lower.find(hint)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, _end(text, at)
            if end - start <= MAX_HEAD_CHARACTERS:
                table = _table(text, start, end)
                if table is not None:
                    end = yield from _row_spans(text, end, *table)
                else:
                    yield from _parallel_spans(text, start, end)
            at = lower.find(hint, end)


Cells = Callable[[str], list[tuple[int, int]]]


def _table(text: str, start: int, end: int) -> tuple[Head, Cells, int] | None:
    """Return the head on the line, how rows below it are parted, and the cells of a row (0: any number)."""
    line = text[start:end].rstrip("\r")
    for separator in "|\t;,":
        if separator in line:
            cells = _separated(line, separator)
            head = _head([line[first:last] for first, last in cells])
            if head is not None and len(cells) > 1:
                return head, partial(_separated, separator=separator), len(cells)
    below = text[end + 1 : _end(text, end + 1)]
    if "  " not in line.strip() or not (_RULE.fullmatch(below.strip()) or line.isupper()):
        return None
    names = [match.span() for match in _ALIGNED.finditer(line)]
    head = _head([line[first:last] for first, last in names])
    return None if head is None else (head, partial(_aligned, names=names), 0)


def _row_spans(text: str, end: int, head: Head, cells_of: Cells, count: int) -> Generator[tuple[int, int], None, int]:
    """Yield secrets of the lines below a head, until a line is no row; return where the last row ends."""
    while end < len(text):
        start, last = end + 1, _end(text, end + 1)
        row = text[start:last].rstrip("\r")
        if last - start > 10 * MAX_HEAD_CHARACTERS or not row.strip():
            return end
        if not _RULE.fullmatch(row.strip()):
            cells = cells_of(row)
            if (count and len(cells) != count) or not cells:
                return end
            for column, (first, behind) in enumerate(cells):
                value = row[first:behind].strip(_PADDING)
                if column in head.kinds and value and _is_secret(head, column, value):
                    place = start + row.index(value, first)
                    yield place, place + len(value)
        end = last
    return end


def _end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _separated(line: str, separator: str) -> list[tuple[int, int]]:
    cells: list[tuple[int, int]] = []
    at = 0
    while len(cells) <= MAX_CELLS:
        quoted = _QUOTED_CELL.match(line, at) if separator != "|" else None
        end = line.find(separator, quoted.end() if quoted else at)
        cells.append((at, len(line) if end < 0 else end))
        if end < 0:
            break
        at = end + 1
    return cells


def _aligned(row: str, names: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the word that begins where each name does, or ends there; an empty place where there is none."""
    words = [match.span() for match in re.finditer(r"\S+", row)]
    by_start, by_end = {first: (first, last) for first, last in words}, {last: (first, last) for first, last in words}
    return [by_start.get(first) or by_end.get(last) or (0, 0) for first, last in names]


def _html_spans(text: str) -> Iterator[tuple[int, int]]:
    head: Head | None = None
    names: list[str] = []
    column = 0
    for match in _HTML.finditer(text):
        tag, cell = match[1].lower(), match[2].strip()
        if tag in ("tr", "/table"):
            if names:
                head, names = _head(names), []
            head, column = None if tag == "/table" else head, 0
        elif tag == "th" and len(names) < MAX_CELLS:
            names.append(cell)
        elif tag == "td":
            if head is not None and cell and _is_secret(head, column, cell):
                start = text.index(cell, match.start(2))
                yield start, start + len(cell)
            column += 1


def _insert_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    at = lower.find("into")
    while at >= 0:
        insert = _INSERT.match(text, at)
        at += 4
        if insert is not None:
            at = insert.end()
            head = _head([name.strip("[]\n\r\t ") for name in insert[1].split(",")])
            while head is not None and (row := _SQL_ROW.match(text, at)):
                at = row.end()
                yield from _sql_row_spans(text, text.index("(", row.start()) + 1, at - 1, head)
        at = lower.find("into", at)


def _sql_row_spans(text: str, place: int, end: int, head: Head) -> Iterator[tuple[int, int]]:
    column = 0
    while place < end and (cell := _SQL_CELL.match(text, place, end)) and cell.end() > place:
        if cell[1] and _is_secret(head, column, cell[1]):
            yield cell.span(1)
        column, place = column + 1, cell.end()


def _parallel_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield secrets of a line such as `user, password = "ann", "..."`."""
    names = _PARALLEL.match(text, start, end)
    if names is None:
        return
    head = _head([name.strip(" \t$").replace(".", "_") for name in names[1].split(",")])
    at, column = names.end(), 0
    while head is not None and column < MAX_CELLS and (literal := _LITERAL.match(text, at, end)) and literal.end() > at:
        group = 1 if literal[1] else 2
        if literal[group] and _is_secret(head, column, literal[group]):
            yield literal.span(group)
        at, column = literal.end(), column + 1


def _group_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield secrets of a list, or a mapping by any names, of several: `passwords: {ann: ..., bob: ...}`."""
    for hint, kind in _GROUPS.items():
        at = lower.find(hint)
        while at >= 0:
            end = at + len(hint)
            group = _GROUP.match(text, end)
            if group is not None:
                line = text[max(text.rfind("\n", 0, at) + 1, at - MAX_HEAD_CHARACTERS) : at]
                end = yield from _entry_spans(text, group.end(), kind, len(line) - len(line.lstrip()))
            at = lower.find(hint, end)


def _entry_spans(text: str, end: int, kind: Kind, indent: int) -> Generator[tuple[int, int], None, int]:
    """Yield secrets of the entries from a place on, those on later lines if indented; return where the last ends."""
    for _ in range(MAX_ENTRIES):
        entry = _ENTRY.match(text, end)
        if entry is None or (entry["indent"] is not None and len(entry["indent"]) <= indent):
            break
        end = entry.end()
        name = next(name for name in ("double", "single", "bare") if entry[name] is not None)
        if is_secret_value(entry[name], kind, listed=True):
            yield entry.span(name)
    return end

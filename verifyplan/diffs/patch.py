"""Unified diffs read strictly and applied to texts; nothing is guessed, nothing is fuzzy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from verifyplan.diffs.writing import HUNK, NOWHERE, lines_of, nameable
from verifyplan.errors import InputError, Problem


class PatchError(InputError):
    """A text is no unified diff, or does not fit the files that it names."""


@dataclass
class _Hunk:
    """A hunk: the first line that it replaces, and lines with their ends as they are and as they will be."""

    line: int
    first: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class _Part:
    """What a diff does to one file."""

    line: int
    path: str
    makes: bool
    removes: bool
    hunks: list[_Hunk] = field(default_factory=list)


def apply(diff: str, read: Callable[[str], str | None]) -> dict[str, str | None]:
    r"""The texts of the files that a diff changes, as they are after it; None for one that it removes.

    `read` gives a file's text, or None where there is none. PatchError if the text is no unified diff, names a file
    that it may not, or does not fit what is there, line by line and number by number: lines are never looked for
    in another place.

    >>> apply("--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-old\n+new\n", {"a.md": "old\n"}.get)
    {'a.md': 'new\n'}
    """
    found: dict[str, str | None] = {}
    for part in _parts(diff):
        if part.path in found:
            raise _error(part.line, f"{part.path} is changed twice", "put all hunks of a file under one head")
        found[part.path] = _applied(part, read(part.path))
    return found


def _applied(part: _Part, text: str | None) -> str | None:
    if part.makes != (text is None):
        raise _error(part.line, f"{part.path} {'is there already' if part.makes else 'is not there'}", "name what is")
    lines, found, at = lines_of(text or ""), list[str](), 0
    for hunk in part.hunks:
        begin = hunk.first - 1 if hunk.old else hunk.first
        if begin < at or lines[begin : begin + len(hunk.old)] != hunk.old:
            raise _error(hunk.line, f"the hunk does not fit {part.path}", "make the diff of the file as it is")
        found += lines[at:begin] + hunk.new
        at = begin + len(hunk.old)
    if at > len(lines):
        raise _error(part.line, f"{part.path} has no line {at}", "make the diff of the file as it is")
    found += lines[at:]
    if any(not line.endswith("\n") for line in found[:-1]):
        raise _error(part.line, f"a line within {part.path} has no end", "make the diff of the file as it is")
    return None if part.removes and not found else "".join(found)


def _parts(diff: str) -> Iterator[_Part]:
    lines = diff.split("\n")
    at, part = 0, None
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if part is not None:
                yield part
            part, at = _head(at + 1, line, lines[at + 1]), at + 2
        elif line.startswith("@@") and part is not None:
            hunk, at = _hunk(lines, at)
            part.hunks.append(hunk)
        elif line[:1] in ("+", "-", " ", "\\") and part is not None:
            raise _error(at + 1, "the line belongs to no hunk", "let the numbers of the hunk count its lines")
        else:
            at += 1
    if part is not None:
        yield part
    elif diff.strip():
        raise _error(1, "this is no unified diff", "begin with --- a/FILE and +++ b/FILE")


def _head(line: int, old: str, new: str) -> _Part:
    before, after = (text[4:].split("\t")[0].rstrip("\r") for text in (old, new))
    if before.startswith("a/") or after.startswith("b/"):
        before, after = before.removeprefix("a/"), after.removeprefix("b/")
    path = before if after == NOWHERE else after
    if before not in (path, NOWHERE) or not nameable(path):
        raise _error(line, f"{path!r} is no file that may be changed", "name one file in the folder, not renamed")
    return _Part(line, path, before == NOWHERE, after == NOWHERE)


def _hunk(lines: list[str], at: int) -> tuple[_Hunk, int]:
    """A hunk, and where in the diff the next line stands."""
    head = HUNK.match(lines[at])
    if head is None:
        raise _error(at + 1, "the head of the hunk cannot be read", "write @@ -first,lines +first,lines @@")
    hunk = _Hunk(at + 1, int(head[1]))
    olds, news = (int(number) if number is not None else 1 for number in (head[2], head[4]))
    at += 1
    while len(hunk.old) < olds or len(hunk.new) < news:
        if at >= len(lines):
            raise _error(hunk.line, "the hunk ends before all its lines", "let its numbers count its lines")
        _take(hunk, lines[at], at)
        at += 1
        at += _unended(hunk, lines, at)
    if len(hunk.old) > olds or len(hunk.new) > news:
        raise _error(hunk.line, "the hunk has more lines than it says", "let its numbers count its lines")
    return hunk, at


def _take(hunk: _Hunk, line: str, at: int) -> None:
    kind = line[:1] or " "
    if kind not in "+- ":
        raise _error(at + 1, "the line is none of a hunk", "begin it with +, - or a space")
    if kind != "+":
        hunk.old.append(f"{line[1:]}\n")
    if kind != "-":
        hunk.new.append(f"{line[1:]}\n")


def _unended(hunk: _Hunk, lines: list[str], at: int) -> int:
    """1 if a mark stands at this place, which takes the end from the line in front of it; else 0."""
    if at >= len(lines) or not lines[at].startswith("\\"):
        return 0
    kind = lines[at - 1][:1] or " "
    for side in [side for side, out in ((hunk.old, "+"), (hunk.new, "-")) if kind != out]:
        side[-1] = side[-1].removesuffix("\n")
    return 1


def _error(line: int, message: str, fix: str) -> PatchError:
    return PatchError(Problem(f"diff: line {line}", message, fix))

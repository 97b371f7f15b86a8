"""Unified diffs: written from texts, read strictly, and applied to texts without any guess."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from verifyplan.errors import InputError, Problem

NO_FILE = "/dev/null"
"""The name that a diff gives a file which does not exist."""

_NO_LINE_END = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_CONTEXT_LINES, _MAX_COMPARED_LINES = 3, 20_000


def diff_of(changes: Mapping[str, tuple[str | None, str]]) -> str:
    r"""Return the unified diff of some files, each with its old text (None: there is no such file) and its new one.

    Files without a change, and names that no diff can hold, are left out. Only a line feed ends a line.

    >>> print(diff_of({"README.md": ("# Sums\n", "# Sums\n\nAdd.\n")}), end="")
    --- a/README.md
    +++ b/README.md
    @@ -1 +1,3 @@
     # Sums
    +
    +Add.
    """
    return "".join(
        line
        for path, (old, new) in changes.items()
        if old != new and nameable(path)
        for line in _diff_lines(path, old, new)
    )


def nameable(path: str) -> bool:
    """Whether a diff can name a file: a path that stays in its folder, without control characters."""
    parts = path.split("/")
    plain = all(character.isprintable() for character in path) and "\\" not in path and path.strip() == path
    return plain and not set(parts) & {"", ".", ".."} and not re.match(r"[A-Za-z]:", path)


def _diff_lines(path: str, old: str | None, new: str) -> Iterator[str]:
    """The diff of one file; lines far from any change are not compared, so that large texts stay cheap."""
    before, after = _lines_of(old or ""), _lines_of(new)
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = range(shorter - head)
    tail = next((at for at in rest if before[-1 - at] != after[-1 - at]), len(rest))
    skipped, kept = max(head - _CONTEXT_LINES, 0), max(tail - _CONTEXT_LINES, 0)
    old_lines, new_lines = before[skipped : len(before) - kept], after[skipped : len(after) - kept]
    tab = "\t" if " " in path else ""
    names = (NO_FILE if old is None else f"a/{path}{tab}", f"b/{path}{tab}")
    if len(old_lines) + len(new_lines) > _MAX_COMPARED_LINES:
        # one hunk that replaces all: looking for the smallest change takes too long in texts of that size
        counts = (f"{min(len(lines), 1)},{len(lines)}" for lines in (old_lines, new_lines))
        head_lines = (f"--- {names[0]}\n", f"+++ {names[1]}\n", "@@ -{} +{} @@\n".format(*counts))
        diff: Iterable[str] = chain(head_lines, (f"-{line}" for line in old_lines), (f"+{line}" for line in new_lines))
    else:
        diff = difflib.unified_diff(old_lines, new_lines, *names, n=_CONTEXT_LINES)
    for line in diff:
        shown = _HUNK.sub(lambda matched: _shifted(matched, skipped), line) if line.startswith("@@") else line
        yield shown if shown.endswith("\n") else f"{shown}\n{_NO_LINE_END}\n"


def _shifted(head: re.Match[str], lines: int) -> str:
    old, n_old, new, n_new = head.groups()
    ranges = (f"{int(first) + lines}" + (f",{n}" if n is not None else "") for first, n in ((old, n_old), (new, n_new)))
    return "@@ -{} +{} @@".format(*ranges)


def _lines_of(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


class PatchError(InputError):
    """A text is not a unified diff, or does not fit the files that it names."""


@dataclass
class _Hunk:
    """A hunk: its line in the diff, the first line that it replaces, and old and new lines with their ends."""

    line: int
    first: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class _FileDiff:
    """The hunks of one file, and whether the diff creates or removes it."""

    line: int
    path: str
    creates: bool
    removes: bool
    hunks: list[_Hunk] = field(default_factory=list)


def apply(diff: str, read: Callable[[str], str | None]) -> dict[str, str | None]:
    r"""Return the new texts of the files that a diff changes; None for a file that it removes.

    `read` returns a file's text, or None where there is no such file. PatchError if the text is not a unified diff,
    names a file that it may not, or does not fit the text line by line and number by number: a hunk is never applied
    at another place than its own.

    >>> apply("--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-old\n+new\n", {"a.md": "old\n"}.get)
    {'a.md': 'new\n'}
    """
    changed: dict[str, str | None] = {}
    for part in _file_diffs(diff):
        if part.path in changed:
            raise _error(part.line, f"{part.path} is changed twice", "put all hunks of a file under one head")
        changed[part.path] = _applied(part, read(part.path))
    return changed


def _applied(part: _FileDiff, text: str | None) -> str | None:
    if part.creates != (text is None):
        raise _error(part.line, f"{part.path} {'is there already' if part.creates else 'is not there'}", "name what is")
    lines, result, at = _lines_of(text or ""), list[str](), 0
    for hunk in part.hunks:
        begin = hunk.first - 1 if hunk.old else hunk.first
        if begin < at or lines[begin : begin + len(hunk.old)] != hunk.old:
            raise _error(hunk.line, f"the hunk does not fit {part.path}", "make the diff of the file as it is")
        result += lines[at:begin] + hunk.new
        at = begin + len(hunk.old)
    if at > len(lines):
        raise _error(part.line, f"{part.path} has no line {at}", "make the diff of the file as it is")
    result += lines[at:]
    if any(not line.endswith("\n") for line in result[:-1]):
        raise _error(part.line, f"a line within {part.path} has no end", "make the diff of the file as it is")
    return None if part.removes and not result else "".join(result)


def _file_diffs(diff: str) -> Iterator[_FileDiff]:
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
            raise _error(at + 1, "the line does not belong to a hunk", "let the numbers of the hunk count its lines")
        else:
            at += 1
    if part is not None:
        yield part
    elif diff.strip():
        raise _error(1, "this is not a unified diff", "begin with --- a/FILE and +++ b/FILE")


def _head(line: int, old: str, new: str) -> _FileDiff:
    before, after = (text[4:].split("\t")[0].rstrip("\r") for text in (old, new))
    if before.startswith("a/") or after.startswith("b/"):
        before, after = before.removeprefix("a/"), after.removeprefix("b/")
    path = before if after == NO_FILE else after
    if before not in (path, NO_FILE) or not nameable(path):
        raise _error(line, f"{path!r} is not a file that may be changed", "name one file in the folder, not renamed")
    return _FileDiff(line, path, before == NO_FILE, after == NO_FILE)


def _hunk(lines: list[str], at: int) -> tuple[_Hunk, int]:
    """Return the hunk that begins at a place of the diff, and the place behind it."""
    head = _HUNK.match(lines[at])
    if head is None:
        raise _error(at + 1, "the head of the hunk cannot be read", "write @@ -first,lines +first,lines @@")
    hunk = _Hunk(at + 1, int(head[1]))
    olds, news = (int(number) if number is not None else 1 for number in (head[2], head[4]))
    at += 1
    while len(hunk.old) < olds or len(hunk.new) < news:
        if at >= len(lines):
            raise _error(hunk.line, "the hunk ends before all its lines", "let its numbers count its lines")
        kind, text = lines[at][:1] or " ", lines[at][1:]
        if kind not in "+- ":
            raise _error(at + 1, "the line does not belong to the hunk", "begin it with +, - or a space")
        at += 1
        unended = at < len(lines) and lines[at].startswith("\\")  # a marker takes the end from the line before it
        at += unended
        for side, other in ((hunk.old, "+"), (hunk.new, "-")):
            if kind != other:
                side.append(text if unended else f"{text}\n")
    if len(hunk.old) > olds or len(hunk.new) > news:
        raise _error(hunk.line, "the hunk has more lines than it says", "let its numbers count its lines")
    return hunk, at


def _error(line: int, message: str, fix: str) -> PatchError:
    return PatchError(Problem(f"diff: line {line}", message, fix))

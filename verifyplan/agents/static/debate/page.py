"""Small edits of a plan's lines: a sentence added to a step, a paragraph in front of one, words replaced."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from verifyplan.agents.static.roles.reading import Reading

WIDTH = 120
"""Characters of a line that is added."""

Lines = tuple[str, ...]

_ITEM = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ALONE = re.compile(r"\s*(?:#{1,6}\s|<|>|(?:-{3,}|={3,}|\*{3,})\s*$|```|~~~)")
_ENDED = re.compile(r"[.!?:;][)\"'*`_]*$")
_LONGEST = 2_000


def add(lines: Lines, reading: Reading, line: int, text: str) -> Lines | None:
    """The lines with a sentence at the end of the paragraph, list item or row of a table that `line` stands in.

    Behind a block of code it becomes a paragraph of its own. None where there is no such line, or it is a tag, a
    heading or part of the frontmatter: there a sentence has no place.
    """
    if not reading.plan.body <= line <= len(lines):
        return None
    block = reading.block(line)
    if block is not None:
        return _behind(lines, block.last, _indent(lines[block.first - 1]), text)
    if lines[line - 1].lstrip().startswith("|"):
        return _in_row(lines, line, text)
    if not lines[line - 1].strip() or _ALONE.match(lines[line - 1]):
        return None
    last = _last_of_paragraph(lines, line)
    following = reading.block(last + 1) or (reading.block(last + 2) if not _line(lines, last + 1).strip() else None)
    if following is not None and lines[last - 1].rstrip().endswith(":"):
        return _behind(lines, following.last, _indent(lines[following.first - 1]), text)
    own = lines[last - 1].rstrip()
    ended = own if _ENDED.search(own) else f"{own}."
    first = _first_of_paragraph(lines, last)
    item = _ITEM.match(lines[first - 1])
    indent = " " * _hang(lines[first - 1]) if item and last == first else _indent(lines[last - 1])
    return (*lines[: last - 1], ended, *_wrapped(text, indent), *lines[last:])


def put_before(lines: Lines, reading: Reading, line: int, text: str) -> Lines | None:
    """The lines with a paragraph in front of that of `line`, or with a list item in front of the one it stands in.

    An item of a numbered list is not put there, as the numbers behind it would change: None then, as in `add`.
    """
    if not reading.plan.body <= line <= len(lines) or reading.block(line) is not None:
        return None
    first = _first_of_paragraph(lines, line)
    item = _ITEM.match(lines[first - 1])
    if item is None:
        return (*lines[: first - 1], *_wrapped(text, _indent(lines[first - 1])), "", *lines[first - 1 :])
    if any(character.isdigit() for character in item.group()):
        return None
    mark = item.group().replace("x", " ").replace("X", " ")
    body = _wrapped(text, " " * _hang(lines[first - 1]))
    return (*lines[: first - 1], mark + body[0].lstrip(), *body[1:], *lines[first - 1 :])


def reword(lines: Lines, numbers: Sequence[int], old: str, new: str) -> Lines | None:
    """The lines with a whole name replaced on some of them; None if it stands on none."""
    pattern = re.compile(rf"(?<![\w/.-]){re.escape(old)}(?![\w-]|/\w|\.\w)")
    wanted = set(numbers)
    found = tuple(
        pattern.sub(lambda _: new, text) if at in wanted and len(text) <= _LONGEST else text
        for at, text in enumerate(lines, 1)
    )
    return found if found != lines else None


def replace_sentence(lines: Lines, first: int, last: int, old: str, new: str) -> Lines | None:
    """The lines with a sentence that stands on lines `first` to `last` replaced by another."""
    joined = " ".join(text.strip() if at else text.rstrip() for at, text in enumerate(lines[first - 1 : last]))
    if old not in joined or len(joined) > 2 * _LONGEST:
        return None
    before, _, after = joined.partition(old)
    item = _ITEM.match(before)
    indent = " " * _hang(before) if item else _indent(lines[min(first, len(lines) - 1)] if last > first else before)
    head = item.group() if item else _indent(before)
    body = textwrap.wrap(
        f"{before[len(head) :]}{new}{after}", WIDTH, initial_indent=head, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return (*lines[: first - 1], *body, *lines[last:])


def _in_row(lines: Lines, line: int, text: str) -> Lines:
    """A sentence at the end of the longest cell of a table's row."""
    cells = re.split(r"(?<!\\)\|", lines[line - 1])
    longest = max(range(len(cells)), key=lambda at: len(cells[at].strip()))
    cells[longest] = f"{cells[longest].rstrip().rstrip('.')}; {text[0].lower()}{text[1:].rstrip('.')} "
    return (*lines[: line - 1], "|".join(cells), *lines[line:])


def _behind(lines: Lines, last: int, indent: str, text: str) -> Lines:
    gap = ("",) if _line(lines, last + 1).strip() else ()
    return (*lines[:last], "", *_wrapped(text, indent), *gap, *lines[last:])


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _first_of_paragraph(lines: Lines, line: int) -> int:
    while line > 1 and not _ITEM.match(lines[line - 1]) and _joins(lines[line - 2]):
        line -= 1
    return line


def _last_of_paragraph(lines: Lines, line: int) -> int:
    while line < len(lines) and _joins(lines[line]) and not _ITEM.match(lines[line]):
        line += 1
    return line


def _joins(text: str) -> bool:
    return bool(text.strip()) and not _ALONE.match(text) and not text.lstrip().startswith("|")


def _hang(text: str) -> int:
    """How far the text of a list item is set in behind its mark; that of a box to tick is not counted."""
    item = re.match(r"\s*(?:[-*+]|\d{1,3}[.)])\s+", text)
    return len(item.group()) if item else len(_indent(text))


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _line(lines: Lines, number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""

"""Notes cut into passages: what stands under a heading, or some paragraphs of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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


def passages(path: str, text: str) -> Iterator[Note]:
    r"""The passages of a note in order; blank ones are left out, and nothing else is.

    A passage begins at a heading (also at what looks like one within code), or at the first paragraph after 1,200
    characters. A heading stays with what follows it.

    >>> [(note.line, note.passage) for note in passages("a.md", "# A\n\nOne.\n\n# B\nTwo.\n")]
    [(1, '# A\n\nOne.'), (5, '# B\nTwo.')]
    """
    start, size = 1, 0
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        ends = _HEADING.match(line) or (size >= MAX_PASSAGE_CHARACTERS and not line.strip())
        if ends and any(_HEADING.match(one) is None and one.strip() for one in lines):
            yield from _note(path, start, lines)
            start, lines, size = number, [], 0
        lines.append(line)
        size += len(line) + 1
    yield from _note(path, start, lines)


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order; the parts of a name like `findOrder` stand behind it.

    >>> words("Why findOrder, find_order?")
    ['why', 'findorder', 'find', 'order', 'find', 'order']
    """
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = _INNER.findall(word)
        found += [word.casefold(), *(part.casefold() for part in parts if len(parts) > 1)]
    return found


def _note(path: str, start: int, lines: list[str]) -> Iterator[Note]:
    """The passage without blank lines around it, if anything is left."""
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is not None:
        yield Note(path, start + first, "\n".join(lines[first:]).rstrip())

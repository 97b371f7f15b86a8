"""Places that a text cites: `path.ext:12`, `line 12`, `L12` (rules B4, B7)."""

from __future__ import annotations

import re
from typing import NamedTuple

# rule B7's pattern begins with `[\w./\\-]*`. For the question whether there is a citation that part, which
# may be empty, changes nothing but the time: without it a long text is read once, not n times.
CITATION = re.compile(r"[\w-]\.[A-Za-z]\w*:\d+|\bline \d+\b|\bL\d+\b")
"""Found in a text that names a place (see `cites_location`)."""
_LINE = re.compile(r"\b(?:line |L)(\d{1,9})\b")
_PLACE = re.compile(r"(?<![\w./\\-])([\w./\\-]*[\w-]\.[A-Za-z]\w*):(\d{1,9})(?:-(\d{1,9}))?")


class Place(NamedTuple):
    """A cited range of lines, from 1, both ends included."""

    path: str
    first: int
    last: int


def cites_location(text: str | None) -> bool:
    """Return whether `text` names a place that a reader could open; None names none.

    >>> cites_location("src/auth/login.ts:48 already validates"), cites_location("the check is missing")
    (True, False)
    """
    return text is not None and CITATION.search(text) is not None


def places(text: str) -> list[Place]:
    """Return every `path.ext:12` and `path.ext:12-20` in a text, in order; a range that runs backwards is turned.

    >>> places("see json/decoder.py:20-24 and a.py:3")
    [Place(path='json/decoder.py', first=20, last=24), Place(path='a.py', first=3, last=3)]
    """
    places = []
    for path, first, last in _PLACE.findall(text):
        low, high = sorted((int(first), int(last or first)))
        places.append(Place(path, low, high))
    return places


def citations(text: str) -> list[Place]:
    """Return every place that a text cites: those of `places`, and `line 12` or `L12` as a line of no named file.

    >>> citations("a.py:3 shows it, and line 12 too")
    [Place(path='a.py', first=3, last=3), Place(path='', first=12, last=12)]
    """
    return [*places(text), *(Place("", int(line), int(line)) for line in _LINE.findall(text))]

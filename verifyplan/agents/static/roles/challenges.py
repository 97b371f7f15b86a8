"""Challenges as others see them: the names in their words, and the places and quotations of their evidence."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifyplan.protocol.challenge import Challenge

_TICKED = re.compile(r"`([^`\n]{1,300})`")
_PLACE = re.compile(r"(?:^|(?<=[\s(\[,;`'\"]))([^\s:`'\"()\[\]]+(?:\.[A-Za-z]\w*)?):(\d{1,8})(?:-(\d{1,8}))?(?![\w:])")
_NAMED = re.compile(r"\blines? (\d{1,8})(?:-(\d{1,8}))? of (.+?)\s*$", re.IGNORECASE)
_LONGEST, _MOST = 100_000, 12


class Cited(NamedTuple):
    """A cited place, and the lines quoted right behind it."""

    path: str
    first: int
    last: int
    quotes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The place as it is cited."""
        return f"{self.path}:{self.first}"


def names_of(challenge: Challenge) -> tuple[str, ...]:
    """The names in backticks in a challenge's claim, in their order."""
    return names_in(challenge.claim)


def names_in(text: str) -> tuple[str, ...]:
    """The names in backticks in a text, each once, in their order."""
    return tuple(dict.fromkeys(_TICKED.findall(text[:_LONGEST])))


def place_of(evidence: str) -> str:
    """The first place that an evidence cites, as it is cited; empty if it cites none."""
    places = read_cited(evidence)
    return str(places[0]) if places else ""


def read_cited(evidence: str) -> list[Cited]:
    r"""The places of an evidence in their order, each with the `> ` lines that follow it; at most 12.

    A place is `path:12`, `path:12-14` or `line 12 of NAME`. Quotations in front of any place belong to none and
    are left out. Never raises. Source: SPEC B4.

    >>> [(str(one), one.last, one.quotes) for one in read_cited("plan.md:12\n> Change `a.py`.\nsrc/a.py:3-4")]
    [('plan.md:12', 12, ('Change `a.py`.',)), ('src/a.py:3', 4, ())]
    """
    found: list[Cited] = []
    for line in evidence[:_LONGEST].replace("\r", "\n").split("\n"):
        if line.startswith(">"):
            text = line[1:].strip()
            if found and text and len(found[-1].quotes) < _MOST:
                found[-1] = found[-1]._replace(quotes=(*found[-1].quotes, text))
        elif len(line) <= 1_000:
            found += _places(line)
    return found[:_MOST]


def _places(line: str) -> list[Cited]:
    named = _NAMED.search(line)
    groups = [(named[3], named[1], named[2])] if named else _PLACE.findall(line)
    places = [Cited(path, int(first), int(last or first)) for path, first, last in groups]
    return [place for place in places if 0 < place.first <= place.last]

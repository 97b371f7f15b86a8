"""Evidence as a discoverer wrote it: the places it cites and the lines it quotes; no file is opened here."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACE = re.compile(
    r"([^\s:`][^\s`]*\.[A-Za-z]\w*|(?:[^\s:`]+/)?(?:Makefile|Dockerfile|Justfile|Procfile|Gemfile|LICENSE|README))"
    r":([0-9]{1,8})(?:-([0-9]{1,8}))?(?:$|:)"
)
_TICKED = re.compile(r"`([^`\n]+)`")
_LONGEST, _LONGEST_WORD, _MOST_PLACES, _MOST_QUOTES = 100_000, 1_000, 5, 60


@dataclass(frozen=True)
class CitedPlace:
    """A cited place: a path as it was written, and the lines from `line` to `last`."""

    path: str
    line: int
    last: int

    def __str__(self) -> str:
        """The place as it is cited."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class CitedEvidence:
    """What a finding's evidence holds: cited places and quoted code lines, in their order."""

    places: tuple[CitedPlace, ...]
    quotes: tuple[str, ...]


def read_evidence(text: str) -> CitedEvidence:
    r"""Places (`path.ext:12`, `path.ext:12-20`) and quoted code: `> ` lines, else fences, else backticks.

    At most 5 places and 60 quoted lines of the first 100,000 characters are read; a text that cites or quotes
    nothing gives empty tuples, never an error. Source: rules B4, B7.

    >>> read_evidence("json/decoder.py:12\n> def parse(text):")
    Evidence(places=(Place(path='json/decoder.py', line=12, last=12),), quotes=('def parse(text):',))
    """
    lines = text[:_LONGEST].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    prose = " ".join(line for line in lines if not line.startswith(">"))
    return CitedEvidence(tuple(_places(prose)), tuple(_quotes(lines, text[:_LONGEST])[:_MOST_QUOTES]))


def _places(prose: str) -> list[CitedPlace]:
    around = "`'\"()[]{}<>,;!?"  # a dot begins names such as .github/ci.yml: only at its end is it no part of one
    words = (word.lstrip(around).rstrip(f"{around}.") for word in prose.split() if len(word) <= _LONGEST_WORD)
    found = [match for word in words if (match := _PLACE.match(word.removeprefix("./")))]
    places = (CitedPlace(path, int(line), int(last or line)) for path, line, last in map(_groups, found))
    return [place for place in places if 0 < place.line <= place.last][:_MOST_PLACES]


def _groups(match: re.Match[str]) -> tuple[str, str, str | None]:
    return match[1], match[2], match[3]


def _quotes(lines: list[str], text: str) -> list[str]:
    quoted = [line[1:].removeprefix(" ") for line in lines if line.startswith(">")]
    fenced = [line for fence in text.split("```")[1::2] for line in fence.split("\n")[1:]]
    ticked = [name for name in _TICKED.findall(text) if not _PLACE.match(name)]
    return next((kept for found in (quoted, fenced, ticked) if (kept := _kept(found))), [])


def _kept(lines: list[str]) -> list[str]:
    return [line.rstrip() for line in lines if line.strip()]

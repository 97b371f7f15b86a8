"""Read evidence: the places it cites, the lines it quotes, and the lines at those places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from verifyplan.agents.tools.file_access import NotOpenedError, read_listed, relative_path
from verifyplan.protocol.call import Item, ToolUse
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository

CONTEXT_LINES = 20
"""Lines that are shown before and after a cited place."""
MAX_PLACE_LINES = 200
"""Lines that are shown of one place."""

_PLACE = re.compile(
    r"([^\s:`][^\s`]*\.[A-Za-z]\w*|\.[A-Za-z][^\s`:]*"
    r"|(?:[^\s:`]+/)?(?:Makefile|Dockerfile|Justfile|Procfile|Gemfile|LICENSE|README))"
    r":([0-9]{1,8})(?:-([0-9]{1,8}))?(?:$|:)"
)
_TICKED = re.compile(r"`([^`\n]+)`")
_BY_LINE = attrgetter("line", "last")
_MAX_CHARACTERS, _MAX_WORD_CHARACTERS, _MAX_PLACES, _MAX_QUOTES = 100_000, 1_000, 5, 60


@dataclass(frozen=True)
class CitedPlace:
    """A cited place: a path as it was written, and the lines from `line` to `last`."""

    path: str
    line: int
    last: int

    def __str__(self) -> str:
        """Return the place as it is cited."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class CitedEvidence:
    """The content of a finding's evidence: cited places and quoted code lines, in their order."""

    places: tuple[CitedPlace, ...]
    quotes: tuple[str, ...]


def read_evidence(text: str) -> CitedEvidence:
    r"""Return places (`path.ext:12`, `path.ext:12-20`) and quoted code: `> ` lines, else fences, else backticks.

    At most 5 places and 60 quoted lines of the first 100,000 characters are read; a text that cites or quotes
    nothing gives empty tuples, never an error. No file is opened. Source: rules B4, B7.

    >>> read_evidence("json/decoder.py:12\n> def parse(text):")
    CitedEvidence(places=(CitedPlace(path='json/decoder.py', line=12, last=12),),
                  quotes=('def parse(text):',))
    """
    text = text[:_MAX_CHARACTERS]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    prose = " ".join(line for line in lines if not line.startswith(">"))
    return CitedEvidence(tuple(_places(prose)), tuple(_quotes(lines, text)[:_MAX_QUOTES]))


def open_evidence(
    items: Sequence[Item], repository: Repository, documents: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ToolUse, ...]]:
    r"""Return the lines around the places that the items cite, by the places, and each opening as a use of Read.

    Places may be in documents, by their names, or in files of the repository that tools may read. For lines that cannot
    be read, the reason is shown. Secrets are redacted in the whole text, because secrets of several lines can be
    recognised only there. Adjacent or overlapping places of one file are shown together. Source: rules B4, G4.

    >>> item = Item(finding_id="F-1", summary="the sum is wrong", evidence="plan.md:2, and plan.md:1")
    >>> open_evidence([item], Repository.open("."), {"plan.md": "one\ntwo"})[0]
    {'plan.md:1, plan.md:2': '1: one\n2: two'}
    """
    shown: dict[str, str] = {}
    uses: list[ToolUse] = []
    cited: dict[str, list[CitedPlace]] = {}
    for place in dict.fromkeys(place for item in items for place in read_evidence(item.evidence).places):
        cited.setdefault(place.path, []).append(place)
    for path, places in cited.items():
        try:
            text = documents.get(path)
            text = read_listed(repository, relative_path(repository, path)) if text is None else text
        except NotOpenedError as error:
            names = _cited(sorted(places, key=_BY_LINE))
            shown[names] = f"(cannot be opened: {error})"
            uses.append(ToolUse(tool="Read", argument=names, refused=str(error)))
            continue
        lines = redact(text).split("\n")
        for first, last, joined in _excerpts(places):
            excerpt = [f"{number}: {line}" for number, line in enumerate(lines[first - 1 : last], first)]
            shown[_cited(joined)] = "\n".join(excerpt) or "(no such line)"
            uses.append(ToolUse(tool="Read", argument=_cited(joined), results=len(excerpt)))
    return shown, tuple(uses)


def _excerpts(places: Iterable[CitedPlace]) -> list[tuple[int, int, list[CitedPlace]]]:
    """Return the lines to show of one file, first and last, each with the places that they are shown for."""
    excerpts: list[tuple[int, int, list[CitedPlace]]] = []
    for place in sorted(places, key=_BY_LINE):
        first = max(place.line - CONTEXT_LINES, 1)
        last = min(place.last, place.line + MAX_PLACE_LINES - 1) + CONTEXT_LINES
        if excerpts and first <= excerpts[-1][1] + 1:
            begin, end, joined = excerpts[-1]
            excerpts[-1] = begin, max(end, last), [*joined, place]
        else:
            excerpts.append((first, last, [place]))
    return excerpts


def _cited(places: Iterable[CitedPlace]) -> str:
    """Return places as they are cited, with their last lines where they have several."""
    return ", ".join(str(place) if place.line == place.last else f"{place}-{place.last}" for place in places)


def _places(prose: str) -> list[CitedPlace]:
    around = "`'\"()[]{}<>,;!?"  # a dot begins names such as .github/ci.yml: only at its end is it no part of one
    words = (word.lstrip(around).rstrip(f"{around}.") for word in prose.split() if len(word) <= _MAX_WORD_CHARACTERS)
    matches = [match for word in words if (match := _PLACE.match(word.removeprefix("./")))]
    places = (CitedPlace(match[1], int(match[2]), int(match[3] or match[2])) for match in matches)
    return [place for place in places if 0 < place.line <= place.last][:_MAX_PLACES]


def _quotes(lines: list[str], text: str) -> list[str]:
    quoted = [line[1:].removeprefix(" ") for line in lines if line.startswith(">")]
    fenced = [line for fence in text.split("```")[1::2] for line in fence.split("\n")[1:]]
    ticked = [name for name in _TICKED.findall(text) if not _PLACE.match(name)]
    kept = ([line.rstrip() for line in code if line.strip()] for code in (quoted, fenced, ticked))
    return next(filter(None, kept), [])

"""Cited places, opened for a worker with their immediate surroundings, and nothing else (rule B4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifyplan.agents.evidence import CitedPlace, read_evidence
from verifyplan.agents.tools.file_access import NotOpenedError, read_listed, relative_path
from verifyplan.protocol.call import Item, ToolUse
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository
from verifyplan.repository.sources import Source

CONTEXT_LINES = 20
"""Lines that are shown before and after a cited place."""
MAX_PLACE_LINES = 200
"""Lines that are shown of one place."""


def open_evidence(
    items: Sequence[Item], repository: Repository, documents: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ToolUse, ...]]:
    r"""The lines around each place that the items cite, by the place, and each opening as a use of Read.

    Places may be cited in documents by their names, or in files of the repository that tools may read, too. What cannot
    be read is told in the place's stead, with the reason; secrets are redacted. Each place is opened once. Source:
    rules B4, G4.

    >>> item = Item(finding_id="F-1", summary="the sum is wrong", evidence="plan.md:2")
    >>> open_evidence([item], Repository.open("."), {"plan.md": "one\ntwo"})[0]
    {'plan.md:2': '1: one\n2: two'}
    """
    places = dict.fromkeys(place for item in items for place in read_evidence(item.evidence).places)
    opened = _Opened(repository, documents)
    shown: dict[str, str] = {}
    uses: list[ToolUse] = []
    for place in places:
        cited = str(place) if place.line == place.last else f"{place}-{place.last}"
        try:
            lines = _around(opened.source(place.path), place)
        except NotOpenedError as error:
            shown[cited] = f"(cannot be opened: {error})"
            uses.append(ToolUse(tool="Read", argument=cited, refused=str(error)))
            continue
        shown[cited] = "\n".join(lines) or "(no such line)"
        uses.append(ToolUse(tool="Read", argument=cited, results=len(lines)))
    return shown, tuple(uses)


class _Opened:
    """Files and documents that were opened, without keys: those of many lines are only seen in the whole text."""

    def __init__(self, repository: Repository, documents: Mapping[str, str]) -> None:
        self._repository, self._documents = repository, documents
        self._kept: dict[str, Source] = {}

    def source(self, path: str) -> Source:
        if path not in self._kept:
            lines = tuple(redact("\n".join(self._lines(path))).split("\n"))
            self._kept[path] = Source(path, lines)
        return self._kept[path]

    def _lines(self, path: str) -> Sequence[str]:
        if path in self._documents:
            return self._documents[path].split("\n")
        return read_listed(self._repository, relative_path(self._repository, path)).split("\n")


def _around(source: Source, place: CitedPlace) -> list[str]:
    last = min(place.last, place.line + MAX_PLACE_LINES - 1)
    return [f"{number}: {line}" for number, line in source.numbered(place.line - CONTEXT_LINES, last + CONTEXT_LINES)]

"""Cited places, opened for a worker with their immediate surroundings, and nothing else (SPEC B4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from verifyplan.agents.evidence import Place, read_evidence
from verifyplan.agents.sources import Source, Sources, UnreadableError
from verifyplan.agents.tools.secret_files import looks_secret
from verifyplan.protocol.call import Item, ToolUse
from verifyplan.redaction import redact

AROUND = 20
"""Lines that are shown before and after a cited place."""
MOST_LINES = 200
"""Lines that are shown of one place."""


def open_evidence(
    items: Sequence[Item], root: Path, documents: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ToolUse, ...]]:
    r"""The lines around each place that the items cite, by the place, and each opening as a use of Read.

    Places may be cited in files under `root` or in documents by their names. What cannot be read is told in the
    place's stead, with the reason; secrets are redacted. Each place is opened once. Source: SPEC B4, G4.

    >>> item = Item(finding_id="F-1", summary="the sum is wrong", evidence="plan.md:2")
    >>> open_evidence([item], Path("."), {"plan.md": "one\ntwo"})[0]
    {'plan.md:2': '1: one\n2: two'}
    """
    places = dict.fromkeys(place for item in items for place in read_evidence(item.evidence).places)
    opened = _Opened(root, documents)
    shown: dict[str, str] = {}
    uses: list[ToolUse] = []
    for place in places:
        cited = str(place) if place.line == place.last else f"{place}-{place.last}"
        try:
            lines = _around(opened.source(place.path), place)
        except UnreadableError as error:
            shown[cited] = f"(cannot be opened: {error})"
            uses.append(ToolUse(tool="Read", argument=cited, refused=str(error)))
            continue
        shown[cited] = "\n".join(lines) or "(no such line)"
        uses.append(ToolUse(tool="Read", argument=cited, results=len(lines)))
    return shown, tuple(uses)


class _Opened:
    """Files and documents that were opened, without keys: those of many lines are only seen in the whole text."""

    def __init__(self, root: Path, documents: Mapping[str, str]) -> None:
        self._root, self._documents = root, documents
        self._sources = Sources(root)
        self._kept: dict[str, Source] = {}

    def source(self, path: str) -> Source:
        if path not in self._kept:
            lines = tuple(redact("\n".join(self._lines(path))).split("\n"))
            self._kept[path] = Source(path, lines)
        return self._kept[path]

    def _lines(self, path: str) -> Sequence[str]:
        if path in self._documents:
            return self._documents[path].split("\n")
        if reason := looks_secret(path) or looks_secret(_target(self._root, path)):
            raise UnreadableError(f"{path} is not shown: {reason}")
        return self._sources.open(path).lines


def _target(root: Path, path: str) -> str:
    """What a path leads to, by way of links; itself where that cannot be told."""
    try:
        return (root / path).resolve().as_posix()
    except (OSError, RuntimeError, ValueError):
        return path


def _around(source: Source, place: Place) -> list[str]:
    last = min(place.last, place.line + MOST_LINES - 1)
    return [f"{number}: {line}" for number, line in source.numbered(place.line - AROUND, last + AROUND)]

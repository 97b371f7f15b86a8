"""Which roadmap speaks of which phase: milestones that are archived have their own, and their own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from verifyplan.documents.dimensions.requirements import Requirements, read_requirements
from verifyplan.documents.loading import read_text
from verifyplan.documents.phase import milestone_of
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.documents.walk import PLANNING

STATED_IN = ("ROADMAP.md", "REQUIREMENTS.md")

CURRENT = ""
"""The milestone that is worked on; the others are named as their files and folders are: `v1.1` of `v1.1-phases`."""


def required_of(phases: Mapping[str, Path]) -> tuple[dict[str, tuple[str, ...]], frozenset[str] | None]:
    """Return what each phase is to meet, by the key that it is given with, and all words of the documents that say so.

    An archived milestone with documents of its own is held against these alone; a phase of any other against the
    current ones, else against those of milestones whose phases have no folder of their own. The words are None where
    there are no such documents.
    """
    required: dict[str, tuple[str, ...]] = {}
    words: set[str] = set()
    stated: dict[Path, dict[str, Requirements]] = {}
    for key, folder in phases.items():
        top = _planning(folder)
        if top not in stated:
            stated[top] = {name: read_requirements([_read(f) for f in files]) for name, files in _documents(top)}
            words.update(*(one.known for one in stated[top].values()))
        found = (stated[top][name].required(folder.name) for name in _speaking(top, folder, stated[top]))
        required[key] = next((ids for ids in found if ids), ())
    return required, frozenset(words) if any(stated.values()) else None


def _speaking(top: Path, folder: Path, stated: Mapping[str, Requirements]) -> list[str]:
    """The milestones whose documents may speak of a phase, the nearest first."""
    own = milestone_of(str(folder.absolute().parent))
    if own in stated and own != CURRENT:
        return [own]
    places = (place for pattern in ("*-phases", "*/phases") for place in top.glob(f"milestones/{pattern}"))
    kept = {milestone_of(str(place)) for place in places}
    return [CURRENT, *sorted(stated.keys() - kept - {CURRENT}, reverse=True)] if CURRENT in stated else []


def _documents(top: Path) -> Iterator[tuple[str, list[Path]]]:
    """The roadmaps and lists of requirements of each milestone."""
    found: dict[str, list[Path]] = {}
    for name in STATED_IN:
        for file in sorted((*top.glob(name), *top.glob(f"milestones/*-{name}"), *top.glob(f"milestones/*/{name}"))):
            if file.is_file() and not file.is_symlink():
                apart = file.name.removesuffix(name).rstrip("-")
                found.setdefault(apart or milestone_of(str(file.parent)), []).append(file)
    yield from found.items()


def _read(file: Path) -> Source:
    return read_source(read_text(file), str(file))


def _planning(folder: Path) -> Path:
    """The `.planning` folder that holds a phase, else the folder two above it."""
    above = folder.absolute().parents
    named = next((one for one in (folder.absolute(), *above) if one.name == PLANNING), None)
    return named or (above[1] if len(above) > 1 else folder.absolute())

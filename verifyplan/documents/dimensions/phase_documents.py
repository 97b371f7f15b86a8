"""CONTEXT.md: the decisions that are locked, and the ideas that are deferred (rule D4, dimension D7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from verifyplan.documents.dimensions.overlap import meaningful_words
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import read_text
from verifyplan.documents.reading.body import DocumentSection, MarkdownTable, plain
from verifyplan.documents.reading.comparing import phase_number
from verifyplan.documents.reading.front import texts_of
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.documents.tree import milestone_of
from verifyplan.documents.walk import PLANNING

_STATED = re.compile(r"\s{0,3}(?:[-*]\s+)?\*\*decision\**\s{0,3}:\**\s*(?P<text>.+)", re.IGNORECASE)
_FREE = ("discretion", "rationale", "reason", "background", "options")
_NOTHING = ("none", "n/a", "nothing")


class ContextItem(NamedTuple):
    """A decision or an idea, and its line in CONTEXT.md."""

    text: str
    line: int


class PhaseContext(NamedTuple):
    """What a person decided before the plans were made."""

    path: str
    decisions: tuple[ContextItem, ...]
    deferred: tuple[ContextItem, ...]


def read_context(text: str, path: str = "CONTEXT.md") -> PhaseContext:
    r"""The decisions and deferred ideas of a CONTEXT.md; what is left to the planner's discretion is neither.

    A decision is a line `**Decision:** ...` of a subsection, else each bullet of the section. Never raises.

    >>> read_context("## Locked Decisions\n- Use Express\n\n## Deferred Ideas\n- A mobile app\n").deferred
    (ContextItem(text='A mobile app', line=5),)
    """
    source = read_source(text, path)
    return PhaseContext(path, tuple(_said(source, "decision")), tuple(_said(source, "deferred")))


def _said(source: Source, wanted: str) -> Iterator[ContextItem]:
    """What stands under the headings that hold a word, each line counted once."""
    seen: set[int] = set()
    for part in _parts(source, wanted):
        for said in _items(source, part):
            if said.line not in seen and not plain(said.text).startswith(_NOTHING):
                seen.add(said.line)
                yield said


def _parts(source: Source, wanted: str) -> Iterator[DocumentSection]:
    """The smallest sections under headings that hold the word; sections that leave something open are none."""
    within = 0
    for place, part in enumerate(source.sections):
        title = plain(part.title)
        if wanted in title:
            within = max(within, part.last)
        if part.first > within or any(word in title for word in _FREE):
            continue
        if wanted != "deferred" and "deferred" in title:
            continue
        following = source.sections[place + 1] if place + 1 < len(source.sections) else None
        last = min(part.last, following.first - 1) if following else part.last
        yield DocumentSection(part.title, part.level, part.first, last)


def _items(source: Source, part: DocumentSection) -> Iterator[ContextItem]:
    stated = [(number, _STATED.match(line)) for number, line in source.prose_of(part)]
    found = [ContextItem(matched["text"].strip(), number) for number, matched in stated if matched]
    if found:
        yield from found
    else:
        yield from (ContextItem(bullet.text, bullet.line) for bullet in source.bullets(part) if bullet.depth == 0)


_ID = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]{0,15}(?:-[A-Za-z0-9.]{1,15}){0,3}-\d{1,4}[a-z]?(?![\w-])")
_WIDEST, _MOST_LINES = 100, 20_000
_TOKEN = re.compile(r"[\w.-]+")
_PHASE = re.compile(r"\bphase\s{1,3}(\d{1,4}(?:\.\d{1,3})?)", re.IGNORECASE)
_LISTED = re.compile(r"\s{0,8}(?:[-*]\s+)?\**requirements\**\s{0,3}:", re.IGNORECASE)
_MOVED = re.compile(r"reassigned|moved|deferred|dropped|out of scope|→", re.IGNORECASE)


NAMES = ("requirement_ids", "requirements", "requirement", "implements")
"""The names under which plans of all forms name the requirements that they meet."""


@dataclass(frozen=True)
class Requirements:
    """The words of a milestone's documents that state requirements, and what each phase is to meet, by its number.

    `titles` are those of the phases in the headings of the roadmap.
    """

    known: frozenset[str] = frozenset()
    of_phase: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    def required(self, phase: str) -> tuple[str, ...]:
        """What a phase is to meet, by the name of its folder; none where its number stands for another phase here.

        >>> found = Requirements(of_phase={"1": ("A-1",)}, titles={"1": "User accounts"})
        >>> found.required("01-accounts"), found.required("01-billing")
        (('A-1',), ())
        """
        number = phase_number(phase)
        title, name = (meaningful_words(text) for text in (self.titles.get(number, ""), phase.replace("-", " ")))
        words = frozenset(word for word in name if not word.isdecimal())
        return () if title and words and not title & words else self.of_phase.get(number, ())


def requirements_of(plan: PlanDocument) -> tuple[str, tuple[str, ...]]:
    r"""The field of a plan that names requirements, by whichever of its names, and the ids; blank without such a field.

    >>> from verifyplan.documents.loading import load_text
    >>> requirements_of(load_text("---\nrequirement: AUTH-01\n---\n", "PLAN-01.md"))
    ('requirement', ('AUTH-01',))
    """
    front = plan.source.front
    key = next((name for name in NAMES if name in front.values), "")
    return key, texts_of(front, key) if key else ()


def knows(known: frozenset[str], requirement: str) -> bool:
    """Whether documents name a requirement at all."""
    return requirement.strip().strip(".") in known


def is_id(text: str) -> bool:
    """Whether a text is the id of one requirement.

    >>> is_id("AUTH-01"), is_id("tech debt")
    (True, False)
    """
    return _ID.fullmatch(text.strip()) is not None


def read_requirements(sources: Sequence[Source]) -> Requirements:
    """What roadmaps and lists of requirements say, together.

    A phase is to meet what the `Requirements:` line under its heading lists, and what a table with the columns
    Requirement and Phase gives it; an entry that says it was moved to another phase counts there alone.
    """
    known: set[str] = set()
    titles: dict[str, str] = {}
    of_phase: dict[str, dict[str, None]] = {}
    for source in sources:
        for part in source.sections:
            if found := _PHASE.search(part.title):
                titles.setdefault(phase_number(found[1]), part.title[found.end() :])
        for line in source.lines[:_MOST_LINES]:
            known.update(token.strip(".") for token in _TOKEN.findall(line))
            known.update(ids_in(line))
        for phase, requirement in (*_listed(source), *_traced(source.tables())):
            of_phase.setdefault(phase, {})[requirement] = None
    return Requirements(frozenset(known), {phase: tuple(ids) for phase, ids in of_phase.items()}, titles)


def ids_in(text: str) -> Iterator[str]:
    """The ids of requirements in a text, ranges written out.

    >>> list(ids_in("AUTH-01, TD-01..TD-03 and INFRA-v1.1-02"))
    ['AUTH-01', 'TD-01', 'TD-02', 'TD-03', 'INFRA-v1.1-02']
    """
    apart = text.replace("..", " .. ")
    previous: re.Match[str] | None = None
    for found in _ID.finditer(apart):
        if previous and apart[previous.end() : found.start()].strip() == "..":
            yield from _between(previous[0], found[0])
        yield found[0]
        previous = found


def _between(first: str, last: str) -> Iterator[str]:
    """The ids between two of a range; none where they differ in more than their number, or are far apart."""
    stem, _, low = first.rpartition("-")
    other, _, high = last.rpartition("-")
    if stem == other and low.isdecimal() and high.isdecimal() and int(high) - int(low) <= _WIDEST:
        yield from (f"{stem}-{number:0{len(low)}d}" for number in range(int(low) + 1, int(high)))


def _listed(source: Source) -> Iterator[tuple[str, str]]:
    phase, headings = "", {part.first: part.title for part in source.sections}
    for number, line in enumerate(source.prose[:_MOST_LINES], 1):
        if number in headings:
            found = _PHASE.search(headings[number])
            phase = phase_number(found[1]) if found else ""
        elif phase and _LISTED.match(line) and not _MOVED.search(line):
            yield from ((phase, requirement) for requirement in ids_in(line))


def _traced(tables: Sequence[MarkdownTable]) -> Iterator[tuple[str, str]]:
    for table in tables:
        if table.column("Requirement") is None or table.column("Phase") is None:
            continue
        for row in table.rows:
            found = _PHASE.search(table.cell(row, "Phase"))
            if found and not _MOVED.search(f"{table.cell(row, 'Phase')} {table.cell(row, 'Status')}"):
                yield from ((phase_number(found[1]), name) for name in ids_in(table.cell(row, "Requirement")))


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

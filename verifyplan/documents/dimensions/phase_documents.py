"""Read the documents beside the plans of a phase: decisions in CONTEXT.md, requirements in ROADMAP.md and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import read_text
from verifyplan.documents.reading.body import DocumentSection, plain, rows_of
from verifyplan.documents.reading.comparing import meaningful_words, phase_number
from verifyplan.documents.reading.front import texts_of
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.documents.tree import milestone_of
from verifyplan.documents.walk import PLANNING

REQUIREMENT_FIELDS = ("requirement_ids", "requirements", "requirement", "implements")
"""The names under which plans of all forms name the requirements that they meet."""

REQUIREMENT_DOCUMENTS = ("ROADMAP.md", "REQUIREMENTS.md")

CURRENT = ""
"""The milestone that is worked on; the others are named as their files and folders are: `v1.1` of `v1.1-phases`."""

_DECISION = re.compile(r"\s{0,3}(?:[-*]\s+)?\*\*decision\**\s{0,3}:\**\s*(?P<text>.+)", re.IGNORECASE)
_OPEN_TITLES = ("discretion", "rationale", "reason", "background", "options")
_NOTHING = ("none", "n/a", "nothing")

_ID = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]{0,15}(?:-[A-Za-z0-9.]{1,15}){0,3}-\d{1,4}[a-z]?(?![\w-])")
_MAX_RANGE, _MAX_LINES = 100, 20_000
_TOKEN = re.compile(r"[\w.-]+")
_PHASE = re.compile(r"\bphase\s{1,3}(\d{1,4}(?:\.\d{1,3})?)", re.IGNORECASE)
_REQUIREMENTS_LINE = re.compile(r"\s{0,8}(?:[-*]\s+)?\**requirements\**\s{0,3}:", re.IGNORECASE)
_MOVED = re.compile(r"reassigned|moved|deferred|dropped|out of scope|→", re.IGNORECASE)


class ContextItem(NamedTuple):
    """A decision or an idea, and its line in CONTEXT.md."""

    text: str
    line: int


class PhaseContext(NamedTuple):
    """The decisions of a person before the plans were made: what is locked, and which ideas are deferred."""

    path: str
    decisions: tuple[ContextItem, ...]
    deferred: tuple[ContextItem, ...]


def read_context(text: str, path: str = "CONTEXT.md") -> PhaseContext:
    r"""Return the decisions and deferred ideas of a CONTEXT.md, without those left to the planner's discretion.

    A decision is a line `**Decision:** ...` of a subsection, else each bullet of the section. Never raises.

    >>> read_context("## Locked Decisions\n- Use Express\n\n## Deferred Ideas\n- A mobile app\n").deferred
    (ContextItem(text='A mobile app', line=5),)
    """
    source = read_source(text, path)
    return PhaseContext(path, tuple(_context_items(source, "decision")), tuple(_context_items(source, "deferred")))


def _context_items(source: Source, word: str) -> Iterator[ContextItem]:
    """The items under the headings that hold a word, each line counted once."""
    seen: set[int] = set()
    for section in _sections_titled(source, word):
        lines = ((number, _DECISION.match(line)) for number, line in source.prose_of(section))
        items = [ContextItem(matched["text"].strip(), number) for number, matched in lines if matched]
        bullets = (ContextItem(bullet.text, bullet.line) for bullet in source.bullets(section) if bullet.depth == 0)
        for item in items or bullets:
            if item.line not in seen and not plain(item.text).startswith(_NOTHING):
                seen.add(item.line)
                yield item


def _sections_titled(source: Source, word: str) -> Iterator[DocumentSection]:
    """The smallest sections under headings that hold a word, without sections that leave something open."""
    within = 0
    for place, section in enumerate(source.sections):
        title = plain(section.title)
        if word in title:
            within = max(within, section.last)
        if section.first > within or any(free in title for free in _OPEN_TITLES):
            continue
        if word != "deferred" and "deferred" in title:
            continue
        following = source.sections[place + 1] if place + 1 < len(source.sections) else None
        last = min(section.last, following.first - 1) if following else section.last
        yield DocumentSection(section.title, section.level, section.first, last)


@dataclass(frozen=True)
class Requirements:
    """The words of a milestone's documents that state requirements, and the requirements of each phase, by its number.

    `titles` are those of the phases in the headings of the roadmap.
    """

    known: frozenset[str] = frozenset()
    of_phase: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    def required(self, phase: str) -> tuple[str, ...]:
        """Return what a phase is to meet, by its folder's name; nothing where its number is another phase's here.

        >>> found = Requirements(of_phase={"1": ("A-1",)}, titles={"1": "User accounts"})
        >>> found.required("01-accounts"), found.required("01-billing")
        (('A-1',), ())
        """
        number = phase_number(phase)
        title, name = (meaningful_words(text) for text in (self.titles.get(number, ""), phase.replace("-", " ")))
        words = frozenset(word for word in name if not word.isdecimal())
        return () if title and words and not title & words else self.of_phase.get(number, ())


def requirements_of(plan: PlanDocument) -> tuple[str, tuple[str, ...]]:
    r"""Return the field of a plan that names requirements, and their ids; a blank name without such a field.

    >>> from verifyplan.documents.loading import load_text
    >>> requirements_of(load_text("---\nrequirement: AUTH-01\n---\n", "PLAN-01.md"))
    ('requirement', ('AUTH-01',))
    """
    front = plan.source.front
    key = next((name for name in REQUIREMENT_FIELDS if name in front.values), "")
    return key, texts_of(front, key) if key else ()


def is_requirement_id(text: str) -> bool:
    """Return whether a text is the id of one requirement.

    >>> is_requirement_id("AUTH-01"), is_requirement_id("tech debt")
    (True, False)
    """
    return _ID.fullmatch(text.strip()) is not None


def requirement_ids(text: str) -> Iterator[str]:
    """Yield the ids of requirements in a text, ranges written out.

    A range whose ids differ in more than their number, or that is very wide, yields its two ends alone.

    >>> list(requirement_ids("AUTH-01, TD-01..TD-03 and INFRA-v1.1-02"))
    ['AUTH-01', 'TD-01', 'TD-02', 'TD-03', 'INFRA-v1.1-02']
    """
    spaced = text.replace("..", " .. ")
    previous: re.Match[str] | None = None
    for matched in _ID.finditer(spaced):
        if previous and spaced[previous.end() : matched.start()].strip() == "..":
            stem, _, low = previous[0].rpartition("-")
            other, _, high = matched[0].rpartition("-")
            if stem == other and low.isdecimal() and high.isdecimal() and int(high) - int(low) <= _MAX_RANGE:
                yield from (f"{stem}-{number:0{len(low)}d}" for number in range(int(low) + 1, int(high)))
        yield matched[0]
        previous = matched


def read_requirements(sources: Sequence[Source]) -> Requirements:
    """Return the requirements of roadmaps and lists of requirements, together.

    A phase is to meet the ids of the `Requirements:` line under its heading, and those that a table with the columns
    Requirement and Phase gives it; an entry that says it was moved to another phase counts there alone.
    """
    known: set[str] = set()
    titles: dict[str, str] = {}
    of_phase: dict[str, dict[str, None]] = {}
    for source in sources:
        for section in source.sections:
            if matched := _PHASE.search(section.title):
                titles.setdefault(phase_number(matched[1]), section.title[matched.end() :])
        for line in source.lines[:_MAX_LINES]:
            known.update(token.strip(".") for token in _TOKEN.findall(line))
            known.update(requirement_ids(line))
        for phase, requirement in (*_listed_under_headings(source), *_listed_in_tables(source)):
            of_phase.setdefault(phase, {})[requirement] = None
    return Requirements(frozenset(known), {phase: tuple(ids) for phase, ids in of_phase.items()}, titles)


def _listed_under_headings(source: Source) -> Iterator[tuple[str, str]]:
    phase, headings = "", {section.first: section.title for section in source.sections}
    for number, line in enumerate(source.prose[:_MAX_LINES], 1):
        if number in headings:
            matched = _PHASE.search(headings[number])
            phase = phase_number(matched[1]) if matched else ""
        elif phase and _REQUIREMENTS_LINE.match(line) and not _MOVED.search(line):
            yield from ((phase, requirement) for requirement in requirement_ids(line))


def _listed_in_tables(source: Source) -> Iterator[tuple[str, str]]:
    for table in source.tables():
        if table.column("Requirement") is None or table.column("Phase") is None:
            continue
        for requirement, phase, status, _ in rows_of(table, "Requirement", "Phase", "Status"):
            matched = _PHASE.search(phase)
            if matched and not _MOVED.search(f"{phase} {status}"):
                yield from ((phase_number(matched[1]), name) for name in requirement_ids(requirement))


def required_of(phases: Mapping[str, Path]) -> tuple[dict[str, tuple[str, ...]], frozenset[str] | None]:
    """Return the requirements of each phase, by its key in `phases`, and all words of the documents that state them.

    An archived milestone with its own documents is compared with these alone; a phase of any other with the
    current ones, else with those of milestones whose phases have no folder of their own. The words are None where
    there are no such documents.
    """
    required: dict[str, tuple[str, ...]] = {}
    words: set[str] = set()
    read: dict[Path, dict[str, Requirements]] = {}  # by `.planning` folder and milestone
    for key, folder in phases.items():
        above = (folder.absolute(), *folder.absolute().parents)
        top = next((each for each in above if each.name == PLANNING), above[2] if len(above) > 2 else above[0])
        if top not in read:
            read[top] = {
                milestone: read_requirements([read_source(read_text(file), str(file)) for file in files])
                for milestone, files in _documents_by_milestone(top).items()
            }
            words.update(*(each.known for each in read[top].values()))
        ids = (read[top][milestone].required(folder.name) for milestone in _milestones_for(top, folder, read[top]))
        required[key] = next((own for own in ids if own), ())
    return required, frozenset(words) if any(read.values()) else None


def _milestones_for(top: Path, folder: Path, read: Mapping[str, Requirements]) -> list[str]:
    """The milestones whose documents may speak of a phase, the nearest first."""
    own = milestone_of(str(folder.absolute().parent))
    if own in read and own != CURRENT:
        return [own]
    places = (place for pattern in ("*-phases", "*/phases") for place in top.glob(f"milestones/{pattern}"))
    archived = {milestone_of(str(place)) for place in places}
    return [CURRENT, *sorted(read.keys() - archived - {CURRENT}, reverse=True)] if CURRENT in read else []


def _documents_by_milestone(top: Path) -> dict[str, list[Path]]:
    """The roadmaps and lists of requirements of each milestone."""
    by_milestone: dict[str, list[Path]] = {}
    for name in REQUIREMENT_DOCUMENTS:
        for file in sorted((*top.glob(name), *top.glob(f"milestones/*-{name}"), *top.glob(f"milestones/*/{name}"))):
            if file.is_file() and not file.is_symlink():
                prefix = file.name.removesuffix(name).rstrip("-")
                by_milestone.setdefault(prefix or milestone_of(str(file.parent)), []).append(file)
    return by_milestone

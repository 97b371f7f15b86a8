"""What ROADMAP.md and REQUIREMENTS.md say of requirements: which there are, and which phase is to meet them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verifyplan.documents.dimensions.wording import meaningful_words
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.body import Table
from verifyplan.documents.reading.plan_ids import phase_number
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import texts_of

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
        for part in source.parts:
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
    phase, headings = "", {part.first: part.title for part in source.parts}
    for number, line in enumerate(source.prose[:_MOST_LINES], 1):
        if number in headings:
            found = _PHASE.search(headings[number])
            phase = phase_number(found[1]) if found else ""
        elif phase and _LISTED.match(line) and not _MOVED.search(line):
            yield from ((phase, requirement) for requirement in ids_in(line))


def _traced(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    for table in tables:
        if table.column("Requirement") is None or table.column("Phase") is None:
            continue
        for row in table.rows:
            found = _PHASE.search(table.cell(row, "Phase"))
            if found and not _MOVED.search(f"{table.cell(row, 'Phase')} {table.cell(row, 'Status')}"):
                yield from ((phase_number(found[1]), name) for name in ids_in(table.cell(row, "Requirement")))

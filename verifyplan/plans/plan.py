"""Plans read from Markdown, whatever the text; the values themselves are in `values`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.plans import statements as passages
from verifyplan.plans.markdown import Text, blocks
from verifyplan.plans.markup import Element
from verifyplan.plans.prose import prepare
from verifyplan.plans.references import References
from verifyplan.plans.statements import action_lines
from verifyplan.plans.steps import steps
from verifyplan.plans.values import CodeBlock as CodeBlock
from verifyplan.plans.values import Intent as Intent
from verifyplan.plans.values import LineRanges, split_lines
from verifyplan.plans.values import Plan as Plan
from verifyplan.plans.values import Reference as Reference
from verifyplan.plans.values import RefKind as RefKind
from verifyplan.plans.values import Section as Section
from verifyplan.plans.values import Step as Step

MAX_PLAN_BYTES = 20_000_000
"""Bytes above which a plan is not read."""

MAX_PLAN_LINES, MAX_PLAN_CHARACTERS = 100_000, 3_000_000
"""A plan is read as far as both allow: no plan needs more, and a hostile text would take minutes."""

_BINARY = 8_192


def parse_plan(text: str, path: str = "plan.md") -> Plan:
    r"""The plan that a text is: sections, steps, references, and what it states about itself.

    Never raises, whatever the text; what could not be read stands in `notes`. Line ends may be of any kind.
    Source: rules A8, G2.

    >>> plan = parse_plan("# Sums\n\n1. Create `src/sums.py`\n2. Run `pytest -q`\n")
    >>> [(found.kind, found.name, found.intent, found.line) for found in plan.references]
    [('file', 'src/sums.py', 'create', 3), ('command', 'pytest -q', 'use', 4)]
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = split_lines(text)
    read = _readable(lines)
    prepared = prepare(lines[:read])
    found = blocks(prepared.prose)
    sections = _sections(found.headings, len(lines))
    cut = [f"line {read + 1}: from here on the plan is not read; it is too long"] if read < len(lines) else []
    references, unread = References(lines).of(prepared, found.texts)
    return Plan(
        path=path,
        text=text,
        title=passages.title(_outside(found.headings, prepared.elements), prepared.frontmatter),
        goal=passages.goal(found.texts, sections, prepared.elements, prepared.prose),
        frontmatter=prepared.frontmatter,
        sections=tuple(sections),
        steps=tuple(steps(found, sections, prepared.elements)),
        references=tuple(references),
        blocks=prepared.blocks,
        constraints=tuple(passages.constraints(found.texts, sections)),
        decisions=tuple(passages.decisions(found.texts)),
        notes=(*prepared.notes, *found.notes, *unread, *cut),
        body=prepared.body,
        texts=tuple(found.texts),
        actions=tuple(action_lines(found.texts, [one for one in prepared.elements if one.name == "task"])),
    )


def _readable(lines: Sequence[str]) -> int:
    """How many lines are read."""
    total = 0
    for number, line in enumerate(lines[:MAX_PLAN_LINES]):
        total += len(line) + 1
        if total > MAX_PLAN_CHARACTERS:
            return number
    return min(len(lines), MAX_PLAN_LINES)


def _outside(headings: Sequence[Text], elements: Sequence[Element]) -> list[Text]:
    """Headings that stand in no element of a PLAN document: those within a context are another's."""
    ranges = [(element.first, element.last) for element in elements if element.depth == 0]
    inside = LineRanges(ranges)
    return [text for text in headings if text.first not in inside]


def _sections(headings: Sequence[Text], lines: int) -> list[Section]:
    """The sections between headings; what stands before the first heading is one, if it has lines."""
    if not lines:
        return []
    starts = [(text.first, " ".join(text.content.split()), text.level) for text in headings]
    if not starts or starts[0][0] > 1:
        starts.insert(0, (1, "", 0))
    ends = [first - 1 for first, _, _ in starts[1:]] + [lines]
    return [Section(title, level, first, last) for (first, title, level), last in zip(starts, ends, strict=True)]


def read_plan(path: str | Path) -> Plan:
    """The plan in a file; UTF-8, with or without a byte order mark, with any line ends.

    Raises InputError if there is no such file, or it is a folder, binary, not UTF-8, or larger than 20 MB.
    """
    place = str(path)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_PLAN_BYTES + 1)
    except IsADirectoryError:
        raise InputError(Problem(place, "is a folder", "name the plan's file")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(place, f"cannot be read ({reason})", "name a plan that exists")) from None
    if len(data) > MAX_PLAN_BYTES:
        raise InputError(Problem(place, f"is larger than {MAX_PLAN_BYTES:,} bytes", "name a plan, or split it"))
    if b"\0" in data[:_BINARY]:
        raise InputError(Problem(place, "is binary", "name a plan in Markdown"))
    return parse_plan(decode(data, place), place)

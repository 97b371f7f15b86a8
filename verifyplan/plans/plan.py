"""Read plans from Markdown, whatever the text; `values` has the classes that a plan consists of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.plans import statements
from verifyplan.plans.markdown import Text, blocks
from verifyplan.plans.prose import prepare
from verifyplan.plans.references import references_of
from verifyplan.plans.steps import steps
from verifyplan.plans.values import LineRanges, Section, split_lines
from verifyplan.plans.values import Plan as Plan

MAX_PLAN_BYTES = 20_000_000
"""A larger file is refused."""

MAX_PLAN_LINES, MAX_PLAN_CHARACTERS = 100_000, 3_000_000
"""A plan is read as far as both allow: no plan needs more, and a hostile text would take minutes."""

_BINARY_CHECK_BYTES = 8_192


def parse_plan(text: str, path: str = "plan.md") -> Plan:
    r"""Read a text as a plan: sections, steps, references, and its statements about itself.

    Never raises, whatever the text; `notes` lists what could not be read. Line ends may be of any kind.
    Source: rules A8, G2.

    >>> plan = parse_plan("# Sums\n\n1. Create `src/sums.py`\n2. Run `pytest -q`\n")
    >>> [(reference.kind, reference.name, reference.intent, reference.line) for reference in plan.references]
    [('file', 'src/sums.py', 'create', 3), ('command', 'pytest -q', 'use', 4)]
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = split_lines(text)
    count = _readable_lines(lines)
    cut = [f"line {count + 1}: from here on the plan is not read; it is too long"] if count < len(lines) else []
    prepared = prepare(lines[:count])
    read = blocks(prepared.prose)
    sections = _sections(read.headings, len(lines))
    references, reference_notes = references_of(lines, prepared, read.texts)
    # headings within an element of a PLAN document, such as a context, are another document's
    inside = LineRanges((element.first, element.last) for element in prepared.elements if element.depth == 0)
    own_headings = [heading for heading in read.headings if heading.first not in inside]
    tasks = [element for element in prepared.elements if element.name == "task"]
    return Plan(
        path=path,
        text=text,
        title=statements.title(own_headings, prepared.frontmatter),
        goal=statements.goal(read.texts, sections, prepared.elements, prepared.prose),
        frontmatter=prepared.frontmatter,
        sections=tuple(sections),
        steps=tuple(steps(read, sections, prepared.elements)),
        references=tuple(references),
        blocks=prepared.blocks,
        constraints=tuple(statements.constraints(read.texts, sections)),
        decisions=tuple(statements.decisions(read.texts)),
        notes=(*prepared.notes, *read.notes, *reference_notes, *cut),
        body=prepared.body,
        texts=tuple(read.texts),
        actions=tuple(statements.action_lines(read.texts, tasks)),
    )


def _readable_lines(lines: Sequence[str]) -> int:
    total = 0
    for number, line in enumerate(lines[:MAX_PLAN_LINES]):
        total += len(line) + 1
        if total > MAX_PLAN_CHARACTERS:
            return number
    return min(len(lines), MAX_PLAN_LINES)


def _sections(headings: Sequence[Text], lines: int) -> list[Section]:
    """The sections between headings; the lines before the first heading are one, if there are any."""
    if not lines:
        return []
    starts = [(text.first, " ".join(text.content.split()), text.level) for text in headings]
    if not starts or starts[0][0] > 1:
        starts.insert(0, (1, "", 0))
    ends = [first - 1 for first, _, _ in starts[1:]] + [lines]
    return [Section(title, level, first, last) for (first, title, level), last in zip(starts, ends, strict=True)]


def read_plan(path: str | Path) -> Plan:
    """Read the plan in a file; UTF-8, with or without a byte order mark, with any line ends.

    Raises InputError if there is no such file, or it is a folder, binary, not UTF-8, or larger than 20 MB.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_PLAN_BYTES + 1)
    except IsADirectoryError:
        raise InputError(Problem(name, "is a folder", "name the plan's file")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(name, f"cannot be read ({reason})", "name a plan that exists")) from None
    if len(data) > MAX_PLAN_BYTES:
        raise InputError(Problem(name, f"is larger than {MAX_PLAN_BYTES:,} bytes", "name a plan, or split it"))
    if b"\0" in data[:_BINARY_CHECK_BYTES]:
        raise InputError(Problem(name, "is binary", "name a plan in Markdown"))
    return parse_plan(decode(data, name), name)

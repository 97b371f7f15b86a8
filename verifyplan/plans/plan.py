"""Read any text in Markdown as a plan; `values` has the classes that a plan consists of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.plans import statements
from verifyplan.plans.markdown import Blocks, ListItem, TextBlock, blocks
from verifyplan.plans.prose import XmlElement, first_within, prepare
from verifyplan.plans.references import references_of
from verifyplan.plans.values import LineRanges, Section, Step, split_lines
from verifyplan.plans.values import Plan as Plan
from verifyplan.plans.word_lists import words

MAX_PLAN_BYTES = 20_000_000
"""A larger file is refused."""

MAX_PLAN_LINES, MAX_PLAN_CHARACTERS = 100_000, 3_000_000
"""A plan is read as far as both allow: no plan needs more, and a hostile text would take minutes."""

_BINARY_CHECK_BYTES = 8_192
_NUMBERED = re.compile(r"(?P<label>\d{1,3})[.):]\s+(?P<rest>\S.*)", re.DOTALL)
_NAMED = re.compile(r"(?P<label>[A-Za-z]+ (?:\d{1,3}(?:\.\d{1,3}){0,2}|[A-Z]))(?:\s*[:.)–—-]|\s|$)")  # noqa: RUF001
_MARKERS = "*_# "
_MAX_STEP_CHARACTERS = 300


def parse_plan(text: str, path: str = "plan.md") -> Plan:
    r"""Read a text as a plan: sections, steps, references, and its statements about itself.

    Never raises, whatever the text; `notes` lists what could not be read. Line ends may be of any kind.
    Source: rules A8, G2.

    >>> plan = parse_plan("# Sums\n\n1. Create `src/sums.py`\n2. Run `pytest -q`\n")
    >>> [(each.kind, each.name, each.intent, each.line) for each in plan.references]
    [('file', 'src/sums.py', 'create', 3), ('command', 'pytest -q', 'use', 4)]
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = split_lines(text)
    ends = list(accumulate(len(line) + 1 for line in lines[:MAX_PLAN_LINES]))
    count = bisect_right(ends, MAX_PLAN_CHARACTERS)
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
        steps=tuple(_steps(read, sections, prepared.elements)),
        references=tuple(references),
        blocks=prepared.blocks,
        constraints=tuple(statements.constraints(read.texts, sections)),
        decisions=tuple(statements.decisions(read.texts)),
        notes=(*prepared.notes, *read.notes, *reference_notes, *cut),
        body=prepared.body,
        texts=tuple(read.texts),
        actions=tuple(statements.action_lines(read.texts, tasks)),
    )


def _sections(headings: Sequence[TextBlock], lines: int) -> list[Section]:
    """Return the sections between headings; the lines before the first heading are one, if there are any."""
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

    >>> import verifyplan as vp
    >>> read_plan(vp.datasets.plan_path("purge-hour")).title
    'Running the purge after the snapshot, not during it'
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


def _steps(read: Blocks, sections: Sequence[Section], elements: Sequence[XmlElement]) -> list[Step]:
    """Return the steps of a plan in their order, an outer one before those it holds, numbered from 1.

    A PLAN document's steps are its tasks. Elsewhere: task-list items, headings and bold labels such as "Step 3",
    "Task 2: ..." or "1. ...", and the outermost items of numbered lists; where the plan has any of those headings, or a
    section that is called plan, steps, tasks or the like, numbered lists count in those places alone.
    Sections such as background, alternatives or summary hold no steps.
    """
    tasks = [element for element in elements if element.name == "task"]
    names = [element for element in elements if element.name == "name"]
    steps = []
    for task in tasks:
        text = name.text if (name := first_within(task, names)) else ""
        label = _label(text, numbered=False) or task.attributes.get("id", "")
        steps.append(_step(task.first, task.last, text, label, None))
    if not tasks:
        with_last = list(_with_subsections(sections))
        refused = LineRanges(_called(with_last, "not_titles"))
        titled = [
            _step(section.first, last, section.title.strip(_MARKERS), label, _done(section.title))
            for section, last in with_last
            if section.level and (label := _label(section.title, numbered=True))
            if section.first not in refused or not label.isdecimal()
        ]
        strong = LineRanges([*_called(with_last, "titles"), *((step.first, step.last) for step in titled)])
        steps = [*titled, *_labelled(read.texts, sections), *_listed(read.items, strong, refused)]
    numbered: list[Step] = []
    outer: list[Step] = []
    for number, step in enumerate(sorted(steps, key=lambda step: (step.first, -step.last)), 1):
        while outer and outer[-1].last < step.first:
            outer.pop()
        numbered.append(replace(step, number=number, level=len(outer)))
        outer.append(step)
    return numbered


def _step(first: int, last: int, text: str, label: str, done: bool | None) -> Step:
    """Return a step whose number and level are not known yet."""
    return Step(0, " ".join(text.split())[:_MAX_STEP_CHARACTERS], first, last, done, label)


def _listed(items: Iterable[ListItem], strong: LineRanges, refused: LineRanges) -> Iterator[Step]:
    """Yield the list items that are steps: of task lists, and of outermost numbered lists in strong places, if any."""
    for item in items:
        counts = item.done is not None or (item.number is not None and not item.depth)
        counts = counts and (item.done is not None or not strong or item.first in strong)
        if counts and item.first not in refused and item.text.strip():
            done = item.done if item.done is not None else _done(item.text)
            label = str(item.number) if item.number is not None else ""
            yield _step(item.first, item.last, item.text.replace("**", "").strip(), label, done)


def _label(title: str, *, numbered: bool) -> str:
    """Return the label of a step in a title: "Step 3", or "1" of "1. Foo" if numbers alone will do; else empty."""
    plain = title.strip(_MARKERS)
    named = _NAMED.match(plain)
    if named and named["label"].split()[0].lower() in words("steps", "labels"):
        return named["label"]
    matched = _NUMBERED.fullmatch(plain) if numbered else None
    return matched["label"] if matched else ""


def _done(text: str) -> bool | None:
    return True if any(mark in text for mark in words("steps", "done_marks")) else None


def _called(sections: Iterable[tuple[Section, int]], key: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of sections, with those below, whose titles hold a word of a list; the plan's own title aside."""
    for section, last in sections:
        title = set(re.findall(r"[a-z-]+", section.title.lower()))
        if section.level > 1 and title & words("steps", key):
            yield section.first, last


def _with_subsections(sections: Sequence[Section]) -> Iterator[tuple[Section, int]]:
    """Return each section and the last line of those below it."""
    after: list[tuple[int, int]] = []  # level and first line of the sections that follow, nearest last
    end = sections[-1].last if sections else 0
    pairs = []
    for section in reversed(sections):
        while after and after[-1][0] > section.level:
            after.pop()
        pairs.append((section, after[-1][1] - 1 if after else end))
        after.append((section.level, section.first))
    return reversed(pairs)


def _labelled(texts: Iterable[TextBlock], sections: Sequence[Section]) -> Iterator[Step]:
    """Steps that a bold label opens, as "**Step 1: ...**" does; each ends at the next one or with its section."""
    bold = (text for text in texts if text.kind == "paragraph" and text.content.lstrip().startswith("**"))
    opened = [(text, label) for text in bold if (label := _label(text.content, numbered=False))]
    starts = [section.first for section in sections]
    for at, (text, label) in enumerate(opened):
        last = sections[bisect_right(starts, text.first) - 1].last
        if at + 1 < len(opened):
            last = min(last, opened[at + 1][0].first - 1)
        title = text.content.split("\n")[0].replace("**", "").strip(_MARKERS)
        yield _step(text.first, max(last, text.first), title, label, _done(title))

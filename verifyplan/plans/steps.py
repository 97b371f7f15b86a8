"""Steps of a plan: tasks of PLAN documents, else headings, bold labels and list items."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from verifyplan.plans.markdown import Blocks, ListItem, Text
from verifyplan.plans.markup import Element, first_within
from verifyplan.plans.values import LineRanges, Section, Step
from verifyplan.plans.word_lists import words

_NUMBERED = re.compile(r"(?P<label>\d{1,3})[.):]\s+(?P<rest>\S.*)", re.DOTALL)
_NAMED = re.compile(r"(?P<label>[A-Za-z]+ (?:\d{1,3}(?:\.\d{1,3}){0,2}|[A-Z]))(?:\s*[:.)–—-]|\s|$)")  # noqa: RUF001
_MARKERS = "*_# "
_MAX_TEXT_CHARACTERS = 300


def steps(read: Blocks, sections: Sequence[Section], elements: Sequence[Element]) -> list[Step]:
    """Return the steps of a plan in their order, an outer one before those it holds, numbered from 1.

    A PLAN document's steps are its tasks. Elsewhere: task-list items, headings and bold labels such as "Step 3",
    "Task 2: ..." or "1. ...", and the outermost items of numbered lists; where the plan has any of those headings, or a
    section that is called plan, steps, tasks or the like, numbered lists count in those places alone.
    Sections such as background, alternatives or summary hold no steps.
    """
    tasks = [element for element in elements if element.name == "task"]
    if tasks:
        names = [element for element in elements if element.name == "name"]
        return _numbered(_of_task(task, first_within(task, names)) for task in tasks)
    refused = LineRanges(_called(sections, "not_titles"))
    titled = [step for step in _titled(sections) if step.first not in refused or not step.label.isdecimal()]
    strong = LineRanges([*_called(sections, "titles"), *((step.first, step.last) for step in titled)])
    items = [_of_item(item) for item in read.items if _counts(item, strong, refused)]
    return _numbered([*titled, *_labelled(read.texts, sections), *items])


def _step(first: int, last: int, text: str, label: str, done: bool | None) -> Step:
    """A step whose number and level are not known yet."""
    return Step(0, " ".join(text.split())[:_MAX_TEXT_CHARACTERS], first, last, done, label)


def _numbered(unordered: Iterable[Step]) -> list[Step]:
    numbered: list[Step] = []
    outer: list[Step] = []
    for number, step in enumerate(sorted(unordered, key=lambda step: (step.first, -step.last)), 1):
        while outer and outer[-1].last < step.first:
            outer.pop()
        numbered.append(Step(number, step.text, step.first, step.last, step.done, step.label, len(outer)))
        outer.append(step)
    return numbered


def _of_task(task: Element, name: Element | None) -> Step:
    text = name.text if name else ""
    return _step(task.first, task.last, text, _label(text, numbered=False) or task.attributes.get("id", ""), None)


def _of_item(item: ListItem) -> Step:
    done = item.done if item.done is not None else _done(item.text)
    label = str(item.number) if item.number is not None else ""
    return _step(item.first, item.last, item.text.replace("**", "").strip(), label, done)


def _counts(item: ListItem, strong: LineRanges, refused: LineRanges) -> bool:
    """Whether a list item is a step."""
    if item.first in refused or not item.text.strip():
        return False
    outermost = item.number is not None and item.depth == 0
    return item.done is not None or (outermost and (not strong or item.first in strong))


def _label(title: str, *, numbered: bool) -> str:
    """The label of a step in a title: "Step 3", "Task 2", or "1" of "1. Foo" if numbers alone will do; else empty."""
    plain = title.strip(_MARKERS)
    named = _NAMED.match(plain)
    if named and named["label"].split()[0].lower() in words("steps", "labels"):
        return named["label"]
    matched = _NUMBERED.fullmatch(plain) if numbered else None
    return matched["label"] if matched else ""


def _done(text: str) -> bool | None:
    return True if any(mark in text for mark in words("steps", "done_marks")) else None


def _titled(sections: Sequence[Section]) -> Iterator[Step]:
    """Steps that a heading opens; each ends where the next heading of its level or above begins."""
    for section, last in _with_subsections(sections):
        label = _label(section.title, numbered=True)
        if section.level and label:
            yield _step(section.first, last, section.title.strip(_MARKERS), label, _done(section.title))


def _called(sections: Sequence[Section], key: str) -> Iterator[tuple[int, int]]:
    """The lines of sections, with those below, whose titles hold a word of a list; the plan's own title aside."""
    for section, last in _with_subsections(sections):
        title = set(re.findall(r"[a-z-]+", section.title.lower()))
        if section.level > 1 and title & words("steps", key):
            yield section.first, last


def _with_subsections(sections: Sequence[Section]) -> Iterator[tuple[Section, int]]:
    """Each section and the last line of those below it."""
    after: list[tuple[int, int]] = []  # level and first line of the sections that follow, nearest last
    end = sections[-1].last if sections else 0
    pairs = []
    for section in reversed(sections):
        while after and after[-1][0] > section.level:
            after.pop()
        pairs.append((section, after[-1][1] - 1 if after else end))
        after.append((section.level, section.first))
    return reversed(pairs)


def _labelled(texts: Iterable[Text], sections: Sequence[Section]) -> Iterator[Step]:
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

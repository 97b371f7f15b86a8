"""What a plan says to do, step by step: tasks of PLAN documents, headings, labels and list items."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from verifyplan.plans.markdown import Blocks, ListItem, Text
from verifyplan.plans.markup import Element, first_within
from verifyplan.plans.values import LineRanges, Section, Step
from verifyplan.plans.word_lists import words

_NUMBERED = re.compile(r"(?P<label>\d{1,3})[.):]\s+(?P<rest>\S.*)", re.DOTALL)
_NAMED = re.compile(r"(?P<label>[A-Za-z]+ (?:\d{1,3}(?:\.\d{1,3}){0,2}|[A-Z]))(?:\s*[:.)–—-]|\s|$)")  # noqa: RUF001
_MARKS = "*_# "
_LONGEST = 300


class _Found(NamedTuple):
    first: int
    last: int
    text: str
    label: str
    done: bool | None


def steps(found: Blocks, sections: Sequence[Section], elements: Sequence[Element]) -> list[Step]:
    """The steps of a plan in their order, numbered from 1 through the whole plan.

    A PLAN document's steps are its tasks. Elsewhere: task-list items, headings and bold labels such as "Step 3",
    "Task 2: ..." or "1. ...", and the outermost items of numbered lists; where any of those headings, or a section
    that is called plan, steps, tasks or the like, stands in the plan, numbered lists count in those places alone.
    Sections such as background, alternatives or summary hold no steps.
    """
    tasks = [element for element in elements if element.name == "task"]
    if tasks:
        names = [element for element in elements if element.name == "name"]
        return _numbered(_task(task, names) for task in tasks)
    refused = LineRanges(_called(sections, "not_titles"))
    titled = [step for step in _titled(sections) if step.first not in refused or not step.label.isdecimal()]
    labelled = _labelled(found.texts, sections)
    strong = LineRanges([*_called(sections, "titles"), *((step.first, step.last) for step in titled)])
    items = [_item(item) for item in found.items if _counts(item, strong, refused)]
    return _numbered([*titled, *labelled, *items])


def _numbered(found: Iterable[_Found]) -> list[Step]:
    """Steps in the order of their lines, an outer one before those it holds, with their levels."""
    numbered: list[Step] = []
    outer: list[_Found] = []
    for number, step in enumerate(sorted(found, key=lambda step: (step.first, -step.last)), 1):
        while outer and outer[-1].last < step.first:
            outer.pop()
        text = " ".join(step.text.split())[:_LONGEST]
        numbered.append(Step(number, text, step.first, step.last, step.done, step.label, len(outer)))
        outer.append(step)
    return numbered


def _task(task: Element, names: Sequence[Element]) -> _Found:
    name = first_within(task, names)
    text = name.text if name else ""
    label = _label(text, numbered=False) or task.attributes.get("id", "")
    return _Found(task.first, task.last, text, label, None)


def _label(title: str, *, numbered: bool) -> str:
    """What a title calls its step: "Step 3", "Task 2", or "1" of "1. Foo" if numbers alone will do; else empty."""
    plain = title.strip(_MARKS)
    named = _NAMED.match(plain)
    if named and named["label"].split()[0].lower() in words("steps", "labels"):
        return named["label"]
    matched = _NUMBERED.fullmatch(plain) if numbered else None
    return matched["label"] if matched else ""


def _titled(sections: Sequence[Section]) -> Iterator[_Found]:
    """Steps that a heading opens; each ends where the next heading of its level or above begins."""
    for section, last in _with_those_below(sections):
        label = _label(section.title, numbered=True)
        if section.level and label:
            yield _Found(section.first, last, section.title.strip(_MARKS), label, _done(section.title))


def _with_those_below(sections: Sequence[Section]) -> Iterator[tuple[Section, int]]:
    """Each section and the last line of those below it."""
    after: list[tuple[int, int]] = []  # level and first line of the sections that follow, nearest last
    end = sections[-1].last if sections else 0
    found = []
    for section in reversed(sections):
        while after and after[-1][0] > section.level:
            after.pop()
        found.append((section, after[-1][1] - 1 if after else end))
        after.append((section.level, section.first))
    return reversed(found)


def _labelled(texts: Iterable[Text], sections: Sequence[Section]) -> Iterator[_Found]:
    """Steps that a bold label opens, as "**Step 1: ...**" does; each ends at the next one or with its section."""
    bold = (text for text in texts if text.kind == "paragraph" and text.content.lstrip().startswith("**"))
    opened = [(text, label) for text in bold if (label := _label(text.content, numbered=False))]
    starts = [section.first for section in sections]
    for at, (text, label) in enumerate(opened):
        last = sections[bisect_right(starts, text.first) - 1].last
        if at + 1 < len(opened):
            last = min(last, opened[at + 1][0].first - 1)
        title = text.content.split("\n")[0].replace("**", "").strip(_MARKS)
        yield _Found(text.first, max(last, text.first), title, label, _done(title))


def _item(item: ListItem) -> _Found:
    done = item.done if item.done is not None else _done(item.text)
    label = str(item.number) if item.number is not None else ""
    return _Found(item.first, item.last, item.text.replace("**", "").strip(), label, done)


def _counts(item: ListItem, strong: LineRanges, refused: LineRanges) -> bool:
    """Whether a list item is a step."""
    if item.first in refused or not item.text.strip():
        return False
    if item.done is not None:
        return True
    if item.number is None or item.depth > 0:
        return False
    return not strong or item.first in strong


def _done(text: str) -> bool | None:
    return True if any(mark in text for mark in words("steps", "done_marks")) else None


def _called(sections: Sequence[Section], key: str) -> Iterator[tuple[int, int]]:
    """The lines of sections, with those below, whose titles hold a word of a list; the plan's own title aside."""
    for section, last in _with_those_below(sections):
        title = set(re.findall(r"[a-z-]+", section.title.lower()))
        if section.level > 1 and title & words("steps", key):
            yield section.first, last

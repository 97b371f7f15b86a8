"""The prose of a plan, every line in its place: frontmatter, code, comments and tags are read and blanked (rule H3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from verifyplan.plans.commands import begins_like_command
from verifyplan.plans.values import CodeBlock
from verifyplan.plans.word_lists import words

FENCE = "---"
MAX_FRONTMATTER_CHARACTERS = 100_000  # PyYAML reads some 50,000 a second


_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)")
_INDENT = re.compile(r"[ \t>]*")
_TASK_TAG = re.compile(
    r"[ \t]*<(?P<end>/?)(?P<name>task|action|verify|done|behavior|implementation|instructions|how-to-verify|what-built"
    r"|acceptance_criteria)(?:\s[^<>]{0,500})?>"
)
_MARKDOWN = frozenset({"markdown", "md", "mdx"})
_MAX_NESTED_FENCES = 100
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][a-z0-9_-]{0,40})(?P<attributes>(?:\s[^<>]{0,500})?)>")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PLAN_DOCUMENT_SIGNS = ("<task", "<objective")
_MAX_DEPTH = 50


@dataclass(frozen=True)
class PreparedText:
    """The prose of a document line by line, and the parts that were taken out of it."""

    prose: tuple[str, ...]
    frontmatter: dict[str, Any]
    body: int
    blocks: tuple[CodeBlock, ...]
    elements: tuple[XmlElement, ...]
    notes: tuple[str, ...]


def prepare(lines: Sequence[str]) -> PreparedText:
    """Take out of a document everything that is not prose; never raises."""
    values, head, notes = frontmatter(lines)
    prose = [*[""] * head, *lines[head:]]
    blocks, unclosed_blocks = fences(prose)
    for block in blocks:
        _blank(prose, block)
    prose = without_comments(prose)
    tagged, unclosed_elements = elements(prose)
    for element in tagged:
        commands = element.name in ("verify", "automated") and begins_like_command(element.text)
        if element.name == "files" or commands:  # not prose: these are read from the element
            _blank(prose, element)
    if tagged:
        prose = [without_tags(line) for line in prose]
    all_notes = (*notes, *unclosed_blocks, *unclosed_elements)
    return PreparedText(tuple(prose), values, head + 1, tuple(blocks), tuple(tagged), all_notes)


def _blank(prose: list[str], part: CodeBlock | XmlElement) -> None:
    prose[part.first - 1 : part.last] = [""] * (part.last - part.first + 1)


class AliasFreeLoader(yaml.SafeLoader):
    """A YAML loader without aliases, by which a few lines could expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; an alias is refused."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds an alias")
        return super().compose_node(parent, index)


def frontmatter(lines: Sequence[str]) -> tuple[dict[str, Any], int, list[str]]:
    """Return the values at the head of a document, the number of lines they take, and notes.

    Frontmatter that is damaged, too long, or not a mapping is empty, and a note says why; it is still not part of
    the plan's body. Without a closing line there is none. Keys are texts.

    >>> frontmatter(["---", "wave: 1", "---", "# Plan"])
    ({'wave': 1}, 3, [])
    """
    end = frontmatter_end(lines)
    if end is None:
        return {}, 0, []
    values, problem = _yaml_values("\n".join(lines[1:end]))
    return values, end + 1, [f"line 1: the frontmatter is not read: {problem}"] if problem else []


def frontmatter_end(lines: Sequence[str]) -> int | None:
    """Return the line, from 0, that closes the frontmatter; a line `---` far below, or behind prose, is a rule."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() in (FENCE, "...")), None)
    if end is None:
        return None
    first = next((line for line in lines[1:end] if line.strip() and not line.startswith("#")), "")
    return end if ":" in first or not any(line.strip() for line in lines[1:end]) else None


def _yaml_values(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of a YAML mapping, and why there are none."""
    if len(text) > MAX_FRONTMATTER_CHARACTERS:
        return {}, f"it is longer than {MAX_FRONTMATTER_CHARACTERS:,} characters"
    try:
        values = yaml.load(text, Loader=AliasFreeLoader)  # noqa: S506  (a SafeLoader, made stricter)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return {}, f"it is not YAML at line {line} ({error.problem})"
    except yaml.YAMLError as error:
        return {}, " ".join(str(error).split())[:200]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:  # numbers, dates, keys, nesting
        return {}, f"it holds a value that is none ({type(error).__name__})"
    if not isinstance(values, dict | None):
        return {}, "it is no list of names and values"
    return {str(key): value for key, value in (values or {}).items()}, ""


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines with HTML comments blanked; one that never closes, or is within inline code, is text."""
    last_end = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    kept, within = [], False
    for number, line in enumerate(lines):
        if within or "<!--" in line:
            line, within = _without_comment(line, within, may_close_later=number < last_end)
        kept.append(line)
    return kept


def _without_comment(line: str, within: bool, *, may_close_later: bool) -> tuple[str, bool]:
    """Return a line without its comments, and whether one is open at its end."""
    shown: list[str] = []
    at, ticks, last = 0, 0, line.rfind("-->")
    while True:
        if within:
            end = line.find("-->", at)
            if end < 0:
                return "".join(shown), True
            within, at = False, end + 3
        start = line.find("<!--", at)
        ticks += line.count("`", at, max(start, at))
        if start < 0 or ticks % 2 or not (may_close_later or last > start):
            return "".join([*shown, line[at:]]), False
        shown.append(line[at:start])
        within, at = True, start + 4


class _Fence(NamedTuple):
    line: int  # from 0
    letter: str
    length: int
    info: str

    @property
    def language(self) -> str:
        return self.info.split()[0].strip("{}.").lower() if self.info.strip() else ""

    def closes(self, opening: _Fence) -> bool:
        return self.letter == opening.letter and self.length >= opening.length and not self.info


class _TaskTag(NamedTuple):
    line: int  # from 0
    name: str
    opens: bool


def fences(lines: Sequence[str]) -> tuple[list[CodeBlock], list[str]]:
    """Return the fenced blocks of some lines, in order, and notes on those that never close.

    A block that never closes reaches to the end, as in CommonMark. Unlike there, a fence marked as Markdown
    that holds fences of the same length ends where its author meant it to end, if that can be known; and within an
    element of a task no block reaches beyond the line that closes the element, however its fences are nested.

    >>> fences(["```sh", "make", "```"])[0]
    [CodeBlock(language='sh', first=1, last=3, text='make')]
    """
    marks = [mark for number, line in enumerate(lines) if (mark := _fence(number, line)) is not None]
    tags = [tag for number, line in enumerate(lines) if (tag := _task_tag(number, line)) is not None]
    blocks, notes, at, seen = [], [], 0, 0
    around: Counter[str] = Counter()  # the open elements of tasks
    while at < len(marks):
        opening = marks[at]
        while seen < len(tags) and tags[seen].line < opening.line:
            around[tags[seen].name] += 1 if tags[seen].opens else -min(1, around[tags[seen].name])
            seen += 1
        end, cut = _block_end(marks, at, tags, seen, around)
        last = cut if cut is not None else marks[end].line + 1 if end is not None else len(lines)
        if end is None and cut is None:
            notes.append(f"line {opening.line + 1}: the code block never ends")
        code = lines[opening.line + 1 : last if end is None else last - 1]
        matched = _INDENT.match(lines[opening.line])
        indent = matched.group() if matched else ""
        dedented = (line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t") for line in code)
        blocks.append(CodeBlock(opening.language, opening.line + 1, last, "\n".join(dedented)))
        while seen < len(tags) and tags[seen].line < last:
            seen += 1  # tags in a block are code
        while at < len(marks) and marks[at].line < last:
            at += 1
    return blocks, notes


def _block_end(
    marks: Sequence[_Fence], at: int, tags: Sequence[_TaskTag], seen: int, around: Counter[str]
) -> tuple[int | None, int | None]:
    """Return the fence that closes a block, or the line that closes the element around it, whichever is first.

    A tag that the block itself opens is closed within it, and one closing tag alone before the fence is code, too: it
    takes a second tag for the element to be over. Both are None for a block that never ends.
    """
    nested, closed = _nested_end(marks, at), None
    within: Counter[str] = Counter()
    for index in range(at + 1, len(marks) + 1):
        line = marks[index].line if index < len(marks) else None
        while seen < len(tags) and (line is None or tags[seen].line < line):
            tag = tags[seen]
            if closed is not None:
                return None, closed
            if not tag.opens and not within[tag.name] and around[tag.name]:
                closed = tag.line
            within[tag.name] += 1 if tag.opens else -min(1, within[tag.name])
            seen += 1
        if line is not None and (index == nested if nested is not None else marks[index].closes(marks[at])):
            return index, None
    return None, closed


def _nested_end(marks: Sequence[_Fence], at: int) -> int | None:
    """Return where a Markdown fence ends that holds whole fences; None unless it holds one that has a language."""
    opening = marks[at]
    if opening.language not in _MARKDOWN:
        return None
    within, nested = False, False
    for index in range(at + 1, min(at + 1 + _MAX_NESTED_FENCES, len(marks))):
        mark = marks[index]
        if mark.letter != opening.letter or mark.length < opening.length:
            continue
        if within:
            within = not mark.closes(opening)
        elif mark.info:
            within = nested = True
        else:
            return index if nested else None
    return None


def _fence(number: int, line: str) -> _Fence | None:
    """Return the fence that a line is; a run of backticks with more of them behind it is code within a line."""
    matched = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if matched is None or (matched["run"][0] == "`" and "`" in matched["info"]):
        return None
    return _Fence(number, matched["run"][0], len(matched["run"]), matched["info"].strip())


def _task_tag(number: int, line: str) -> _TaskTag | None:
    """Return the tag of a task's element that a line begins with, or is; None for an element of one line."""
    matched = _TASK_TAG.match(line) if "<" in line else None
    if matched is None or (not matched["end"] and f"</{matched['name']}>" in line):
        return None
    ends_midway = matched["end"] and line[matched.end() :].strip()
    return None if ends_midway else _TaskTag(number, matched["name"], not matched["end"])


class XmlElement(NamedTuple):
    """An element: its attributes, its lines with its tags, its text, its depth, and whether it ever closes."""

    name: str
    attributes: dict[str, str]
    first: int
    last: int
    text: str
    depth: int
    closed: bool = True


class _OpenElement(NamedTuple):
    name: str
    attributes: dict[str, str]
    line: int  # from 0
    column: int  # where its text begins


def elements(lines: Sequence[str]) -> tuple[list[XmlElement], list[str]]:
    """Return the elements of a PLAN document in the order in which they open, and notes on those that never close.

    A document without a task or an objective has none. An opening tag counts at the beginning of a line (or
    right behind another one), a closing tag anywhere. `lines` come with code blocks and comments blanked.

    >>> elements(["<task>", "<name>Do it</name>", "</task>"])[0][1].text
    'Do it'
    """
    if not any(line.lstrip().startswith(_PLAN_DOCUMENT_SIGNS) for line in lines):
        return [], []
    stack: list[_OpenElement] = []
    closed: list[XmlElement] = []
    notes: list[str] = []
    for number, line in enumerate(lines):
        for tag in _tags(line):
            if not tag["end"]:
                if len(stack) < _MAX_DEPTH:
                    quoted = _ATTRIBUTE.findall(tag["attributes"])
                    attributes = {name: double or single for name, double, single in quoted}
                    stack.append(_OpenElement(tag["name"], attributes, number, tag.end()))
            elif any(opened.name == tag["name"] for opened in stack):
                while (opened := stack.pop()).name != tag["name"]:
                    notes.append(f"line {opened.line + 1}: <{opened.name}> never closes")
                closed.append(_element(opened, lines, number, tag.start(), len(stack)))
    tasks = [(depth, opened) for depth, opened in enumerate(stack) if opened.name == "task"]
    notes += [f"line {opened.line + 1}: <task> never closes" for _, opened in tasks]
    closed += [_element(opened, lines, len(lines) - 1, None, depth) for depth, opened in tasks]
    return sorted(closed, key=lambda element: (element.first, element.depth)), notes


def _element(opened: _OpenElement, lines: Sequence[str], last: int, column: int | None, depth: int) -> XmlElement:
    text = [*lines[opened.line : last], lines[last][:column]]
    text[0] = text[0][opened.column :]
    closed = column is not None
    return XmlElement(opened.name, opened.attributes, opened.line + 1, last + 1, "\n".join(text), depth, closed)


def first_within(outer: XmlElement, candidates: Sequence[XmlElement]) -> XmlElement | None:
    """Return the first of some elements, in their order, that lies within `outer`; None if none does."""
    at = bisect_left(candidates, outer.first, key=lambda element: element.first)
    inner = next((e for e in candidates[at : at + 2] if e.first > outer.first or e.depth > outer.depth), None)
    return inner if inner is not None and inner.last <= outer.last else None


def without_tags(line: str) -> str:
    """Return a line of a PLAN document without its tags; the rest begins at the margin, so as to be in no list."""
    tags = _tags(line)
    if not tags:
        return line
    pieces, at = [], 0
    for tag in tags:
        pieces.append(line[at : tag.start()])
        at = tag.end()
    return " ".join([*pieces, line[at:]]).strip()


def _tags(line: str) -> list[re.Match[str]]:
    """Return the tags of a line: opening ones at its beginning, closing ones anywhere; none in inline code."""
    if "<" not in line:
        return []
    begin = len(line) - len(line.lstrip())
    ticks = [matched.start() for matched in re.finditer("`", line)]
    tags = []
    for tag in _TAG.finditer(line):
        if tag["name"] in words("elements", "html") or bisect_left(ticks, tag.start()) % 2:
            continue
        if tag["end"] or tag.start() == begin:
            tags.append(tag)
            begin = tag.end() if tag.start() == begin else begin
    return tags

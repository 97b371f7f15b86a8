"""Frontmatter and sections written into a document, every other character left as it is (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.source import (
    BYTE_ORDER_MARK,
    LineEnd,
    Source,
    read_source,
    split,
)
from verifyplan.errors import InputError, Problem
from verifyplan.plans.prose import FENCE

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_WIDEST = 110


def with_front(source: Source, values: Mapping[str, Any]) -> str:
    """The text of a document with some keys of its frontmatter given new values; all other lines stay.

    A key that is missing is added at the end, frontmatter that is missing at the head. Raises InputError where the
    frontmatter is damaged, or YAML cannot hold a value.
    """
    front = source.front
    if front.problems:
        line, problem = front.problems[0]
        place = f"{source.path}: line {line}"
        raise InputError(Problem(place, f"the frontmatter cannot be changed: {problem}", "repair it first"))
    whole = front.flow or not front.first
    wanted = {**front.values, **{str(key): _listed(value) for key, value in values.items()}}
    entries = _entries(source, wanted if whole else values)
    if whole:
        text = _put_whole(source, [line for lines in entries.values() for line in lines])
    else:
        text = _with_keys(source, entries)
    held = read_source(text, source.path).front.values
    lost = [key for key, value in wanted.items() if repr(held.get(key)) != repr(value)]  # repr: nan is no nan
    if lost:
        raise InputError(_unheld(source, key) for key in lost)
    return text


def _entries(source: Source, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The lines of each key; InputError names all whose values are of no kind that YAML has."""
    entries, problems = {}, []
    for key, value in values.items():
        try:
            entries[str(key)] = front_lines(str(key), value)
        except (yaml.YAMLError, ValueError):  # a number of 5,000 digits
            problems.append(_unheld(source, key))
    if problems:
        raise InputError(problems)
    return entries


def _unheld(source: Source, key: str) -> Problem:
    place = f"{source.path}: key {key}"
    return Problem(place, "frontmatter cannot hold this value", "give texts, numbers, lists, or names and values")


def _with_keys(source: Source, entries: Mapping[str, Sequence[str]]) -> str:
    """The text with the lines of keys replaced, from the last key up, so that lines above stay where they are."""
    front = source.front
    heads = sorted(line for path, line in front.lines.items() if len(path) == 1)
    first = source.lines[heads[0] - 1] if heads else ""
    indent = first[: len(first) - len(first.lstrip())]
    reaches = [(_reach(source, key, heads), [indent + line for line in lines]) for key, lines in entries.items()]
    text = source.text
    for (begin, end), lines in sorted(reaches, key=lambda reach: reach[0])[::-1]:
        text = _replaced(text, source.line_end, begin, end, lines)
    return text


def _reach(source: Source, key: str, heads: Sequence[int]) -> tuple[int, int]:
    """The lines that a key and its value take; those of a missing key are none, right before the closing fence."""
    front = source.front
    if (key,) not in front.lines:
        return front.last, front.last - 1
    first = front.lines[(key,)]
    last = next((line for line in heads if line > first), front.last) - 1
    while last > first and _is_between(source.lines[last - 1]):
        last -= 1
    return first, last


def _is_between(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def with_section(source: Source, title: str, text: str) -> str:
    """The text of a document with what stands under a heading of level 2 replaced; a missing one is added last.

    Raises InputError where the section would not read as it was given, or take in what stands behind it: a text with
    a heading of its own level, or code or a comment that never closes, there or before.
    """
    body = split(text.strip("\r\n"))
    part = source.section(title)
    if part is None:
        before = [""] if source.lines and source.lines[-1].strip() else []
        lines = [*before, f"## {title}", "", *body]
        written = _replaced(source.text, source.line_end, len(source.lines) + 1, len(source.lines), lines)
    else:
        after = [""] if part.last < len(source.lines) else []
        written = _replaced(source.text, source.line_end, part.head + 1, part.last, ["", *body, *after])
    if not _reads(read_source(written, source.path), source, title, body):
        message, fix = "would not read as it is given", "leave out headings with ##, and close code and comments"
        raise InputError(Problem(f"{source.path}: section {title}", message, fix))
    return written


def _reads(new: Source, old: Source, title: str, body: Sequence[str]) -> bool:
    """Whether a section holds some lines, and all parts outside of it are as they were."""
    part, before = new.section(title), old.section(title)
    if part is None or _filled(line for _, line in new.lines_of(part)) != _filled(body):
        return False
    return _outside(new, part) == (_outside(old, before) if before else [(p.title, p.level) for p in old.sections])


def _filled(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.strip()]


def _outside(source: Source, part: DocumentSection) -> list[tuple[str, int]]:
    return [(other.title, other.level) for other in source.sections if not part.first <= other.first <= part.last]


def _replaced(text: str, end: LineEnd, first: int, last: int, lines: Sequence[str]) -> str:
    """The text with lines `first` to `last` replaced; none are where `last` lies before `first`."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    kept = _LINE.findall(text.removeprefix(BYTE_ORDER_MARK))
    new = [line + end for line in lines]
    if first > 1 and len(kept) >= first - 1 and not kept[first - 2].endswith(("\n", "\r")):
        kept[first - 2] += end
    if last >= len(kept) and kept and not text.endswith(("\n", "\r")) and new:
        new[-1] = lines[-1]
    return mark + "".join([*kept[: first - 1], *new, *kept[max(last, first - 1) :]])


def _put_whole(source: Source, lines: Sequence[str]) -> str:
    """The text with its whole frontmatter written anew; one that has none gets it behind its byte order mark."""
    if source.front.first:
        return _replaced(source.text, source.line_end, 2, source.front.last - 1, lines)
    mark = BYTE_ORDER_MARK if source.text.startswith(BYTE_ORDER_MARK) else ""
    head = [FENCE, *lines, FENCE]
    return mark + "".join(line + source.line_end for line in head) + source.text.removeprefix(BYTE_ORDER_MARK)


def _listed(value: Any) -> Any:
    """A value with its tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): _listed(inner) for key, inner in value.items()}
    return [_listed(inner) for inner in value] if isinstance(value, list | tuple) else value


def front_lines(key: str, value: Any) -> list[str]:
    """The lines of frontmatter that a key and its value are.

    >>> front_lines("gaps", ["a: b", "c"]), front_lines("must_haves", {"truths": [], "artifacts": ["x"]})
    (['gaps: ["a: b", c]'], ['must_haves:', '  truths: []', '  artifacts: [x]'])
    """
    name = scalar(key)
    value = _listed(value)
    if isinstance(value, dict) and value:
        return [f"{name}:", *(f"  {line}" for inner, held in value.items() for line in front_lines(inner, held))]
    if isinstance(value, list) and value:
        return _list(name, value)
    return [f"{name}: {'{}' if value == {} else '[]' if value == [] else scalar(value)}"]


def _list(name: str, items: Sequence[Any]) -> list[str]:
    """A list in one line where that is short, else an item a line."""
    if not any(isinstance(item, dict | list) for item in items):
        line = f"{name}: [{', '.join(scalar(item) for item in items)}]"
        if len(line) <= _WIDEST:
            return [line]
    return [f"{name}:", *(f"  {line}" for item in items for line in _item(item))]


def _item(item: Any) -> list[str]:
    if isinstance(item, dict) and item:
        lines = [line for key, value in item.items() for line in front_lines(key, value)]
        return [f"- {lines[0]}", *(f"  {line}" for line in lines[1:])]
    return [f"- {scalar(item) if not isinstance(item, dict | list) else _flow(item)}"]


def _flow(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=1_000_000_000)).strip()


def scalar(value: Any) -> str:
    """A single value as YAML writes it; texts in quotation marks unless they are plain words.

    >>> scalar("auth.py"), scalar("01"), scalar("yes"), scalar(None), scalar(3)
    ('auth.py', '"01"', '"yes"', 'null', '3')
    """
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _KEYWORDS:
        return value
    style = '"' if isinstance(value, str) else None
    shown = yaml.safe_dump(value, default_style=style, allow_unicode=True, width=1_000_000_000)
    return str(shown).removesuffix("\n").removesuffix("\n...")


_BACKTICKS = re.compile(r"`+")

Value = str | int | None | Sequence[str]


def flat(text: str) -> str:
    r"""A text as one line that opens no comment, so that it can stand in a list, a table or a heading.

    >>> flat(" two\n lines <!-- "), flat("")
    ('two lines <! --', '')
    """
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(visible.replace("<!--", "<! --").split())


def cell(text: str) -> str:
    r"""A text as a table's cell: one line, its pipes escaped; inline code that never closes becomes plain text.

    >>> cell("a | b"), cell("`a | b`"), cell("a ` b")
    ('a \\| b', '`a \\| b`', "a ' b")
    """
    line = flat(text).replace("\\|", "|").replace("|", "\\|")
    return line if _closes(line) else line.replace("`", "'")


def _closes(line: str) -> bool:
    """Whether each run of backticks has its like behind it."""
    opened = ""
    for run in _BACKTICKS.findall(line):
        opened = "" if run == opened else opened or run
    return not opened


def list_item(text: str) -> str:
    """A text as a list item, which opens no code and has no box."""
    line = flat(text).replace("```", "'''").replace("~~~", "~~")
    return f"- {line}" if not line.startswith("[") else f"- \\{line}"


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines."""
    lines = [header, ["---"] * len(header), *rows]
    return [
        f"| {' | '.join(map(cell, line))} |" if at != 1 else "|---" * len(header) + "|" for at, line in enumerate(lines)
    ]


def document_text(front: Mapping[str, Value], body: Iterable[str]) -> str:
    """A document of frontmatter and lines; texts are quoted, so that YAML reads none of them as anything else."""
    head = [line for name, value in front.items() for line in front_lines(name, _flat(value))]
    return "\n".join(["---", *head, "---", "", *body, ""])


def _flat(value: Value) -> Value:
    if value is None or isinstance(value, int):
        return value
    return flat(value) if isinstance(value, str) else [flat(text) for text in value]

"""Write changes into a document, every other character left as it is, and the lines of new documents (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.source import BYTE_ORDER_MARK, Source, read_source, split
from verifyplan.errors import InputError, Problem
from verifyplan.plans.prose import FENCE

FrontValue = str | int | None | Sequence[str]

MAX_LIST_WIDTH = 110
"""A list of frontmatter that is wider is written one item a line."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_BACKTICKS = re.compile(r"`+")


def with_front(source: Source, values: Mapping[str, Any]) -> str:
    """Return the text of a document with new values of some keys of its frontmatter; all other lines stay.

    A missing key is added at the end, missing frontmatter at the head. Raises InputError where the frontmatter is
    damaged, or YAML cannot hold a value.
    """
    front = source.front
    if front.problems:
        line, problem = front.problems[0]
        place = f"{source.path}: line {line}"
        raise InputError(Problem(place, f"the frontmatter cannot be changed: {problem}", "repair it first"))
    whole = front.flow or not front.first
    wanted = {**front.values, **{str(key): _with_lists(value) for key, value in values.items()}}
    entries = _entries(source, wanted if whole else values)
    lines = [line for entry in entries.values() for line in entry]
    if not front.first:
        mark = BYTE_ORDER_MARK if source.text.startswith(BYTE_ORDER_MARK) else ""
        head = "".join(line + source.line_end for line in [FENCE, *lines, FENCE])
        text = mark + head + source.text.removeprefix(BYTE_ORDER_MARK)
    elif whole:
        text = _with_lines(source, source.text, 2, front.last - 1, lines)
    else:
        text = _with_keys(source, entries)
    written = read_source(text, source.path).front.values
    lost = [key for key, value in wanted.items() if repr(written.get(key)) != repr(value)]  # nan is not equal to nan
    if lost:
        raise InputError(_not_writable(source, key) for key in lost)
    return text


def _entries(source: Source, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the lines of each key; InputError names all keys whose values YAML cannot hold."""
    entries, problems = {}, []
    for key, value in values.items():
        try:
            entries[str(key)] = front_lines(str(key), value)
        except (yaml.YAMLError, ValueError):  # a number of 5,000 digits
            problems.append(_not_writable(source, key))
    if problems:
        raise InputError(problems)
    return entries


def _not_writable(source: Source, key: str) -> Problem:
    place = f"{source.path}: key {key}"
    return Problem(place, "frontmatter cannot hold this value", "give texts, numbers, lists, or names and values")


def _with_keys(source: Source, entries: Mapping[str, Sequence[str]]) -> str:
    """Return the text with the lines of keys replaced, from the last key up, so that lines above keep their numbers."""
    front = source.front
    heads = sorted(line for path, line in front.lines.items() if len(path) == 1)
    first = source.lines[heads[0] - 1] if heads else ""
    indent = first[: len(first) - len(first.lstrip())]
    ranges = [(_lines_of_key(source, key, heads), [indent + line for line in lines]) for key, lines in entries.items()]
    text = source.text
    for (begin, end), lines in sorted(ranges, key=lambda entry: entry[0])[::-1]:
        text = _with_lines(source, text, begin, end, lines)
    return text


def _lines_of_key(source: Source, key: str, heads: Sequence[int]) -> tuple[int, int]:
    """Return first and last line of a key and its value; of a missing key an empty range before the closing fence."""
    front = source.front
    if (key,) not in front.lines:
        return front.last, front.last - 1
    first = front.lines[(key,)]
    last = next((line for line in heads if line > first), front.last) - 1
    while last > first and (not source.lines[last - 1].strip() or source.lines[last - 1].startswith("#")):
        last -= 1
    return first, last


def with_section(source: Source, title: str, text: str) -> str:
    """Return the text of a document with a new text under a heading of level 2; a missing section is added last.

    Raises InputError where the section would not read back, or would take in what is behind it: the text has a heading
    of its own level, or code or a comment never closes, there or before.
    """
    body = split(text.strip("\r\n"))
    section = source.section(title)
    if section is None:
        before = [""] if source.lines and source.lines[-1].strip() else []
        lines = [*before, f"## {title}", "", *body]
        written = _with_lines(source, source.text, len(source.lines) + 1, len(source.lines), lines)
    else:
        after = [""] if section.last < len(source.lines) else []
        written = _with_lines(source, source.text, section.head + 1, section.last, ["", *body, *after])
    if not _reads_back(read_source(written, source.path), source, title, body):
        message, fix = "would not read as it is given", "leave out headings with ##, and close code and comments"
        raise InputError(Problem(f"{source.path}: section {title}", message, fix))
    return written


def _reads_back(new: Source, old: Source, title: str, body: Sequence[str]) -> bool:
    """Whether a section has the lines of `body`, and all sections outside of it are as they were."""
    section, before = new.section(title), old.section(title)
    if section is None or [line for _, line in new.lines_of(section) if line.strip()] != list(filter(str.strip, body)):
        return False
    return _outside(new, section) == _outside(old, before)


def _outside(source: Source, section: DocumentSection | None) -> list[tuple[str, int]]:
    """Return title and level of the sections that neither are nor begin within a section."""
    first, last = (section.first, section.last) if section else (0, 0)
    return [(other.title, other.level) for other in source.sections if not first <= other.first <= last]


def _with_lines(source: Source, text: str, first: int, last: int, lines: Sequence[str]) -> str:
    """Return the text with lines `first` to `last` replaced; with `last` before `first`, lines are inserted."""
    end = source.line_end
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    kept = _LINE.findall(text.removeprefix(BYTE_ORDER_MARK))
    new = [line + end for line in lines]
    if first > 1 and len(kept) >= first - 1 and not kept[first - 2].endswith(("\n", "\r")):
        kept[first - 2] += end
    if last >= len(kept) and kept and not text.endswith(("\n", "\r")) and new:
        new[-1] = lines[-1]
    return mark + "".join([*kept[: first - 1], *new, *kept[max(last, first - 1) :]])


def _with_lists(value: Any) -> Any:
    """Return a value with its tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): _with_lists(inner) for key, inner in value.items()}
    return [_with_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def front_lines(key: str, value: Any) -> list[str]:
    """Return the lines of frontmatter for a key and its value; a list is on one line where that is short.

    >>> front_lines("gaps", ["a: b", "c"]), front_lines("must_haves", {"truths": [], "artifacts": ["x"]})
    (['gaps: ["a: b", c]'], ['must_haves:', '  truths: []', '  artifacts: [x]'])
    """
    name = scalar(key)
    value = _with_lists(value)
    if isinstance(value, dict) and value:
        return [f"{name}:", *(f"  {line}" for inner, held in value.items() for line in front_lines(inner, held))]
    if isinstance(value, list) and value:
        line = "" if any(isinstance(item, dict | list) for item in value) else ", ".join(map(scalar, value))
        if line and len(line) + len(name) + 4 <= MAX_LIST_WIDTH:
            return [f"{name}: [{line}]"]
        return [f"{name}:", *(f"  {line}" for item in value for line in _item_lines(item))]
    return [f"{name}: {'{}' if value == {} else '[]' if value == [] else scalar(value)}"]


def _item_lines(item: Any) -> list[str]:
    if isinstance(item, dict) and item:
        lines = [line for key, value in item.items() for line in front_lines(key, value)]
        return [f"- {lines[0]}", *(f"  {line}" for line in lines[1:])]
    if isinstance(item, dict | list):
        flow = yaml.safe_dump(item, default_flow_style=True, allow_unicode=True, width=1_000_000_000)
        return [f"- {flow.strip()}"]
    return [f"- {scalar(item)}"]


def scalar(value: Any) -> str:
    """Return a single value as YAML writes it; texts are in quotation marks unless they are plain words.

    >>> scalar("auth.py"), scalar("01"), scalar("yes"), scalar(None), scalar(3)
    ('auth.py', '"01"', '"yes"', 'null', '3')
    """
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _KEYWORDS:
        return value
    style = '"' if isinstance(value, str) else None
    dumped = yaml.safe_dump(value, default_style=style, allow_unicode=True, width=1_000_000_000)
    return str(dumped).removesuffix("\n").removesuffix("\n...")


def one_line(text: str) -> str:
    r"""Return a text on one line, without characters that cannot be shown or written.

    >>> one_line(" the\n queue\x00 is full ")
    'the queue is full'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def flat(text: str) -> str:
    r"""Return a text as one line that opens no comment, for a list, a table or a heading.

    >>> flat(" two\n lines <!-- "), flat("")
    ('two lines <! --', '')
    """
    return one_line(text).replace("<!--", "<! --")


def table_cell(text: str) -> str:
    r"""Return a text as a table's cell: one line, its pipes escaped; inline code that never closes is plain text.

    >>> table_cell("a | b"), table_cell("`a | b`"), table_cell("a ` b")
    ('a \\| b', '`a \\| b`', "a ' b")
    """
    line = flat(text).replace("\\|", "|").replace("|", "\\|")
    opened = ""
    for run in _BACKTICKS.findall(line):
        opened = "" if run == opened else opened or run
    return line.replace("`", "'") if opened else line


def list_item(text: str) -> str:
    """Return a text as a list item, which opens no code and has no box."""
    line = flat(text).replace("```", "'''").replace("~~~", "~~")
    return f"- {line}" if not line.startswith("[") else f"- \\{line}"


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    head, *body = (f"| {' | '.join(map(table_cell, row))} |" for row in (header, *rows))
    return [head, "|---" * len(header) + "|", *body]


def document_text(front: Mapping[str, FrontValue], body: Iterable[str]) -> str:
    """Return a document of frontmatter and lines; texts are on one line, and quoted where YAML needs it."""
    head = [line for name, value in front.items() for line in front_lines(name, _flat_value(value))]
    return "\n".join([FENCE, *head, FENCE, "", *body, ""])


def _flat_value(value: FrontValue) -> FrontValue:
    if value is None or isinstance(value, int):
        return value
    return flat(value) if isinstance(value, str) else [flat(text) for text in value]

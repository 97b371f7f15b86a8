"""What every contract asks alike: keys of frontmatter and their types, sections, tables' columns, and a known form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.reading.base import Document
from verifyplan.documents.reading.body import Part, Table
from verifyplan.documents.reading.form import CONTRACT
from verifyplan.documents.reading.forms import OTHER
from verifyplan.errors import one_of

FieldType = Literal["text", "texts", "number", "word", "table"]


class AskedField(NamedTuple):
    """A key of frontmatter that a contract asks for: its type, and the words it may be (any if there are none).

    `shape` shows how it is written, where its type does not say it.
    """

    name: str
    type: FieldType
    words: tuple[str, ...] = ()
    shape: str = ""


_SHAPES: dict[FieldType, str] = {
    "text": '"..."',
    "texts": '["...", "..."]',
    "number": "a whole number",
    "word": "one of its words",
    "table": "names and values, indented",
}


def held(document: Document) -> bool:
    """Whether a document is held to the contract key by key: not one of another known form, nor a damaged one."""
    front = document.source.front
    return document.form == CONTRACT.name and not (front.problems and not front.values)


def form(document: Document) -> Iterator[Violation]:
    """One note that names the older or newer form that a document has."""
    if document.form == CONTRACT.name:
        return
    known = document.the_form
    named = known.meaning if known.name == OTHER else f"a known form, {known.name!r}: {known.meaning}"
    message = f"{named}; it is not held to the contract's keys and sections"
    fix = "write the contract's form in new documents; check with strict to see what differs"
    yield violation(f"{document.kind}/form", document.path, 1, message, fix)


def fields(document: Document, asked: Iterable[AskedField]) -> Iterator[Violation]:
    """Violations of the keys that frontmatter must have; damaged frontmatter is told elsewhere, once."""
    if not held(document):
        return
    front, wanted = document.source.front, tuple(asked)
    if front.first == 0 and not front.problems and wanted:
        names = ", ".join(field.name for field in wanted)
        fix = f"begin the document with it, between two lines of three hyphens: {names}"
        yield violation(f"{document.kind}/field-missing", document.path, 1, "there is no frontmatter", fix)
        return
    for field in wanted:
        yield from _field(document, field)


def labelled_confidence(document: Document, confidence: str | None) -> Iterator[Violation]:
    """The violation that a document of the form with labels has none that states its confidence."""
    if document.form == "labelled" and confidence is None:
        message, fix = "no confidence is stated", "write **Confidence:** HIGH, MEDIUM or LOW under the title"
        yield violation(f"{document.kind}/field-missing", document.path, 1, message, fix)


def _field(document: Document, field: AskedField) -> Iterator[Violation]:
    name, front = document.the_form.key(document.source, field.name), document.source.front
    if name not in front.values:
        fix = f"add {field.name}: {_shape(field)}"
        line = front.line()
        yield violation(f"{document.kind}/field-missing", document.path, line, f"the key {field.name} is missing", fix)
        return
    for place, problem in _wrong(front.values[name], field):
        rule, line = f"{document.kind}/field-type", front.line(name, *place)
        yield violation(rule, document.path, line, f"the key {name} {problem}", f"write {name}: {_shape(field)}")


def _shape(field: AskedField) -> str:
    return field.shape or (f"one of {one_of(field.words)}" if field.words else _SHAPES[field.type])


def _wrong(value: Any, field: AskedField) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield what is wrong with a value, and at which item."""
    if field.type == "texts":
        yield from _wrong_list(value)
    elif field.type == "number":
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            yield (), f"is {_told(value)}, not a whole number from 0"
    elif field.type == "table":
        if not isinstance(value, dict):
            yield (), f"is {_told(value)}, not a list of names and values"
    elif not _is_text(value):
        yield (), f"is {_told(value)}, not a text"
    elif field.words and str(value) not in field.words:
        yield (), f"is {str(value)[:80]!r}, which is none of its words"


def _wrong_list(value: Any) -> Iterator[tuple[tuple[int, ...], str]]:
    if not isinstance(value, list):
        yield (), f"is {_told(value)}, not a list"
        return
    for at, item in enumerate(value):
        if not _is_text(item):
            yield (at,), f"has an item that is {_told(item)}, not a text"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _told(value: Any) -> str:
    """What a value is: a single one as it is read, with its kind."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a list of names and values"
    if isinstance(value, bool):
        return "true" if value else "false"
    kind = "the text" if isinstance(value, str) else "the number" if isinstance(value, int | float) else "the date"
    return f"{kind} {value[:80]!r}" if isinstance(value, str) else f"{kind} {value}"


def section(document: Document, title: str, names: Iterable[str] = ()) -> tuple[Part | None, Iterator[Violation]]:
    """A section that a contract asks for, and the violation that it is missing; none in another known form.

    `names` are the columns of its table, where it has to hold one: None cannot stand there.
    """
    part = document.the_form.part(document.source, title)
    return part, iter(()) if part or not held(document) else _no_section(document, title, ", ".join(names))


def sections(document: Document, titles: Iterable[str]) -> Iterator[Violation]:
    """Violations of the sections that a document must have."""
    for title in titles:
        yield from section(document, title)[1]


def _no_section(document: Document, title: str, names: str) -> Iterator[Violation]:
    message = f"the section ## {title} is missing"
    rest = f" with a table of the columns {names}" if names else "; where there is nothing to say, write None"
    fix = f"add ## {title}{rest}"
    yield violation(f"{document.kind}/section-missing", document.path, 1, message, fix)


def columns(document: Document, part: Part, table: Table | None, names: Iterable[str]) -> Iterator[Violation]:
    """Violations of the table that a section must hold: it is missing, or one of its columns is."""
    if not held(document):
        return
    rule = f"{document.kind}/table-columns"
    wanted = tuple(names)
    if table is None:
        fix = f"write a table with the columns {', '.join(wanted)}"
        yield violation(rule, document.path, part.first, f"the section {part.title} has no table", fix)
        return
    for name in wanted:
        if table.column(name) is None:
            message = f"the table of {part.title} has no column {name}"
            yield violation(rule, document.path, table.line, message, f"add the column {name}")

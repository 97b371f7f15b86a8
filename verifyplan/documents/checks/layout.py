"""Check the layout that every contract requires: keys and their types, sections, table columns, a known form (D2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.reading.body import DocumentSection, MarkdownTable
from verifyplan.documents.reading.document import CONTRACT, OTHER, Document
from verifyplan.errors import one_of

FieldType = Literal["text", "texts", "number", "word", "table"]

_SHAPES: dict[FieldType, str] = {
    "text": '"..."',
    "texts": '["...", "..."]',
    "number": "a whole number",
    "word": "one of its words",
    "table": "names and values, indented",
}


class RequiredField(NamedTuple):
    """A key of frontmatter that a contract requires: its type, and the words it may be (any if there are none).

    `shape` shows how to write it, where the type does not say it.
    """

    name: str
    type: FieldType
    words: tuple[str, ...] = ()
    shape: str = ""

    @property
    def example(self) -> str:
        """How to write the value."""
        return self.shape or (f"one of {one_of(self.words)}" if self.words else _SHAPES[self.type])


def held_to_contract(document: Document) -> bool:
    """Whether a document is checked key by key: it has the contract's own form, and its frontmatter is readable."""
    front = document.source.front
    return document.form == CONTRACT.name and not (front.problems and not front.values)


def check_layout(
    document: Document,
    fields: Iterable[RequiredField] = (),
    sections: Iterable[str] = (),
    tables: Mapping[str, tuple[Sequence[str], MarkdownTable | None]] = MappingProxyType({}),
) -> Iterator[Violation]:
    """Yield the violations of a document's layout: its form, the keys of its frontmatter, its sections and tables.

    `tables`: title of a section -> the required columns, and the table that was read there.
    """
    yield from _check_form(document)
    if not held_to_contract(document):
        return
    yield from _check_fields(document, tuple(fields))
    for title in sections:
        columns, table = tables.get(title, ((), None))
        section = document.the_form.section(document.source, title)
        if section is None:
            needed = f" with a table of the columns {', '.join(columns)}"
            fix = f"add ## {title}{needed if columns else '; where there is nothing to say, write None'}"
            message = f"the section ## {title} is missing"
            yield violation(f"{document.kind}/section-missing", document.path, 1, message, fix)
        elif title in tables:
            yield from check_columns(document, section, table, columns)


def _check_form(document: Document) -> Iterator[Violation]:
    """Yield a note that names the form of a document, unless it is the contract's own."""
    if document.form == CONTRACT.name:
        return
    form = document.the_form
    named = form.meaning if form.name == OTHER else f"a known form, {form.name!r}: {form.meaning}"
    message = f"{named}; it is not held to the contract's keys and sections"
    fix = "write the contract's form in new documents; check with strict to see what differs"
    yield violation(f"{document.kind}/form", document.path, 1, message, fix)


def _check_fields(document: Document, fields: tuple[RequiredField, ...]) -> Iterator[Violation]:
    """Yield the violations of the keys that frontmatter must have; damaged frontmatter is reported elsewhere, once."""
    front, missing = document.source.front, f"{document.kind}/field-missing"
    if front.first == 0 and not front.problems and fields:
        names = ", ".join(field.name for field in fields)
        fix = f"begin the document with it, between two lines of three hyphens: {names}"
        yield violation(missing, document.path, 1, "there is no frontmatter", fix)
        return
    for field in fields:
        name = document.the_form.key(document.source, field.name)
        if name not in front.values:
            message, fix = f"the key {field.name} is missing", f"add {field.name}: {field.example}"
            yield violation(missing, document.path, front.line(), message, fix)
            continue
        for place, problem in _type_problems(front.values[name], field):
            rule, line = f"{document.kind}/field-type", front.line(name, *place)
            yield violation(rule, document.path, line, f"the key {name} {problem}", f"write {name}: {field.example}")


def _type_problems(value: Any, field: RequiredField) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the place (() or the index of an item) and the description of each wrong type."""
    if field.type == "texts" and isinstance(value, list):
        for at, item in enumerate(value):
            if not _is_text(item):
                yield (at,), f"has an item that is {_described(item)}, not a text"
        return
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    fits, required = {
        "texts": (False, "a list"),
        "number": (whole, "a whole number from 0"),
        "table": (isinstance(value, dict), "a list of names and values"),
    }.get(field.type, (_is_text(value), "a text"))
    if not fits:
        yield (), f"is {_described(value)}, not {required}"
    elif field.words and str(value) not in field.words:
        yield (), f"is {str(value)[:80]!r}, which is none of its words"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _described(value: Any) -> str:
    """Return the kind of a value, and a single value itself."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a list of names and values"
    if isinstance(value, bool):
        return "true" if value else "false"
    kind = "the text" if isinstance(value, str) else "the number" if isinstance(value, int | float) else "the date"
    return f"{kind} {value[:80]!r}" if isinstance(value, str) else f"{kind} {value}"


def check_columns(
    document: Document, part: DocumentSection, table: MarkdownTable | None, required: Iterable[str]
) -> Iterator[Violation]:
    """Yield the violations of the table that a section must hold: it, or one of its columns, is missing."""
    if not held_to_contract(document):
        return
    rule, columns = f"{document.kind}/table-columns", tuple(required)
    if table is None:
        message, fix = f"the section {part.title} has no table", f"write a table with the columns {', '.join(columns)}"
        yield violation(rule, document.path, part.first, message, fix)
        return
    for name in columns:
        if table.column(name) is None:
            message = f"the table of {part.title} has no column {name}"
            yield violation(rule, document.path, table.line, message, f"add the column {name}")


def check_labelled_confidence(document: Document, confidence: str | None) -> Iterator[Violation]:
    """Yield the violation that a document of the labelled form states no confidence."""
    if document.form == "labelled" and confidence is None:
        message, fix = "no confidence is stated", "write **Confidence:** HIGH, MEDIUM or LOW under the title"
        yield violation(f"{document.kind}/field-missing", document.path, 1, message, fix)

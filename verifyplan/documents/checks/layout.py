"""Check the layout that every contract requires: keys and their types, sections, table columns, a known form (D2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.reading.body import DocumentSection, MarkdownTable
from verifyplan.documents.reading.document import CONTRACT, OTHER, Document, RequiredField


def check_layout(
    document: Document,
    tables: Mapping[str, tuple[Sequence[str], MarkdownTable | None]] = MappingProxyType({}),
    sections: Iterable[str] | None = None,
) -> Iterator[Violation]:
    """Yield the violations of a document's layout: its form, the keys of its frontmatter, its sections and tables.

    `tables`: title of a section -> the required columns, and the table that was read there. `sections` are by default
    those of its kind.
    """
    if document.form != CONTRACT.name:
        form = document.the_form
        described = form.meaning if form.name == OTHER else f"a known form, {form.name!r}: {form.meaning}"
        yield violation(f"{document.kind}/form", document.path, 1, described=described)
    if not document.held_to_contract:
        return
    yield from _check_fields(document)
    for title in document.SECTIONS if sections is None else sections:
        columns, table = tables.get(title, ((), None))
        section = document.section(title)
        if section is None:
            needed = f" with a table of the columns {', '.join(columns)}"
            needed = needed if columns else "; where there is nothing to say, write None"
            yield violation(f"{document.kind}/section-missing", document.path, 1, title=title, needed=needed)
        elif title in tables:
            yield from check_columns(document, section, table, columns)


def _check_fields(document: Document) -> Iterator[Violation]:
    """Yield the violations of the keys that frontmatter must have; damaged frontmatter is reported elsewhere, once."""
    front, missing = document.source.front, f"{document.kind}/field-missing"
    if front.first == 0 and not front.problems and document.FIELDS:
        names = ", ".join(field.name for field in document.FIELDS)
        fix = f"begin the document with it, between two lines of three hyphens: {names}"
        yield violation(missing, document.path, 1, message="there is no frontmatter", fix=fix)
        return
    for field in document.FIELDS:
        key = document.the_form.key(document.source, field.name)
        if key not in front.values:
            yield violation(missing, document.path, front.line(), key=field.name, example=field.example)
            continue
        for place, problem in _type_problems(front.values[key], field):
            rule, line = f"{document.kind}/field-type", front.line(key, *place)
            yield violation(rule, document.path, line, key=key, problem=problem, example=field.example)


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
        yield (), f"is {str(value)[:80]!r}, which is not an allowed word"


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
    document: Document, section: DocumentSection, table: MarkdownTable | None, columns: Sequence[str]
) -> Iterator[Violation]:
    """Yield the violations of the table that a section must hold: it, or one of its columns, is missing."""
    rule = f"{document.kind}/table-columns"
    if not document.held_to_contract:
        return
    if table is None:
        message, fix = (
            f"the section {section.title} has no table",
            f"write a table with the columns {', '.join(columns)}",
        )
        yield violation(rule, document.path, section.first, message=message, fix=fix)
        return
    for column in columns:
        if table.column(column) is None:
            yield violation(rule, document.path, table.line, title=section.title, column=column)


def check_labelled_confidence(document: Document, confidence: str | None) -> Iterator[Violation]:
    """Yield the violation that a document of the labelled form states no confidence."""
    if document.form == "labelled" and confidence is None:
        rule, fix = f"{document.kind}/field-missing", "write **Confidence:** HIGH, MEDIUM or LOW under the title"
        yield violation(rule, document.path, 1, message="no confidence is stated", fix=fix)

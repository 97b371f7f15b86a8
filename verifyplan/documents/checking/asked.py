"""What every contract asks alike: keys of frontmatter and their types, sections, tables' columns, and a known form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from verifyplan.documents.checking.catalogue import violation
from verifyplan.documents.checking.violation import Violation
from verifyplan.documents.contracts.base import Document
from verifyplan.documents.contracts.body import Part, Table
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


_GROUPS = {"front": "the keys", "part": "the sections", "column": "the columns", "text": "texts for"}
_PHRASES = {
    "must_haves:fields": "must-haves of one text each",
    "must_haves:paths": "artifacts that begin with a file",
    "plan:two-numbers": "an id of two numbers",
    "task:all": "tasks",
    "task:checkpoint-elements": "five elements in checkpoints",
    "task:file-lines": "one file a line",
    "task:steps": "numbered steps",
    "source:listed": "levels and words beside sources",
    "source:count": "a count of sources",
    "question:marked": "marks on open questions",
}


def lacks(document: Document, what: str) -> bool:
    """Whether the document's form is known to lack something of the contract, as "front:provides"."""
    return what in document.the_form.lacks


def form(document: Document) -> Iterator[Violation]:
    """One note that names the older or newer form that a document has, with what it lacks."""
    if document.form == "contract":
        return
    known = document.the_form
    message = f"a known form, {known.name!r}: {known.meaning}; it lacks {_lacking(known.lacks) or 'nothing'}"
    fix = "write document 003's form in new documents; check with strict to see what differs"
    yield violation(f"{document.kind}/form", document.path, 1, message, fix)


def _lacking(lacks: Iterable[str]) -> str:
    """What a form lacks, in words: keys, sections and columns by name, then the rest."""
    named: dict[str, list[str]] = {}
    for what in sorted(lacks):
        where, _, name = what.partition(":")
        named.setdefault(where if where in _GROUPS else "", []).append(
            name if where in _GROUPS else _PHRASES.get(what, f"{where} {name}")
        )
    groups = [f"{_GROUPS[where]} {', '.join(named[where])}" for where in _GROUPS if where in named]
    return "; ".join([*groups, *([", ".join(named[""])] if "" in named else [])])


def fields(document: Document, asked: Iterable[AskedField]) -> Iterator[Violation]:
    """Violations of the keys that frontmatter must have; damaged frontmatter is told elsewhere, once."""
    front = document.source.front
    wanted = [field for field in asked if not lacks(document, f"front:{field.name}")]
    if front.first == 0 and not front.problems and wanted:
        names = ", ".join(field.name for field in wanted)
        fix = f"begin the document with it, between two lines of three hyphens: {names}"
        yield violation(f"{document.kind}/field-missing", document.path, 1, "there is no frontmatter", fix)
    elif not front.problems or front.values:
        for field in wanted:
            yield from _field(document, field)


def labelled_confidence(document: Document, confidence: str | None) -> Iterator[Violation]:
    """The violation that a document of a form without frontmatter has no label that states its confidence."""
    if lacks(document, "front:confidence") and confidence is None:
        message, fix = "no confidence is stated", "write **Confidence:** HIGH, MEDIUM or LOW under the title"
        yield violation(f"{document.kind}/field-missing", document.path, 1, message, fix)


def _field(document: Document, field: AskedField) -> Iterator[Violation]:
    name = document.the_form.key(document.source, field.name)
    front = document.source.front
    if name not in front.values:
        fix = f"add {field.name}: {_shape(field)}"
        line = front.line()
        yield violation(f"{document.kind}/field-missing", document.path, line, f"the key {field.name} is missing", fix)
        return
    for place, problem in _wrong(front.values[name], field, loose=lacks(document, f"text:{field.name}")):
        rule, line = f"{document.kind}/field-type", front.line(name, *place)
        yield violation(rule, document.path, line, f"the key {name} {problem}", f"write {name}: {_shape(field)}")


def _shape(field: AskedField) -> str:
    return field.shape or (f"one of {one_of(field.words)}" if field.words else _SHAPES[field.type])


def _wrong(value: Any, field: AskedField, *, loose: bool) -> Iterator[tuple[tuple[int, ...], str]]:
    """What is wrong with a value, and at which item; with `loose`, numbers and dates may stand for texts."""
    if field.type == "texts":
        yield from _wrong_list(value, loose=loose)
    elif field.type == "number":
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            yield (), f"is {_told(value)}, not a whole number from 0"
    elif field.type == "table":
        if not isinstance(value, dict):
            yield (), f"is {_told(value)}, not a list of names and values"
    elif not _is_text(value, loose=loose):
        yield (), f"is {_told(value)}, not a text"
    elif field.words and str(value) not in field.words:
        yield (), f"is {str(value)[:80]!r}, which is none of its words"


def _wrong_list(value: Any, *, loose: bool) -> Iterator[tuple[tuple[int, ...], str]]:
    if not isinstance(value, list):
        yield (), f"is {_told(value)}, not a list"
        return
    for at, item in enumerate(value):
        if not _is_text(item, loose=loose):
            yield (at,), f"has an item that is {_told(item)}, not a text"


def _is_text(value: Any, *, loose: bool) -> bool:
    single = isinstance(value, str) or (loose and value is not None and not isinstance(value, dict | list))
    return single and bool(str(value).strip())


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
    """A section that a contract asks for, and the violation that it is missing; none where the form lacks it.

    `names` are the columns of its table, where it has to hold one: None cannot stand there.
    """
    part = document.the_form.part(document.source, title)
    return part, iter(()) if part or lacks(document, f"part:{title}") else _no_section(
        document, title, ", ".join(names)
    )


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
    rule = f"{document.kind}/table-columns"
    wanted = tuple(names)
    if table is None:
        fix = f"write a table with the columns {', '.join(wanted)}"
        yield violation(rule, document.path, part.first, f"the section {part.title} has no table", fix)
        return
    for name in wanted:
        if table.column(name) is None and not lacks(document, f"column:{name}"):
            message = f"the table of {part.title} has no column {name}"
            yield violation(rule, document.path, table.line, message, f"add the column {name}")

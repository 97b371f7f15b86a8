"""Document, the base of the nine kinds, and the forms that a kind is known to have (rule D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from verifyplan.documents.reading import writing
from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.front import count_of, text_of, texts_of
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.files import write_text

N_HEAD_LINES = 40
"""The labels of a document are in its first lines."""


@dataclass(frozen=True)
class Form:
    """One form of a kind of document, as data.

    A document has a form if it shows one of the signs `seen_by` and none of `unless`: "front:KEY", "part:TITLE" (a
    section of any level), "element:NAME", "folder:NAME" and "stem:NAME" (of its path), "text:WORDS", "label:NAME" (a
    bold label near the head), "prose" (any text at all). `aliases` are the other names of the contract's keys, sections
    and columns. The check does not hold another form to the contract's keys, sections and columns, and says so once.
    """

    name: str
    meaning: str
    seen_by: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names that a key, section or column may have here, the contract's own first."""
        return (name, *self.aliases.get(name, ()))

    def key(self, source: Source, name: str) -> str:
        """Return the name that a key of frontmatter has in a document; the contract's own if it has none of them."""
        return next((known for known in self.names(name) if known in source.front.values), name)

    def section(self, source: Source, title: str) -> DocumentSection | None:
        """Return the section with a title of the contract, or with a name that it has in this form."""
        others = (source.section(name, level=None) for name in self.aliases.get(title, ()))
        return source.section(title) or next((section for section in others if section), None)

    def label(self, source: Source, name: str) -> tuple[int, str] | None:
        """Return the line and text of the first bold label near the head that replaces a key in this form."""
        labels = (find_label(source, known) for known in self.aliases.get(name, ()))
        return next((label for label in labels if label), None)


CONTRACT = Form("contract", "the contract's own form", aliases={"requirement_ids": ("implements",)})
"""The form of a document that shows no sign of another one."""

OTHER = "other"


def other_form(*unless: str) -> Form:
    """Return the form of a document that shows none of the contract's own signs, `unless`."""
    return Form(OTHER, "a form of its own, with none of the contract's keys and sections", ("prose",), unless)


def form_of(source: Source, forms: Iterable[Form]) -> Form:
    """Return the first form that a document shows; else the contract's own, also where frontmatter is damaged."""
    if source.front.problems and not source.front.values:
        forms = [form for form in forms if not any(sign.startswith("prose") for sign in form.seen_by)]
    for form in forms:
        if any(shows(source, sign) for sign in form.seen_by) and not any(shows(source, sign) for sign in form.unless):
            return form
    return CONTRACT


def shows(source: Source, sign: str) -> bool:
    r"""Whether a document shows a sign.

    >>> from verifyplan.documents.reading.source import read_source
    >>> shows(read_source("---\nwave: 1\n---\n", "PLAN-01.md"), "front:wave")
    True
    """
    where, _, name = sign.partition(":")
    if where == "front":
        return name in source.front.values
    if where == "part":
        return source.section(name, level=None) is not None
    if where == "element":
        return any(element.name == name for element in source.elements)
    if where == "label":
        return find_label(source, name) is not None
    if where in ("folder", "stem"):
        place = PurePosixPath(source.path.replace("\\", "/"))
        return name in place.parts[:-1] if where == "folder" else name == place.stem.upper()
    return any(line.strip() and name in line for line in source.prose)


def find_label(source: Source, name: str) -> tuple[int, str] | None:
    r"""Return the line and text of a bold label near the head, as `**Confidence:** HIGH`; None without it.

    >>> from verifyplan.documents.reading.source import read_source
    >>> find_label(read_source("# Research\n\n**Confidence:** HIGH (read)\n", "RESEARCH.md"), "confidence")
    (3, 'HIGH (read)')
    """
    spellings = (f"**{name}:**".casefold(), f"**{name}**:".casefold())
    for number, line in enumerate(source.prose[:N_HEAD_LINES], 1):
        stripped = line.strip()
        if stripped[: len(name) + 5].casefold() in spellings:
            return number, stripped[len(name) + 5 :].strip()
    return None


FieldType = Literal["text", "texts", "number", "word", "table"]

_SHAPES: dict[FieldType, str] = {
    "text": '"..."',
    "texts": '["...", "..."]',
    "number": "a whole number",
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

    def read(self, source: Source, form: Form) -> Any:
        """Return the value of the key, by the name that the form has for it; None or () for a value of another type."""
        read = {"number": count_of, "texts": texts_of}.get(self.type, text_of)
        return read(source.front, form.key(source, self.name))


DocumentKind = Literal[
    "research-note",
    "research-summary",
    "plan",
    "plan-check",
    "summary",
    "verification",
    "integration",
    "debug-log",
    "codebase-map",
]

KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)
"""The nine kinds, in the order in which they are handed over."""


class Document(BaseModel):
    """A handed-over document: typed fields beside the source they were read from.

    Reading is lenient: a field is None or empty where the document lacks it or holds something else, which the check
    reports. The text is never rebuilt from the fields: it is what was read, and changes line by line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    FORMS: ClassVar[tuple[Form, ...]] = ()
    """The known forms beside the contract's own; the first one that a document shows is its form."""
    FIELDS: ClassVar[tuple[RequiredField, ...]] = ()
    """The keys of frontmatter that the contract requires, each a field of the model."""
    SECTIONS: ClassVar[tuple[str, ...]] = ()
    """The titles of the sections that the contract requires."""

    kind: DocumentKind = Field(description="Which of the nine documents it is.")
    source: InstanceOf[Source] = Field(repr=False, description="The text that was read, and its lines.")
    form: str = Field(default="contract", description="The name of the form that it has.")

    @classmethod
    def read(cls, source: Source, form: Form | None = None) -> Self:
        """Read a document from its source, in `form` instead of the form that it shows; never raises."""
        form = form or form_of(source, cls.FORMS)
        declared = {field.name: field.read(source, form) for field in cls.FIELDS}
        return cls(source=source, form=form.name, **{**declared, **cls.fields(source, form)})

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (each kind has its own)
        """Return what a document holds besides its `FIELDS`, or holds there in another shape, by the form's names."""
        return {}

    @property
    def the_form(self) -> Form:
        """The form that the field `form` names."""
        return next((form for form in self.FORMS if form.name == self.form), CONTRACT)

    @property
    def held_to_contract(self) -> bool:
        """Whether it is checked key by key: it has the contract's own form, and its frontmatter is readable."""
        return self.form == CONTRACT.name and not (self.source.front.problems and not self.source.front.values)

    def section(self, title: str) -> DocumentSection | None:
        """Return the section with a title of the contract, or with a name that it has in the document's form."""
        return self.the_form.section(self.source, title)

    def as_contract(self) -> Self:
        """Return the same document read in the contract's own form, whatever form it shows."""
        return type(self).read(self.source, CONTRACT)

    @property
    def path(self) -> str:
        """The path that the document was read from, or the name that the caller chose."""
        return self.source.path

    @property
    def text(self) -> str:
        """The text, exactly as it was read."""
        return self.source.text

    def write(self) -> str:
        """Return the text to write: as it was read, but for the changes (rule D1)."""
        return self.source.text

    def with_front(self, **values: Any) -> Self:
        """Return the document with new values of keys in its frontmatter; every other line stays as it is.

        Missing keys are added before the closing fence. Raises InputError where the frontmatter is damaged or YAML
        cannot hold a value.
        """
        return self._read_again(writing.with_front(self.source, values))

    def with_section(self, title: str, text: str) -> Self:
        """Return the document with a new text under a heading of level 2; a missing section is added at the end."""
        return self._read_again(writing.with_section(self.source, title, text))

    def save(self, path: str | Path) -> Path:
        """Write the text to a file, whole or not at all, and return its path."""
        try:
            self.source.text.encode()
        except UnicodeEncodeError:
            problem = Problem(str(path), "the text holds half a character", "take it out before writing")
            raise InputError(problem) from None
        return write_text(path, self.source.text)

    def _read_again(self, text: str) -> Self:
        return type(self).read(read_source(text, self.source.path))

"""What every handed-over document is: a kind, a source, and a text that is written back as it was read (rule D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from verifyplan.documents.reading import writing
from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text

_HEAD = 40
"""So many lines are the head of a document, where its labels stand."""


@dataclass(frozen=True)
class Form:
    """One form of a kind of document, as data.

    `seen_by`: signs, of which one is enough, and `unless`: signs of which none may be there: "front:KEY",
    "part:TITLE" (of any level), "element:NAME", "folder:NAME" and "stem:NAME" (of its path), "text:WORDS", "label:NAME"
    (a bold label near the head), "prose" (any text at all). `aliases`: the names that a key, part or column of the
    contract has here.

    A document of another form than the contract's is not held to the contract's keys, sections and columns, nor to
    how its items are written: that is no violation, and is named once.
    """

    name: str
    meaning: str
    seen_by: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def names(self, name: str) -> tuple[str, ...]:
        """The names under which a key, part or column may stand here, the contract's own first."""
        return (name, *self.aliases.get(name, ()))

    def key(self, source: Source, name: str) -> str:
        """The name under which a document has a key of frontmatter; the contract's own if it has none of them."""
        return next((known for known in self.names(name) if known in source.front.values), name)

    def section(self, source: Source, title: str) -> DocumentSection | None:
        """The section of a document that has a title of the contract, or a name that it has in this form."""
        own = source.section(title)
        others = (source.section(name, level=None) for name in self.aliases.get(title, ()))
        return own or next((part for part in others if part), None)

    def label(self, source: Source, name: str) -> tuple[int, str] | None:
        """The line and text of the first bold label near the head that stands for a key in this form."""
        return next((found for known in self.aliases.get(name, ()) if (found := label(source, known))), None)


CONTRACT = Form(
    "contract",
    "the contract's own form",
    aliases={"requirement_ids": ("implements",)},
)
"""The form of a document that shows no sign of another one."""

OTHER = "other"


def other_form(*unless: str) -> Form:
    """Return the form of a document that shows none of the contract's own signs, `unless`."""
    return Form(OTHER, "a form of its own, with none of the contract's keys and sections", ("prose",), unless)


def form_of(source: Source, forms: Iterable[Form]) -> Form:
    """The first form of which a document shows a sign; else document 003's own, as where frontmatter is damaged."""
    if source.front.problems and not source.front.values:
        forms = [form for form in forms if not any(sign.startswith("prose") for sign in form.seen_by)]
    return next((form for form in forms if _fits(source, form)), CONTRACT)


def _fits(source: Source, form: Form) -> bool:
    return any(shows(source, sign) for sign in form.seen_by) and not any(shows(source, sign) for sign in form.unless)


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
        return label(source, name) is not None
    if where in ("folder", "stem"):
        place = PurePosixPath(source.path.replace("\\", "/"))
        return name in place.parts[:-1] if where == "folder" else name == place.stem.upper()
    return any(line.strip() and name in line for line in source.prose)


def label(source: Source, name: str) -> tuple[int, str] | None:
    r"""The line and text of a bold label near the head of a document, as `**Confidence:** HIGH`; None without it.

    >>> from verifyplan.documents.reading.source import read_source
    >>> label(read_source("# Research\n\n**Confidence:** HIGH (read)\n", "RESEARCH.md"), "confidence")
    (3, 'HIGH (read)')
    """
    marks = (f"**{name}:**".casefold(), f"**{name}**:".casefold())
    for number, line in enumerate(source.prose[:_HEAD], 1):
        stripped = line.strip()
        if stripped[: len(name) + 5].casefold() in marks:
            return number, stripped[len(name) + 5 :].strip()
    return None


Kind = Literal[
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

KINDS: tuple[Kind, ...] = get_args(Kind)
"""The nine documents of document 003, in its order of handing over."""


class Document(BaseModel):
    """A handed-over document: typed fields beside the source they were read from.

    Reading is lenient: a field is None or empty where the document lacks it or holds something else; the check says
    so. The text is never made anew from the fields: it is what was read, and changes line by line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    FORMS: ClassVar[tuple[Form, ...]] = ()
    """The known forms beside document 003's own; the first one of which a document shows a sign is its form."""

    kind: Kind
    source: InstanceOf[Source] = Field(repr=False)
    form: str = "contract"

    @classmethod
    def read(cls, source: Source, form: Form | None = None) -> Self:
        """The document that a source is; never raises. `form` holds it to one form instead of the one it shows."""
        form = form or form_of(source, cls.FORMS)
        return cls(source=source, form=form.name, **cls.fields(source, form))

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (each kind has its own)
        """The typed fields of a source, read under the names that the form has."""
        return {}

    @property
    def the_form(self) -> Form:
        """The form that `form` names, with its other names and what it lacks."""
        return next((form for form in self.FORMS if form.name == self.form), CONTRACT)

    def as_contract(self) -> Self:
        """The same document held to document 003's own form, whatever older or newer one it shows."""
        return type(self).read(self.source, CONTRACT)

    @property
    def path(self) -> str:
        """Where the document was read from, or the name it was given."""
        return self.source.path

    @property
    def text(self) -> str:
        """The text, exactly as it was read."""
        return self.source.text

    def write(self) -> str:
        """The text to write: what was read, unchanged where nothing was changed. Source: rule D1."""
        return self.source.text

    def with_front(self, **values: Any) -> Self:
        """The document with keys of its frontmatter given new values; every other line stays as it is.

        Missing keys are added before the closing fence. Raises InputError where the frontmatter is damaged or YAML
        cannot hold a value.
        """
        return self._of(writing.with_front(self.source, values))

    def with_section(self, title: str, text: str) -> Self:
        """The document with what stands under a heading of level 2 replaced; a missing one is added at the end."""
        return self._of(writing.with_section(self.source, title, text))

    def save(self, path: str | Path) -> Path:
        """Write the text to a file, whole or not at all, and return its path."""
        try:
            self.source.text.encode()
        except UnicodeEncodeError:
            problem = Problem(str(path), "the text holds half a character", "take it out before writing")
            raise InputError(problem) from None
        return write_text(path, self.source.text)

    def _of(self, text: str) -> Self:
        return type(self).read(read_source(text, self.source.path))

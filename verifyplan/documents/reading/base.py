"""What every handed-over document is: a kind, a source, and a text that is written back as it was read (rule D1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from verifyplan.documents.reading import writing
from verifyplan.documents.reading.form import CONTRACT, Form, form_of
from verifyplan.documents.reading.source import Source, read_source
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text

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

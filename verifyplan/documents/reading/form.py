"""The forms that a kind of document is known to have: document 003's own, and older and newer ones (rule D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from verifyplan.documents.reading.body import Part
from verifyplan.documents.reading.source import Source

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

    def part(self, source: Source, title: str) -> Part | None:
        """The section of a document that has a title of the contract, or a name that it has in this form."""
        own = source.part(title)
        others = (source.part(name, level=None) for name in self.aliases.get(title, ()))
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
        return source.part(name, level=None) is not None
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

"""The forms that a kind of document is known to have: document 003's own, and older and newer ones (SPEC D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from verifyplan.documents.contracts.body import Part
from verifyplan.documents.contracts.source import Source

_HEAD = 40
"""So many lines are the head of a document, where its labels stand."""


@dataclass(frozen=True)
class Form:
    """One form of a kind of document, as data.

    `seen_by`: signs, of which one is enough: "front:KEY", "part:TITLE" (of any level), "element:NAME",
    "attribute:NAME" (of a task) or "label:NAME" (a bold label near the head). `aliases`: the names that a key, part
    or column of the contract has here. `lacks`: what of the contract such a document never has, as "front:provides",
    "part:Summary", "task:id", "column:Confidence"; what is listed is no violation, but is named once.
    """

    name: str
    meaning: str
    seen_by: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    lacks: frozenset[str] = frozenset()

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


CONTRACT = Form("contract", "document 003's own form")
"""The form of a document that shows no sign of another one."""


def form_of(source: Source, forms: Iterable[Form]) -> Form:
    """The first form of which a document shows a sign; else document 003's own."""
    return next((form for form in forms if any(shows(source, sign) for sign in form.seen_by)), CONTRACT)


def shows(source: Source, sign: str) -> bool:
    r"""Whether a document shows a sign.

    >>> from verifyplan.documents.contracts.source import read_source
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
    return any(element.name == "task" and name in element.attributes for element in source.elements)


def label(source: Source, name: str) -> tuple[int, str] | None:
    r"""The line and text of a bold label near the head of a document, as `**Confidence:** HIGH`; None without it.

    >>> from verifyplan.documents.contracts.source import read_source
    >>> label(read_source("# Research\n\n**Confidence:** HIGH (read)\n", "RESEARCH.md"), "confidence")
    (3, 'HIGH (read)')
    """
    marks = (f"**{name}:**".casefold(), f"**{name}**:".casefold())
    for number, line in enumerate(source.prose[:_HEAD], 1):
        stripped = line.strip()
        if stripped[: len(name) + 5].casefold() in marks:
            return number, stripped[len(name) + 5 :].strip()
    return None

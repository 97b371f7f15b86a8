"""Define the blocks of a report, whatever format it is written in: spans, paragraphs, tables, sections, a page.

Every text in a block is text: the writer of a format escapes all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from verifyplan.reports.visible import one_line

Tone = Literal["good", "fair", "bad", "none"]
"""The colour of a page's headline; the words say the same."""

MAX_CELL_CHARACTERS = 160
"""Longest text in a table's cell; the full text is elsewhere on the page."""


class _BlockKind:
    @property
    def kind(self) -> str:
        """The name of the class, by which templates know it."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class _Span(_BlockKind):
    text: str


class Strong(_Span):
    """Words of ours that matter most."""


class Code(_Span):
    """A command or a name of ours, to be typed as it is; never somebody else's text."""


class Quoted(_Span):
    """Words of an agent, a plan or a person."""


class Link(_Span):
    """The id of an entry on the same page."""


Inline = str | Strong | Code | Quoted | Link
Words = tuple[Inline, ...]


@dataclass(frozen=True)
class Paragraph(_BlockKind):
    """A paragraph."""

    words: Words


@dataclass(frozen=True)
class Bullets(_BlockKind):
    """A list without numbers."""

    items: tuple[Words, ...]


@dataclass(frozen=True)
class TableBlock(_BlockKind):
    """A table; each row has a cell for every column. The label says what it holds, for those who cannot see it."""

    head: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    label: str


@dataclass(frozen=True)
class Fields(_BlockKind):
    """Pairs of a name of ours and a text, which may be long."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Quotation(_BlockKind):
    """A text whose lines are kept, under a name of ours."""

    label: str
    text: str


@dataclass(frozen=True)
class Subsection(_BlockKind):
    """A part of a section, with a heading of its own; links lead to its `name`."""

    name: str
    title: str
    blocks: tuple[Block, ...]


Block = Paragraph | Bullets | TableBlock | Fields | Quotation | Subsection


@dataclass(frozen=True)
class PageSection:
    """A section; one without blocks is left out of its page."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """The target of the table of contents."""
        return "-".join(self.title.lower().split())


@dataclass(frozen=True)
class Page:
    """A whole report: title, result, and its sections."""

    title: str
    headline: Words
    tone: Tone
    lead: tuple[Block, ...]
    sections: tuple[PageSection, ...]
    foot: str


def cell_text(text: str, limit: int = MAX_CELL_CHARACTERS) -> Words:
    r"""Return somebody else's text for a table's cell: on one line, cut; a dash where it is blank.

    >>> cell_text("a\nb"), cell_text(" ")
    ((Quoted(text='a b'),), ('-',))
    """
    return (Quoted(one_line(text, limit)),) if text.strip() else ("-",)


def joined(parts: Iterable[Inline], between: str = ", ") -> Words:
    """Return words in a row; a dash for none.

    >>> joined([Link("C1"), Link("C2")])
    (Link(text='C1'), ', ', Link(text='C2'))
    """
    words: list[Inline] = []
    for part in parts:
        words += [between, part] if words else [part]
    return tuple(words) or ("-",)


def titled_bullets(title: str, items: Iterable[Words]) -> Iterator[Block]:
    """Yield a list under a bold title; nothing without items."""
    if every := tuple(items):
        yield Paragraph((Strong(title),))
        yield Bullets(every)


def strong_paragraphs(texts: Iterable[str]) -> Iterator[Block]:
    """Yield what a reader must know first, each text a paragraph with one full stop; nothing for blank ones."""
    return (Paragraph((Strong(f"{text.removesuffix('.')}."),)) for text in texts if text)


def plain_text(words: Words) -> str:
    """Return words without their markup, for a terminal.

    >>> plain_text(("see ", Link("C1")))
    'see C1'
    """
    return "".join(word if isinstance(word, str) else word.text for word in words)


def table_section(
    title: str, head: tuple[str, ...], rows: Iterable[tuple[Words, ...]], label: str, before: str = ""
) -> PageSection:
    """Return a section of one table, below a paragraph if `before` is a text; empty without rows."""
    every = tuple(rows)
    lead: tuple[Block, ...] = (Paragraph((before,)),) if before else ()
    return PageSection(title, (*lead, TableBlock(head, every, label)) if every else ())

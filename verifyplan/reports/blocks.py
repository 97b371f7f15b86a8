"""What a report is made of, whatever it is written in: words, paragraphs, tables, sections, a page.

Every text in it is text: whoever writes a page out escapes all of it, in the manner of the format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from verifyplan.reports.visible import one_line

Tone = Literal["good", "fair", "bad", "none"]
"""How a page's headline is coloured; the words say the same."""

CELL = 160
"""Longest text in a table's cell; the full text stands elsewhere on the page."""


@dataclass(frozen=True)
class Strong:
    """Words of ours that matter most."""

    text: str
    kind: ClassVar = "strong"


@dataclass(frozen=True)
class Code:
    """A command or a name of ours, to be typed as it is; never somebody else's text."""

    text: str
    kind: ClassVar = "code"


@dataclass(frozen=True)
class Said:
    """Words of an agent, a plan or a person."""

    text: str
    kind: ClassVar = "said"


@dataclass(frozen=True)
class Link:
    """The id of an entry that stands on the same page."""

    text: str
    kind: ClassVar = "link"


Inline = str | Strong | Code | Said | Link
Words = tuple[Inline, ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    words: Words
    kind: ClassVar = "paragraph"


@dataclass(frozen=True)
class Bullets:
    """A list without numbers."""

    items: tuple[Words, ...]
    kind: ClassVar = "bullets"


@dataclass(frozen=True)
class Table:
    """A table; each row has a cell for every column."""

    head: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    label: str
    """What the table holds, for those who cannot see it."""
    kind: ClassVar = "table"


@dataclass(frozen=True)
class Fields:
    """Texts under names of ours, long ones among them."""

    pairs: tuple[tuple[str, str], ...]
    kind: ClassVar = "fields"


@dataclass(frozen=True)
class Quotation:
    """A text whose lines are kept, under a name of ours."""

    label: str
    text: str
    kind: ClassVar = "quotation"


@dataclass(frozen=True)
class Entry:
    """A part of a section, with a heading of its own; `name` is what links lead to."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    kind: ClassVar = "entry"


Block = Paragraph | Bullets | Table | Fields | Quotation | Entry


@dataclass(frozen=True)
class Section:
    """A section; one without blocks is left out of its page."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """What the table of contents leads to."""
        return "-".join(self.title.lower().split())


@dataclass(frozen=True)
class Page:
    """A whole report: what it is about, what came of it, and its sections."""

    title: str
    headline: Words
    tone: Tone
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]
    foot: str


def brief(text: str, limit: int = CELL) -> Words:
    r"""Somebody else's text for a table's cell: on one line, cut; a dash where it is blank.

    >>> brief("a\nb"), brief(" ")
    ((Said(text='a b'),), ('-',))
    """
    return (Said(one_line(text, limit)),) if text.strip() else ("-",)


def joined(parts: Iterable[Inline], between: str = ", ") -> Words:
    """Words in a row; a dash for none.

    >>> joined([Link("C1"), Link("C2")])
    (Link(text='C1'), ', ', Link(text='C2'))
    """
    words: list[Inline] = []
    for part in parts:
        words += [between, part] if words else [part]
    return tuple(words) or ("-",)

"""Prose as headings, list items and texts with their lines, by markdown-it-py, or line by line where it is huge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MAX_DEPTH = 20
_MAX_PARSED_LINES = 30_000
_MAX_ROW_CELLS = 10
_PARSER = (
    MarkdownIt("commonmark", {"maxNesting": _MAX_DEPTH})
    .enable("table")
    .disable(["inline", "text_join", "code", "fence", "html_block", "reference"])
)
_CHECKBOX = re.compile(r"\[(?P<mark>[ xX])\][ \t]+")
_LINE = re.compile(
    r"(?P<indent>[ \t]*)(?:(?P<hashes>#{1,6})[ \t]+|(?P<bullet>[-*+])[ \t]+|(?P<number>\d{1,9})[.)][ \t]+)?(?P<rest>.*)"
)


@dataclass(frozen=True)
class ListItem:
    """A list item: its number in an ordered list, its mark in a task list, and its lines."""

    number: int | None
    done: bool | None
    text: str
    first: int
    last: int
    depth: int


@dataclass(frozen=True)
class TextBlock:
    """A heading, paragraph, list item's first paragraph or table cell, as written, from line `first` on.

    `above` are the labels that may govern it, nearest first: the item it belongs to, the line before its list,
    the heading. `row` are the other cells of its table row, `column` is the head of its column.
    """

    kind: str
    content: str
    first: int
    last: int
    above: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    level: int = 0
    column: str = ""


@dataclass
class Blocks:
    """The texts of a document in their order, its list items, and notes on the parts that were not read."""

    texts: list[TextBlock] = field(default_factory=list)
    items: list[ListItem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def headings(self) -> list[TextBlock]:
        """Headings that are in no list and no quotation."""
        return [text for text in self.texts if text.kind == "heading"]


def blocks(prose: Sequence[str]) -> Blocks:
    """Return the blocks of a text whose code has been blanked; a text of very many lines is read line by line.

    Blocks nested deeper than 20 lists and quotations are not read, and noted.
    """
    if len(prose) > _MAX_PARSED_LINES:
        return by_line(prose, f"the plan has more than {_MAX_PARSED_LINES:,} lines and is read line by line")
    try:
        tokens = _PARSER.parse("\n".join(prose))
    except (RecursionError, IndexError, ValueError) as error:  # a fault of the parser must not lose the plan
        return by_line(prose, f"the Markdown cannot be parsed ({type(error).__name__}); it is read line by line")
    reader = _TokenReader()
    for token in tokens:
        reader.read(token)
    return reader.blocks


@dataclass
class _OpenListItem:
    number: int | None
    first: int
    last: int
    depth: int
    at: int
    text: str = ""


class _TokenReader:
    """Reads the tokens of a document once and keeps what is open: lists, their items, the row of a table."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.heading = ""
        self.leads: list[str] = []  # of each open list, the text right before it
        self.items: list[_OpenListItem] = []
        self.before = ""  # the text right before the next list
        self.kind, self.level = "", 0
        self.row: list[TextBlock] | None = None
        self.row_line = 0
        self.columns: list[str] = []
        self.in_header = False

    def read(self, token: Token) -> None:
        if token.level >= _MAX_DEPTH - 1 and token.nesting == 1 and token.map:
            note = f"line {token.map[0] + 1}: nested deeper than {_MAX_DEPTH} lists and quotations; not read"
            self.blocks.notes += [note] if note not in self.blocks.notes[-1:] else []
        handler = getattr(self, f"_{token.type}", None)
        if handler is not None:
            handler(token)

    def _bullet_list_open(self, _: Token) -> None:
        self.leads.append(self.before)
        self.before = ""

    def _bullet_list_close(self, _: Token) -> None:
        self.leads.pop()
        self.before = ""

    _ordered_list_open, _ordered_list_close = _bullet_list_open, _bullet_list_close

    def _list_item_open(self, token: Token) -> None:
        first, last = token.map or (0, 1)
        number = int(token.info) if token.info.isdecimal() and len(token.info) < 10 else None
        self.items.append(_OpenListItem(number, first + 1, last, len(self.items), len(self.blocks.items)))
        self.blocks.items.append(ListItem(number, None, "", first + 1, max(last, first + 1), len(self.items) - 1))

    def _list_item_close(self, _: Token) -> None:
        self.items.pop()
        self.before = ""

    def _heading_open(self, token: Token) -> None:
        self.kind, self.level = "heading", int(token.tag[1:])

    def _paragraph_open(self, _: Token) -> None:
        self.kind, self.level = "paragraph", 0

    def _th_open(self, _: Token) -> None:
        self.kind, self.level = "cell", 0

    _td_open = _th_open

    def _tr_open(self, token: Token) -> None:
        self.row, self.row_line = [], (token.map or [0])[0]

    def _tr_close(self, _: Token) -> None:
        cells, self.row = self.row or [], None
        if self.in_header:
            self.columns, self.in_header = [cell.content for cell in cells], False
        for at, cell in enumerate(cells):
            others = tuple(other.content for n, other in enumerate(cells) if n != at)[:_MAX_ROW_CELLS]
            column = self.columns[at] if at < len(self.columns) else ""
            self.blocks.texts.append(
                TextBlock("cell", cell.content, cell.first, cell.last, cell.above, others, column=column)
            )

    def _thead_open(self, _: Token) -> None:
        self.in_header = True

    def _inline(self, token: Token) -> None:
        first = token.map[0] + 1 if token.map else 1
        content = token.content
        if self.row is not None:
            self.row.append(TextBlock("cell", content, self.row_line + 1, self.row_line + 1, self._above()))
            return
        kind = self.kind
        if kind == "heading" and (self.items or token.level > 1):
            kind = "paragraph"
        if kind == "paragraph" and self.items and not self.items[-1].text:
            kind, opened = "item", self.items[-1]
            content, done = _without_checkbox(content)
            opened.text = content or " "
            item = ListItem(opened.number, done, content, opened.first, opened.last, opened.depth)
            self.blocks.items[opened.at] = item
        last = first + token.content.count("\n")
        self.blocks.texts.append(TextBlock(kind, content, first, last, self._above(kind == "item"), (), self.level))
        self.heading = content if kind == "heading" else self.heading
        self.before = content

    def _above(self, beginning: bool = False) -> tuple[str, ...]:
        """Return labels that may govern a text, nearest first; an item's first text is not above itself."""
        above = []
        for at in range(len(self.items) - 1, -1, -1):
            if not (beginning and at == len(self.items) - 1):
                above.append(self.items[at].text)
            above.append(self.leads[at] if at < len(self.leads) else "")
        return (*(text for text in above if text), self.heading)


def _without_checkbox(content: str) -> tuple[str, bool | None]:
    """Return the text of an item without the mark of a task list, and whether that is "done"; None without a mark."""
    mark = _CHECKBOX.match(content)
    return (content[mark.end() :], mark["mark"] != " ") if mark else (content, None)


def by_line(prose: Sequence[str], note: str) -> Blocks:
    """Return the blocks by the beginning of each line alone: a heading, an item, or a separate paragraph."""
    read = Blocks(notes=[note])
    heading = ""
    for at, line in enumerate(prose, 1):
        matched = _LINE.match(line)
        if matched is None or not matched["rest"].strip():
            continue
        content = matched["rest"].strip()
        if matched["hashes"]:
            heading = content.rstrip("#").rstrip()
            read.texts.append(TextBlock("heading", heading, at, at, level=len(matched["hashes"])))
        elif matched["bullet"] or matched["number"]:
            content, done = _without_checkbox(content)
            number = int(matched["number"]) if matched["number"] else None
            read.items.append(ListItem(number, done, content, at, at, len(matched["indent"]) // 2))
            read.texts.append(TextBlock("item", content, at, at, (heading,)))
        else:
            read.texts.append(TextBlock("paragraph", content, at, at, (heading,)))
    return read

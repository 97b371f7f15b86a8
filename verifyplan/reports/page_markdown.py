"""A page as Markdown: no text in it, whoever's it is, changes how it is built (rules A13, H3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.reports import markdown
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Code,
    Entry,
    Fields,
    Inline,
    Page,
    Paragraph,
    Quotation,
    Section,
    Strong,
    Table,
    Words,
)
from verifyplan.reports.visible import lines, shortened, visible

_BACKTICKS = re.compile(r"`+")
_MARKER = re.compile(r"^(\d{0,9})([-#+=:.)])")  # what makes a list, heading or rule of a line that begins with it


def page_markdown(page: Page) -> str:
    """The page as Markdown for any reader that knows tables; ends in one line feed."""
    parts = [f"# {heading(page.title)}", f"**{inline(page.headline)}**"]
    parts += [part for block in page.lead for part in _block(block)]
    parts += [part for section in page.sections for part in _section(section)]
    return "\n\n".join([*parts, escaped(page.foot)]) + "\n"


def escaped(text: str) -> str:
    r"""A text as inline Markdown that shows it as it is within a line; spaces at its ends are kept.

    >>> print(escaped(" a | b") + escaped(" costs $1 <b>"))
     a \| b costs \$1 &lt;b&gt;
    """
    inner = visible(" ".join(text.split()))
    safe = markdown.text(inner).replace("$", r"\$")  # what stands between two of these is read as a formula
    if not inner:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{safe}{' ' * text[-1].isspace()}"


def inline(words: Words) -> str:
    """Words as inline Markdown."""
    return "".join(_word(word) for word in words)


def line(words: Words) -> str:
    r"""Words as a line of their own, which begins no list, heading or rule.

    >>> print(line(("# 1",)), line(("1. a",)))
    \# 1 1\. a
    """
    return _MARKER.sub(r"\1\\\2", inline(words).strip())


def heading(text: str) -> str:
    r"""A text as it can stand in a heading, where a # at the end would be lost.

    >>> print(heading("C #"))
    C \#
    """
    return escaped(text).replace("#", r"\#")


def _word(word: Inline) -> str:
    match word:
        case str():
            return escaped(word)
        case Strong():
            return f"**{escaped(word.text)}**"
        case Code():
            return _code(word.text)
        case _:
            return escaped(shortened(word.text))


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}{visible(text)}{fence}"


def _section(section: Section) -> Iterator[str]:
    yield f"## {heading(section.title)}"
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph():
            yield line(block.words)
        case Bullets():
            yield "\n".join(f"- {line(item)}" for item in block.items)
        case Table():
            yield "\n".join(_table(block))
        case Fields():
            yield "\n".join(f"- **{escaped(name)}:** {escaped(shortened(text))}" for name, text in block.pairs)
        case Quotation():
            yield f"{escaped(block.label)}:"
            yield _fenced(block.text)
        case Entry():
            yield f"### {heading(block.title)}"
            for inner in block.blocks:
                yield from _block(inner)


def _table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(escaped(name) for name in table.head)} |"
    yield f"|{' --- |' * len(table.head)}"
    for row in table.rows:
        yield f"| {' | '.join(inline(cell).strip() for cell in row)} |"


def _fenced(text: str) -> str:
    """Lines as they are, between fences that are longer than any row of backticks among them."""
    told = lines(shortened(text))
    longest = max((len(run) for line in told for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *told, fence])

"""Write pages as Markdown and as HTML; no text in a page can change its structure (rules A13, H3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Code,
    Fields,
    Inline,
    Page,
    Paragraph,
    Quotation,
    Strong,
    Subsection,
    TableBlock,
    Words,
)
from verifyplan.reports.visible import lines, one_line, truncated
from verifyplan.text import visible

MIN_FOLDED_CHARACTERS, MIN_FOLDED_LINES = 420, 13
"""Texts of so many characters or lines are folded in HTML."""
SUMMARY_CHARACTERS = 160
"""The beginning of a folded text that is shown."""

_SPECIAL = re.compile(r"([\\`*_\[\]|~>])")
_BACKTICKS = re.compile(r"`+")
_LINE_START = re.compile(r"^(\d{0,9})([-#+=:.)])")  # makes a list, heading or rule of a line that begins with it


def page_markdown(page: Page) -> str:
    """Return the page as Markdown for any reader that knows tables; ends in one line feed."""
    parts = [f"# {heading(page.title)}", f"**{_inline(page.headline)}**"]
    parts += [part for block in page.lead for part in _block(block)]
    for section in page.sections:
        parts += [f"## {heading(section.title)}", *(part for block in section.blocks for part in _block(block))]
    return "\n\n".join([*parts, escaped(page.foot)]) + "\n"


def markdown_text(value: Any) -> str:
    r"""Return a value as inline Markdown: special characters escaped, tags as entities, newlines as spaces.

    >>> markdown_text("a|b <img src=x>")
    'a\\|b &lt;img src=x&gt;'
    """
    flat = " ".join(str(value).split()).replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(r"\\\1", flat).replace(r"\>", "&gt;")


def markdown_table(frame: pd.DataFrame) -> str:
    """Return a DataFrame as a Markdown table; numbers with three digits, a dash where a value is missing."""

    def cell(value: Any) -> str:
        if value is None or value is pd.NA or value != value:
            return "-"
        return f"{value:.3f}" if isinstance(value, float) else markdown_text(value)

    head = [markdown_text(name) for name in frame.columns]
    rows = ["| " + " | ".join(map(cell, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *rows])


def escaped(text: str) -> str:
    r"""Return a text as inline Markdown that shows it as it is within a line; spaces at its ends are kept.

    >>> print(escaped(" a | b") + escaped(" costs $1 <b>"))
     a \| b costs \$1 &lt;b&gt;
    """
    inner = visible(" ".join(text.split()))
    safe = markdown_text(inner).replace("$", r"\$")  # what is between two of these is read as a formula
    if not inner:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{safe}{' ' * text[-1].isspace()}"


def line(words: Words) -> str:
    r"""Return words as a line of their own, which begins no list, heading or rule.

    >>> print(line(("# 1",)), line(("1. a",)))
    \# 1 1\. a
    """
    return _LINE_START.sub(r"\1\\\2", _inline(words).strip())


def heading(text: str) -> str:
    r"""Return a text for a heading, where a # at the end would be lost.

    >>> print(heading("C #"))
    C \#
    """
    return escaped(text).replace("#", r"\#")


def _inline(words: Words) -> str:
    return "".join(_span(word) for word in words)


def _span(word: Inline) -> str:
    match word:
        case str():
            return escaped(word)
        case Strong():
            return f"**{escaped(word.text)}**"
        case Code():
            fence = "`" * (1 + _longest_backticks([word.text]))
            return f"{fence}{visible(word.text)}{fence}"
        case _:
            return escaped(truncated(word.text))


def _longest_backticks(texts: list[str]) -> int:
    return max((len(run) for text in texts for run in _BACKTICKS.findall(text)), default=0)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph():
            yield line(block.words)
        case Bullets():
            yield "\n".join(f"- {line(item)}" for item in block.items)
        case TableBlock():
            head = f"| {' | '.join(escaped(name) for name in block.head)} |\n|{' --- |' * len(block.head)}"
            rows = (f"| {' | '.join(_inline(cell).strip() for cell in row)} |" for row in block.rows)
            yield "\n".join([head, *rows])
        case Fields():
            yield "\n".join(f"- **{escaped(name)}:** {escaped(truncated(text))}" for name, text in block.pairs)
        case Quotation():
            yield f"{escaped(block.label)}:"
            quoted = lines(truncated(block.text))
            fence = "`" * max(3, _longest_backticks(quoted) + 1)
            yield "\n".join([f"{fence}text", *quoted, fence])
        case Subsection():
            yield f"### {heading(block.title)}"
            for inner in block.blocks:
                yield from _block(inner)


def page_html(page: Page) -> str:
    """Return the page as one HTML file; every text is escaped, nothing is loaded, and there are no scripts."""
    return render("page.html.j2", page=page, summary=SUMMARY_CHARACTERS)


def page_frame(page: Page) -> str:
    """Return the page in a frame, to be put into another page."""
    source, title = escape(page_html(page)), escape(one_line(page.title, 120))
    style = "width: 100%; height: 640px; border: 1px solid #8888"
    return f'<iframe sandbox title="{title}" style="{style}" srcdoc="{source}"></iframe>'


def render(template: str, **content: Any) -> str:
    """Fill in a template; HTML escapes everything by itself, Markdown by the filters `md` and `md_table`."""
    return _environment().get_template(template).render(content).rstrip() + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verifyplan.reports", "templates"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "md": markdown_text,
        "md_table": markdown_table,
        "visible": visible,
        "one_line": one_line,
        "truncated": truncated,
        "folds": lambda text: len(text) >= MIN_FOLDED_CHARACTERS or text.count("\n") >= MIN_FOLDED_LINES - 1,
        "whole": lambda text: "\n".join(lines(truncated(text))),
    }
    environment.filters |= filters
    return environment

"""The pieces of HTML that widgets show: headers, tables with captions, facts, texts, and their CSS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.charts.labels import plain, short

NOT_RECORDED = "not recorded"
DASH = "\N{EN DASH}"
"""Shown for a missing value."""
MAX_TEXT_CHARACTERS = 4000
"""Characters of a text that are shown at once; the rest is counted."""

CSS = (Path(__file__).parent / "controls.css").read_text(encoding="utf-8")
"""The CSS that all widgets share: variables of colours, and classes."""
STYLE = f"<style>{CSS}</style>"
"""The CSS for a page without a kernel, once a page."""
MAX_WHOLE_WORD_CHARACTERS = 40
"""Characters of a cell without a space that no line break may part."""
MAX_WHOLE_NAME_CHARACTERS = 12
"""The same for the name of a row: ids stay whole, longer names may break at a hyphen."""


class Html(str):
    """Markup that goes into the page as it is; any other text is escaped."""

    __slots__ = ()


def text(value: Any, width: int = 300) -> Html:
    """Return a value on one line, cut and escaped; a dash for a missing one."""
    if isinstance(value, Html):
        return value
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return Html(DASH)
    return Html(escape(short(value, width, keep_end=False)) if str(value) else "")


def long_text(value: Any, limit: int = MAX_TEXT_CHARACTERS) -> Html:
    """Return a text with its lines; for a very long one, its beginning and the number of characters left out."""
    cleaned = plain(str(value)[:limit])
    left = len(str(value)) - limit
    more = f" … ({left:,} more characters)" if left > 0 else ""
    return Html(f'<div class="vp-words">{escape(cleaned)}{more}</div>')


def paragraph(sentence: str) -> Html:
    """Return a sentence as an escaped paragraph."""
    return Html(f"<p>{text(sentence, 2000)}</p>")


def header(title: str, shown: str = "") -> Html:
    """Return the head of a widget: its name, and one line about what it shows.

    >>> header("Runs", "3 of <b>")
    '<div><h3 class="vp-title">Runs</h3><p class="vp-shown">3 of &lt;b&gt;</p></div>'
    """
    words = f'<p class="vp-shown">{text(shown, 1000)}</p>' if shown else ""
    return Html(f'<div><h3 class="vp-title">{text(title, 160)}</h3>{words}</div>')


def facts(named: Iterable[tuple[str, Any]]) -> Html:
    """Return names and values side by side, as many as fit on a line.

    >>> facts([("plan", "<b>")]).count("&lt;b&gt;")
    1
    """
    items = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value, 2000)}</dd></div>" for name, value in named)
    return Html(f'<dl class="vp-facts">{items}</dl>')


def status(sentence: str) -> Html:
    """Return a text that a screen reader says when it changes."""
    return Html(f'<span role="status">{text(sentence, 2000)}</span>')


def box(kind: str, content: str, label: str = "") -> Html:
    """Return a part marked by a coloured line (`alert`, `warn`, `good` or blank); with a label, a named section."""
    name = f'<section aria-label="{text(label, 160)}"' if label else "<div"
    return Html(f'{name} class="vp-box{f" vp-{kind}" if kind else ""}">{content}</{"section" if label else "div"}>')


def heading(level: int, title: str) -> Html:
    """Return a heading."""
    return Html(f"<h{level}>{text(title, 160)}</h{level}>")


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: frozenset[int] = frozenset(),
    bounded: bool = False,
    is_live: bool = False,
) -> Html:
    """Return a table with a caption, heads of columns, and the first cell of a row as its head.

    `numbers` are columns to align at the right; a `bounded` table scrolls if it is long. One that `is_live` is replaced
    each second, so it takes no focus, which it would lose.
    """
    head = "".join(f'<th scope="col"{_class("", i in numbers)}>{text(title)}</th>' for i, title in enumerate(heads))
    body = "".join(f"<tr>{_row(row, numbers)}</tr>" for row in rows)
    kind = "vp-scroll vp-bounded" if bounded else "vp-scroll"
    region = "" if is_live else f' role="region" tabindex="0" aria-label="{text(caption, 160)}"'
    return Html(
        f'<div class="{kind}"{region}><table>'
        f"<caption>{text(caption, 400)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[Any], numbers: frozenset[int]) -> str:
    kind = _class(row[0]) if len(str(row[0])) <= MAX_WHOLE_NAME_CHARACTERS else ""
    first = f'<th scope="row"{kind}>{text(row[0], 80)}</th>'
    return first + "".join(f"<td{_class(value, i in numbers)}>{text(value)}</td>" for i, value in enumerate(row[1:], 1))


def _class(value: Any, number: bool = False) -> str:
    """Return the class of a cell: that of a number, or that of a short word, which must not break at a hyphen."""
    if number:
        return ' class="vp-number"'
    whole = isinstance(value, str) and not isinstance(value, Html) and len(value) <= MAX_WHOLE_WORD_CHARACTERS
    return ' class="vp-word"' if whole and len(value.split()) == 1 else ""


def whole_parts(*parts: str) -> Html:
    """Return parts of a cell, such as a figure and its interval; a line may break only between them."""
    return Html(" ".join(f'<span class="vp-part">{text(part)}</span>' for part in parts))


def block(*parts: str) -> str:
    """Return parts as one block."""
    return f"<div>{''.join(parts)}</div>"

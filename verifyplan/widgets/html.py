"""The pieces of HTML that the run explorer shows: tables with captions, words, and the look that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import pandas as pd

from verifyplan.charts.labels import plain, short

NOT_RECORDED = "not recorded"
DASH = "\N{EN DASH}"
"""Stands for a missing value."""
MAX_TEXT_CHARACTERS = 4000
"""Characters of a text that are shown at once; what is left out is counted."""

STYLE = """<style>
.vp-run, .vp-run table { color: var(--jp-content-font-color1, #1f2328);
  font: 13px/1.5 var(--jp-ui-font-family, sans-serif); }
.vp-run h4 { font-size: 16px; margin: 10px 0 2px; overflow-wrap: anywhere; }
.vp-run h5 { font-size: 14px; margin: 10px 0 2px; overflow-wrap: anywhere; }
.vp-run p { margin: 2px 0; max-width: 60em; overflow-wrap: anywhere; }
.vp-run .vp-scroll { overflow-x: auto; }
.vp-run .vp-bounded { overflow-y: auto; max-height: 22em; }
.vp-run table { border-collapse: collapse; }
.vp-run caption { text-align: left; color: var(--jp-content-font-color1, #1f2328); padding: 2px 0; }
.vp-run th, .vp-run td { padding: 2px 10px 2px 0; text-align: left; vertical-align: top; overflow-wrap: break-word;
  border-bottom: 1px solid var(--jp-border-color2, #d8dce1); }
.vp-run th { font-weight: 600; } .vp-run tbody th { min-width: 4.5em; }
.vp-run td { max-width: 36em; }
.vp-run td.vp-number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.vp-run .vp-words { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 60em; margin: 0; font: inherit; }
.vp-run .vp-tile { display: inline-block; min-width: 1.5em; padding: 0 2px; margin: 1px 3px 1px 0; text-align: center;
  border: 1px solid #5f6670; border-radius: 3px; font-weight: 600; }
.vp-run .vp-mark { display: inline-block; padding: 0 6px; border-radius: 3px; background: #1f2328; color: #ffffff;
  border: 1px solid #5f6670; }
.vp-run .vp-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.vp-run .vp-tiles { white-space: nowrap; }
.vp-explorer .vp-table td, .vp-explorer .vp-table th { overflow-wrap: break-word; }
.vp-explorer .vp-slider > span { min-width: 0; }
.vp-explorer .vp-slider { margin-left: 10px; }
.vp-explorer .vp-slider-readout { margin-right: 10px; }
.vp-run summary { cursor: pointer; }
</style>"""


class Html(str):
    """Markup that is ours and goes into the page as it is; any other text is escaped."""

    __slots__ = ()


def text(value: Any, width: int = 300) -> Html:
    """A value on one line, cut and escaped; a missing one is a dash."""
    if isinstance(value, Html):
        return value
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return Html(DASH)
    return Html(escape(short(value, width, keep_end=False)) if str(value) else "")


def long_text(value: Any) -> Html:
    """A long text with its lines; of one that is very long the beginning, and how much more there is."""
    cleaned = plain(str(value)[:MAX_TEXT_CHARACTERS])
    left = len(str(value)) - MAX_TEXT_CHARACTERS
    more = f" … ({left:,} more characters)" if left > 0 else ""
    return Html(f'<div class="vp-words">{escape(cleaned)}{more}</div>')


def paragraph(sentence: str) -> Html:
    """A sentence of ours, or of somebody else's, as text."""
    return Html(f"<p>{text(sentence, 2000)}</p>")


def heading(level: int, title: str) -> Html:
    """A heading of the given level."""
    return Html(f"<h{level}>{text(title, 160)}</h{level}>")


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: frozenset[int] = frozenset(),
    bounded: bool = False,
) -> Html:
    """A table with a caption, heads of columns, and the first cell of a row as its head.

    `numbers` are columns to be set to the right; a `bounded` table scrolls where it is long.
    """
    head = "".join(f'<th scope="col">{text(title)}</th>' for title in heads)
    body = "".join(f"<tr>{_row(row, numbers)}</tr>" for row in rows)
    kind = "vp-scroll vp-bounded" if bounded else "vp-scroll"
    return Html(
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{text(caption, 160)}"><table>'
        f"<caption>{text(caption, 400)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[Any], numbers: frozenset[int]) -> str:
    first = f'<th scope="row">{text(row[0], 80)}</th>'
    return first + "".join(
        f"<td{' class=vp-number' if i in numbers else ''}>{text(value)}</td>" for i, value in enumerate(row[1:], 1)
    )


def block(*parts: str) -> str:
    """Parts as one block in the shared look, which STYLE holds and stands on the page once."""
    return f'<div class="vp-run">{"".join(parts)}</div>'

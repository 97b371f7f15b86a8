"""Write results as they print: shares with their intervals, small tables as text, words and tables as HTML."""

from __future__ import annotations

import math
from html import escape

import pandas as pd

from verifyplan.text import truncate

MAX_ROWS = 10
"""A printed table has at most so many rows; the table that it is taken from has all."""
_MAX_TEXT = 28  # characters of a text in a printed table


def share_words(value: float, low: float, high: float, n: int | None = None) -> str:
    """Return a share as a percentage with its interval, and its n if that is given; a dash where it is not defined.

    >>> share_words(0.5, 0.25, 0.75), share_words(0.5, 0.25, 0.75, 1200)
    ('50.0 % [25.0, 75.0]', '50.0 % [25.0, 75.0] (n = 1,200)')
    """
    counted = "" if n is None else f" (n = {n:,})"
    return "-" if math.isnan(value) else f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]{counted}"


def difference_words(value: float, low: float, high: float) -> str:
    """Return a difference of shares in points with its interval, after a comma; blank where it is not defined.

    >>> difference_words(0.1, -0.025, 0.225)
    ', difference +10.0 points [-2.5, +22.5]'
    """
    if math.isnan(value):
        return ""
    return f", difference {100 * value:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"


def paragraph(words: str) -> str:
    """Return words as a paragraph of HTML, line by line; a number and its percent sign stay on one line.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p>{escape(words).replace(chr(10), '<br>').replace(' %', '&nbsp;%')}</p>"


def words_and_tables(words: str, *tables: pd.DataFrame) -> str:
    """Return words and tables as HTML for a notebook; every text is shown as text.

    >>> words_and_tables("a < b")
    '<p>a &lt; b</p>'
    """
    shown = (table.to_html(index=False, float_format="{:.3f}".format, na_rep="-") for table in tables)
    return paragraph(words) + "".join(shown)


def table_words(table: pd.DataFrame, where: str) -> str:
    """Return the first ten rows of a table of few columns as aligned text; `where` says where the others are.

    >>> print(table_words(pd.DataFrame({"worker": ["ann", "bo"], "n": [7, 12]}), ".table"))
    worker   n
    ann      7
    bo      12
    """
    shown, columns = table.head(MAX_ROWS), []
    for name, values in shown.items():
        texts = [str(name), *(truncate(str(value), _MAX_TEXT, mark_included=True) for value in values)]
        width, is_number = max(map(len, texts)), pd.api.types.is_numeric_dtype(values)
        columns.append([text.rjust(width) if is_number else text.ljust(width) for text in texts])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    more = len(table) - len(shown)
    return "\n".join([*lines, *([f"and {more:,} more in {where}"] if more else [])])


def shares_words(table: pd.DataFrame, name: str) -> list[str]:
    """Return the share `name` of each row as a percentage with its interval."""
    return [share_words(*row) for row in table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)]

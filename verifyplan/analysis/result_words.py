"""Write results as they print themselves: shares with their intervals, and words with tables for a notebook."""

from __future__ import annotations

import math
from html import escape

import pandas as pd


def share_words(value: float, low: float, high: float, n: int | None = None) -> str:
    """Return a share as a percentage with its interval, and its n if that is given; a dash where it is not defined.

    >>> share_words(0.5, 0.25, 0.75), share_words(0.5, 0.25, 0.75, 1200)
    ('50.0 % [25.0, 75.0]', '50.0 % [25.0, 75.0] (n = 1,200)')
    """
    counted = "" if n is None else f" (n = {n:,})"
    return "-" if math.isnan(value) else f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]{counted}"


def words_and_tables(words: str, *tables: pd.DataFrame) -> str:
    """Return words and tables as HTML for a notebook; every text is shown as text.

    >>> words_and_tables("a < b")
    '<p>a &lt; b</p>'
    """
    paragraph = f"<p>{escape(words).replace(chr(10), '<br>')}</p>"
    return paragraph + "".join(table.to_html(index=False, float_format="{:.3f}".format, na_rep="-") for table in tables)

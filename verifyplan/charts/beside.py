"""Columns of numbers beside a plot, each under its heading."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from verifyplan.charts.pixels import x_at, y_at
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import FAINT, SIZE

LETTER, GAP = 7.2, 16
"""About how many pixels a letter takes, and those between two columns."""


def beside(rows: pd.DataFrame, columns: Mapping[str, str], left: float, y: alt.Y) -> list[alt.Chart]:
    """The texts of the columns, right-aligned, from `left` on; `columns` maps each to its heading.

    The charts are layers whose data is the plot's. Headings stand above it.
    """
    layers: list[alt.Chart] = []
    edge = left
    for number, (column, heading) in enumerate(columns.items()):
        edge += GAP + LETTER * max(len(heading), int(rows[column].str.len().max()))
        texts = alt.Chart().mark_text(align="right", aria=False, fontWeight="normal" if number else "bold")
        layers.append(texts.encode(x=x_at(edge), y=y, text=words(column)))
        head = alt.Chart(inline(pd.DataFrame({"text": [heading]})))
        above = head.mark_text(align="right", color=FAINT, fontSize=SIZE - 1, aria=False)
        layers.append(above.encode(x=x_at(edge), y=y_at(-10), text=words("text")))
    return layers

"""The strip of a plan's sections, and beside it their names and counts, led to where they do not fit."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, LINE, PAPER, SEVERITY_COLORS, SIZE, WIDTH

STRIP, LEAD = 54, 26
"""Pixels across of the strip, and of the lines that lead from it to the names."""
NAME = STRIP + LEAD + 6
"""Where names begin."""
LETTER = 7
"""About how many pixels a letter takes."""
ROW, LEAST, MOST = 18, 220, 900
"""Pixels from name to name, and those of the whole strip, at least and, unless the names need more, at most."""
LINES = 6
"""Pixels of one line of the plan, where that fits."""
FIELDS = {"title": "Section", "where": "Where", "told": "Challenges", "worst_told": "Worst"}
COLORS: dict[str, str] = {str(name): color for name, color in SEVERITY_COLORS.items()} | {"none": "#e4e7ea"}


def section_strip(rows: pd.DataFrame) -> alt.LayerChart:
    """A block for each section, names and counts beside it.

    Reads `name, where, told, first, last, worst` and the texts of the tooltips, in the order of the plan.
    """
    height = max(LEAST, ROW * len(rows), min(MOST, LINES * int(rows["lines"].sum())))
    low, high = int(rows["first"].min()) - 1, int(rows["last"].max())
    placed = rows.assign(top=rows["first"] - 1, middle=(rows["first"] - 1 + rows["last"]) / 2)
    placed = placed.assign(place=_places(list(placed["middle"]), ROW * (high - low) / height, low, high))
    placed = with_hover(placed.assign(worst_told=placed["worst"].replace("none", "")), FIELDS)
    base = alt.Chart(inline(placed))
    scale = alt.Scale(domain=[low, high], reverse=True, nice=False)
    numbers = NAME + LETTER * int(rows["name"].str.len().max()) + 20
    layers = [_blocks(base, scale), _leads(base), *_texts(base, numbers)]
    return alt.LayerChart(layer=layers).properties(width=max(WIDTH, numbers + 120), height=height)


def _places(middles: list[float], gap: float, low: float, high: float) -> list[float]:
    """Where the names stand: beside the middle of their section, moved apart where two would overlap."""
    places: list[float] = []
    for middle in middles:
        places.append(max(middle, places[-1] + gap if places else low + gap / 2))
    ceiling = high - gap / 2
    for i in range(len(places) - 1, -1, -1):  # what was moved beyond the end comes back up
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - gap
    return places


def _blocks(base: alt.Chart, scale: alt.Scale) -> alt.Chart:
    told = "datum.value > 0 ? datum.label : ''"  # lines are counted from 1
    axis = alt.Axis(grid=False, ticks=False, domain=False, tickCount=6, tickMinStep=1, format=",d", labelExpr=told)
    blocks: alt.Chart = base.mark_rect(stroke=PAPER, strokeWidth=1.5).encode(
        x=alt.value(0),
        x2=alt.value(STRIP),
        y=alt.Y("top:Q", scale=scale, axis=axis, title="Line of the plan"),
        y2="last:Q",
        color=alt.Color("worst:N", scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values())), legend=None),
        **hover(FIELDS),
    )
    return blocks


def _leads(base: alt.Chart) -> alt.Chart:
    leads: alt.Chart = base.mark_rule(color=LINE, aria=False).encode(
        x=alt.value(STRIP + 2), x2=alt.value(STRIP + LEAD), y="middle:Q", y2="place:Q"
    )
    return leads


def _texts(base: alt.Chart, numbers: int) -> list[alt.Chart]:
    """Names in ink, and what was challenged in bold; what was not, fainter. The counts begin at `numbers`."""
    bare = "datum.worst === 'none'"
    ink = alt.when(bare).then(alt.value(FAINT)).otherwise(alt.value(INK))
    left = base.mark_text(align="left", baseline="middle", fontSize=SIZE, aria=False)
    bold = base.mark_text(align="left", baseline="middle", fontSize=SIZE, fontWeight="bold", aria=False)
    challenged, rest = bold.transform_filter(f"!({bare})"), left.transform_filter(bare)
    return [
        left.encode(x=alt.value(NAME), y="place:Q", text="name:N", color=ink),
        challenged.encode(x=alt.value(numbers), y="place:Q", text="told:N"),
        rest.encode(x=alt.value(numbers), y="place:Q", text="told:N", color=alt.value(FAINT)),
    ]

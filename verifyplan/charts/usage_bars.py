"""The bars of the usage chart: a row for each turn of a role, its tokens by what they were, with a key above."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from verifyplan.charts.beside import beside
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.pixels import x_at, y_at, y_of
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import FAINT, GREEN, GREY, INK, SIZE, WIDTH

PARTS = {
    "input_tokens": "fresh",
    "cache_write_tokens": "put in the cache",
    "cache_read_tokens": "read from the cache",
    "output_tokens": "out",
}
"""The kinds of tokens, in the order drawn, by what they are called."""
COLORS = {"fresh": INK, "put in the cache": GREY, "read from the cache": "#d3d7dc", "out": GREEN}
ROW, BAR, PLOT, GAP = 20, 14, WIDTH - 140, 8
"""Pixels from row to row, of a bar's height, across of the plot, and between two roles."""
FIELDS = {"role": "Role", "stage": "Turn", "part": "Tokens", "told": "Number", "told_turns": "Exchanges"}


def usage_bars(rows: pd.DataFrame) -> alt.VConcatChart:
    """The key, and below it a stacked bar for each row; all bars have one scale.

    Reads `role, stage, n_turns, cost` and the columns of `PARTS`, roles together, turns in their order.
    """
    return alt.VConcatChart(vconcat=[_key(rows), _bars(_placed(rows))], spacing=24)


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their places in pixels and what is written beside them."""
    first = ~rows["role"].duplicated()
    total = rows[list(PARTS)].sum(axis=1)
    return rows.assign(
        named=rows["role"].where(first, ""),
        y=[ROW * (number + 0.5) for number in range(len(rows))] + GAP * (first.cumsum() - 1),
        told_total=total.map("{:,}".format),
        told_turns=rows["n_turns"].map("{:,}".format),
        told_cost=rows["cost"].map("{:,.4f}".format).where(rows["cost"].notna(), ""),
        total=total,
    )


def _bars(placed: pd.DataFrame) -> alt.LayerChart:
    """The bars with the role and turn at their left, and numbers at their right."""
    y = y_of("y")
    axis = alt.Axis(format=",d", tickCount=5, tickMinStep=1, domain=False, ticks=False)
    scale = alt.Scale(domain=[0, int(placed["total"].max())], nice=False)
    bar = alt.Chart(inline(_parts(placed))).mark_bar(height=BAR)
    bars = bar.encode(
        x=alt.X(field="low", type="quantitative", scale=scale, axis=axis, title="Tokens"),
        x2=alt.X2(field="high"),
        y=y,
        color=_colors(),
        **hover(FIELDS),
    )
    columns = {"told_total": "tokens", "told_turns": "exchanges"}
    columns |= {"told_cost": "dollars"} if placed["told_cost"].any() else {}
    layers = [bars, *_names(y), *beside(placed, columns, PLOT, y)]
    drawn = placed[["named", "stage", "y", *columns]]
    height = float(placed["y"].max()) + ROW / 2
    return alt.LayerChart(data=inline(drawn), layer=layers, width=PLOT, height=height)


def _names(y: alt.Y) -> list[alt.Chart]:
    """Role and turn, left of the bars, and what the turns are above them."""
    role = alt.Chart().mark_text(align="right", aria=False).encode(x=x_at(-44), y=y, text=words("named"))
    small: dict[str, Any] = {"align": "right", "aria": False, "color": FAINT, "fontSize": SIZE - 1}
    turn = alt.Chart().mark_text(**small).encode(x=x_at(-12), y=y, text=words("stage"))
    head = alt.Chart(inline(pd.DataFrame({"text": ["turn"]}))).mark_text(**small)
    return [role, turn, head.encode(x=x_at(-12), y=y_at(-10), text=words("text"))]


def _parts(placed: pd.DataFrame) -> pd.DataFrame:
    """A row for each kind of tokens of each bar, with where it begins and ends."""
    high = placed[list(PARTS)].cumsum(axis=1)
    parts = [
        placed[["role", "stage", "told_turns", "y"]].assign(
            part=name,
            low=high[column] - placed[column],
            high=high[column],
            told=placed[column].map("{:,}".format),
        )[placed[column] > 0]
        for column, name in PARTS.items()
    ]
    return with_hover(pd.concat(parts, ignore_index=True), FIELDS)


def _colors() -> alt.Color:
    return alt.Color("part:N", scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values())), legend=None)


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """The kinds of tokens that are drawn, as a colour and a name each."""
    names = [name for column, name in PARTS.items() if rows[column].any()]
    places = [sum(38 + 6 * len(before) for before in names[:at]) for at in range(len(names))]
    base = alt.Chart(inline(pd.DataFrame({"part": names, "place": places}))).encode(
        x=alt.X("place:Q", scale=None, axis=None)
    )
    swatch = base.mark_square(size=150, opacity=1, xOffset=8, aria=False).encode(color=_colors())
    name = base.mark_text(align="left", xOffset=20, aria=False).encode(text="part:N")
    return alt.LayerChart(layer=[swatch, name]).properties(height=18)

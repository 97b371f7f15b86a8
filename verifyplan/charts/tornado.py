"""The bars of the tornado: of one plan from its own score, of many plans from 0."""

from __future__ import annotations

from functools import partial

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.pixels import x2_at, y_of
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import BLUE, GREY, INK, ORANGE, SIZE, WIDTH

ROW, BAR, PLOT = 34, 13, WIDTH - 120
"""Pixels from dimension to dimension, of a bar's height, and across of the plot."""
LABEL = 88
"""Pixels that a label at the end of a bar takes beyond the plot."""
COLORS = {"lower": ORANGE, "higher": BLUE}
LEAST_SPAN = 0.25
"""Points of score that the plot of one plan shows to either side, at least: tiny moves are to look tiny."""
ONE = {
    "plan": "Plan",
    "whole": "Dimension",
    "way": "Weight",
    "told_weight": "Moved to",
    "told_score": "Score",
    "told_move": "Change",
    "told_rank": "Rank",
}
MANY = {"whole": "Dimension", "way": "Weight", "told_mean": "Mean change", "told_changed": "Change rank"}


def one_plan(rows: pd.DataFrame) -> alt.LayerChart:
    """Bars from the score under the chosen weights to that under the moved ones, a row a dimension.

    Reads `plan, name, whole, direction, weight, score, move, rank, base_score, base_rank`.
    """
    base = float(rows["base_score"].iloc[0])
    span = max(LEAST_SPAN, float(rows["move"].abs().max())) * 1.08
    told = rows.assign(
        way=rows["direction"].map(_way),
        told_weight=rows["weight"].map("{:.2f}".format),
        told_score=rows["score"].map("{:.2f}".format),
        told_move=rows["move"].map("{:+.2f}".format),
        told_rank=[_ranks(old, new) for old, new in zip(rows["base_rank"], rows["rank"], strict=True)],
        told=rows["score"].map("{:.2f}".format) + " (w " + rows["weight"].map("{:.2f}".format) + ")",
    )
    placed = with_hover(_placed(told, told["move"].abs()), ONE)
    x = partial(_across, domain=[base - span, base + span], title="Score")
    chart = alt.Chart().encode(x=x("score"), y=y_of("middle"))
    up, down = chart.transform_filter("datum.move >= 0"), chart.transform_filter("datum.move < 0")
    layers = [
        chart.mark_bar(height=BAR).encode(x2=alt.X2(field="base_score"), color=_color(), **hover(ONE)),
        alt.Chart().mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x=x("base_score")),
        up.mark_text(align="left", dx=5, fontSize=SIZE - 1, aria=False).encode(text=words("told")),
        down.mark_text(align="right", dx=-5, fontSize=SIZE - 1, aria=False).encode(text=words("told")),
        *_names(placed, -LABEL),
    ]
    return _layered(placed, layers)


def all_plans(sums: pd.DataFrame, n: int) -> alt.LayerChart:
    """Bars of the mean change from 0, a row a dimension, with the number of plans that change rank.

    Reads `name, whole, direction, mean, changed`.
    """
    told = sums.assign(
        way=sums["direction"].map(_way),
        told_mean=sums["mean"].map("{:.3f}".format),
        told_changed=[f"{changed:,} of {n:,} plans" for changed in sums["changed"]],
        told=sums["mean"].map("{:.3f}".format),
        told_share=[f"{changed:,} of {n:,}" for changed in sums["changed"]],
    )
    placed = with_hover(_placed(told, told["mean"]), MANY)
    top = max(float(sums["mean"].max()), 0.01) * 1.15
    x = _across("mean", [0, top], "Mean absolute change of score")
    chart = alt.Chart().encode(y=y_of("middle"))
    layers = [
        chart.mark_bar(height=BAR).encode(x=x, x2=x2_at(0), color=_color(), **hover(MANY)),
        chart.mark_text(align="left", dx=5, fontSize=SIZE - 1, aria=False).encode(x=x, text=words("told")),
        chart.mark_text(align="right", x=PLOT + 60, fontSize=SIZE - 1, aria=False).encode(text=words("told_share")),
        *_names(placed, -14),
    ]
    return _layered(placed, layers)


def _across(field: str, domain: list[float], title: str) -> alt.X:
    axis = alt.Axis(domain=False, ticks=False, tickCount=5)
    scale = alt.Scale(domain=domain, nice=False)
    return alt.X(field=field, type="quantitative", scale=scale, axis=axis, title=title)


def _layered(placed: pd.DataFrame, layers: list[alt.Chart]) -> alt.LayerChart:
    return alt.LayerChart(data=inline(placed), layer=layers, width=PLOT, height=ROW * placed["name"].nunique())


def _way(direction: str) -> str:
    return {"lower": "lowered", "higher": "raised"}.get(direction, direction)


def _ranks(old: int, new: int) -> str:
    return f"{old:,}, as before" if old == new else f"{new:,} instead of {old:,}"


def _placed(rows: pd.DataFrame, size: pd.Series[float]) -> pd.DataFrame:
    """The rows with where they stand in pixels: dimensions by their largest size, directions under each other."""
    order = size.groupby(rows["name"], sort=False).max().sort_values(ascending=False, kind="stable")
    row = rows["name"].map({name: number for number, name in enumerate(order.index)})
    ways = [*COLORS, *(way for way in dict.fromkeys(rows["direction"]) if way not in COLORS)]
    lane = rows["direction"].map({way: number for number, way in enumerate(ways)})
    placed = rows.assign(
        middle=row * ROW + ROW / 2 + (lane - 0.5) * (BAR + 1),
        center=row * ROW + ROW / 2,
        color=rows["direction"].map(COLORS).fillna(GREY),
        first=~rows["name"].duplicated(),
    )
    return placed.sort_values("middle", kind="stable").reset_index(drop=True)


def _color() -> alt.Color:
    return alt.Color(field="color", type="nominal", scale=None)


def _names(placed: pd.DataFrame, at: int) -> list[alt.Chart]:
    """The dimensions' names, left of the plot."""
    first = placed[placed["first"]][["name", "center"]]
    text = alt.Chart(inline(first)).mark_text(align="right", x=at, aria=False)
    return [text.encode(y=y_of("center"), text=words("name"))]

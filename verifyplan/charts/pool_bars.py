"""The bars of the pool's chart: one stack an iteration, in rows of a severity each, with a key above."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, tooltip, with_hover
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, PAPER, SIZE, STATE_COLORS, WIDTH, state_colors

PLOT, WIDEST = WIDTH - 60, 170
"""Pixels across of all bars, at most, and of one of them."""
UNIT, TALLEST = 20, 220
"""Pixels that one challenge takes, and those of the highest bar of all, if that is less."""
LETTERS = 14
"""Pixels that a bar's part must have in height to carry its text, and that it must have across for each name."""
NAMES = 5
"""Up to so many iterations, a part is named as well as counted."""
FIELDS = {
    "severity": "Severity",
    "stage": "At the end of",
    "state": "State",
    "n": "Challenges",
    "new": "New in the iteration",
    "came": "Came from another state",
    "went": "Left for another state",
}
DARK = ("UNRESOLVED", "DEFERRED", "overflow")
"""States whose colour is light, so that ink stands out from it."""


def pool_bars(rows: pd.DataFrame) -> alt.VConcatChart:
    """The key, and below it a row of stacked bars for each severity; all bars have one scale.

    Reads `severity, iteration, state, order, n` and the numbers of the tooltips, in the order drawn.
    """
    tops = rows.groupby(["severity", "iteration"], sort=False)["n"].sum()
    unit = min(UNIT, TALLEST / int(tops.max()))
    iterations = list(range(int(rows["iteration"].min()), int(rows["iteration"].max()) + 1))
    parts = [
        _bars(part, iterations, int(tops[severity].max()), unit, str(severity))
        for severity, part in rows.groupby("severity", sort=False)
    ]
    return alt.VConcatChart(vconcat=[_key(rows), *parts], spacing=16)


def _bars(part: pd.DataFrame, iterations: list[int], top: int, unit: float, severity: str) -> alt.LayerChart:
    place = part.groupby("iteration", sort=False)["n"].cumsum()
    named = len(iterations) <= NAMES
    told = part["n"].map("{:,}".format) + (" " + part["state"].str.lower() if named else "")
    rows = part.assign(
        stage=part["iteration"].map(_stage),
        low=place - part["n"],
        high=place,
        middle=place - part["n"] / 2,
        told=told.where(part["n"] * unit >= LETTERS, ""),
        ink=part["state"].isin(DARK),
    )
    scale = alt.Scale(domain=[_stage(number) for number in iterations], type="band", paddingInner=0.12, paddingOuter=0)
    below = alt.Axis(labelAngle=0, grid=False, ticks=False, domain=True)
    ticks = {"values": [top]} if top * unit < 3 * LETTERS else {"tickMinStep": 1, "tickCount": 4}
    up = alt.Axis(**ticks, format=",d", domain=False, ticks=False)
    base = alt.Chart(inline(with_hover(rows, FIELDS))).encode(x=alt.X("stage:N", scale=scale, axis=below, title=None))
    y = alt.Y("low:Q", scale=alt.Scale(domain=[0, top]), axis=up, title=None)
    layers = alt.LayerChart(layer=[_parts(base.encode(y=y)), _texts(base)])
    title = alt.Title(severity, fontSize=SIZE, offset=6, anchor="start")
    return layers.properties(title=title, width=min(PLOT, WIDEST * len(iterations)), height=max(round(top * unit), 1))


def _stage(number: int) -> str:
    return f"iteration {number}"


def _parts(base: alt.Chart) -> alt.Chart:
    bars: alt.Chart = base.mark_bar(strokeWidth=1).encode(
        y2="high:Q",
        color=alt.Color("state:N", scale=state_colors(), legend=None),
        stroke=alt.when("datum.state === 'overflow'").then(alt.value(FAINT)).otherwise(alt.value(PAPER)),
        **hover(FIELDS),
    )
    return bars


def _texts(base: alt.Chart) -> alt.Chart:
    ink = alt.when("datum.ink").then(alt.value(INK)).otherwise(alt.value(PAPER))
    texts: alt.Chart = base.mark_text(fontSize=SIZE - 1, fontWeight="bold", aria=False).encode(
        y="middle:Q", text="told:N", color=ink, **tooltip(FIELDS)
    )
    return texts


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """The states that are drawn, as a colour and a name each."""
    states = [state for state in STATE_COLORS if state in set(rows["state"])]
    places = [sum(34 + 8 * len(before) for before in states[:i]) for i in range(len(states))]
    base = alt.Chart(inline(pd.DataFrame({"state": states, "place": places}))).encode(
        x=alt.X("place:Q", scale=None, axis=None)
    )
    swatch = base.mark_square(size=150, opacity=1, strokeWidth=1, xOffset=8, aria=False).encode(
        fill=alt.Fill("state:N", scale=state_colors(), legend=None),
        stroke=alt.when("datum.state === 'overflow'").then(alt.value(FAINT)).otherwise(alt.value("transparent")),
    )
    name = base.mark_text(align="left", xOffset=20, aria=False).encode(text="state:N")
    return alt.LayerChart(layer=[swatch, name]).properties(height=18)

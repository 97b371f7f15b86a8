"""The lines of the queue's chart, named at their ends, and the table of numbers below them."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, WIDTH, reading_colors, reading_dashes, reading_shapes

HEIGHT = 220
PLOT = WIDTH - 120
"""Pixels across of the plot; the rest is for the names at the ends of the lines."""
FIELDS = {
    "reading": "Reading",
    "stage": "When",
    "waiting": "Waiting",
    "resolved": "Classed in the round",
    "n_runs": "Runs",
}
NAME_GAP = 17
"""Pixels between two names, at least."""


def queue_lines(rows: pd.DataFrame) -> alt.VConcatChart:
    """A line for each reading over the rounds, and below each round its numbers.

    Reads `label, stage, waiting, told, told_resolved` and the texts of the tooltips, in the order of rounds.
    """
    labels = list(dict.fromkeys(rows.sort_index()["label"]))
    rows = with_hover(rows, FIELDS)
    return alt.VConcatChart(vconcat=[_lines(rows, labels), _numbers(rows, labels)], spacing=8)


def _stage(rows: pd.DataFrame, axis: alt.Axis | None) -> alt.X:
    stages = list(dict.fromkeys(rows["stage"]))
    scale = alt.Scale(domain=stages, type="point", padding=0.5)
    return alt.X("stage:N", scale=scale, axis=axis, title=None)


def _lines(rows: pd.DataFrame, labels: list[str]) -> alt.LayerChart:
    top = max(int(rows["waiting"].max()), 1)
    up = alt.Axis(tickMinStep=1, tickCount=5, format=",d", domain=False, ticks=False)
    base = alt.Chart(inline(rows)).encode(
        x=_stage(rows, alt.Axis(labelAngle=0, grid=False, ticks=False, labelPadding=8)),
        y=alt.Y("waiting:Q", scale=alt.Scale(domain=[0, top]), axis=up, title="Findings waiting"),
        color=alt.Color("label:N", scale=reading_colors(labels), legend=None),
    )
    dash = alt.StrokeDash("label:N", scale=reading_dashes(labels), legend=None)
    line = base.mark_line(strokeWidth=2.5, aria=False).encode(strokeDash=dash)
    return alt.LayerChart(layer=[line, _points(base, labels), *_names(base, rows, labels, top)]).properties(
        width=PLOT, height=HEIGHT
    )


def _points(base: alt.Chart, labels: list[str]) -> alt.Chart:
    points: alt.Chart = base.mark_point(filled=True, size=110, opacity=1).encode(
        shape=alt.Shape("label:N", scale=reading_shapes(labels), legend=None),
        **hover(FIELDS),
    )
    return points


def _names(base: alt.Chart, rows: pd.DataFrame, labels: list[str], top: int) -> list[alt.Chart]:
    """Each reading's symbol and name, right of the plot."""
    ends = base.properties(data=inline(_ends(rows, top))).encode(y="place:Q")
    symbol = ends.mark_point(filled=True, size=110, opacity=1, aria=False).encode(
        x=alt.value(PLOT + 10), shape=alt.Shape("label:N", scale=reading_shapes(labels), legend=None)
    )
    name = ends.mark_text(align="left", limit=240, aria=False).encode(
        x=alt.value(PLOT + 22), text="label:N", color=alt.value(INK)
    )
    return [symbol, name]


def _ends(rows: pd.DataFrame, top: int) -> pd.DataFrame:
    """Where each line's name stands: at its last value, moved up where two names would overlap."""
    last = rows.drop_duplicates("label", keep="last").sort_values("waiting", kind="stable")
    gap = NAME_GAP * top / HEIGHT
    places: list[float] = []
    for waiting in last["waiting"]:
        places.append(max(float(waiting), places[-1] + gap) if places else float(waiting))
    return pd.DataFrame({"label": list(last["label"]), "place": places, "stage": list(last["stage"])})


def _numbers(rows: pd.DataFrame, labels: list[str]) -> alt.LayerChart:
    """The numbers under the rounds: how many wait, and how many the round took off the queue."""
    axis = alt.Axis(domain=False, ticks=False, grid=False, labelColor=FAINT)
    base = alt.Chart(inline(rows)).encode(x=_stage(rows, None), y=alt.Y("label:N", sort=labels, axis=axis, title=None))
    waiting = base.mark_text(align="right", xOffset=2, aria=False).encode(text="told:N")
    resolved = base.mark_text(align="left", xOffset=7, color=FAINT, aria=False).encode(text="told_resolved:N")
    return alt.LayerChart(layer=[waiting, resolved]).properties(width=PLOT, height=alt.Step(20))

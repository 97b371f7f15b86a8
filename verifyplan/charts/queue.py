"""Draw how the queue of findings shrinks from round to round."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis import vote_tables
from verifyplan.charts.encodings import apart, color_of, hover, inline, text_of, with_hover, x_at
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, plain, sentences
from verifyplan.charts.options import MIN_WIDTH_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import (
    CONDITION_COLORS,
    CONDITION_DASHES,
    CONDITION_SHAPES,
    FAINT,
    INK,
    WIDTH,
    condition_scale,
)
from verifyplan.frames.load import Runs

COLUMNS = ("mode", "round", "waiting", "resolved", "n_runs")
TITLE = "How the queue shrinks"
KEY = "Below: findings waiting, and in brackets how many the round classed"
FIELDS = {
    "mode": "Mode",
    "stage": "When",
    "waiting": "Waiting",
    "resolved": "Classed in the round",
    "n_runs": "Runs",
}
HEIGHT_PX, MIN_HEIGHT_PX = 220, 60
"""Pixels of the lines' plot from top to bottom, and at least."""
PLOT_PX = WIDTH - 120
"""Pixels across of the plot; the rest is for the names at the ends of the lines."""
MIN_STAGE_PX = 80
"""Pixels across of a round, at least: its name and its numbers."""
MAX_ROUNDS, MAX_MODES = 9, 12
"""Rounds and modes drawn at most."""
NAME_GAP_PX = 17
"""Least pixels between two names."""


@chart
def queue(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw lines of the findings that wait after each round, one a mode, with the numbers in a table below.

    Reads what `analysis.queue` returns, or makes it of runs: `mode, round` (0: as queued), `waiting, resolved, n_runs`.
    Rows whose `waiting` is missing are left out and the caption says so; the first `limit` rounds are drawn (9).
    `height` is that of the lines, without the table.

    >>> figure = queue("stdlib-claims")
    >>> figure.description[:87]
    'Line chart of findings waiting in the queue. collaborative: 710 as queued, 13 after rou'
    """
    chosen = ChartOptions.of(options)
    whole = chosen.table(data, vote_tables.queue, COLUMNS, "queue", names=["mode"])
    kept = whole[whole["waiting"].notna()]
    if kept.empty:
        return empty(chosen, TITLE, "There is no round to draw.", whole)
    every = kept.astype({"round": int, "waiting": int})
    numbers = sorted(set(every["round"]))
    early = [number for number in numbers if number <= chosen.rows(MAX_ROUNDS)]
    modes = list(dict.fromkeys(every["mode"]))
    rows = _rows(every[every["round"].isin(early) & every["mode"].isin(modes[:MAX_MODES])])
    stages = (rows["text"] + " " + rows["stage"]).groupby(rows["label"], sort=False)
    lines = [f"{label}: {', '.join(each)}" for label, each in stages]
    least = max(MIN_WIDTH_PX, MIN_STAGE_PX * len(early))
    width = chosen.px("width", max(PLOT_PX, least), least, count(len(early), "column"))
    labels = list(dict.fromkeys(rows.sort_index()["label"]))
    places = _QueuePlaces(width, chosen.px("height", HEIGHT_PX, MIN_HEIGHT_PX), labels)
    fewest, most, left_out = int(rows["n_runs"].min()), int(rows["n_runs"].max()), len(whole) - len(kept)
    runs = count(most, "run") if fewest == most else f"{fewest:,} to {count(most, 'run')}"
    first = rows.drop_duplicates("label").sort_index()
    sizes = first["waiting"].map("{:,}".format) + " under " + first["label"]
    drawn = with_hover(rows, FIELDS)
    return figure(
        lambda: alt.VConcatChart(vconcat=[_lines(drawn, places), _numbers(drawn, places)], spacing=8),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(
            "Findings that wait to be classed, as queued and after each round, summed over each mode's runs"
            f" ({runs}); n at first: {', '.join(sizes)}.",
            first_drawn(sum(map(bool, early)), sum(map(bool, numbers)), "round"),
            first_drawn(min(len(modes), MAX_MODES), len(modes), "mode"),
            "Counts, so without intervals.",
            f"Left out: {count(left_out, 'row')} without a number." if left_out else "",
        ),
        data=whole,
        description=f"Line chart of findings waiting in the queue. {'; '.join(lines)}.",
    )


class _QueuePlaces(NamedTuple):
    """Pixels across of the plot and of the lines from top to bottom, and the modes' labels in their order."""

    width: float
    height: float
    labels: list[str]


def _rows(kept: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of rounds, with the mode's label, the stage's name and the table's text."""
    names = distinct_labels(kept["mode"], 30)
    rows = kept.sort_values("round", kind="stable")
    resolved = pd.to_numeric(rows["resolved"]).map(lambda n: f"(\N{MINUS SIGN}{n:,.0f})" if n else "(0)")
    return rows.assign(
        label=rows["mode"].astype(str).map(names),
        mode=rows["mode"].map(plain),
        stage=rows["round"].map(lambda number: f"after round {number}" if number else "as queued"),
        text=rows["waiting"].map("{:,}".format),
        resolved_text=resolved.where((rows["round"] > 0) & rows["resolved"].notna(), ""),
    )


def _stage(rows: pd.DataFrame, axis: alt.Axis | None) -> alt.X:
    stages = list(dict.fromkeys(rows["stage"]))
    scale = alt.Scale(domain=stages, type="point", padding=0.5)
    return alt.X("stage:N", scale=scale, axis=axis, title=None)


def _lines(rows: pd.DataFrame, places: _QueuePlaces) -> alt.LayerChart:
    """Draw a line for each mode over the rounds, with its symbol and name right of the plot."""
    labels, top = places.labels, max(int(rows["waiting"].max()), 1)
    up = alt.Axis(tickMinStep=1, tickCount=5, format=",d", domain=False, ticks=False)
    base = alt.Chart(inline(rows)).encode(
        x=_stage(rows, alt.Axis(labelAngle=0, grid=False, ticks=False, labelPadding=8)),
        y=alt.Y("waiting:Q", scale=alt.Scale(domain=[0, top]), axis=up, title="Findings waiting"),
        color=alt.Color("label:N", scale=condition_scale(labels, CONDITION_COLORS), legend=None),
    )
    dash = alt.StrokeDash("label:N", scale=condition_scale(labels, CONDITION_DASHES), legend=None)
    line = base.mark_line(strokeWidth=2.5, aria=False).encode(strokeDash=dash)
    shape = alt.Shape("label:N", scale=condition_scale(labels, CONDITION_SHAPES), legend=None)
    points = base.mark_point(filled=True, size=110, opacity=1).encode(shape=shape, **hover(FIELDS))
    ends = base.properties(data=inline(_ends(rows, top / places.height))).encode(y=alt.Y("place:Q"))
    symbol = ends.mark_point(filled=True, size=110, opacity=1, aria=False).encode(
        x=x_at(places.width + 10),
        shape=alt.Shape("label:N", scale=condition_scale(labels, CONDITION_SHAPES), legend=None),
    )
    name = ends.mark_text(align="left", limit=240, aria=False).encode(
        x=x_at(places.width + 22), text=text_of("label"), color=color_of(INK)
    )
    return alt.LayerChart(layer=[line, points, symbol, name], width=places.width, height=places.height)


def _ends(rows: pd.DataFrame, pixel: float) -> pd.DataFrame:
    """Place each line's name: at its last value, moved up where two names would overlap."""
    last = rows.drop_duplicates("label", keep="last").sort_values("waiting", kind="stable")
    places = apart(last["waiting"].astype(float), NAME_GAP_PX * pixel)
    return pd.DataFrame({"label": list(last["label"]), "place": places, "stage": list(last["stage"])})


def _numbers(rows: pd.DataFrame, places: _QueuePlaces) -> alt.LayerChart:
    """Write the numbers under the rounds: how many wait, and how many the round took off the queue."""
    axis = alt.Axis(domain=False, ticks=False, grid=False, labelColor=FAINT)
    base = alt.Chart(inline(rows)).encode(
        x=_stage(rows, None), y=alt.Y("label:N", sort=places.labels, axis=axis, title=None)
    )
    waiting = base.mark_text(align="right", xOffset=2, aria=False).encode(text=text_of("text"))
    resolved = base.mark_text(align="left", xOffset=7, color=FAINT, aria=False).encode(text=text_of("resolved_text"))
    return alt.LayerChart(layer=[waiting, resolved], width=places.width, height=alt.Step(20))

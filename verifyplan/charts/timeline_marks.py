"""The marks of the timeline: two lines of one run, or a row of bars for each of several."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, tooltip
from verifyplan.charts.pixels import x_of, y2_at, y_at
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import FAINT, INK, LINE, ORANGE, PAPER, SIZE, VERMILLION, WIDTH

FIELDS = {
    "run_id": "Run",
    "stage": "At the end of",
    "blocking_open": "BLOCKING, unsettled",
    "significant_open": "SIGNIFICANT, unsettled",
    "word": "Status",
    "new": "Raised in it",
    "settled": "Settled in it",
}
SEVERITIES = {
    "BLOCKING": ("blocking_open", VERMILLION, "circle", (1, 0)),
    "SIGNIFICANT": ("significant_open", ORANGE, "diamond", (7, 4)),
}
"""Each severity's column, colour, shape and dash: two lines at one height are both seen."""
HIGHEST, UNIT_HIGH, LEAST, MOST = 190, 60, 104, 190
"""Pixels of the lines' plot, at most, and of one challenge in it; and across of an iteration, at least and at most."""
ROW, UNIT, TALLEST = 22, 13, 90
"""Pixels from run to run, of one challenge in a bar, and of the longest bar of all, if that is less."""
LETTER = 7.4
"""About how many pixels a letter of the statuses takes."""


def lines(rows: pd.DataFrame) -> alt.LayerChart:
    """A line for each severity over the iterations of one run, named at its end; below, status and what moved.

    Reads `stage, iteration, blocking_open, significant_open, word, new, settled` and the texts of `FIELDS`.
    """
    parts = [
        rows.assign(
            severity=name,
            n=rows[column],
            color=color,
            shape=shape,
            dash=pd.Series([list(dash)] * len(rows), dtype="object"),
        )
        for name, (column, color, shape, dash) in SEVERITIES.items()
    ]
    points = pd.concat(parts, ignore_index=True)
    points = points.assign(told=_numbers(points), upper=_upper(points))
    stages, most = list(rows["stage"]), max(int(points["n"].max()), 1)
    across = alt.Scale(domain=stages, type="point", padding=0.5)
    x = alt.X(field="stage", type="nominal", scale=across, title=None, axis=alt.Axis(**_STAGES))
    few: dict[str, Any] = {"values": list(range(most + 1))} if most < 6 else {"tickMinStep": 1, "tickCount": 5}
    ticks = alt.Axis(**few, format=",d", domain=False, ticks=False)
    y = alt.Y(field="n", type="quantitative", scale=alt.Scale(domain=[0, most]), axis=ticks, title="Unsettled")
    color = alt.Color(field="color", type="nominal", scale=None)
    shape = alt.Shape(field="shape", type="nominal", scale=None)
    base = alt.Chart().encode(x=x)
    dash = alt.StrokeDash(field="dash", type="nominal", scale=None)
    line = base.mark_line(strokeWidth=2.5, aria=False).encode(y=y, color=color, strokeDash=dash)
    dots = base.mark_point(filled=True, size=120, opacity=1).encode(y=y, color=color, shape=shape, **hover(FIELDS))
    numbers = [
        base.transform_filter(which).mark_text(dy=dy, fontWeight="bold", aria=False).encode(y=y, text=words("told"))
        for which, dy in (("datum.upper", -14), ("!datum.upper", 16))
    ]
    height = min(HIGHEST, 30 + UNIT_HIGH * most)
    width = round(min(max(WIDTH / len(stages), LEAST), MOST)) * len(stages)
    layers = [line, dots, *numbers, *_ends(points, most / height, width), *_below(rows, x, height)]
    return alt.LayerChart(data=inline(points), layer=layers, width=width, height=height)


_STAGES: dict[str, Any] = {"labelAngle": 0, "grid": False, "ticks": False, "labelPadding": 26, "labelLimit": 0}


def _upper(points: pd.DataFrame) -> pd.Series[bool]:
    """Which point of two at an iteration is the higher one, whose number stands above it; of equal ones, the first."""
    other = points.groupby("stage", sort=False)["n"].transform("sum") - points["n"]
    return (points["n"] > other) | ((points["n"] == other) & (points["severity"] == "BLOCKING"))


def _numbers(points: pd.DataFrame) -> pd.Series[str]:
    """The points' numbers; two points at one place have one number."""
    same = points.groupby("stage", sort=False)["n"].transform("nunique") == 1
    return points["n"].map("{:,}".format).where(~same | (points["severity"] == "BLOCKING"), "")


def _ends(points: pd.DataFrame, pixel: float, width: int) -> list[alt.Chart]:
    """The severities' names at the ends of their lines, apart where both end at one height."""
    last = points.drop_duplicates("severity", keep="last").sort_values("n", kind="stable")
    gap = 17 * pixel
    places: list[float] = []
    for n in last["n"]:
        places.append(max(float(n), places[-1] + gap) if places else float(n))
    ends = last[["severity"]].assign(place=places)
    text = alt.Chart(inline(ends)).mark_text(align="left", x=width + 2, aria=False)
    return [text.encode(y=alt.Y(field="place", type="quantitative"), text=words("severity"))]


def _below(rows: pd.DataFrame, x: alt.X, height: int) -> list[alt.Chart]:
    """Under each iteration: its status and verdict, on two lines, and how many challenges were raised and settled."""
    moved = rows["new"] + " raised, " + rows["settled"] + " settled"
    moved = moved.where((rows["new"] != "") & (rows["settled"] != ""), "")
    status = rows["word"].str.replace(": ", "\n", regex=False)
    text = alt.Chart(inline(pd.DataFrame({"stage": rows["stage"], "status": status, "moved": moved})))
    bold = text.mark_text(lineBreak="\n", fontWeight="bold", fontSize=SIZE - 1 if len(rows) > 3 else SIZE, aria=False)
    faint = text.mark_text(color=FAINT, fontSize=SIZE - 1, aria=False)
    return [
        bold.encode(x=x, y=y_at(height + 60), text=words("status")),
        faint.encode(x=x, y=y_at(height + 94), text=words("moved")),
    ]


def strips(rows: pd.DataFrame) -> alt.LayerChart:
    """A row for each run: in each iteration a bar of what is unsettled, on one scale, and the status behind it.

    Reads what `lines` reads, and `run`.
    """
    most = max(int((rows["blocking_open"] + rows["significant_open"]).max()), 1)
    unit = min(UNIT, TALLEST / most)
    edges = _edges(rows, unit)
    placed = _placed(rows, unit, edges)
    scale = alt.Scale(domain=list(dict.fromkeys(rows["run"])), type="band")
    names = alt.Axis(grid=False, ticks=False, domain=False, labelLimit=0, labelPadding=10)
    y = alt.Y(field="run", type="nominal", scale=scale, title=None, axis=names)
    base = alt.Chart().encode(y=y)
    bars = [
        base.transform_filter(f"datum.{column} > 0")
        .mark_bar(height=15, color=color, stroke=PAPER, strokeWidth=0.5)
        .encode(x=x_of(f"{column}_x"), x2=alt.X2(field=f"{column}_x2"), **hover(FIELDS))
        for column, color, *_ in SEVERITIES.values()
    ]
    numbers = [
        base.mark_text(fontSize=SIZE - 2, fontWeight="bold", color=ink, aria=False).encode(
            x=x_of(f"{column}_middle"), text=words(f"{column}_told"), **tooltip(FIELDS)
        )
        for (column, *_), ink in zip(SEVERITIES.values(), (PAPER, INK), strict=True)
    ]
    status = base.mark_text(align="left", fontSize=SIZE - 1, color=INK)
    status = status.encode(x=x_of("text"), text=words("word"), **hover(FIELDS))
    height = ROW * rows["run"].nunique()
    layers = [*_columns(edges[:-1], height), *bars, *numbers, status]
    return alt.LayerChart(data=inline(placed), layer=layers, width=edges[-1], height=height)


def _edges(rows: pd.DataFrame, unit: float) -> list[int]:
    """Where the columns of the iterations begin, and the last one ends: each is as wide as its longest row."""
    unsettled = rows["blocking_open"] + rows["significant_open"]
    needs = 40 + unsettled * unit + LETTER * rows["word"].str.len()
    widest = needs.groupby(rows["iteration"]).max()
    widths = [round(widest.get(number, 100)) for number in range(1, int(rows["iteration"].max()) + 1)]
    return list(accumulate([0, *(max(width, 100) for width in widths)]))


def _placed(rows: pd.DataFrame, unit: float, edges: list[int]) -> pd.DataFrame:
    """Where bars, numbers and statuses stand, in pixels; a number is written where its bar has room."""
    left = rows["iteration"].map(lambda number: edges[number - 1]) + 8.0
    for column, *_ in SEVERITIES.values():
        right = left + rows[column] * unit
        wide = rows[column] * unit >= 8 * rows[column].map("{:,}".format).str.len()
        told = rows[column].map("{:,}".format).where(wide & (rows[column] > 0), "")
        rows = rows.assign(**{f"{column}_x": left, f"{column}_x2": right, f"{column}_told": told})
        rows = rows.assign(**{f"{column}_middle": (left + right) / 2})
        left = right
    bare = rows["blocking_open"] + rows["significant_open"] == 0
    return rows.assign(text=left + (~bare) * 6.0)


def _columns(lefts: list[int], height: int) -> list[alt.Chart]:
    """The iterations' names above their columns, and a line at the left of each."""
    heads = pd.DataFrame({"at": lefts, "text": [f"iteration {i + 1}" for i in range(len(lefts))]})
    base = alt.Chart(inline(heads))
    return [
        base.mark_rule(color=LINE, aria=False).encode(x=x_of("at"), y=y_at(0), y2=y2_at(height)),
        base.mark_text(align="left", dx=8, fontWeight="bold", aria=False).encode(
            x=x_of("at"), y=y_at(-10), text=words("text")
        ),
    ]

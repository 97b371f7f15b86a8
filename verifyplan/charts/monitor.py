"""Draw a difference after every run, with the intervals that hold however often one looks."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import numpy as np
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.study_design import monitor as monitoring
from verifyplan.analysis.study_design.monitor import Monitor
from verifyplan.charts.encodings import apart, hover, inline, text_of, with_hover, x_at
from verifyplan.charts.figure import Figure, figure
from verifyplan.charts.labels import count, first_drawn, plain, sentences
from verifyplan.charts.options import MIN_WIDTH_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import BLUE_TEXT, FAINT, GREY, INK, SKY, WIDTH
from verifyplan.frames.load import Runs, as_runs

TITLE = "Is there a difference yet?"
FIELDS = {
    "run": "Run",
    "look": "Runs so far",
    "difference_text": "Its difference",
    "mean_text": "Mean so far",
    "interval_text": "Valid at every look",
}
HEIGHT_PX, MIN_HEIGHT_PX = 260, 120
"""Pixels of the plot from top to bottom, and at least."""
PLOT_PX = WIDTH - 160
"""Pixels across of the plot; the rest is for the names at its right."""
MAX_RUNS = 500
"""Runs drawn at most."""
NAME_GAP_PX = 17
"""Least pixels between two names."""
_MARGIN = 1.6  # of the last interval's larger end, for the axis


@chart
def monitor(data: Monitor | Comparison | Runs, **options: Unpack[Options]) -> Figure:
    """Draw the mean difference after each run with its confidence sequence, and the differences of runs as dots.

    Reads what `monitor` returns, or makes it of runs or of a comparison of two conditions. The first `limit` runs are
    drawn (500). The axis leaves out the ends of the first intervals, which are wide. `.data` is the table `looks`.

    >>> import verifyplan as vp
    >>> figure = monitor(vp.monitor([0.2, 0.1, -0.1, 0.4, 0.0, 0.3, 0.1, 0.2] * 5))
    >>> figure.description[:70]
    'Line chart of the mean difference. After 40 runs +15.0 points [+1.2, +'
    """
    chosen = ChartOptions.of(options)
    chosen.refuse("labels", "no names of the data are drawn")
    if not isinstance(data, Monitor):
        data = monitoring.monitor(data if isinstance(data, Comparison) else as_runs(data, "data"))
    looks = data.looks.head(chosen.rows(MAX_RUNS))
    rows = with_hover(_rows(looks), FIELDS)
    last = rows.iloc[-1]
    width = chosen.px("width", PLOT_PX, MIN_WIDTH_PX)
    height = chosen.px("height", HEIGHT_PX, MIN_HEIGHT_PX)
    subject = (
        f"{plain(data.metric)}{': ' + ' minus '.join(map(plain, reversed(data.conditions))) if data.conditions else ''}"
    )
    words = f"After {count(len(rows), 'run')} {last['mean_text']} points [{last['interval_text']}]"
    return figure(
        lambda: _draw(rows, data, width, height),
        chosen,
        title=TITLE,
        subtitle=f"{subject}; line: mean so far; band: {100 * data.level:.0f} % interval, valid at every look",
        caption=sentences(
            f"{words}.",
            _shown(looks),
            "Dots: single runs, each counted the same. The band holds the difference at all looks together; one for a "
            "number of runs fixed beforehand (right, thin) does not.",
            first_drawn(len(looks), len(data.looks), "run"),
        ),
        data=data.looks,
        description=f"Line chart of the mean difference. {words}. {_shown(looks)}",
        synthetic=data.synthetic,
    )


def _rows(looks: pd.DataFrame) -> pd.DataFrame:
    """Return the looks in points of per cent, with their texts."""
    rows = looks[["look"]].assign(run=looks["run_id"].map(plain))
    for column in ("difference", "mean", "low", "high"):
        rows[column] = 100 * looks[column]
        rows[f"{column}_text"] = rows[column].map(_signed)
    return rows.assign(interval_text=rows["low_text"] + ", " + rows["high_text"])


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "\N{MINUS SIGN}")


def _shown(looks: pd.DataFrame) -> str:
    excluded = looks.loc[looks["excludes_zero"], "look"]
    if excluded.empty:
        return "No look excludes 0."
    return f"0 is excluded from run {int(excluded.iloc[0])} on."


def _draw(rows: pd.DataFrame, data: Monitor, width: float, height: float) -> alt.LayerChart:
    last, n = rows.iloc[-1], len(rows)
    fixed = [100 * data.fixed.low, 100 * data.fixed.high] if n == len(data.looks) else [np.nan, np.nan]
    marks = _MARGIN * np.abs([last["low"], last["high"], *fixed])
    top = min(100.0, float(np.nanmax([5.0, *marks, 1.05 * rows["difference"].abs().max()])))
    right = max(n, 2)
    x = alt.X("look:Q", scale=alt.Scale(domain=[1, right], nice=False), axis=_ticks(right), title="Runs so far")
    signed = "datum.value == 0 ? '0' : format(datum.value, '+d')"
    axis = alt.Axis(labelExpr=signed, tickCount=5, domain=False, ticks=False)
    scale = alt.Scale(domain=[-top, top], nice=False)
    y = alt.Y("mean:Q", scale=scale, axis=axis, title="Difference in points")
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    band = base.mark_area(color=SKY, opacity=0.35, interpolate="step-before", clip=True, aria=False)
    zero = alt.Chart(inline(pd.DataFrame({"mean": [0]}))).mark_rule(color=INK, aria=False).encode(y=y)
    dots = base.mark_point(filled=True, color=GREY, size=22, opacity=0.7, clip=True).encode(
        y=alt.Y("difference:Q", scale=scale), **hover(FIELDS)
    )
    line = base.mark_line(color=BLUE_TEXT, strokeWidth=2.5, clip=True, aria=False)
    ends = pd.DataFrame(
        {
            "value": [last["low"], last["mean"], last["high"]],
            "text": [last["low_text"], f"{last['mean_text']} after {count(n, 'run')}", last["high_text"]],
        }
    )
    ends["place"] = apart(ends["value"], NAME_GAP_PX * 2 * top / height)
    names = alt.Chart(inline(ends)).mark_text(align="left", color=BLUE_TEXT, aria=False)
    names = names.encode(x=x_at(width + 18), y=alt.Y("place:Q", scale=scale), text=text_of("text"))
    layers = [band.encode(y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q")), zero, dots, line, names]
    if not np.isnan(fixed).any():
        whisker = alt.Chart(inline(pd.DataFrame({"low": fixed[:1], "high": fixed[1:]})))
        layers.append(
            whisker.mark_rule(color=FAINT, strokeWidth=1.5, aria=False).encode(
                x=x_at(width + 8), y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q")
            )
        )
    return alt.LayerChart(layer=layers, width=width, height=height)


def _ticks(right: int) -> alt.Axis:
    return alt.Axis(tickMinStep=1, tickCount=min(right, 8), format="d", grid=False, ticks=False, labelPadding=8)

"""Draw how many runs show a difference, by the findings of a run, for several differences."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import numpy as np
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.study_design import power as planning
from verifyplan.analysis.study_design.power import Power, needed_by_delta
from verifyplan.analysis.study_design.sample_size import SampleSize
from verifyplan.charts.encodings import apart, hover, inline, text_of, unscaled, with_hover, x_at
from verifyplan.charts.figure import Figure, figure
from verifyplan.charts.labels import count, first_drawn, plain, sentences
from verifyplan.charts.options import MIN_WIDTH_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import BLUE, FAINT, INK, PAPER, TEXT_COLORS, VERMILLION, WIDTH
from verifyplan.frames.load import Runs, as_runs

TITLE = "How many runs show a difference"
FIELDS = {
    "delta_text": "Difference",
    "findings": "Findings a run",
    "runs": "Runs",
    "interval_text": "Interval of the runs",
}
COLORS = (BLUE, VERMILLION, INK)
FACTORS = (1, 0.5, 2)
"""The differences drawn, as multiples of the one planned for."""
HEIGHT_PX, MIN_HEIGHT_PX = 280, 120
"""Pixels of the plot from top to bottom, and at least."""
PLOT_PX = WIDTH - 140
"""Pixels across of the plot; the rest is for the names at the ends of the lines."""
NAME_GAP_PX = 17
"""Least pixels between two names."""
_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]


@chart
def power(data: Power | SampleSize | Comparison | Runs, *, delta: float = 0.1, **options: Unpack[Options]) -> Figure:
    """Draw lines of the runs that show a difference, against the findings of a run, both on log scales.

    Reads what `power` or `sample_size` returns, or makes the former of runs or of a comparison of two conditions, for
    the difference `delta`. Beside the difference that was planned for, half of it and twice as much are drawn, as far
    as they are below 1; a band shows what the pilot's uncertainty means. The first `limit` lines are drawn (3).

    >>> import verifyplan as vp
    >>> figure = power(vp.sample_size(delta=0.1, discordance=0.3, icc=0.05))
    >>> figure.description[:75]
    'Line chart of needed runs. A difference of 10 points: 59 runs of 5 findings'
    """
    chosen = ChartOptions.of(options)
    chosen.refuse("labels", "no names of the data are drawn")
    if not isinstance(data, Power | SampleSize):
        data = planning.power(data if isinstance(data, Comparison) else as_runs(data, "data"), delta=delta)
    deltas = [factor * data.delta for factor in FACTORS if factor * data.delta < 1]
    drawn = deltas[: chosen.rows(len(deltas))]
    every = needed_by_delta(data, deltas)
    rows = with_hover(_rows(every[every["delta"].isin(drawn)], deltas), FIELDS)
    width, height = chosen.px("width", PLOT_PX, MIN_WIDTH_PX), chosen.px("height", HEIGHT_PX, MIN_HEIGHT_PX)
    lines = [_words(part) for _, part in rows.groupby("delta", sort=False)]
    return figure(
        lambda: _draw(rows, data, width, height),
        chosen,
        title=TITLE,
        subtitle=f"In {100 * data.power:.0f} % of studies, the {100 * data.level:.0f} % interval excludes 0",
        caption=sentences(
            _basis(data),
            "Lines: as estimated; band: runs needed at both ends of the pilot's intervals."
            if isinstance(data, Power)
            else "",
            "Where a line flattens, more findings a run no longer help: runs differ.",
            first_drawn(len(drawn), len(deltas), "line"),
        ),
        data=every,
        description=f"Line chart of needed runs. {'; '.join(lines)}.",
        synthetic=isinstance(data, Power) and data.synthetic,
    )


def _rows(curves: pd.DataFrame, deltas: list[float]) -> pd.DataFrame:
    colors = dict(zip(deltas, COLORS, strict=False))
    interval = [
        None if pd.isna(low) else f"{low:,} to {high:,}"
        for low, high in zip(curves["low"], curves["high"], strict=True)
    ]
    return curves.assign(
        delta_text=curves["delta"].map(lambda delta: f"{100 * delta:g} points"),
        interval_text=pd.Series(interval, index=curves.index, dtype="object"),
        color=curves["delta"].map(colors),
        text_color=curves["delta"].map(colors).map(TEXT_COLORS),
    ).astype({"runs": int})


def _words(line: pd.DataFrame) -> str:
    at = line[line["findings"].isin([5, 20, 100])]
    needed = [
        f"{count(runs, 'run')} of {findings} findings"
        for runs, findings in zip(at["runs"], at["findings"], strict=True)
    ]
    return f"A difference of {line['delta_text'].iloc[0]}: {', '.join(needed)}"


def _basis(data: Power | SampleSize) -> str:
    if isinstance(data, SampleSize):
        differ = f"{100 * data.discordance:.0f} % of findings differ"
        return f"Assumed: {differ}, and those of a run correlate by {data.icc:.2g}."
    first, second = map(plain, data.conditions)
    pilot = f"{count(data.icc.n, 'run')}, n = {count(data.discordance.n, 'finding')}"
    return (
        f"Pilot of {first} against {second} ({pilot}), {plain(data.metric)}: {100 * data.discordance.value:.0f} % "
        f"[{100 * data.discordance.low:.0f}, {100 * data.discordance.high:.0f}] of findings differ, and those of a run "
        f"correlate by {data.icc.value:.2f} [{data.icc.low:.2f}, {data.icc.high:.2f}]."
    )


def _draw(rows: pd.DataFrame, data: Power | SampleSize, width: float, height: float) -> alt.LayerChart:
    top = int(max(rows["runs"].max(), rows["high"].fillna(0).max()))
    domain = [2, next(tick for tick in [*_TICKS, 10 * top] if tick >= max(top, 5))]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    up = alt.Axis(values=[tick for tick in _TICKS if 2 <= tick <= domain[1]], format=",d", domain=False, ticks=False)
    across = alt.Axis(
        values=[tick for tick in _TICKS if tick <= 200], format="d", grid=False, ticks=False, labelPadding=8
    )
    x = alt.X(
        "findings:Q", scale=alt.Scale(type="log", domain=[1, 200], nice=False), axis=across, title="Findings a run"
    )
    y = alt.Y("runs:Q", scale=scale, axis=up, title="Runs")
    color = unscaled(alt.Color, "color")
    base = alt.Chart(inline(rows)).encode(x=x, y=y, color=color, detail=alt.Detail("delta:N"))
    first = rows[rows["delta"].eq(data.delta)]
    layers = []
    if first["low"].notna().all():
        band = alt.Chart(inline(first)).mark_area(opacity=0.18, color=COLORS[0], aria=False)
        layers.append(band.encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q")))
    names = (
        alt.Chart(inline(_ends(rows, domain, height)))
        .mark_text(align="left", aria=False)
        .encode(
            x=x_at(width + 10),
            y=alt.Y("place:Q", scale=scale),
            text=text_of("delta_text"),
            color=unscaled(alt.Color, "text_color"),
        )
    )
    layers += [
        base.mark_line(strokeWidth=2.5, aria=False),
        base.mark_point(filled=True, size=50, opacity=1).encode(**hover(FIELDS)),
        names,
    ]
    if isinstance(data, Power):
        layers += _pilot(data, x, y, domain[1])
    return alt.LayerChart(layer=layers, width=width, height=height)


def _ends(rows: pd.DataFrame, domain: list[int], height: float) -> pd.DataFrame:
    """Place each line's name: at its last value, moved up where two names would overlap."""
    last = rows.drop_duplicates("delta", keep="last").sort_values(["runs", "delta"], ascending=[True, False])
    gap = NAME_GAP_PX * float(np.log(domain[1] / domain[0])) / height
    return last.assign(place=np.exp(apart(np.log(last["runs"]), gap)))


def _pilot(data: Power, x: alt.X, y: alt.Y, top: int) -> list[alt.Chart]:
    """Draw where the pilot is, if it is in the plot; its name is beside it along the fall of the lines, off them."""
    size = data.discordance.n / data.icc.n
    if not (2 <= data.icc.n <= top and 1 <= size <= 200):
        return []
    base = alt.Chart(inline(pd.DataFrame({"findings": [size], "runs": [data.icc.n], "text": ["pilot"]}))).encode(
        x=x, y=y
    )
    side: dict[str, Any] = (
        {"align": "left", "dx": 9, "dy": 8} if size <= 100 else {"align": "right", "dx": -9, "dy": -8}
    )
    name = side | {"aria": False}
    return [
        base.mark_point(shape="diamond", size=90, color=FAINT, strokeWidth=2, filled=False, aria=False),
        base.mark_text(**name, stroke=PAPER, strokeWidth=3, strokeOpacity=0.9).encode(text=text_of("text")),
        base.mark_text(**name, color=FAINT).encode(text=text_of("text")),
    ]

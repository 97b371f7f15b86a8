"""Draw how times grow, log by log, a panel for each of votes, runs and workers; lines end in a name and a slope."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from verifyplan.charts.figure import Figure, figure
from verifyplan.charts.options import ChartOptions

WIDTH, HEIGHT, LINE_PX = 260, 420, 15
STEEP = 1.15
"""Slopes above are drawn in orange: worse than linear, beyond what a repeated measurement differs by."""
TITLES = {"votes": "Votes, by five workers", "runs": "Runs, of 50 votes", "workers": "Workers, each on 1,000 items"}


def draw(table: pd.DataFrame, slopes: pd.DataFrame) -> Figure:
    """Return the chart of `axis, name, size, seconds` with the slope of each line."""
    low, high = table["seconds"].min() / 1.5, table["seconds"].max() * 1.5
    steep = slopes.set_index(["axis", "name"])["slope"] > STEEP
    rows = table.join(steep.rename("steep"), on=["axis", "name"])
    panels = [
        _panel(rows[rows["axis"].eq(axis)], slopes[slopes["axis"].eq(axis)], (low, high), axis)
        for axis in TITLES
        if rows["axis"].eq(axis).any()
    ]
    each = [f"{row.axis}: {row.name_} {row.slope:.2f}" for row in slopes.rename(columns={"name": "name_"}).itertuples()]
    caption = (
        "Seconds of CPU, the least of up to three repeats, in one process; the number after a name is the slope of its "
        "last step, usually tenfold: 1 is linear, 2 quadratic. Orange: above 1.15. A line that ends early would have "
        "taken more than 20 seconds at the next size. Agreement leaves the pairs of more than 200 workers out. "
        "Synthetic votes."
    )
    return figure(
        lambda: alt.concat(*panels, columns=2, spacing=24),
        ChartOptions(),
        title="How time grows with votes, runs and workers",
        subtitle="Seconds of CPU; the slope of the last step after each name, orange where worse than linear",
        caption=caption,
        data=table,
        description=f"Log-log lines of seconds by size. Slopes of the last step: {'; '.join(each)}.",
        synthetic=True,
    )


def _panel(rows: pd.DataFrame, slopes: pd.DataFrame, seconds: tuple[float, float], axis: str) -> alt.LayerChart:
    sizes = [float(rows["size"].min()), float(rows["size"].max())]
    decades = [float(10**k) for k in range(9) if sizes[0] <= 10**k <= sizes[1]]
    across = alt.Axis(format="~s", values=decades)
    x = alt.X("size:Q", title=TITLES[axis], scale=alt.Scale(type="log", domain=sizes), axis=across)
    ticks = alt.Axis(format="~g", values=[0.001, 0.01, 0.1, 1, 10, 100])
    scale = alt.Scale(type="log", domain=list(seconds), nice=False)
    y = alt.Y("seconds:Q", title=None, scale=scale, axis=ticks)
    color = alt.condition("datum.steep", alt.value("#d55e00"), alt.value("#4d4d4d"))
    base = alt.Chart(rows).encode(x=x, y=y, detail="name:N", color=color)
    ends = _labels(slopes, seconds)
    labels = alt.Chart(ends).encode(color=color)
    texts = labels.mark_text(align="left", baseline="middle", fontSize=11).encode(
        x=alt.value(WIDTH + 24), y=alt.Y("at:Q", title=None, scale=scale, axis=ticks), text="text:N"
    )
    leads = labels.mark_rule(strokeWidth=0.6, opacity=0.6).encode(x=x, x2=alt.value(WIDTH + 20), y=y, y2="at:Q")
    layers = [base.mark_line(strokeWidth=1.6), base.mark_point(filled=True, size=24, opacity=1), leads, texts]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _labels(slopes: pd.DataFrame, seconds: tuple[float, float]) -> pd.DataFrame:
    """Return the slopes with the height of each name, so that none lies over another."""
    low, high = np.log(seconds)
    ends = slopes.sort_values("seconds").assign(
        text=lambda t: t["name"] + t["slope"].map(lambda slope: "" if slope != slope else f"  {slope:.2f}"),
        steep=lambda t: t["slope"] > STEEP,
    )
    pixels = ((np.log(ends["seconds"]) - low) / (high - low) * HEIGHT).to_numpy(copy=True)
    for i in range(1, len(pixels)):
        pixels[i] = max(pixels[i], pixels[i - 1] + LINE_PX)
    pixels = np.minimum(pixels, HEIGHT - LINE_PX * np.arange(len(pixels))[::-1])
    return ends.assign(at=np.exp(low + pixels / HEIGHT * (high - low)))

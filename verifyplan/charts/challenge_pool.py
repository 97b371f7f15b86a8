"""Draw how the pool of challenges moves from iteration to iteration."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis import challenges
from verifyplan.charts.encodings import color_key, hover, inline, text_of, tooltip, unscaled, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import MIN_ROW_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import BLACK, FAINT, INK, PAPER, SIZE, STATE_COLORS, WHITE, WIDTH, color_scale
from verifyplan.frames.load import Runs
from verifyplan.protocol.records import SEVERITIES, UNSETTLED

COLUMNS = ("run_id", "iteration", "severity", "state", "n", "new", "came", "went")
TITLE = "How the pool of challenges moves"
KEY = "Challenges at the end of each iteration; unsettled challenges are at the bottom"
PLOT_PX, MAX_BAR_WIDTH_PX, MIN_BAR_WIDTH_PX = WIDTH - 60, 170, 30
"""Most pixels across of all bars, and of one of them, at most and at least."""
MAX_ITERATIONS = 30
"""Iterations drawn at most."""
UNIT_PX, MAX_BAR_HEIGHT_PX = 20, 220
"""Pixels of one challenge, and those of the highest bar of all, if that is less."""
TEXT_HEIGHT_PX = 14
"""Least pixels in height of a bar's part that carries its text."""
CHARACTER_PX = 6.4
"""Approximate pixels of a character of that text."""
MAX_NAMED_ITERATIONS = 5
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
TEXT_COLORS = {"RESOLVED": WHITE, "WITHDRAWN": WHITE, "overflow": INK}
"""The colours of texts within the bars of states; in the others it is black."""


@chart
def challenge_pool(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw stacked bars of the challenges in each state over the iterations, a row of bars for each severity.

    Reads what `analysis.challenge_pool` returns, or makes it of runs; several runs are added up, and a run that ended
    earlier continues as it ended, so that no bar shrinks because a run was over. Severities without a challenge are
    left out and the caption says so. The first `limit` iterations are drawn (30); `height` is of the highest bars of
    all severities together. The names of runs are not drawn, so `labels` has no meaning.

    >>> counts = [("BLOCKING", 1, "OPEN", 3), ("BLOCKING", 2, "OPEN", 1), ("BLOCKING", 2, "RESOLVED", 2),
    ...     ("BLOCKING", 3, "RESOLVED", 3), ("MINOR", 1, "OPEN", 4), ("MINOR", 2, "OPEN", 3),
    ...     ("MINOR", 2, "DEFERRED", 2), ("MINOR", 3, "UNRESOLVED", 1), ("MINOR", 3, "DEFERRED", 4)]
    >>> pool = pd.DataFrame(counts, columns=["severity", "iteration", "state", "n"])
    >>> pool = pool.assign(run_id="r", new=0, came=0, went=0)
    >>> pool.attrs["synthetic"] = True
    >>> figure = challenge_pool(pool)
    >>> figure.description[:92]
    'Stacked bars of challenges by state. BLOCKING: iteration 1: 3 open; iteration 2: 1 open, 2 r'
    """
    chosen = ChartOptions.of(options)
    chosen.refuse("labels", "no names of runs are drawn")
    whole = chosen.table(data, challenges.challenge_pool, COLUMNS, "pool", names=())
    every = _rows(whole)
    if every.empty:
        return empty(chosen, TITLE, "There is no challenge to draw.", whole)
    n = int(every["iteration"].max()) - (before := int(every["iteration"].min()) - 1)
    iterations = [before + number for number in range(1, min(n, chosen.rows(MAX_ITERATIONS)) + 1)]
    rows = every[every["iteration"].isin(iterations)]
    tops = rows.groupby(["severity", "iteration"], sort=False)["n"].sum()
    highest = int(tops.groupby(level=0).max().sum())
    default = highest * min(UNIT_PX, MAX_BAR_HEIGHT_PX / int(tops.max()))
    drawn = len(iterations)
    bars = _Bars(
        iterations,
        chosen.px("width", min(PLOT_PX, MAX_BAR_WIDTH_PX * drawn), MIN_BAR_WIDTH_PX * drawn, count(drawn, "iteration")),
        chosen.px("height", default, MIN_ROW_PX * tops.index.get_level_values(0).nunique()) / highest,
    )
    parts = [(str(severity), part) for severity, part in rows.groupby("severity", sort=False)]
    return figure(
        lambda: alt.VConcatChart(vconcat=[_key(rows), *(bars.draw(*part) for part in parts)], spacing=16),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(_caption(rows, whole), first_drawn(drawn, n, "iteration"), "Counts, so without intervals."),
        data=whole,
        description=_description(rows),
    )


def _rows(whole: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of all runs together, states and severities in their order, without those of 0.

    A run's last iteration is repeated up to the last of all runs; nothing is new or moves there.
    """
    plain = whole.astype({"severity": "object", "state": "object", "iteration": "int64"})
    last = plain["iteration"].max() if len(plain) else 0
    parts: list[pd.DataFrame] = []
    for _, run in plain.groupby("run_id", sort=False):
        end = run["iteration"].max()
        still: pd.DataFrame = run[run["iteration"] == end].assign(new=0, came=0, went=0)
        parts += [run, *(still.assign(iteration=number) for number in range(end + 1, last + 1))]
    rows = pd.concat(parts or [plain])
    keys, summed = ["severity", "iteration", "state"], ["n", "new", "came", "went"]
    rows = pd.DataFrame(rows.groupby(keys, sort=False)[summed].sum().reset_index())
    rows = rows[rows["n"] > 0]
    rank, order = rows["severity"].map(SEVERITIES.index), rows["state"].map(list(STATE_COLORS).index)
    rows = rows.assign(rank=rank, order=order).sort_values(["rank", "iteration", "order"], kind="stable")
    return pd.DataFrame(rows.reset_index(drop=True))


def _caption(rows: pd.DataFrame, whole: pd.DataFrame) -> str:
    last = rows[rows["iteration"] == rows["iteration"].max()]
    unsettled = int(last.loc[last["state"].isin(UNSETTLED), "n"].sum())
    absent = [severity for severity in SEVERITIES if severity not in set(rows["severity"])]
    ends = whole.groupby("run_id")["iteration"].max()
    runs = whole["run_id"].nunique()
    of = f" of {count(runs, 'run')} together," if runs > 1 else ""
    return sentences(
        f"Challenges{of} by their state at the end of each iteration, worst severity first; "
        f"n at the end: {count(int(last['n'].sum()), 'challenge')}, {unsettled:,} of them open or unresolved.",
        "Overflow did not fit under the caps and counts for nothing." if "overflow" in set(rows["state"]) else "",
        "Runs that ended earlier keep their last counts." if ends.nunique() > 1 else "",
        f"No challenge is {' or '.join(absent)}." if absent else "",
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for severity, part in rows.groupby("severity", sort=False):
        counts = part["n"].map("{:,}".format) + " " + part["state"].str.lower()
        each = counts.groupby(part["iteration"], sort=True).agg(", ".join)
        lines.append(f"{severity}: " + "; ".join(f"iteration {number}: {states}" for number, states in each.items()))
    return f"Stacked bars of challenges by state. {'. '.join(lines)}."


class _Bars(NamedTuple):
    """The iterations, pixels across of all their bars, and those of one challenge: one scale for all severities."""

    iterations: list[int]
    width: float
    unit: float

    def draw(self, severity: str, part: pd.DataFrame) -> alt.LayerChart:
        """Draw the stacked bars of a severity."""
        top = int(part.groupby("iteration", sort=False)["n"].sum().max())
        place = part.groupby("iteration", sort=False)["n"].cumsum()
        named = len(self.iterations) <= MAX_NAMED_ITERATIONS
        text = part["n"].map("{:,}".format) + (" " + part["state"].str.lower() if named else "")
        bar = self.width / len(self.iterations)
        rows = part.assign(
            stage=part["iteration"].map("iteration {}".format),
            tick=part["iteration"].map(("iteration {}" if named else "{}").format),
            low=place - part["n"],
            high=place,
            middle=place - part["n"] / 2,
            text=text.where((part["n"] * self.unit >= TEXT_HEIGHT_PX) & (text.str.len() * CHARACTER_PX <= bar), ""),
            color=part["state"].map(TEXT_COLORS).fillna(BLACK),
        )
        ticks_below = [f"iteration {number}" if named else f"{number}" for number in self.iterations]
        scale = alt.Scale(domain=ticks_below, type="band", paddingInner=0.12, paddingOuter=0)
        below = alt.Axis(labelAngle=0, grid=False, ticks=False, domain=True)
        few: dict[str, Any] = {"values": list(range(top + 1))} if top < 5 else {"tickMinStep": 1, "tickCount": 4}
        ticks = {"values": [top]} if top * self.unit < 3 * TEXT_HEIGHT_PX else few
        up = alt.Axis(**ticks, format=",d", domain=False, ticks=False)
        base = alt.Chart(inline(with_hover(rows, FIELDS))).encode(
            x=alt.X("tick:N", scale=scale, axis=below, title=None if named else "Iteration")
        )
        y = alt.Y("low:Q", scale=alt.Scale(domain=[0, top]), axis=up, title=None)
        bars = base.mark_bar(strokeWidth=1).encode(
            y=y,
            y2=alt.Y2("high:Q"),
            color=alt.Color("state:N", scale=color_scale(STATE_COLORS), legend=None),
            stroke=alt.when("datum.state === 'overflow'").then(alt.value(FAINT)).otherwise(alt.value(PAPER)),
            **hover(FIELDS),
        )
        texts = base.mark_text(fontSize=SIZE - 1, fontWeight="bold", aria=False).encode(
            y=alt.Y("middle:Q"), text=text_of("text"), color=unscaled(alt.Color, "color"), **tooltip(FIELDS)
        )
        title = alt.Title(severity, fontSize=SIZE, offset=6, anchor="start")
        return alt.LayerChart(layer=[bars, texts], title=title, width=self.width, height=max(round(top * self.unit), 1))


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw a colour and a name for each state that occurs."""
    states = [state for state in STATE_COLORS if state in set(rows["state"])]
    places = [sum(34 + 8 * len(before) for before in states[:i]) for i in range(len(states))]
    return color_key({state: STATE_COLORS[state] for state in states}, places, "state")

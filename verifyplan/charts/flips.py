"""Draw what the rounds of a panel change: answers that become wrong or right, and what the panel gains by it."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.panels import flips as panel_flips
from verifyplan.analysis.panels.flips import Flips
from verifyplan.charts.encodings import apart, hover, inline, text_of, unscaled, with_hover, x_at
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.interval_rows import PLOT_PX, STEP_PX, IntervalRows, whisker, with_texts
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import MIN_ROW_PX, MIN_WIDTH_PX, ChartOptions, Options, Size, chart
from verifyplan.charts.theme import BLUE, GREY, INK, ORANGE, TEXT_COLORS, VERMILLION
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import PanelVotes

TITLE = "What the rounds change"
FIELDS = {
    "step": "Rounds",
    "change": "Change",
    "share_text": "Share",
    "interval_text": "95 % interval",
    "count": "Votes",
    "n": "Of",
}
COLORS = {
    "right → wrong": VERMILLION,
    "wrong → right": BLUE,
    "wrong → other wrong": ORANGE,
    "changed": GREY,
}
MEASURES = {"majority-accuracy": "majority is right", "agreement": "two workers agree"}
ENDS = {"majority-accuracy": "The majority is right in", "agreement": "Two workers agree in"}
MEASURE_COLORS = {"majority-accuracy": BLUE, "agreement": INK}
MEASURE_DASHES = {"majority-accuracy": [1, 0], "agreement": [6, 3]}
ROUND_FIELDS = {"name": "Share", "round": "Round", "share_text": "Value", "interval_text": "95 % interval", "n": "Of"}
MAX_STEPS = 8
"""Steps drawn at most."""
LINES_PX, NAME_GAP_PX = 150, 17
"""Pixels of the lines' plot from top to bottom, and least pixels between two names."""


@chart
def flips(data: Flips | PanelVotes | pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw dots with 95 % intervals for the votes that change in each step, and lines of the panel's accuracy below.

    Reads what `flips` returns, or makes it of runs, votes or a long table with columns of the names that `flips`
    looks for. Where truth is known, the dots are the shares of right votes that become wrong and of wrong ones that
    become right, else of votes that change; the lines are the accuracy of the majority and the agreement of two
    workers. The first `limit` steps are drawn (8). `.data` is the table `changes`.

    >>> import verifyplan as vp
    >>> figure = flips(vp.datasets.votes("debate-rounds"))
    >>> figure.description[:97]
    'Dot chart of votes that change, and line chart of the panel. first → last: right → wrong 0.7 %, n'
    """
    chosen = ChartOptions.of(options)
    chosen.refuse("labels", "no names of the data are drawn")
    votes = data if isinstance(data, Flips | PanelVotes | pd.DataFrame) else as_runs(data, "data")
    found = votes if isinstance(votes, Flips) else panel_flips.flips(votes)
    every = _steps(found)
    if every.empty:
        return empty(chosen, TITLE, "No item has answers in two rounds: there is nothing to draw.", found.changes)
    names = list(dict.fromkeys(every["step"]))
    drawn = names[: chosen.rows(MAX_STEPS)]
    rows = with_hover(every[every["step"].isin(drawn)].reset_index(drop=True), FIELDS)
    lines = with_hover(_rounds(found), ROUND_FIELDS)
    below = LINES_PX if len(lines) else 0
    height = chosen.px("height", len(rows) * STEP_PX + below, len(rows) * MIN_ROW_PX + below, "its rows and lines")
    size = Size(chosen.px("width", PLOT_PX, MIN_WIDTH_PX), (height - below) / len(rows), len(rows))
    table = IntervalRows(rows, "step", drawn, "Share of the votes that could change", size)
    parts = [table.draw([whisker(), _dots()]), *([_lines(lines, size.width)] if len(lines) else [])]
    return figure(
        lambda: alt.VConcatChart(vconcat=parts, spacing=24),
        chosen,
        title=TITLE,
        subtitle=f"Votes of single workers{', and below the panel' if len(lines) else ''}; thin lines: 95 % intervals",
        caption=sentences(_caption(found, lines), first_drawn(len(drawn), len(names), "step")),
        data=found.changes,
        description=f"Dot chart of votes that change, and line chart of the panel. {_words(rows, lines)}.",
        synthetic=found.synthetic,
    )


def _steps(found: Flips) -> pd.DataFrame:
    """Return the rows to draw: the whole first, then each step, if there are several."""
    rows = found.changes[found.changes["n"] > 0]
    judged = rows[rows["change"].isin(["right → wrong", "wrong → right"])]
    kept = judged if len(judged) else rows[rows["change"].eq("changed")]
    whole = kept["step"].eq("first → last")
    order = [kept[whole], *([kept[~whole]] if kept.loc[~whole, "step"].nunique() > 1 else [])]
    rows = pd.concat(order).assign(condition=lambda table: table["change"])
    return with_texts(rows).assign(n_text=lambda table: table["n"].map("n = {:,}".format))


def _dots() -> alt.Chart:
    color = alt.Color("change:N", scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values())), legend=None)
    dots: alt.Chart = alt.Chart().mark_point(filled=True, size=110, opacity=1)
    return dots.encode(x=alt.X("share:Q"), color=color, **hover(FIELDS))


def _rounds(found: Flips) -> pd.DataFrame:
    """Return the measures of the panel by round that are drawn as lines; none of a single worker."""
    rows = found.rounds[found.rounds["measure"].isin(list(MEASURES)) & (found.rounds["n"] > 0)]
    if found.workers["worker"].nunique() < 2:
        rows = rows.iloc[:0]
    rows = rows.assign(condition=rows["measure"], share=rows["value"], name=rows["measure"].map(MEASURES))
    rows = with_texts(rows)
    return rows.assign(color=rows["measure"].map(MEASURE_COLORS), dash=rows["measure"].map(MEASURE_DASHES))


def _lines(rows: pd.DataFrame, width: float) -> alt.LayerChart:
    per_cent = "format(datum.value * 100, '.0f') + ' %'"
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=per_cent, domain=False, ticks=False)
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis, title=None)
    rounds = alt.Axis(labelAngle=0, grid=False, ticks=False, labelPadding=8)
    x = alt.X("round:O", scale=alt.Scale(type="point", padding=0.5), axis=rounds, title="Round")
    base = alt.Chart(inline(rows)).encode(x=x, y=y, color=unscaled(alt.Color, "color"))
    line = base.mark_line(strokeWidth=2.5, aria=False).encode(
        detail=alt.Detail("measure:N"), strokeDash=alt.StrokeDash("dash:N", scale=None)
    )
    interval = base.mark_rule(strokeWidth=1.5, aria=False).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(**hover(ROUND_FIELDS))
    last = rows.drop_duplicates("measure", keep="last").sort_values("share", kind="stable")
    opening = rows.drop_duplicates("measure").set_index("measure")["share_text"]
    texts = last["name"] + ": " + last["measure"].map(opening).str.removesuffix(" %") + " → " + last["share_text"]
    ends = last.assign(
        place=apart(last["share"], NAME_GAP_PX / LINES_PX), text=texts, color=last["color"].map(TEXT_COLORS)
    )
    names = alt.Chart(inline(ends)).mark_text(align="left", aria=False, limit=260)
    names = names.encode(
        x=x_at(width + 8), y=alt.Y("place:Q"), text=text_of("text"), color=unscaled(alt.Color, "color")
    )
    return alt.LayerChart(layer=[line, interval, points, names], width=width, height=LINES_PX)


def _words(rows: pd.DataFrame, lines: pd.DataFrame) -> str:
    steps = rows["step"] + ": " + rows["change"] + " " + rows["share_text"] + ", " + rows["n_text"]
    by_round = [
        f"{name}: {', '.join(part['share_text'] + ' in round ' + part['round'].astype(str))}"
        for name, part in lines.groupby("name", sort=False)
    ]
    return "; ".join([*steps, *by_round])


def _caption(found: Flips, lines: pd.DataFrame) -> str:
    rows = found.changes[found.changes["step"].eq("first → last")].set_index("change")
    judged = rows.loc[["right → wrong", "wrong → right"], "n"].any()
    of = "of the votes that were right, or wrong, in the first round named, the share that is not in the second"
    ends = [
        f"{ENDS[str(measure)]} {part['share_text'].iloc[0]} at first (n = {part['n'].iloc[0]:,}), "
        f"{part['share_text'].iloc[-1]} at the end (n = {part['n'].iloc[-1]:,})"
        for measure, part in lines.groupby("measure", sort=False)
    ]
    others = any(part["n"].iloc[0] != part["n"].iloc[-1] for _, part in lines.groupby("measure"))
    worth = found.effective_votes_in_words()
    n, again = (int(rows.loc[["changed"], column].sum()) for column in ("n", "n_again"))
    return sentences(
        f"Dots: {of if judged else 'the share of votes that change'} ({count(found.n_items, 'item')}; n: votes).",
        *(f"{end}." for end in ends),
        "Each of these shares is of all items that have votes in its round, not of the same items." if others else "",
        f"The panel is worth {worth}." if worth else "",
        f"Of {count(n, 'vote')}, {n - again:,} are of items that were asked in one round: they keep their votes."
        if again < n
        else "",
    )

"""Draw what the models used, role by role and turn by turn."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.cost import usage as usage_of
from verifyplan.charts.encodings import (
    color_key,
    hover,
    inline,
    number_columns,
    text_of,
    with_hover,
    x_at,
    y_at,
    y_of,
)
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, percent, sentences
from verifyplan.charts.options import MIN_ROW_PX, MIN_WIDTH_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import FAINT, GREEN, GREY, INK, PALE, SIZE, WIDTH, color_scale
from verifyplan.frames.load import Runs

PARTS = {
    "input_tokens": "fresh",
    "cache_write_tokens": "put in the cache",
    "cache_read_tokens": "read from the cache",
    "output_tokens": "out",
}
"""The kinds of tokens, in the order drawn, with their names."""
COLUMNS = ("role", "turn", "n_turns", *PARTS, "cost")
TITLE = "What the models used"
KEY = "Tokens of each role, by its turns: 1 is the first of a call"
MAX_TURNS = 6
"""Turns that have their own row; the last row adds up the later ones of a role."""
MAX_BARS = 36
"""Bars drawn at most."""
MAX_ROLE_CHARACTERS = 24
COLORS = {"fresh": INK, "put in the cache": GREY, "read from the cache": PALE, "out": GREEN}
ROW_PX, BAR_PX, PLOT_PX, ROLE_GAP_PX = 20, 14, WIDTH - 140, 8
"""Pixels from row to row, of a bar's height, across of the plot, and between two roles."""
FIELDS = {"role": "Role", "stage": "Turn", "part": "Tokens", "text": "Number", "turns_text": "Exchanges"}


@chart
def usage(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw stacked bars of the tokens of each role's turns, those of the cache apart, with numbers and dollars beside.

    Reads what `analysis.usage` returns, or makes it of runs: `role, turn, n_turns, cost` and the tokens; its `.data` is
    that table. From the sixth turn on a role's turns are added up; the first `limit` bars are drawn (36). Unknown costs
    are left blank and the caption says so.

    >>> tokens = [("challenger", 1, 4, 900, 6000, 0, 400), ("challenger", 2, 4, 300, 800, 6000, 700),
    ...     ("challenger", 3, 2, 100, 200, 3400, 250), ("synthesizer", 1, 2, 2100, 3000, 0, 1800)]
    >>> kinds = ["input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens"]
    >>> table = pd.DataFrame(tokens, columns=["role", "turn", "n_turns", *kinds]).assign(cost=None)
    >>> table.attrs["synthetic"] = True
    >>> figure = usage(table)
    >>> figure.description[:95]
    'Stacked bars of tokens. challenger: turn 1: 900 fresh, 6,000 put in the cache, 400 out; turn 2:'
    """
    chosen = ChartOptions.of(options)
    whole = chosen.table(data, usage_of, COLUMNS, "usage", names=["role"])
    every = _rows(whole)
    if every.empty:
        unread = f"The usage of {count(int(whole['n_turns'].sum()), 'exchange')} is missing or cannot be read."
        none = "No model was asked in turns: there is nothing to draw."
        return empty(chosen, TITLE, none if whole.empty else unread, whole)
    stage = every["turn"].astype(str).mask(every["later"], f"{MAX_TURNS} on")
    rows = every.assign(stage=stage).head(chosen.rows(MAX_BARS))
    gaps = ROLE_GAP_PX * (rows["role"].nunique() - 1)
    n, width = len(rows), chosen.px("width", PLOT_PX, MIN_WIDTH_PX)
    row = (chosen.px("height", n * ROW_PX + gaps, n * MIN_ROW_PX + gaps, count(n, "bar")) - gaps) / n
    return figure(
        lambda: alt.VConcatChart(vconcat=[_key(rows), _bars(_placed(rows, row), width, row)], spacing=24),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(_caption(whole), first_drawn(n, len(every), "bar"), "Counts, so without intervals."),
        data=whole,
        description=_description(rows),
    )


def _rows(whole: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each role and turn that used anything, roles in their order; late turns of a role as one."""
    plain = whole.astype({"role": "object", "turn": "int64", "cost": "float64"} | dict.fromkeys(PARTS, "int64"))
    plain = plain.assign(turn=plain["turn"].clip(upper=MAX_TURNS), later=plain["turn"] > MAX_TURNS)
    groups = plain.groupby(["role", "turn"], sort=False)
    rows = groups[[*PARTS, "n_turns", "cost"]].sum(skipna=False).assign(later=groups["later"].any()).reset_index()
    rows = rows.assign(role=rows["role"].map(distinct_labels(rows["role"], MAX_ROLE_CHARACTERS)))
    return pd.DataFrame(rows[rows[list(PARTS)].sum(axis=1) > 0].reset_index(drop=True))


def _caption(rows: pd.DataFrame) -> str:
    rows = rows.astype({"cost": "float64"})
    n, tokens = int(rows["n_turns"].sum()), int(rows[list(PARTS)].sum().sum())
    tokens_in = tokens - int(rows["output_tokens"].sum())
    known, unpriced = rows["cost"].sum(), int(rows.loc[rows["cost"].isna(), "n_turns"].sum())
    cached = percent(rows["cache_read_tokens"].sum() / tokens_in) if tokens_in else ""
    return sentences(
        f"Tokens of {count(n, 'exchange')} with models, {tokens:,} in all, added up by role and by the turn of its"
        f" calls{f'; of those in, {cached} were read from the cache' if cached else ''}.",
        f"Dollars by the table of prices: {known:,.4f} in all." if known else "",
        f"The cost of {count(unpriced, 'exchange')} is unknown: no price, or no usage." if unpriced else "",
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for role, part in rows.groupby("role", sort=False):
        each = [
            f"turn {row['turn']}: "
            + ", ".join(f"{row[column]:,} {name}" for column, name in PARTS.items() if row[column])
            for row in part.to_dict("records")
        ]
        lines.append(f"{role}: {'; '.join(each)}")
    return f"Stacked bars of tokens. {'. '.join(lines)}."


def _placed(rows: pd.DataFrame, row: float) -> pd.DataFrame:
    """Return the rows with their places in pixels and the texts beside them."""
    first = ~rows["role"].duplicated()
    total = rows[list(PARTS)].sum(axis=1)
    return rows.assign(
        named=rows["role"].where(first, ""),
        y=[row * (number + 0.5) for number in range(len(rows))] + ROLE_GAP_PX * (first.cumsum() - 1),
        total_text=total.map("{:,}".format),
        turns_text=rows["n_turns"].map("{:,}".format),
        cost_text=rows["cost"].map("{:,.4f}".format).where(rows["cost"].notna(), ""),
        total=total,
    )


def _bars(placed: pd.DataFrame, width: float, row: float) -> alt.LayerChart:
    """Draw the bars, all on one scale, with the role and turn at their left, and numbers at their right."""
    y = y_of("y")
    axis = alt.Axis(format=",d", tickCount=5, tickMinStep=1, domain=False, ticks=False)
    scale = alt.Scale(domain=[0, int(placed["total"].max())], nice=False)
    bars = (
        alt.Chart(inline(_parts(placed)))
        .mark_bar(height=row * BAR_PX / ROW_PX)
        .encode(
            x=alt.X(field="low", type="quantitative", scale=scale, axis=axis, title="Tokens"),
            x2=alt.X2(field="high"),
            y=y,
            color=_colors(),
            **hover(FIELDS),
        )
    )
    columns = {"total_text": "tokens", "turns_text": "exchanges"}
    columns |= {"cost_text": "dollars"} if placed["cost_text"].any() else {}
    role = alt.Chart().mark_text(align="right", aria=False).encode(x=x_at(-44), y=y, text=text_of("named"))
    small: dict[str, Any] = {"align": "right", "aria": False, "color": FAINT, "fontSize": SIZE - 1}
    turn = alt.Chart().mark_text(**small).encode(x=x_at(-12), y=y, text=text_of("stage"))
    head = alt.Chart(inline(pd.DataFrame({"text": ["turn"]}))).mark_text(**small)
    head = head.encode(x=x_at(-12), y=y_at(-10), text=text_of("text"))
    layers = [bars, role, turn, head, *number_columns(placed, columns, width, y)]
    height = float(placed["y"].max()) + row / 2
    drawn = placed[["named", "stage", "y", *columns]]
    return alt.LayerChart(data=inline(drawn), layer=layers, width=width, height=height)


def _parts(placed: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each kind of tokens of each bar, with where it begins and ends."""
    high = placed[list(PARTS)].cumsum(axis=1)
    parts = [
        placed[["role", "stage", "turns_text", "y"]].assign(
            part=name,
            low=high[column] - placed[column],
            high=high[column],
            text=placed[column].map("{:,}".format),
        )[placed[column] > 0]
        for column, name in PARTS.items()
    ]
    return with_hover(pd.concat(parts, ignore_index=True), FIELDS)


def _colors() -> alt.Color:
    return alt.Color("part:N", scale=color_scale(COLORS), legend=None)


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw a colour and a name for each kind of tokens that occurs."""
    names = [name for column, name in PARTS.items() if rows[column].any()]
    places = [sum(38 + 6 * len(before) for before in names[:at]) for at in range(len(names))]
    return color_key({name: COLORS[name] for name in names}, places, "part")

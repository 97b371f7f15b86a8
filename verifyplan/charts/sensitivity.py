"""Draw what each weight does to the scores: a tornado of one plan, or of all plans together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.weights import scored
from verifyplan.charts.encodings import hover, inline, text_of, unscaled, with_hover, x2_at, y_of
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, plain, sentences, short
from verifyplan.charts.options import MIN_WIDTH_PX, ChartOptions, Options, Size, chart
from verifyplan.charts.score_table import dimension_words, short_words
from verifyplan.charts.theme import BLUE, GREY, INK, ORANGE, SIZE, WIDTH
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS
from verifyplan.text import did_you_mean

COLUMNS = ("plan", "dimension", "direction", "weight", "score", "rank", "base_score", "base_rank")
TITLE = "What each weight does"
COLOR_KEY = "orange: the weight lowered, blue: raised"
COLORS = {"lower": ORANGE, "higher": BLUE}
DIRECTIONS = {"lower": "lowered", "higher": "raised"}
ROW_PX, BAR_PX, PLOT_PX = 34, 13, WIDTH - 120
"""Pixels from dimension to dimension, of a bar's height, and across of the plot."""
MIN_BARS_PX = 30
"""Pixels of a row at least: two bars with their numbers."""
MAX_DIMENSIONS = 30
"""Dimensions drawn at most."""
LABEL_PX = 88
"""Pixels that a label at the end of a bar takes beyond the plot."""
MIN_SPAN = 0.25
"""Points of score that the plot of one plan shows to either side, at least, so that tiny moves look tiny."""
ONE_PLAN_FIELDS = {
    "plan": "Plan",
    "whole": "Dimension",
    "way": "Weight",
    "weight_text": "Moved to",
    "score_text": "Score",
    "move_text": "Change",
    "rank_text": "Rank",
}
MANY_PLANS_FIELDS = {"whole": "Dimension", "way": "Weight", "mean_text": "Mean change", "changed_text": "Change rank"}


@chart
def sensitivity(data: pd.DataFrame | Runs, *, plan: str | None = None, **options: Unpack[Options]) -> Figure:
    """Draw a tornado: how far a plan's score moves as each weight is lowered and raised alone, the widest move on top.

    Reads what `weights.sensitivity` returns, or makes it of runs with the default weights: `plan, dimension, direction,
    weight, score, rank, base_score, base_rank`. `limit` dimensions are drawn (30), those with the widest moves. With
    `plan`, or where there is one plan, bars begin at the plan's score under the chosen weights; for many plans they
    show the mean absolute change of score, from 0, and how many plans change their rank. Plans without a score are left
    out, and the caption says so. The score informs and never decides a verdict (rules A10, F4). Raises InputError for a
    plan that is not there.

    >>> import verifyplan as vp
    >>> scores = vp.datasets.example_scores(12).drop(columns="overall")
    >>> figure = sensitivity(vp.weights.sensitivity(scores))
    >>> figure.description[:103]
    'Bars of the mean change of score over 12 plans. approach soundness lower: 0.131, 7 change rank; approac'
    """
    chosen = ChartOptions.of(options)
    table = chosen.table(data, scored.sensitivity, COLUMNS, "sensitivity", names=())
    plans, dimensions = table["plan"].astype(str), table["dimension"].astype(str)
    words = dimension_words(dimensions, chosen.labels)
    whole = chosen.labelled(table.assign(plan=plans, dimension=dimensions), ["plan", "dimension"])
    part = whole if plan is None else whole[plans == _known(plan, plans)].reset_index(drop=True)
    known = part.dropna(subset=["score", "base_score", "rank", "base_rank"])
    if known.empty:
        return empty(chosen, TITLE, "There is no score to draw.", part)
    every = known.assign(
        name=known["dimension"].map(short_words(words)),
        whole=known["dimension"].map(words),
        direction=known["direction"].astype(str).map(plain),
        move=(known["score"] - known["base_score"]).astype("float64"),
        moved=known["rank"].astype("int64") != known["base_rank"].astype("int64"),
    )
    widest = _widest_first(every)
    rows = every[every["name"].isin(widest[: chosen.rows(MAX_DIMENSIONS)])]
    n, drawn = every["plan"].nunique(), rows["name"].nunique()
    size = chosen.size(drawn, "dimension", (PLOT_PX, ROW_PX), (MIN_WIDTH_PX, MIN_BARS_PX))
    drawing = _one_plan(rows, size) if n == 1 else _many_plans(rows, size)
    without, step = part["plan"].nunique() - n, table.attrs.get("by")
    return figure(
        drawing.draw,
        chosen,
        title=TITLE,
        subtitle=drawing.key,
        caption=sentences(
            drawing.caption,
            f"Each weight is moved by {step:g} (within 0 and 1); the others give way in proportion."
            if step is not None
            else "",
            first_drawn(drawn, len(widest), "dimension"),
            f"Left out, since a score is missing: {count(without, 'plan')}." if without else "",
            INFORMS,
        ),
        data=part,
        description=drawing.description,
    )


class _Drawing(NamedTuple):
    """The chart, to be drawn, and the words that belong to it."""

    draw: Callable[[], alt.LayerChart]
    key: str
    caption: str
    description: str


def _known(plan: str, plans: pd.Series[str]) -> str:
    """Return the plan; InputError where the table does not have it."""
    if plan not in set(plans):
        have = list(dict.fromkeys(plans))
        message = f"{plan!r} is not in the table{did_you_mean(plan, have)}"
        raise InputError(Problem("plan", message, f"use one of: {', '.join(have[:5]) or 'none'}"))
    return plan


def _widest_first(rows: pd.DataFrame) -> list[str]:
    """Return the dimensions' names by their mean absolute move in one of the directions, the widest first."""
    means = rows["move"].abs().groupby([rows["name"], rows["direction"]], sort=False).mean()
    widest = means.groupby(level=0, sort=False).max().sort_values(ascending=False, kind="stable")
    return list(map(str, widest.index))


def _one_plan(rows: pd.DataFrame, size: Size) -> _Drawing:
    name, base, rank = short(rows["plan"].iloc[0], 40), rows["base_score"].iloc[0], int(rows["base_rank"].iloc[0])
    each = rows["score"].map("{:.2f}".format) + " with weight " + rows["weight"].map("{:.2f}".format)
    lines = each.groupby(rows["name"], sort=False).agg(", ".join)
    moved = rows[rows["moved"]]
    ranks = f"goes from {int(rows['rank'].min())} to {int(rows['rank'].max())}" if len(moved) else f"stays {rank}"
    return _Drawing(
        partial(_bars_of_a_plan, rows, size),
        f"{name}: score {base:.2f}, rank {rank}; {COLOR_KEY}; w: where to",
        f"Score of {plain(rows['plan'].iloc[0])} (n = 1) as each weight is lowered and raised alone, the widest move on"
        f" top; bars begin at its score under the chosen weights, {base:.2f}, and the axis does not begin at 0. Its"
        f" rank {ranks}. Exact sums, so without intervals.",
        f"Bars of how the score of {name}, {base:.2f}, moves. "
        + "; ".join(f"{dimension}: {each}" for dimension, each in lines.items())
        + ".",
    )


def _many_plans(rows: pd.DataFrame, size: Size) -> _Drawing:
    groups = rows.groupby(["name", "whole", "direction"], sort=False)
    sums = groups.agg(mean=("move", lambda moves: moves.abs().mean()), changed=("moved", "sum")).reset_index()
    n, touched = rows["plan"].nunique(), rows.groupby("plan")["moved"].any().sum()
    lines = sums["name"] + " " + sums["direction"] + ": " + sums["mean"].map("{:.3f}".format)
    lines += ", " + sums["changed"].map("{:,}".format) + " change rank"
    return _Drawing(
        partial(_bars_of_plans, sums, n, size),
        f"{COLOR_KEY[0].upper()}{COLOR_KEY[1:]}; at the right: how many of {count(n, 'plan')} change rank",
        f"Mean absolute change of score over {count(n, 'plan')} (n) as each weight is lowered and raised alone, the"
        f" largest on top, and how many plans change their rank; {touched:,} of {n:,} do so at least once. Exact sums,"
        " so without intervals.",
        f"Bars of the mean change of score over {count(n, 'plan')}. {'; '.join(lines)}.",
    )


def _bars_of_a_plan(rows: pd.DataFrame, size: Size) -> alt.LayerChart:
    """Draw bars from the score under the chosen weights to that under the moved ones, a row a dimension.

    Reads `plan, name, whole, direction, weight, score, move, rank, base_score, base_rank`.
    """
    base = float(rows["base_score"].iloc[0])
    span = max(MIN_SPAN, float(rows["move"].abs().max())) * 1.08
    texts = rows.assign(
        way=[DIRECTIONS.get(direction, direction) for direction in rows["direction"]],
        weight_text=rows["weight"].map("{:.2f}".format),
        score_text=rows["score"].map("{:.2f}".format),
        move_text=rows["move"].map("{:+.2f}".format),
        rank_text=[
            f"{old:,}, as before" if old == new else f"{new:,} instead of {old:,}"
            for old, new in zip(rows["base_rank"], rows["rank"], strict=True)
        ],
        text=rows["score"].map("{:.2f}".format) + " (w " + rows["weight"].map("{:.2f}".format) + ")",
    )
    placed = with_hover(_placed(texts, texts["move"].abs(), size), ONE_PLAN_FIELDS)
    x = partial(_across, domain=[base - span, base + span], title="Score")
    chart = alt.Chart().encode(x=x("score"), y=y_of("middle"))
    up, down = chart.transform_filter("datum.move >= 0"), chart.transform_filter("datum.move < 0")
    bars = chart.mark_bar(height=_bar_px(size))
    layers = [
        bars.encode(x2=alt.X2(field="base_score"), color=unscaled(alt.Color, "color"), **hover(ONE_PLAN_FIELDS)),
        alt.Chart().mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x=x("base_score")),
        up.mark_text(align="left", dx=5, fontSize=SIZE - 1, aria=False).encode(text=text_of("text")),
        down.mark_text(align="right", dx=-5, fontSize=SIZE - 1, aria=False).encode(text=text_of("text")),
    ]
    return _with_names(placed, layers, -LABEL_PX, size)


def _bars_of_plans(sums: pd.DataFrame, n: int, size: Size) -> alt.LayerChart:
    """Draw bars of the mean change from 0, a row a dimension, with the number of plans that change rank.

    Reads `name, whole, direction, mean, changed`.
    """
    texts = sums.assign(
        way=[DIRECTIONS.get(direction, direction) for direction in sums["direction"]],
        mean_text=sums["mean"].map("{:.3f}".format),
        changed_text=[f"{changed:,} of {n:,} plans" for changed in sums["changed"]],
        text=sums["mean"].map("{:.3f}".format),
        share_text=[f"{changed:,} of {n:,}" for changed in sums["changed"]],
    )
    placed = with_hover(_placed(texts, texts["mean"], size), MANY_PLANS_FIELDS)
    top = max(float(sums["mean"].max()), 0.01) * 1.15
    x = _across("mean", [0, top], "Mean absolute change of score")
    chart = alt.Chart().encode(y=y_of("middle"))
    small: dict[str, Any] = {"fontSize": SIZE - 1, "aria": False}
    bars = chart.mark_bar(height=_bar_px(size))
    layers = [
        bars.encode(x=x, x2=x2_at(0), color=unscaled(alt.Color, "color"), **hover(MANY_PLANS_FIELDS)),
        chart.mark_text(align="left", dx=5, **small).encode(x=x, text=text_of("text")),
        chart.mark_text(align="right", x=size.width + 60, **small).encode(text=text_of("share_text")),
    ]
    return _with_names(placed, layers, -14, size)


def _bar_px(size: Size) -> float:
    return size.row * BAR_PX / ROW_PX


def _across(field: str, domain: list[float], title: str) -> alt.X:
    axis = alt.Axis(domain=False, ticks=False, tickCount=5)
    scale = alt.Scale(domain=domain, nice=False)
    return alt.X(field=field, type="quantitative", scale=scale, axis=axis, title=title)


def _placed(rows: pd.DataFrame, moves: pd.Series[float], size: Size) -> pd.DataFrame:
    """Return the rows with their places in pixels: dimensions by their largest size, directions under each other."""
    order = moves.groupby(rows["name"], sort=False).max().sort_values(ascending=False, kind="stable")
    row = rows["name"].map({name: number for number, name in enumerate(order.index)})
    directions = dict.fromkeys([*COLORS, *rows["direction"]])
    lane = rows["direction"].map({direction: number for number, direction in enumerate(directions)})
    placed = rows.assign(
        middle=(row + 0.5) * size.row + (lane - 0.5) * (_bar_px(size) + 1),
        center=(row + 0.5) * size.row,
        color=rows["direction"].map(COLORS).fillna(GREY),
        first=~rows["name"].duplicated(),
    )
    return placed.sort_values("middle", kind="stable").reset_index(drop=True)


def _with_names(placed: pd.DataFrame, layers: list[alt.Chart], at: int, size: Size) -> alt.LayerChart:
    """Draw the layers over their rows, with the dimensions' names left of the plot."""
    first = placed[placed["first"]][["name", "center"]]
    text = alt.Chart(inline(first)).mark_text(align="right", x=at, aria=False)
    names = text.encode(y=y_of("center"), text=text_of("name"))
    return alt.LayerChart(data=inline(placed), layer=[*layers, names], width=size.width, height=size.height)

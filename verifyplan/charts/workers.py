"""Draw what each worker of a panel is worth: accuracy against cost, the two rates, or accuracy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.panels.workers import Workers
from verifyplan.analysis.panels.workers import workers as workers_of
from verifyplan.charts.encodings import hover, inline, names_of, number_columns, text_of, unscaled, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import distinct_labels, first_drawn, interval_text, percent, plain, sentences, short
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.point_labels import Plane, label_points
from verifyplan.charts.theme import BLUE, FAINT, GREY, INK, PAPER, TEXT_COLORS, VERMILLION, WIDTH
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import PanelVotes

TITLE = "What each worker is worth"
MAX_WORKERS = 50
"""Workers drawn at most."""
MAX_IN_PLANE = 24
"""More workers are drawn in rows: in a plane their names would have no room."""
MAX_NAME_CHARACTERS = 34
MAX_LINEAR_RATIO = 10
"""Costs that differ by a larger factor are drawn on a logarithmic axis."""
PLOT_PX, ROW_PX, PLANE_PX = WIDTH - 220, 20, 400
"""Pixels across of a plot of rows, from row to row, and from top to bottom of a plane."""
Ends: TypeAlias = tuple[float, float]
Places: TypeAlias = dict[str, Callable[[str], Any]]
"""How a column is placed in a plane: across by `x`, up by `y`."""
STANDING = {"unreliable": VERMILLION, "influential": BLUE, "redundant": GREY, "": INK}
"""What a worker is, and its colour; of several, the first."""
FIELDS = {
    "worker": "Worker",
    "share_text": "Share",
    "interval_text": "95 % interval",
    "n": "Items",
    "cost_text": "Cost per vote",
    "sensitivity_text": "Sensitivity",
    "specificity_text": "Specificity",
    "standing": "Is clearly",
}


@chart
def workers(data: Workers | PanelVotes | pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw each worker with its interval and name, in colour where it is unreliable, influential or redundant.

    Reads what `workers` returns, or makes it of runs, or of a table with columns named as that function names them.
    Where costs are known and differ, accuracy (without truth: agreement with the majority of the others) is drawn
    against the cost of a vote; else sensitivity against 1 - specificity, where both are known; else, and of more than
    24 workers, a row a worker, the best first. At most `limit` workers are drawn (50), first those who stand out.
    The caption says who is unreliable, redundant or influential.

    >>> import verifyplan as vp
    >>> figure = workers(vp.datasets.votes("llmbar/plain"))
    >>> figure.description[:80]
    'Dot chart of the accuracy of workers. GPT-4/Vanilla: 82.8 %, n = 419; PaLM2/Vani'
    """
    chosen = ChartOptions.of(options)
    result = _read(data)
    names = [name for name in ("worker", "closest") if name in result.table]
    result = replace(result, table=chosen.labelled(result.table, names))
    rows, left_out = _rows(result, chosen)
    if rows.empty:
        return empty(chosen, TITLE, "There is no worker with a vote to compare.", result.table)
    kind = _kind(rows)
    draw = {"rows": _draw_rows, "cost": _draw_cost, "rates": _draw_rates}[kind]
    each = "; ".join(_in_words(row, kind) for _, row in rows.iterrows())
    figures = {"rows": f"the {result.measure}", "cost": f"{result.measure} and cost", "rates": "both rates"}
    return figure(
        lambda: draw(rows, result, chosen),
        chosen,
        title=TITLE,
        subtitle=_subtitle(kind, result),
        caption=sentences(_caption(result), left_out),
        data=result.table,
        description=f"Dot chart of {figures[kind]} of workers. {each}.",
        synthetic=result.synthetic,
    )


def _read(data: Workers | PanelVotes | pd.DataFrame | Runs) -> Workers:
    if isinstance(data, Workers):
        return data
    return workers_of(data if isinstance(data, PanelVotes | pd.DataFrame) else as_runs(data, "data"))


def _rows(result: Workers, options: ChartOptions) -> tuple[pd.DataFrame, str]:
    """Return the rows that are drawn, the best first, with their texts; and a sentence on those that are left out."""
    name, table = result.measure, result.table
    known = table[table[name].notna()]
    standing = [next(kind for kind in STANDING if not kind or row[kind]) for _, row in known.iterrows()]
    known = known.assign(standing=standing).sort_values(name, ascending=False, kind="stable")
    kept = known.assign(plain=known["standing"].eq("")).sort_values("plain", kind="stable").index
    drawn = known.loc[sorted(kept[: options.rows(MAX_WORKERS)], key=list(known.index).index)].reset_index(drop=True)
    labels = distinct_labels(drawn["worker"], MAX_NAME_CHARACTERS)
    ends = {"value": name, "low": f"{name}_low", "high": f"{name}_high", "n": f"{name}_n"}
    rows = drawn.assign(
        label=drawn["worker"].map(labels),
        worker=drawn["worker"].map(plain),
        color=drawn["standing"].map(STANDING),
        **{column: drawn[source] for column, source in ends.items()},
    )
    texts: dict[str, Any] = {
        "share_text": [percent(value, 1) for value in rows["value"]],
        "interval_text": [interval_text(low, high) for low, high in zip(rows["low"], rows["high"], strict=True)],
        "n_text": rows["n"].map("{:,}".format),
        "cost_text": _cost_texts(rows),
        **{f"{rate}_text": _rate_texts(rows, rate) for rate in ("sensitivity", "specificity")},
    }
    rows = rows.assign(**texts)
    return with_hover(rows, _fields(rows)), first_drawn(len(rows), len(known), "worker")


def _fields(rows: pd.DataFrame) -> dict[str, str]:
    """Return the fields of a hover text that some row has."""
    return {name: title for name, title in FIELDS.items() if rows[name].astype(str).ne("").any()}


def _cost_texts(rows: pd.DataFrame) -> list[str]:
    costs = rows.get("cost_per_vote", pd.Series(float("nan"), rows.index))
    return ["" if pd.isna(cost) else f"{cost:,.4g}" for cost in costs]


def _rate_texts(rows: pd.DataFrame, rate: str) -> list[str]:
    if rate not in rows:
        return [""] * len(rows)
    columns = (rows[rate], rows[f"{rate}_low"], rows[f"{rate}_high"], rows[f"{rate}_n"])
    return [
        f"{percent(value, 1)} ({interval_text(low, high)}, n = {n:,})" if n else ""
        for value, low, high, n in zip(*columns, strict=True)
    ]


def _kind(rows: pd.DataFrame) -> str:
    """Return how the workers are drawn: against cost, as two rates, or in rows."""
    if len(rows) > MAX_IN_PLANE:
        return "rows"
    if "cost_per_vote" in rows and rows["cost_per_vote"].notna().all() and rows["cost_per_vote"].nunique() > 1:
        return "cost"
    rates = "sensitivity" in rows and rows["sensitivity"].notna().all() and rows["specificity"].notna().all()
    return "rates" if rates else "rows"


def _draw_rows(rows: pd.DataFrame, result: Workers, options: ChartOptions) -> alt.LayerChart:
    size = options.size(len(rows), "worker", (PLOT_PX, ROW_PX))
    ends, y = _ends(rows), names_of(rows, "label")
    x = {name: _share(alt.X, name, ends, _measure_title(result)) for name in ("value", "low")}
    line = alt.Chart().mark_rule(strokeWidth=1.5, aria=False)
    color = unscaled(alt.Color, "color")
    columns = {"share_text": "share", "interval_text": "95 % interval", "n_text": "n"}
    columns |= {"standing": "is clearly"} if rows["standing"].ne("").any() else {}
    layers = [
        *_majority_line(result, ends),
        line.encode(y=y, x=x["low"], x2=alt.X2(field="high"), color=color),
        _dots().encode(y=y, x=x["value"], color=color, **hover(_fields(rows))),
        *number_columns(rows, columns, size.width, y),
    ]
    layered = alt.LayerChart(data=inline(rows), layer=layers)
    return layered.properties(width=size.width, height=alt.Step(size.row))


def _majority_line(result: Workers, ends: Ends) -> list[alt.Chart]:
    if result.majority is None or not ends[0] <= result.majority.value <= ends[1]:
        return []
    at = alt.Chart(inline(pd.DataFrame({"value": [result.majority.value]})))
    x = _share(alt.X, "value", ends, _measure_title(result))
    return [at.mark_rule(color=FAINT, strokeDash=[4, 3], aria=False).encode(x=x)]


def _draw_cost(rows: pd.DataFrame, result: Workers, options: ChartOptions) -> alt.LayerChart:
    costs = rows["cost_per_vote"]
    log = bool(costs.min() > 0 and costs.max() / costs.min() > MAX_LINEAR_RATIO)
    ends = (float(costs.min()) / 1.5, float(costs.max()) * 1.5) if log else (0.0, float(costs.max()) * 1.1)
    plane = _plane(options, ends, _ends(rows), log)
    scale = alt.Scale(type="log" if log else "linear", domain=list(ends), nice=False)
    axis = alt.Axis(domain=False, ticks=False, grid=False, format="~g", tickCount=6)
    places = {
        "x": lambda field: alt.X(field=field, type="quantitative", scale=scale, axis=axis, title="Cost per vote"),
        "y": lambda field: _share(alt.Y, field, plane.y, _measure_title(result)),
    }
    points = rows.assign(x=costs, y=rows["value"], y_low=rows["low"], y_high=rows["high"])
    return _plane_chart(points, plane, places, [_whisker("y", places)])


def _draw_rates(rows: pd.DataFrame, result: Workers, options: ChartOptions) -> alt.LayerChart:
    """Draw sensitivity against 1 - specificity, and the line of guessing."""
    plane = _plane(options, (0.0, 1.0), (0.0, 1.0), False)
    yes = short(result.positive, 20)
    titles = (
        f"1 - specificity: share of other items labelled {yes}",
        f"Sensitivity: share of {yes} items labelled {yes}",
    )
    places = {
        "x": lambda field: _share(alt.X, field, plane.x, titles[0]),
        "y": lambda field: _share(alt.Y, field, plane.y, titles[1]),
    }
    points = rows.assign(
        x=1 - rows["specificity"],
        x_low=1 - rows["specificity_high"],
        x_high=1 - rows["specificity_low"],
        y=rows["sensitivity"],
        y_low=rows["sensitivity_low"],
        y_high=rows["sensitivity_high"],
    )
    corners = alt.Chart(inline(pd.DataFrame({"x": [0, 1], "y": [0, 1]})))
    word = alt.Chart(inline(pd.DataFrame({"x": [0.99], "y": [0.03], "text": ["dashed: guessing"]})))
    at = {"x": places["x"]("x"), "y": places["y"]("y")}
    layers = [
        corners.mark_line(color=FAINT, strokeDash=[4, 3], strokeWidth=1, aria=False).encode(**at),
        word.mark_text(align="right", color=FAINT, aria=False).encode(**at, text=text_of("text")),
        _whisker("x", places),
        _whisker("y", places),
    ]
    return _plane_chart(points, plane, places, layers)


def _plane(options: ChartOptions, x: Ends, y: Ends, log: bool) -> Plane:
    return Plane(options.px("width", WIDTH - 60, 240), options.px("height", PLANE_PX, 180), x, y, log)


def _whisker(side: str, places: Places) -> alt.Chart:
    """Draw the intervals of one side, `x` or `y`."""
    other = "y" if side == "x" else "x"
    ends = {side: places[side](f"{side}_low"), other: places[other](other)}
    end = {"x2": alt.X2(field="x_high")} if side == "x" else {"y2": alt.Y2(field="y_high")}
    line = alt.Chart().mark_rule(strokeWidth=1.2, opacity=0.55, aria=False)
    drawn: alt.Chart = line.encode(**ends, **end, color=unscaled(alt.Color, "color"))
    return drawn


def _plane_chart(points: pd.DataFrame, plane: Plane, places: Places, layers: list[alt.Chart]) -> alt.LayerChart:
    """Draw layers, the workers as dots over them, and a name beside each dot."""
    texts = (points["label"] + ", " + points["standing"]).str.removesuffix(", ")
    order = points["standing"].eq("").to_numpy().argsort(kind="stable")
    labels = label_points(plane, points, order, texts.iloc[order].tolist())
    labels = labels.assign(color=points["color"].map(TEXT_COLORS).to_numpy()[labels["row"]])
    color = unscaled(alt.Color, "color")
    far = alt.Chart(inline(labels[labels["far"]])).mark_rule(color=FAINT, strokeWidth=0.7, aria=False)
    ends = {
        "x": places["x"]("from_x"),
        "y": places["y"]("from_y"),
        "x2": alt.X2(field="to_x"),
        "y2": alt.Y2(field="to_y"),
    }
    at = {"x": places["x"]("x"), "y": places["y"]("y")}
    named = alt.Chart(inline(labels)).encode(**at, text=text_of("text"))
    drawn = [
        *layers,
        far.encode(**ends),
        _dots().encode(**at, color=color, **hover(_fields(points))),
        named.mark_text(stroke=PAPER, strokeWidth=3, strokeOpacity=0.9, aria=False),
        named.mark_text(aria=False).encode(color=color),
    ]
    layered = alt.LayerChart(data=inline(points), layer=drawn)
    return layered.properties(width=plane.width, height=plane.height)


def _dots() -> alt.Chart:
    dots: alt.Chart = alt.Chart().mark_point(filled=True, size=80, opacity=1)
    return dots


def _share(channel: type[alt.X] | type[alt.Y], field: str, ends: Ends, title: str) -> Any:
    """Return the place of a column of shares on an axis with these ends, in per cent."""
    words = "format(datum.value * 100, '.0f') + ' %'"
    axis = alt.Axis(labelExpr=words, domain=False, ticks=False, tickCount=6)
    scale = alt.Scale(domain=list(ends), nice=False, zero=False)
    return channel(field=field, type="quantitative", scale=scale, axis=axis, title=title)


def _ends(rows: pd.DataFrame) -> Ends:
    """Return the ends of an axis of shares: what the intervals need, within 0 and 1."""
    return max(0.0, float(rows["low"].min()) - 0.02), min(1.0, float(rows["high"].max()) + 0.02)


def _measure_title(result: Workers) -> str:
    return "Accuracy" if result.measure == "accuracy" else "Agreement with the majority of the others"


def _subtitle(kind: str, result: Workers) -> str:
    dashed = "; dashed: the majority" if kind == "rows" and result.majority is not None else ""
    return f"Dots: workers; lines: 95 % intervals{dashed}"


def _caption(result: Workers) -> str:
    return plain(sentences(f"{_sentence(result.range_in_words())}.", f"{_sentence(result.standing_out())}."))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _in_words(row: Any, kind: str) -> str:
    figures = f"{row['share_text']}, n = {row['n_text']}"
    if kind == "cost":
        figures += f", cost {row['cost_text']}"
    if kind == "rates":
        figures = f"sensitivity {row['sensitivity_text']}, specificity {row['specificity_text']}"
    return f"{row['label']}: {figures}" + (f", {row['standing']}" if row["standing"] else "")

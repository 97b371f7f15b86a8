"""Draw fitted weights with their intervals, beside equal weights."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.weights.fitting import WeightFit
from verifyplan.charts.encodings import hover, inline, names_of, number_columns, with_hover
from verifyplan.charts.figure import Figure, figure
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, Size, chart
from verifyplan.charts.score_table import dimension_words, short_words
from verifyplan.charts.theme import BLUE, FAINT, WIDTH
from verifyplan.errors import InputError, Problem
from verifyplan.rules.scoring import INFORMS

TITLE = "Fitted weights"
KEY = "Dots: weights; lines: 95 % intervals; dashed: equal weights"
FIELDS = {"whole": "Dimension", "weight_text": "Weight", "interval_text": "95 % interval"}
MAX_DIMENSIONS = 30
"""Dimensions drawn at most."""
ROW_PX, PLOT_PX = 24, WIDTH - 200
"""Pixels from dimension to dimension, and across of the plot; the rest is for the numbers beside it."""
NOT_KNOWN = "not known"


@chart
def weights(data: WeightFit, **options: Unpack[Options]) -> Figure:
    """Draw dots of fitted weights with their 95 % intervals, the largest on top, and a dashed line at equal weights.

    Reads what `weights.fit` returns; a fit needs overall scores, so no runs are read. `limit` dimensions are drawn
    (30), those with the largest weights. A dimension that is constant has a weight of 0 and no interval. The caption
    gives n, the cross-validated R², and a warning if the weights explain nothing. Raises InputError for anything but a
    fit. The score that weights give informs and never decides a verdict (rules A10, F4).

    >>> import verifyplan as vp
    >>> scores = vp.datasets.example_scores(200)
    >>> figure = weights(vp.weights.fit(scores, "overall", repeats=2, resamples=50))
    >>> figure.description[:85]
    'Dot chart of fitted weights. approach soundness: 0.327 (0.271 to 0.384); risk coverag'
    """
    chosen = ChartOptions.of(options)
    if not isinstance(data, WeightFit):
        message = f"must be a fit of weights, got a {type(data).__name__}"
        raise InputError(Problem("data", message, "give what weights.fit(scores, overall) returns"))
    table = chosen.labelled(data.weights, ["dimension"])
    every = _rows(table, dimension_words(data.weights["dimension"], chosen.labels))
    rows = every.head(chosen.rows(MAX_DIMENSIONS))
    size = chosen.size(len(rows), "dimension", (PLOT_PX, ROW_PX))
    each = rows["name"] + ": " + rows["weight_text"] + " (" + rows["interval_text"] + ")"
    return figure(
        lambda: _draw(rows, 1 / len(every), size),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=_caption(data, first_drawn(len(rows), len(every), "dimension")),
        data=table,
        description=f"Dot chart of fitted weights. {'; '.join(each)}. Equal weights: {1 / len(every):.3f} each.",
        synthetic=data.synthetic,
    )


def _rows(table: pd.DataFrame, words: dict[str, str]) -> pd.DataFrame:
    """Return the dimensions with their texts, the largest weight first."""
    ordered = table.sort_values("weight", ascending=False, kind="stable").reset_index(drop=True)
    rows = ordered.assign(
        name=ordered["dimension"].map(short_words(words)),
        whole=ordered["dimension"].map(words),
        weight_text=ordered["weight"].map("{:.3f}".format),
        interval_text=[
            NOT_KNOWN if pd.isna(low) else f"{low:.3f} to {high:.3f}"
            for low, high in zip(ordered["low"], ordered["high"], strict=True)
        ],
    )
    return with_hover(rows, FIELDS)


def _draw(rows: pd.DataFrame, equal: float, size: Size) -> alt.LayerChart:
    """Draw dots and lines on an axis from 0 to the largest end, and the numbers beside them."""
    top = min(1.0, 1.05 * max(equal, float(rows["weight"].max()), float(rows["high"].fillna(0).max())))
    scale = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(domain=False, ticks=False, tickCount=6, format=".2~f")
    x = {
        field: alt.X(field=field, type="quantitative", scale=scale, axis=axis, title="Weight")
        for field in ("weight", "low")
    }
    y = names_of(rows, "name")
    dashed = alt.Chart(inline(pd.DataFrame({"weight": [equal]}))).mark_rule(color=FAINT, strokeDash=[4, 3], aria=False)
    line = alt.Chart().mark_rule(color=BLUE, strokeWidth=1.5, aria=False)
    dots = alt.Chart().mark_point(filled=True, size=80, opacity=1, color=BLUE)
    layers = [
        dashed.encode(x=x["weight"]),
        line.encode(y=y, x=x["low"], x2=alt.X2(field="high")),
        dots.encode(y=y, x=x["weight"], **hover(FIELDS)),
        *number_columns(rows, {"weight_text": "weight", "interval_text": "95 % interval"}, size.width, y),
    ]
    used = ["name", "weight", "low", "high", "hover", *FIELDS]
    return alt.LayerChart(data=inline(rows[used]), layer=layers, width=size.width, height=alt.Step(size.row))


def _caption(fit: WeightFit, left_out: str) -> str:
    groups = "" if fit.n_groups is None else f" in {count(fit.n_groups, 'group')}"
    least, most = fit.r2_cv_spread
    return sentences(
        "" if fit.explains else "The fit may explain nothing of scores that it has not seen: do not use these weights.",
        f"Weights fitted to {count(fit.n, 'overall score')} (n){groups}, with 95 % intervals (Fieller 1954); they are "
        "at least 0 and sum to 1.",
        f"Cross-validated R² {fit.r2_cv:.3f} ({least:.3f} to {most:.3f} over {count(fit.repeats, 'repeat')}).",
        "The overall score falls as the dimensions rise." if fit.scale < 0 else "",
        left_out,
        INFORMS,
    )

"""Draw how sure a plan's rank is where the weights are uncertain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis import weights
from verifyplan.charts.encodings import hover, inline, names_of, number_columns, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, percent, sentences
from verifyplan.charts.options import ChartOptions, Options, Size, chart
from verifyplan.charts.score_table import MAX_PLANS
from verifyplan.charts.theme import BLUE, SKY, WIDTH
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS

COLUMNS = ("plan", "score", "rank", "kept_rank", "low_rank", "high_rank", "first", "above")
TITLE = "How sure the ranks are"
KEY = "Dot: the rank under the chosen weights; bar: 95 % of ranks under weights drawn around them"
FIELDS = {
    "plan": "Plan",
    "score_text": "Score",
    "rank": "Rank",
    "range_text": "95 % of draws",
    "kept_text": "Keeps its rank",
    "first_text": "First",
    "above_text": "At or above the threshold",
}
SHARES = {"kept_text": "kept_rank", "first_text": "first", "above_text": "above"}
ROW_PX, PLOT_PX = 21, WIDTH - 160
"""Pixels from plan to plan, and across of the plot; the rest is for the numbers beside it."""


@chart
def rank_stability(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw dots of each plan's rank with the middle 95 % of its ranks under drawn weights, and how often it keeps it.

    Reads what `weights.rank_stability` returns, or makes it of runs with the default weights: `plan, score, rank,
    kept_rank, low_rank, high_rank, first, above`, and its `attrs` (draws, concentration, threshold). Rank 1 is the
    best, at the left; plans that tie share a rank. Plans are in the order of their ranks, ties as in the table; `limit`
    of them are drawn (40). Plans without a rank are not drawn, and the caption says so. The score informs and never
    decides a verdict (rules A10, F4).

    >>> import verifyplan as vp
    >>> scores = vp.datasets.example_scores(12).drop(columns="overall")
    >>> figure = rank_stability(vp.weights.rank_stability(scores, draws=500, seed=3))
    >>> figure.description[:93]
    'Dot chart of ranks. plan-08: rank 1 (1 to 1), keeps it in 100 % of draws; plan-12: rank 2 (2 '
    """
    chosen = ChartOptions.of(options)
    whole = chosen.table(data, weights.rank_stability, COLUMNS, "rank_stability", names=["plan"])
    ranked = whole.dropna(subset=["rank", "low_rank", "high_rank", "kept_rank"])
    if ranked.empty:
        return empty(chosen, TITLE, "There is no plan with a rank to draw.", whole)
    ranked = ranked.sort_values("rank", kind="stable")
    rows = _rows(ranked.head(chosen.rows(MAX_PLANS)))
    size = chosen.size(len(rows), "plan", (PLOT_PX, ROW_PX))
    ranks = rows["name"] + ": rank " + rows["rank"].map("{:,}".format)
    ranks += " (" + rows["range_text"].str.removeprefix("ranks ") + "), keeps it in " + rows["kept_text"] + " of draws"
    return figure(
        lambda: _drawing(rows, size),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=_caption(len(rows), len(ranked), whole),
        data=whole,
        description=f"Dot chart of ranks. {'; '.join(ranks)}.",
    )


def _rows(ranked: pd.DataFrame) -> pd.DataFrame:
    whole = ranked.astype({"rank": "int64", "low_rank": "int64", "high_rank": "int64"})
    labels = distinct_labels(whole["plan"], 26)
    ends = zip(whole["low_rank"], whole["high_rank"], strict=True)
    rows = whole.assign(
        name=whole["plan"].astype(str).map(labels),
        plan=whole["plan"].astype(str),
        left=whole["low_rank"] - 0.3,
        right=whole["high_rank"] + 0.3,
        range_text=[f"ranks {low:,} to {high:,}" for low, high in ends],
        score_text=_texts(whole["score"], "{:.2f}".format),
        **{name: _texts(whole[column], percent) for name, column in SHARES.items()},
    )
    rows["ever_first"] = rows["first_text"].where(rows["first"].fillna(0) > 0, "")
    return with_hover(rows.reset_index(drop=True), FIELDS)


def _texts(values: pd.Series[float], format_: Callable[[float], str]) -> pd.Series[str]:
    numbers = pd.to_numeric(values).astype("float64")
    return numbers.map(format_, na_action="ignore").astype("object").where(numbers.notna(), "")


def _drawing(rows: pd.DataFrame, size: Size) -> alt.LayerChart:
    """Draw the bars and dots over faint lines, and score and shares in columns at the right."""
    most = max(int(rows["high_rank"].max()), int(rows["rank"].max()), 2)
    scale = alt.Scale(domain=[0.5, most + 0.5], nice=False)
    step = next(step for step in (1, 5, 10, 20, 50, 100, 200, 500, most) if most / step <= size.width / 25)
    values = sorted({1, *range(step, most + 1, step)})
    ticks = alt.Axis(values=values, format=",d", domain=False, ticks=False, orient="top", labelOverlap=False)
    y = names_of(rows, "name")
    rank = alt.X(field="rank", type="quantitative", scale=scale, axis=ticks, title="Rank (1: the best)")
    spread = alt.X(field="left", type="quantitative", scale=scale, axis=ticks, title="Rank (1: the best)")
    base = alt.Chart().encode(y=y)
    columns = {"kept_text": "keeps rank"}
    columns |= {"ever_first": "first"} if rows["ever_first"].any() else {}
    columns |= {"above_text": "at threshold"} if rows["above_text"].any() else {}
    layers = [
        base.mark_bar(height=min(9, size.row / 2), color=SKY, cornerRadius=4).encode(
            x=spread, x2=alt.X2(field="right"), **hover(FIELDS)
        ),
        base.mark_circle(size=90, color=BLUE, opacity=1).encode(x=rank, **hover(FIELDS)),
        *number_columns(rows, columns, size.width, y),
    ]
    used = ["name", "left", "right", "ever_first", "hover", *FIELDS]
    return alt.LayerChart(data=inline(rows[used]), layer=layers, width=size.width, height=size.height)


def _caption(drawn: int, ranked: int, whole: pd.DataFrame) -> str:
    without = len(whole) - ranked
    draws, concentration, threshold = (whole.attrs.get(name) for name in ("draws", "concentration", "threshold"))
    return sentences(
        f"Ranks of {count(ranked, 'plan')} (n). Dot: the rank under the chosen weights, 1 the best; bar: the middle"
        " 95 % of its ranks where weights are drawn around them. Keeps rank, first: the share of draws in which the"
        " plan has that rank, or is first (blank: in none).",
        first_drawn(drawn, ranked, "plan"),
        f"Without a rank, since a score is missing: {count(without, 'plan')}." if without else "",
        f"{draws:,} draws from a Dirichlet distribution, concentration {concentration:g}."
        if draws is not None and concentration is not None
        else "",
        f"At threshold: the share of draws with a score of {threshold:g} or more." if threshold is not None else "",
        INFORMS,
    )

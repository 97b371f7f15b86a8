"""How plans rank under weights, and where they stood under others."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.beside import beside
from verifyplan.charts.captions import INFORMS, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.labels import count, shortened
from verifyplan.charts.pixels import x_at, y_of
from verifyplan.charts.tables import checked, inline, words
from verifyplan.charts.theme import BLUE, FAINT, PAPER, SKY, WIDTH
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import InputError, Problem, expect

COLUMNS = ("plan", "score", "final", "rank", "missing")
TITLE = "How the plans rank"
KEY = "Dot: the score under the chosen weights"
STARTED = "ring: under the starting weights"
PLANS = 30
"""Plans drawn at most: more would not be read while a slider moves."""
LETTERS = 20
"""Letters of a name at most: most of the time that the picture takes goes into measuring its texts."""
FIELDS = {
    "plan": "Plan",
    "told_score": "Score",
    "told_final": "Final score",
    "told_rank": "Rank",
    "told_start": "Score at the start",
    "told_was": "Rank at the start",
}
ROW, PLOT = 21, WIDTH - 150
"""Pixels from plan to plan, and across of the plot; the rest is for the numbers beside it."""


def ranking(
    now: pd.DataFrame,
    start: pd.DataFrame | None = None,
    *,
    domain: tuple[float, float] | None = None,
    most: int = PLANS,
) -> Figure:
    """Dots of each plan's score under weights, in the order of ranks, and where it stood under the starting weights.

    Reads what `weights.apply` returns, `plan, score, final, rank, missing`; `start` is the same of the same plans
    under other weights. Plans stand in the order of their ranks, ties as in the table; the first `most` are drawn, up
    to 30. Plans without a rank are not drawn. The caption says who is left out. `domain` holds the ends of the axis,
    so that it stays while weights change (None: what the dots need). The score informs and never decides a verdict
    (SPEC A10, F4). `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing, InputError
    where `start` is of other plans.

    >>> row = {"plan": "p", "score": 7.5, "final": 8, "rank": 1, "missing": ""}
    >>> ranking(pd.DataFrame([row])).description
    'Dot chart of scores. p: 7.50, final 8, rank 1.'
    """
    whole, synthetic = _read(now, "now"), bool(now.attrs.get("synthetic"))
    rows = whole if start is None else _with_start(whole, _read(start, "start"))
    ranked = rows.dropna(subset=["score", "rank"]).sort_values("rank", kind="stable")
    if ranked.empty:
        return empty(TITLE, "There is no plan with a score to draw.", whole)
    drawn = _rows(ranked.head(max(1, min(most, PLANS))))
    moved = start is not None and bool((ranked["score"] != ranked["start"]).any())
    key = f"{KEY}; {STARTED}" if moved else KEY
    with unchecked():
        return figure(
            _drawn(drawn, moved, domain or _ends(drawn)),
            title=TITLE,
            subtitle=subtitle(key, synthetic),
            caption=sentences(
                _caption(ranked, len(drawn), len(whole), start is not None), INFORMS, synthetic_is(synthetic)
            ),
            data=rows,
            description=_description(drawn),
        )


def _read(table: pd.DataFrame, name: str) -> pd.DataFrame:
    expect(table, pd.DataFrame, name, "give what weights.apply(scores) returns")
    return checked(table, COLUMNS, name)


def _with_start(now: pd.DataFrame, start: pd.DataFrame) -> pd.DataFrame:
    """The plans with `start` and `was`, their score and rank under the starting weights."""
    if list(now["plan"]) != list(start["plan"]):
        raise InputError(Problem("start", "is not of the same plans in the same order", "apply both to one table"))
    return now.assign(start=start["score"], was=start["rank"])


def _rows(ranked: pd.DataFrame) -> pd.DataFrame:
    plans = ranked["plan"].astype(str)
    start = ranked["start"] if "start" in ranked else pd.Series(float("nan"), ranked.index)
    was = ranked["was"].map("{:,}".format) if "was" in ranked else pd.Series("", ranked.index)
    rank = ranked["rank"].map("{:,}".format)
    rows = ranked.assign(
        plan=plans,
        name=plans.map(shortened(plans, LETTERS)),
        start=start,
        told_score=ranked["score"].map("{:.2f}".format),
        told_final=ranked["final"].map("{:,}".format),
        told_rank=rank,
        told_start=start.map("{:.2f}".format).where(start.notna(), ""),
        told_was=was,
        before=was.where(was != rank, ""),
        y=[ROW * (row + 0.5) for row in range(len(ranked))],
    )
    return with_hover(rows.reset_index(drop=True), FIELDS)


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The least and the greatest score that is drawn."""
    every = pd.concat([rows["score"], rows["start"]])
    return float(every.min()), float(every.max())


def _drawn(rows: pd.DataFrame, moved: bool, domain: tuple[float, float]) -> alt.LayerChart:
    """The dots, what they moved by, and score and ranks in columns at the right.

    Plans stand at pixels and their names are marks: an axis of names takes a third of the time of the whole picture.
    """
    low, high = domain
    margin = 0.04 * (high - low) or 0.5
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    ticks = alt.Axis(tickCount=8, domain=False, ticks=False, orient="top", labelOverlap=True)
    y = y_of("y")
    at = {
        name: alt.X(field=name, type="quantitative", scale=scale, axis=ticks, title="Weighted sum of the scores")
        for name in ("score", "start")
    }
    base = alt.Chart().encode(y=y)
    path = base.mark_bar(height=3, color=SKY).encode(x=at["score"], x2=alt.X2(field="start"), **hover(FIELDS))
    ring = base.mark_circle(size=50, color=PAPER, stroke=FAINT, strokeWidth=1.5, opacity=1)
    before = [path, ring.encode(x=at["start"], **hover(FIELDS))] if moved else []
    dot = base.mark_circle(size=90, color=BLUE, opacity=1).encode(x=at["score"], **hover(FIELDS))
    names = base.mark_text(align="right", aria=False).encode(x=x_at(-10), text=words("name"))
    columns = {"told_score": "score", "told_final": "final", "told_rank": "rank"}
    columns |= {"before": "was"} if rows["before"].any() else {}
    used = ["name", "y", "score", "start", "before", "hover", *FIELDS]
    layers = [*before, dot, names, *beside(rows, columns, PLOT, y)]
    return alt.LayerChart(data=inline(rows[used]), layer=layers, width=PLOT, height=ROW * len(rows))


def _caption(ranked: pd.DataFrame, drawn: int, n: int, started: bool) -> str:
    changed = int((ranked["rank"] != ranked["was"]).sum()) if started else 0
    ties = int(ranked["rank"].duplicated(keep=False).sum())
    left_out, without = len(ranked) - drawn, n - len(ranked)
    return sentences(
        f"Weighted sums of the scores of {count(len(ranked), 'plan')} (n), in the order of their ranks, 1 the best;"
        " final: the sum rounded half up. Exact sums, so without intervals.",
        f"The first {drawn} are drawn, {left_out:,} left out." if left_out > 0 else "",
        f"{count(changed, 'plan')} of {len(ranked):,} {'has' if changed == 1 else 'have'} another rank than under the"
        " starting weights (was)."
        if changed
        else "",
        f"{ties:,} of them share a rank with another." if ties else "",
        f"Without a rank, for a score is missing: {count(without, 'plan')}." if without else "",
    )


def _description(rows: pd.DataFrame) -> str:
    told = rows["name"] + ": " + rows["told_score"] + ", final " + rows["told_final"] + ", rank " + rows["told_rank"]
    told += ("; it was " + rows["before"]).where(rows["before"] != "", "")
    return f"Dot chart of scores. {'. '.join(told)}."

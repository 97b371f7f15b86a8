"""Draw how plans score, dimension by dimension."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import hover, text_of, tooltip, unscaled, with_hover, x_at, x_of
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.score_table import MAX_PLANS, Panels, every_cell, expect_author, read_scores
from verifyplan.charts.theme import BLUE, FAINT, ORANGE, SIZE, WHITE
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS

TITLE = "How the plans score"
FIELDS = {
    "run_id": "Plan",
    "whole": "Dimension",
    "text": "Score",
    "evidence": "Evidence",
    "audited": "Audit",
    "refused": "Refused",
}
DRAWN = ["plan", "name", "x", "scored", "ring", "first", "mean", "hover", *FIELDS]
"""The columns that the marks need."""
MAX_LETTERED_PLANS = 20
"""Up to so many plans, scores are written into their dots."""
AUDITED = "the challenger differs by 2 or more"


@chart
def quality_scores(data: pd.DataFrame | Runs, *, by: str = "synthesizer", **options: Unpack[Options]) -> Figure:
    """Draw dots of each plan's scores from 1 to 10, a panel a dimension, with the evidence where a dot is pointed at.

    Reads `run_id, by, dimension, score, evidence, refused, disputed`, the scores of a RunSet, or the RunSet. Plans are
    in the order of their mean score, ties by name; `limit` of them are drawn (40), and the caption says which were left
    out. A refused or missing score is named in its place. The score informs and never decides a verdict (rule A10).
    Raises TableError where a score is not a whole number from 1 to 10.

    >>> keys = [
    ...     ["backup", "roll-out", "search", "import"],
    ...     ["risk_coverage", "rollback", "tests"],
    ... ]
    >>> scores = pd.MultiIndex.from_product(keys, names=["run_id", "dimension"]).to_frame(index=False)
    >>> scores = scores.assign(by="synthesizer", evidence="plan.md:3", refused=None, disputed=False)
    >>> scores["score"] = [9, 6, 7, 5, 8, 4, 7, 6, 9, 3, 5, 6]
    >>> scores.attrs["synthetic"] = True
    >>> figure = quality_scores(scores)
    >>> figure.description[:93]
    'Dot chart of the scores of 4 plans. backup: risk coverage 9, rollback 6, tests 7; mean 7.3. s'
    """
    expect_author(by)
    chosen = ChartOptions.of(options)
    scores = read_scores(data, chosen)
    (table, left_out), words = scores.in_view(), scores.words
    own = table[table["by"] == by].reset_index(drop=True)
    if own.empty:
        return empty(chosen, TITLE, f"There is no score by the {by} to draw.", own)
    means = own.groupby("run_id", sort=True)["score"].mean()
    means = means.sort_values(ascending=False, kind="stable", na_position="last")
    cells = every_cell(own, means.index[: chosen.rows(MAX_PLANS)], words)
    panels = Panels.of(cells, chosen)
    rows = _rows(cells, means, panels)
    each = (rows["name"] + " " + rows["text"]).groupby(rows["plan"], sort=False).agg(", ".join)
    shown = rows.drop_duplicates("plan").set_index("plan")["mean"]
    lines = [f"{plan}: {texts}; mean {shown[plan]}" for plan, texts in zip(map(str, each.index), each, strict=True)]
    return figure(
        lambda: panels.draw(rows[DRAWN], _marks(rows, panels)),
        chosen,
        title=TITLE,
        subtitle=f"In the order of their mean score, at the right; ringed: {AUDITED}",
        caption=sentences(_caption(rows, means, by), left_out, INFORMS),
        data=own,
        description=f"Dot chart of the scores of {count(len(lines), 'plan')}. {'. '.join(lines)}.",
    )


def _rows(rows: pd.DataFrame, means: pd.Series[float], panels: Panels) -> pd.DataFrame:
    scored, refused = rows["score"].notna(), rows["refused"].notna()
    disputed = rows["disputed"].astype("boolean").fillna(False).astype(bool) & scored
    mean = rows["run_id"].map(means)
    rows = rows.assign(
        text=rows["score"].map("{:.0f}".format).where(scored, "none").mask(~scored & refused, "refused"),
        scored=scored,
        ring=pd.Series(BLUE, rows.index).mask(disputed, ORANGE),
        audited=pd.Series(AUDITED, rows.index).where(disputed),
        first=~rows["run_id"].duplicated(),
        mean=mean.map("{:.1f}".format).where(mean.notna(), "none"),
        x=panels.place(rows.assign(score=rows["score"].fillna(5.5))),
    )
    return with_hover(rows, FIELDS)


def _marks(rows: pd.DataFrame, panels: Panels) -> list[alt.Chart]:
    """Draw dots, with the score in them where there is room, missing scores in words, and the means at the right."""
    base = alt.Chart().encode(x=x_of("x"))
    scored, absent = base.transform_filter("datum.scored"), base.transform_filter("!datum.scored")
    lettered = rows["plan"].nunique() <= MAX_LETTERED_PLANS
    dot = scored.mark_circle(
        size=min(230 if lettered else 130, 0.6 * panels.row**2), opacity=1, strokeWidth=2.5, color=BLUE
    )
    digits = scored.mark_text(fontSize=SIZE - 2, fontWeight="bold", color=WHITE, aria=False)
    missing = absent.mark_text(fontSize=SIZE - 1, color=FAINT)
    means = alt.Chart().transform_filter("datum.first").mark_text(align="right", fontWeight="bold", aria=False)
    return [
        dot.encode(stroke=unscaled(alt.Stroke, "ring"), **hover(FIELDS)),
        *([digits.encode(text=text_of("text"), **tooltip(FIELDS))] if lettered else []),
        missing.encode(text=text_of("text"), **hover(FIELDS)),
        means.encode(x=x_at(panels.width + 44), text=text_of("mean")),
    ]


def _caption(rows: pd.DataFrame, means: pd.Series[float], by: str) -> str:
    drawn, ringed = rows["run_id"].nunique(), int((rows["ring"] == ORANGE).sum())
    refused, absent = int((rows["text"] == "refused").sum()), int((rows["text"] == "none").sum())
    n = int(rows["scored"].sum())
    rest = means.iloc[drawn:]
    known = rest.dropna()
    range_ = f"with means from {known.min():.1f} to {known.max():.1f}" if len(known) else "without a mean"
    return sentences(
        f"Scores from 1 to 10 in {count(rows['name'].nunique(), 'dimension')}, given by the {by} to"
        f" {count(drawn, 'plan')} (n = {count(n, 'score')}); plans in the order of the mean of their scores.",
        first_drawn(drawn, len(means), "plan", range_),
        f"Ringed: {AUDITED} ({count(ringed, 'score')})." if ringed else "",
        f"Refused, and not in the means: {count(refused, 'score')}." if refused else "",
        f"Never given: {count(absent, 'score')}." if absent else "",
        "Each score is one judgement, so without an interval.",
    )

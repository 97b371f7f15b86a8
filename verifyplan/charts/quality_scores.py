"""How plans score, dimension by dimension."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.captions import INFORMS, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, tooltip, with_hover
from verifyplan.charts.labels import count
from verifyplan.charts.pixels import x_at, x_of
from verifyplan.charts.score_panels import panels, place, width_of
from verifyplan.charts.score_rows import PLANS, every_cell, expect_author, read_scores
from verifyplan.charts.tables import words
from verifyplan.charts.theme import BLUE, FAINT, ORANGE, PAPER, SIZE
from verifyplan.charts.unchecked import unchecked
from verifyplan.frames.runset import RunSet

TITLE = "How the plans score"
FIELDS = {
    "run_id": "Plan",
    "whole": "Dimension",
    "told": "Score",
    "evidence": "Evidence",
    "audited": "Audit",
    "refused": "Refused",
}
DRAWN = ["plan", "name", "x", "given", "ring", "first", "mean", "hover", *FIELDS]
"""The columns that go into the picture."""
LETTERED = 20
"""Up to so many plans, scores are written into their dots."""
AUDITED = "the challenger differs by 2 or more"


def quality_scores(scores: pd.DataFrame | RunSet, *, by: str = "synthesizer") -> Figure:
    """Dots of each plan's scores from 1 to 10, a panel a dimension, with the evidence where a dot is pointed at.

    Reads `run_id, by, dimension, score, evidence, refused, disputed`, the scores of a RunSet, or the RunSet. Plans
    stand in the order of their mean score, ties by name; 40 are drawn at most, and the caption says which were left
    out. A score that was refused or never given is said in its place. The score informs and never decides a verdict
    (rule A10). `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing or a score is no
    whole number from 1 to 10.

    >>> scores = pd.DataFrame({"run_id": "p", "by": "synthesizer", "dimension": ["risk_coverage", "tone"],
    ...     "score": [7, 8], "evidence": "p.md:3", "refused": None, "disputed": False})
    >>> quality_scores(scores).description
    'Dot chart of the scores of 1 plan. p: risk coverage 7, tone 8; mean 7.5.'
    """
    expect_author(by)
    table, synthetic = read_scores(scores)
    own = table[table["by"] == by].reset_index(drop=True)
    if own.empty:
        return empty(TITLE, f"There is no score by the {by} to draw.", own)
    means = _means(own)
    rows = _rows(own, means)
    key = f"In the order of their mean score, at the right; ringed: {AUDITED}"
    with unchecked():
        return figure(
            _drawn(rows),
            title=TITLE,
            subtitle=subtitle(key, synthetic),
            caption=sentences(_caption(rows, means, by), INFORMS, synthetic_is(synthetic)),
            data=own,
            description=_description(rows),
        )


def _means(own: pd.DataFrame) -> pd.Series[float]:
    """The mean of each plan's scores, highest first; plans without any come last."""
    means = own.groupby("run_id", sort=True)["score"].mean()
    return means.sort_values(ascending=False, kind="stable", na_position="last")


def _rows(own: pd.DataFrame, means: pd.Series[float]) -> pd.DataFrame:
    rows = every_cell(own, means.index[:PLANS])
    given, refused = rows["score"].notna(), rows["refused"].notna()
    told = rows["score"].map("{:.0f}".format).where(given, "none").mask(~given & refused, "refused")
    disputed = rows["disputed"].astype("boolean").fillna(False).astype(bool) & given
    mean = rows["run_id"].map(means)
    rows = rows.assign(
        told=told,
        given=given,
        ring=pd.Series(BLUE, rows.index).mask(disputed, ORANGE),
        audited=pd.Series(AUDITED, rows.index).where(disputed),
        first=~rows["run_id"].duplicated(),
        mean=mean.map("{:.1f}".format).where(mean.notna(), "none"),
        x=place(rows.assign(score=rows["score"].fillna(5.5))),
    )
    return with_hover(rows, FIELDS)


def _drawn(rows: pd.DataFrame) -> alt.LayerChart:
    """Dots, with the score in them where there is room, what is missing in words, and the means at the right."""
    base = alt.Chart().encode(x=x_of("x"))
    given, absent = base.transform_filter("datum.given"), base.transform_filter("!datum.given")
    lettered = rows["plan"].nunique() <= LETTERED
    stroke = alt.Stroke(field="ring", type="nominal", scale=None)
    dot = given.mark_circle(size=230 if lettered else 130, opacity=1, strokeWidth=2.5, color=BLUE)
    digits = given.mark_text(fontSize=SIZE - 2, fontWeight="bold", color=PAPER, aria=False)
    digits = digits.encode(text=words("told"), **tooltip(FIELDS))
    missing = absent.mark_text(fontSize=SIZE - 1, color=FAINT).encode(text=words("told"), **hover(FIELDS))
    means = alt.Chart().transform_filter("datum.first").mark_text(align="right", fontWeight="bold", aria=False)
    right = means.encode(x=x_at(width_of(rows) + 44), text=words("mean"))
    marks = [dot.encode(stroke=stroke, **hover(FIELDS)), *([digits] if lettered else []), missing, right]
    return panels(rows[DRAWN], marks)


def _caption(rows: pd.DataFrame, means: pd.Series[float], by: str) -> str:
    drawn, ringed = rows["run_id"].nunique(), int((rows["ring"] == ORANGE).sum())
    refused, absent = int((rows["told"] == "refused").sum()), int((rows["told"] == "none").sum())
    n = int(rows["given"].sum())
    return sentences(
        f"Scores from 1 to 10 in {count(rows['name'].nunique(), 'dimension')}, given by the {by} to"
        f" {count(drawn, 'plan')} (n = {count(n, 'score')}); plans in the order of the mean of their scores.",
        _left_out(means),
        f"Ringed: {AUDITED} ({count(ringed, 'score')})." if ringed else "",
        f"Refused, and not in the means: {count(refused, 'score')}." if refused else "",
        f"Never given: {count(absent, 'score')}." if absent else "",
        "Each score is one judgement, so without an interval.",
    )


def _left_out(means: pd.Series[float]) -> str:
    rest = means.iloc[PLANS:]
    if rest.empty:
        return ""
    known = rest.dropna()
    these = f", with means from {known.min():.1f} to {known.max():.1f}" if len(known) else ", without a mean"
    return f"The first {PLANS} of {count(len(means), 'plan')} are drawn; {len(rest):,} are left out{these}."


def _description(rows: pd.DataFrame) -> str:
    told = (rows["name"] + " " + rows["told"]).groupby(rows["plan"], sort=False).agg(", ".join)
    means = rows.drop_duplicates("plan").set_index("plan")["mean"]
    lines = [f"{plan}: {each}; mean {means[plan]}" for plan, each in zip(map(str, told.index), told, strict=True)]
    return f"Dot chart of the scores of {count(len(lines), 'plan')}. {'. '.join(lines)}."

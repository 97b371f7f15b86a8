"""Draw where the synthesizer and the challenger score a plan differently: the challenger's audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import hover, text_of, unscaled, with_hover, x_at, x_of
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.score_table import MAX_PLANS, Panels, every_cell, read_scores
from verifyplan.charts.theme import BLUE, FAINT, GREY, INK, PAPER, SIZE, VERMILLION
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS

TITLE = "Where the audit differs"
KEY = "Filled: the synthesizer; open: the challenger; red: 2 or more apart, counted above; right: points apart in all"
FIELDS = {
    "run_id": "Plan",
    "whole": "Dimension",
    "own_text": "Synthesizer",
    "own_evidence": "Synthesizer's evidence",
    "audit_text": "Challenger",
    "audit_evidence": "Challenger's evidence",
    "word": "Difference",
}
DRAWN = ["name", "plan", "own_x", "audit_x", "color", "kind", "paired", "first", "total", *FIELDS, "hover"]
"""The columns that the marks need."""
SAME, NEAR, DISPUTED = "the same score", "differs by 1", "disputed"
UNSCORED, UNAUDITED = "no score", "not audited"


@chart
def audit(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw two scores of each plan and dimension, joined by a line: the synthesizer's, and the challenger's audit.

    Reads `run_id, by, dimension, score, evidence, refused, disputed`, the scores of a RunSet, or the RunSet. A
    difference of 2 or more is disputed; both scores are kept, and neither wins (rule A10). Plans are in the order of
    how far the two are apart in all, ties by name; `limit` of them are drawn (40). Plans without an audit are not
    drawn, and the caption says how many; a single dimension without one is named in its place. The score informs and
    never decides a verdict. Raises TableError where a score is not a whole number from 1 to 10.

    >>> keys = [
    ...     ["backup", "roll-out", "search"],
    ...     ["risk_coverage", "rollback"],
    ...     ["synthesizer", "challenger"],
    ... ]
    >>> scores = pd.MultiIndex.from_product(
    ...     keys, names=["run_id", "dimension", "by"]
    ... ).to_frame(index=False)
    >>> scores = scores.assign(evidence="plan.md:3", refused=None, disputed=False)
    >>> scores["score"] = [9, 6, 7, 7, 5, 6, 8, 4, 7, 7, 6, 5]
    >>> scores.attrs["synthetic"] = True
    >>> figure = audit(scores)
    >>> figure.description[:101]
    'Two scores each of 3 plans, by synthesizer and challenger. roll-out: risk coverage 5 and 6; rollback '
    """
    chosen = ChartOptions.of(options)
    scores = read_scores(data, chosen)
    (table, left_out), words = scores.in_view(), scores.words
    both = _pairs(table, words)
    audited = [plan for plan, part in both.groupby("run_id", sort=True) if part["gap"].notna().any()]
    without = both["run_id"].nunique() - len(audited)
    if not audited:
        message = f"There is no audit to draw ({count(without, 'plan')} without one)."
        return empty(chosen, TITLE, message if without else "There is no score to draw.", table)
    whole = both[both["run_id"].isin(audited)]
    totals = whole.groupby("run_id", sort=True)["gap"].sum().sort_values(ascending=False, kind="stable")
    limit = chosen.rows(MAX_PLANS)
    cells = every_cell(both, totals.index[:limit], words)
    panels = Panels.of(cells, chosen)
    rows = _rows(cells, totals, panels)
    disputed = whole[whole["kind"] == DISPUTED].groupby("dimension").size()
    scored = whole[whole["gap"].notna()].groupby("dimension").size()
    names = rows.drop_duplicates("name").set_index("name")["dimension"]
    notes = {str(name): f"{disputed.get(key, 0):,} of {scored.get(key, 0):,}" for name, key in names.items()}
    plans = _plan_texts(rows)
    return figure(
        lambda: panels.draw(rows[DRAWN], _marks(panels), notes),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(_caption(whole, totals, limit, without), left_out, INFORMS),
        data=table,
        description=f"Two scores each of {count(len(plans), 'plan')}, by synthesizer and challenger."
        f" {'. '.join(plans)}.",
    )


def _pairs(table: pd.DataFrame, words: Mapping[str, str]) -> pd.DataFrame:
    """Return a row for each plan and dimension, with both scores, both pieces of evidence, and their difference."""
    keys, texts = ["run_id", "dimension"], ["score", "evidence"]
    own, other = (table.loc[table["by"] == by, keys + texts] for by in ("synthesizer", "challenger"))
    both = own.merge(other, on=keys, how="outer", suffixes=("_own", "_audit"))
    order = list(words)
    both = both.sort_values("dimension", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)
    gap = (both["score_own"] - both["score_audit"]).abs()
    kind = pd.Series(NEAR, both.index).mask(gap == 0, SAME).mask(gap >= 2, DISPUTED)
    kind = kind.mask(both["score_audit"].isna(), UNAUDITED).mask(both["score_own"].isna(), UNSCORED)
    return both.assign(gap=gap, kind=kind)


def _rows(cells: pd.DataFrame, totals: pd.Series[float], panels: Panels) -> pd.DataFrame:
    kind = cells["kind"].fillna(UNSCORED)
    points = cells["gap"].map("{:.0f}".format)
    apart = kind.isin([NEAR, DISPUTED])
    middle = panels.place(cells.assign(score=5.5))
    rows = cells.assign(
        kind=kind,
        word=("disputed: " + points + " apart").where(kind == DISPUTED, kind),
        own_text=cells["score_own"].map("{:.0f}".format).where(cells["score_own"].notna(), "none"),
        audit_text=cells["score_audit"].map("{:.0f}".format).where(cells["score_audit"].notna(), "none"),
        own_evidence=cells["evidence_own"],
        audit_evidence=cells["evidence_audit"],
        own_x=panels.place(cells, "score_own").fillna(middle),
        audit_x=panels.place(cells, "score_audit").fillna(middle),
        color=pd.Series(GREY, cells.index).mask(kind == DISPUTED, VERMILLION).where(apart, BLUE),
        paired=cells["gap"].notna(),
        first=~cells["run_id"].duplicated(),
        total=cells["run_id"].map(totals).map("{:.0f}".format),
    )
    return with_hover(rows, FIELDS)


def _marks(panels: Panels) -> list[alt.Chart]:
    """Draw lines between the scores, the challenger's open dot, the synthesizer's filled one, sums at the right."""
    base = alt.Chart().encode(x=x_of("own_x"))
    both, absent = base.transform_filter("datum.paired"), base.transform_filter("!datum.paired")
    line = both.mark_rule(strokeWidth=3, aria=False)
    other = both.mark_point(size=110, fill=PAPER, stroke=INK, strokeWidth=1.5, opacity=1)
    own = both.mark_circle(size=46, color=BLUE, opacity=1)
    missing = absent.mark_text(fontSize=SIZE - 1, color=FAINT)
    sums = alt.Chart().transform_filter("datum.first").mark_text(align="right", fontWeight="bold", aria=False)
    return [
        line.encode(x2=alt.X2(field="audit_x"), color=unscaled(alt.Color, "color")),
        other.encode(x=x_of("audit_x"), **hover(FIELDS)),
        own.encode(**hover(FIELDS)),
        missing.encode(text=text_of("kind"), **hover(FIELDS)),
        sums.encode(x=x_at(panels.width + 40), text=text_of("total")),
    ]


def _caption(whole: pd.DataFrame, totals: pd.Series[float], limit: int, without: int) -> str:
    counts = whole["kind"].value_counts()
    absent = sum(int(counts.get(kind, 0)) for kind in (UNSCORED, UNAUDITED))
    n = int(counts.sum()) - absent
    same, near, disputed = (f"{counts.get(kind, 0):,}" for kind in (SAME, NEAR, DISPUTED))
    n_plans = len(totals)
    left_out = f"{totals.iloc[limit]:.0f} points apart or less" if n_plans > limit else ""
    return sentences(
        f"Scores of {count(len(totals), 'plan')} by the synthesizer (filled) and by the challenger's audit (open);"
        f" n = {count(n, 'pair')} of scores: {same} the same, {near} apart by 1, {disputed} by 2 or more"
        " (disputed). Below the name of each dimension: how many plans are disputed there. At the right: how many"
        " points the two are apart in all, which orders the plans.",
        first_drawn(min(limit, n_plans), n_plans, "plan", left_out),
        f"Not drawn, since none of their scores was audited: {count(without, 'plan')}." if without else "",
        f"Without one of the two scores: {count(absent, 'cell')}." if absent else "",
        "Both scores are kept; neither wins. Single judgements, so without intervals.",
    )


def _plan_texts(rows: pd.DataFrame) -> list[str]:
    disputed = rows["kind"].map({DISPUTED: ", disputed"}).fillna("")
    both = rows["name"] + " " + rows["own_text"] + " and " + rows["audit_text"] + disputed
    apart = rows["kind"] != SAME
    lines = both[apart].groupby(rows["plan"], sort=False).agg("; ".join)
    return [f"{plan}: {lines.get(plan, 'the same scores')}" for plan in dict.fromkeys(rows["plan"])]

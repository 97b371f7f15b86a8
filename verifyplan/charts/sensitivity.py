"""What each weight does to the scores: a tornado of one plan, or of all plans together."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.captions import INFORMS, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, plain, short
from verifyplan.charts.score_rows import dimension_names, in_words
from verifyplan.charts.tables import checked
from verifyplan.charts.tornado import all_plans, one_plan
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import InputError, Problem, expect

COLUMNS = ("plan", "dimension", "direction", "weight", "score", "rank", "base_score", "base_rank")
TITLE = "What each weight does"
COLORED = "orange: the weight lowered, blue: raised"


def sensitivity(table: pd.DataFrame, plan: str | None = None) -> Figure:
    """A tornado: how far a plan's score moves as each weight is lowered and raised alone, the widest move on top.

    Reads what `weights.sensitivity` returns: `plan, dimension, direction, weight, score, rank, base_score, base_rank`.
    With `plan`, or where there is one plan, bars begin at the plan's score under the chosen weights; for many plans
    they show the mean absolute change of score, from 0, and how many plans change their rank. Plans without a score
    are left out, and the caption says so. The score informs and never decides a verdict (rules A10, F4).
    `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing, InputError for a plan that
    is not there.

    >>> row = {"plan": "p", "dimension": "tone", "direction": "lower", "weight": 0.1, "score": 7.5, "rank": 1}
    >>> sensitivity(pd.DataFrame([row | {"base_score": 7, "base_rank": 1}])).description
    'Bars of how the score of p, 7.00, moves. tone: 7.50 with weight 0.10.'
    """
    expect(table, pd.DataFrame, "table", "give what weights.sensitivity(scores) returns")
    whole, synthetic = checked(table, COLUMNS, "sensitivity"), bool(table.attrs.get("synthetic"))
    chosen = _chosen(whole.assign(plan=whole["plan"].astype(str)), plan)
    known = chosen.dropna(subset=["score", "base_score", "rank", "base_rank"])
    if known.empty:
        return empty(TITLE, "There is no score to draw.", chosen)
    names = dimension_names(known["dimension"].astype(str))
    rows = known.assign(
        name=known["dimension"].astype(str).map(names),
        whole=known["dimension"].astype(str).map(in_words),
        direction=known["direction"].astype(str).map(plain),
        move=(known["score"] - known["base_score"]).astype("float64"),
        moved=known["rank"].astype("int64") != known["base_rank"].astype("int64"),
    )
    without = chosen["plan"].nunique() - rows["plan"].nunique()
    with unchecked():
        chart, key, caption, description = _one(rows) if rows["plan"].nunique() == 1 else _many(rows)
        return figure(
            chart,
            title=TITLE,
            subtitle=subtitle(key, synthetic),
            caption=sentences(caption, _by(table), _left_out(without), INFORMS, synthetic_is(synthetic)),
            data=chosen,
            description=description,
        )


def _chosen(whole: pd.DataFrame, plan: str | None) -> pd.DataFrame:
    if plan is None:
        return whole
    part = whole[whole["plan"] == plan].reset_index(drop=True)
    if part.empty:
        have = ", ".join(list(dict.fromkeys(whole["plan"]))[:5]) or "none"
        raise InputError(Problem("plan", f"{plan!r} is not in the table", f"use one of: {have}"))
    return part


def _by(table: pd.DataFrame) -> str:
    step = table.attrs.get("by")
    others = "the others give way in proportion"
    return f"Each weight is moved by {step:g} (within 0 and 1); {others}." if step is not None else ""


def _left_out(without: int) -> str:
    return f"Left out, for a score is missing: {count(without, 'plan')}." if without else ""


def _one(rows: pd.DataFrame) -> tuple[alt.LayerChart, str, str, str]:
    name, base, rank = short(rows["plan"].iloc[0], 40), rows["base_score"].iloc[0], int(rows["base_rank"].iloc[0])
    told = rows["score"].map("{:.2f}".format) + " with weight " + rows["weight"].map("{:.2f}".format)
    lines = told.groupby(rows["name"], sort=False).agg(", ".join)
    moved = rows[rows["moved"]]
    ranks = f"goes from {int(rows['rank'].min())} to {int(rows['rank'].max())}" if len(moved) else f"stays {rank}"
    return (
        one_plan(rows),
        f"{name}: score {base:.2f}, rank {rank}; {COLORED}; w: where to",
        f"Score of {plain(rows['plan'].iloc[0])} (n = 1) as each weight is lowered and raised alone, the widest move on"
        f" top; bars begin at its score under the chosen weights, {base:.2f}, and the axis does not begin at 0. Its"
        f" rank {ranks}. Exact sums, so without intervals.",
        f"Bars of how the score of {name}, {base:.2f}, moves. "
        + "; ".join(f"{dimension}: {each}" for dimension, each in lines.items())
        + ".",
    )


def _many(rows: pd.DataFrame) -> tuple[alt.LayerChart, str, str, str]:
    groups = rows.groupby(["name", "whole", "direction"], sort=False)
    sums = groups.agg(mean=("move", lambda moves: moves.abs().mean()), changed=("moved", "sum")).reset_index()
    n, touched = rows["plan"].nunique(), rows.groupby("plan")["moved"].any().sum()
    lines = sums["name"] + " " + sums["direction"] + ": " + sums["mean"].map("{:.3f}".format)
    lines += ", " + sums["changed"].map("{:,}".format) + " change rank"
    return (
        all_plans(sums, n),
        f"{COLORED[0].upper()}{COLORED[1:]}; at the right: how many of {count(n, 'plan')} change rank",
        f"Mean absolute change of score over {count(n, 'plan')} (n) as each weight is lowered and raised alone, the"
        f" largest on top, and how many plans change their rank; {touched:,} of {n:,} do so at least once. Exact sums,"
        " so without intervals.",
        f"Bars of the mean change of score over {count(n, 'plan')}. {'; '.join(lines)}.",
    )

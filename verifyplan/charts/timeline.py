"""How plan runs converge: what is unsettled at the end of each iteration, and what the counts say of it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import with_hover
from verifyplan.charts.labels import count, shortened
from verifyplan.charts.tables import checked
from verifyplan.charts.timeline_marks import FIELDS, lines, strips
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import Problem, TableError, expect
from verifyplan.frames.runset import RunSet

COLUMNS = (
    *("run_id", "iteration", "plan_status", "plan_verdict", "strong", "blocking_open", "significant_open"),
    *("n_new", "n_settled", "closed"),
)
TITLE = "How the runs converge"
RUNS = 40
"""Runs drawn at most: more would not fit on a screen."""


def timeline(runs: RunSet | pd.DataFrame) -> Figure:
    """The BLOCKING and SIGNIFICANT challenges that are unsettled at the end of each iteration, with its status.

    Reads the `iterations` of a RunSet, or the RunSet: `run_id, iteration, plan_status, plan_verdict, strong,
    blocking_open, significant_open, n_new, n_settled, closed`. One run is drawn as two lines over its iterations;
    several as rows of bars, the run with most left unsettled at its end first, ties by name; 40 are drawn at most. An
    iteration that did not end is named so, and its counts are as they were left. Counts decide the verdict, scores
    never do (rule A3). `attrs["synthetic"]` marks generated data. Raises TableError where a column or a count
    is missing.

    >>> row = {"run_id": "r", "plan_verdict": None, "strong": False, "n_new": 1, "n_settled": 0, "closed": True}
    >>> rows = [row | {"iteration": 1, "plan_status": "BLOCKED", "blocking_open": 1, "significant_open": 2}]
    >>> timeline(pd.DataFrame(rows)).description
    'Timeline of 1 run. r: iteration 1: 1 blocking, 2 significant, BLOCKED.'
    """
    table, synthetic = _read(runs)
    if table.empty:
        return empty(TITLE, "There is no iteration to draw.", table)
    rows = _rows(table)
    several = rows["run_id"].nunique() > 1
    with unchecked():
        return figure(
            strips(rows) if several else lines(rows),
            title=TITLE if several else f"How {rows['run'].iloc[0]} converges",
            subtitle=subtitle(_KEY_SEVERAL if several else _KEY_ONE, synthetic),
            caption=sentences(_caption(table, rows), synthetic_is(synthetic)),
            data=table,
            description=_description(rows),
        )


_KEY_SEVERAL = "Unsettled challenges at the end of each iteration: BLOCKING in red, SIGNIFICANT in orange"
_KEY_ONE = "Challenges that are unsettled at the end of each iteration"


def _read(runs: RunSet | pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    if isinstance(runs, RunSet):
        table, synthetic = runs.iterations, bool(runs.runs["synthetic"].fillna(False).any())
    else:
        expect(runs, pd.DataFrame, "runs", "give a RunSet, or its iterations")
        table, synthetic = runs, bool(runs.attrs.get("synthetic"))
    plain = checked(table, COLUMNS, "iterations")
    counts = ("iteration", "blocking_open", "significant_open")
    lacking = [name for name in counts if plain[name].isna().any()]
    if lacking:
        fix = "give the iterations of a RunSet"
        raise TableError([Problem(f"iterations: column {name}", "lacks a number", fix) for name in lacking])
    return plain.astype(dict.fromkeys(counts, "int64")), synthetic


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    """The iterations of the runs that are drawn, in the order drawn, with their words."""
    whole = table.assign(run_id=table["run_id"].astype(str)).sort_values(["run_id", "iteration"], kind="stable")
    ends = whole.drop_duplicates("run_id", keep="last").sort_values(
        ["blocking_open", "significant_open", "run_id"], ascending=[False, False, True], kind="stable"
    )
    chosen = list(ends["run_id"].head(RUNS))
    rows = whole[whole["run_id"].isin(chosen)].assign(order=lambda part: part["run_id"].map(chosen.index))
    rows = rows.sort_values(["order", "iteration"], kind="stable").reset_index(drop=True)
    names = shortened(chosen, 30)
    words = [_words(*row) for row in zip(*(rows[name] for name in _SAID), strict=True)]
    rows = rows.assign(
        run=rows["run_id"].map(names),
        stage=rows["iteration"].map("iteration {:,}".format),
        word=words,
        new=rows["n_new"].map(_number),
        settled=rows["n_settled"].map(_number),
    )
    return with_hover(rows, FIELDS)


_SAID = ("plan_status", "plan_verdict", "strong", "closed")


def _words(status: Any, verdict: Any, strong: Any, closed: Any) -> str:
    """What is said of an iteration: its status, and the verdict where there is one."""
    if pd.isna(status):
        return "not ended" if pd.isna(closed) or not closed else "no status"
    end = "" if pd.isna(verdict) else f": {verdict}"
    return f"{status}{end}{' (strong)' if end and not pd.isna(strong) and strong else ''}"


def _number(value: Any) -> str:
    return "" if pd.isna(value) else f"{value:,.0f}"


def _caption(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    n, drawn = table["run_id"].nunique(), rows["run_id"].nunique()
    last = table.sort_values("iteration", kind="stable").drop_duplicates("run_id", keep="last")
    open_ends = int((~last["closed"].fillna(False).astype(bool)).sum())
    order = " Runs with most left at their end stand first." if n > 1 else ""
    return sentences(
        f"BLOCKING and SIGNIFICANT challenges that are OPEN or UNRESOLVED at the end of each iteration of"
        f" {count(n, 'run')} (n = {count(len(table), 'iteration')}), and what these counts say of it: status and"
        f" verdict.{order}",
        f"The first {drawn} runs are drawn; {n - drawn:,} are left out{_rest(last, rows)}." if n > drawn else "",
        f"{count(open_ends, 'run')} broken off within an iteration." if open_ends else "",
        "Counts, so without intervals. Counts decide the verdict; scores never do.",
    )


def _rest(last: pd.DataFrame, rows: pd.DataFrame) -> str:
    rest = last[~last["run_id"].astype(str).isin(rows["run_id"])]
    most = int((rest["blocking_open"] + rest["significant_open"]).max())
    return f", with {most:,} unsettled or fewer at their end" if most else ", with nothing unsettled at their end"


def _description(rows: pd.DataFrame) -> str:
    counts = rows["blocking_open"].map("{:,} blocking, ".format) + rows["significant_open"].map(
        "{:,} significant, ".format
    )
    told = (rows["stage"] + ": " + counts + rows["word"]).groupby(rows["run"], sort=False).agg("; ".join)
    each = [f"{run}: {text}" for run, text in told.items()]
    return f"Timeline of {count(len(each), 'run')}. {'. '.join(each)}."

"""How the pool of challenges moves from iteration to iteration."""

from __future__ import annotations

import pandas as pd

from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count
from verifyplan.charts.pool_bars import pool_bars
from verifyplan.charts.tables import checked
from verifyplan.charts.theme import STATE_COLORS
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import expect
from verifyplan.protocol.records import SEVERITIES, UNSETTLED

COLUMNS = ("run_id", "iteration", "severity", "state", "n", "new", "came", "went")
TITLE = "How the pool of challenges moves"
KEY = "Challenges at the end of each iteration; what is unsettled stands at the bottom"


def challenge_pool(pool: pd.DataFrame) -> Figure:
    """Stacked bars of the challenges in each state over the iterations, a row of bars for each severity.

    Reads what `pool(runs)` returns; several runs are added up, and a run that ended earlier goes on as it ended, so
    that no bar shrinks because a run was over. Severities without a challenge are left out and the caption says so.
    `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing.

    >>> pool = pd.DataFrame({"run_id": "r", "iteration": [1, 2], "severity": "BLOCKING", "state": ["OPEN", "RESOLVED"],
    ...     "n": [2, 2], "new": [2, 0], "came": [0, 2], "went": 0})
    >>> challenge_pool(pool).description
    'Stacked bars of challenges by state. BLOCKING: iteration 1: 2 open; iteration 2: 2 resolved.'
    """
    expect(pool, pd.DataFrame, "pool", "give what pool(runs) returns")
    whole, synthetic = checked(pool, COLUMNS, "pool"), bool(pool.attrs.get("synthetic"))
    rows = _rows(whole)
    if rows.empty:
        return empty(TITLE, "There is no challenge to draw.", whole)
    with unchecked():
        return figure(
            pool_bars(rows),
            title=TITLE,
            subtitle=subtitle(KEY, synthetic),
            caption=_caption(rows, whole, synthetic=synthetic),
            data=whole,
            description=_description(rows),
        )


def _rows(whole: pd.DataFrame) -> pd.DataFrame:
    """The counts of all runs together, states and severities in their order, those of 0 left out."""
    plain = whole.astype({"severity": "object", "state": "object", "iteration": "int64"})
    last = plain["iteration"].max() if len(plain) else 0
    summed = ["n", "new", "came", "went"]
    rows = pd.concat([_carried_on(run, last) for _, run in plain.groupby("run_id", sort=False)] or [plain])
    rows = pd.DataFrame(rows.groupby(["severity", "iteration", "state"], sort=False)[summed].sum().reset_index())
    rows = rows[rows["n"] > 0]
    ranks = rows["severity"].map(SEVERITIES.index), rows["state"].map(list(STATE_COLORS).index)
    rows = rows.assign(rank=ranks[0], order=ranks[1]).sort_values(["rank", "iteration", "order"], kind="stable")
    return pd.DataFrame(rows.reset_index(drop=True))


def _carried_on(run: pd.DataFrame, last: int) -> pd.DataFrame:
    """A run with its last iteration repeated up to the last of all runs; nothing is new or moves there."""
    end = run["iteration"].max()
    still: pd.DataFrame = run[run["iteration"] == end].assign(new=0, came=0, went=0)
    parts: list[pd.DataFrame] = [run, *(still.assign(iteration=number) for number in range(end + 1, last + 1))]
    return pd.concat(parts)


def _caption(rows: pd.DataFrame, whole: pd.DataFrame, *, synthetic: bool) -> str:
    last = rows[rows["iteration"] == rows["iteration"].max()]
    unsettled = int(last.loc[last["state"].isin(UNSETTLED), "n"].sum())
    absent = [severity for severity in SEVERITIES if severity not in set(rows["severity"])]
    ends = whole.groupby("run_id")["iteration"].max()
    runs = whole["run_id"].nunique()
    of = f" of {count(runs, 'run')}, added up," if runs > 1 else ""
    return sentences(
        f"Challenges{of} by where they stand at the end of each iteration, worst severity first; "
        f"n at the end: {count(int(last['n'].sum()), 'challenge')}, {unsettled:,} of them open or unresolved.",
        "Overflow did not fit under the caps and counts for nothing." if "overflow" in set(rows["state"]) else "",
        "Runs that ended earlier go on as they ended." if ends.nunique() > 1 else "",
        f"No challenge is {' or '.join(absent)}." if absent else "",
        "Counts, so without intervals.",
        synthetic_is(synthetic),
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for severity, part in rows.groupby("severity", sort=False):
        told = part["n"].map("{:,}".format) + " " + part["state"].str.lower()
        each = told.groupby(part["iteration"], sort=True).agg(", ".join)
        lines.append(f"{severity}: " + "; ".join(f"iteration {number}: {states}" for number, states in each.items()))
    return f"Stacked bars of challenges by state. {'. '.join(lines)}."

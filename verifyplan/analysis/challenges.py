"""The pool of a plan run's challenges over its iterations, and the coverage of the plan's sections by them."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import mark_synthetic
from verifyplan.protocol.records import SEVERITIES, STATUSES

STATES = (*STATUSES, "overflow")
"""The states of a challenge: in the pool with a status, or in overflow."""

_CHALLENGE = ["run_id", "challenge_id"]
_CELL = ["run_id", "iteration", "severity", "state"]
_STATE_TYPE = pd.CategoricalDtype(list(STATES), ordered=True)
_SEVERITY_TYPE = pd.CategoricalDtype(list(SEVERITIES), ordered=True)


def challenge_pool(runs: Runs) -> pd.DataFrame:
    """Return how the pool of challenges moves: their states at the end of each iteration, what is new, came and went.

    One row a run, iteration, severity and state, those without a challenge included: `run_id, iteration, severity,
    state, n, new, came, went`. `state` is a status or `overflow`, which is outside the pool. Of the `n` that end an
    iteration there, `new` were raised in it and `came` stood elsewhere at the end of the one before; `went` left.
    OPEN, UNRESOLVED and RESOLVED are active, RESOLVED, DEFERRED and WITHDRAWN settled (rules A2, A5). An iteration
    that did not end is shown as it was left. Runs of other kinds have no rows. `attrs["synthetic"]` marks generated
    data.

    >>> challenge_pool("live-example/plan")[["iteration", "severity", "state", "n"]].query("n > 0")
        iteration  severity       state  n
    2           1  BLOCKING  UNRESOLVED  1
    20          2  BLOCKING  UNRESOLVED  1
    38          3  BLOCKING  UNRESOLVED  1
    """
    runs = as_runs(runs)
    moves = runs.challenge_history.assign(state=state_after(runs.challenge_history)).dropna(subset="state")
    ends = moves.drop_duplicates([*_CHALLENGE, "iteration"], keep="last")
    known = runs.challenges[[*_CHALLENGE, "severity"]]
    every = known.merge(runs.iterations[["run_id", "iteration"]], on="run_id")
    every = every.merge(ends[[*_CHALLENGE, "iteration", "state"]], on=[*_CHALLENGE, "iteration"], how="left")
    every = every.sort_values([*_CHALLENGE, "iteration"], kind="stable")
    groups = every.groupby(_CHALLENGE, sort=False)
    every["state"] = groups["state"].ffill()
    every["before"] = groups["state"].shift()
    moved = every[every["before"].notna() & every["state"].ne(every["before"])]
    kinds = pd.MultiIndex.from_product([SEVERITIES, STATES], names=_CELL[2:]).to_frame(index=False)
    cells = runs.iterations[["run_id", "iteration"]].merge(kinds, how="cross")
    table = cells.assign(
        n=_counts(cells, every, "state"),
        new=_counts(cells, every[every["before"].isna()], "state"),
        came=_counts(cells, moved, "state"),
        went=_counts(cells, moved, "before"),
    )
    return mark_synthetic(table.astype({"severity": _SEVERITY_TYPE, "state": _STATE_TYPE}), runs)


def state_after(history: pd.DataFrame, *, raised: bool = False) -> pd.Series[str]:
    """Return the state that each row of a history leads to; missing where it leads to none.

    A challenge that is `raised` has a state only if `raised` is set: it is in no pool until it is admitted.
    """
    event = history["event"].astype("object")
    state = event.map({"admitted": "OPEN", "promoted": "OPEN", "overflowed": "overflow"})
    return state.mask(event.isin(("raised", "changed") if raised else ("changed",)), history["new"].astype("object"))


def _counts(cells: pd.DataFrame, challenges: pd.DataFrame, column: str) -> pd.Series[int]:
    rows = challenges.dropna(subset=column).assign(state=challenges[column]).astype({"severity": "object"})
    counts = rows.groupby(_CELL, sort=False).size().rename("n").reset_index()
    return cells.merge(counts, on=_CELL, how="left")["n"].fillna(0).astype("int64")


def coverage(runs: Runs) -> pd.DataFrame:
    """Return which sections of each plan were challenged, and how badly: one row a section, unchallenged ones included.

    Columns: `run_id, section, title, level, first, last, lines, n, blocking, significant, minor, worst`. `n` counts
    the challenges, of any status and in overflow, too, whose evidence cites a line of the section; one that cites
    two sections counts in both. `worst` is the worst severity, missing where nobody challenged. `attrs["elsewhere"]`
    counts, by run, the challenges that cite no line of the plan's sections; `attrs["synthetic"]` marks generated
    data.

    >>> coverage("live-example/plan")[["section", "lines", "n", "worst"]]
       section  lines  n     worst
    0        1     26  1  BLOCKING
    """
    runs = as_runs(runs)
    sections = runs.sections[["run_id", "section", "title", "level", "first", "last"]]
    places = runs.challenges[[*_CHALLENGE, "severity", "plan_lines"]].explode("plan_lines").dropna(subset="plan_lines")
    ends = places["plan_lines"].astype("str").str.split("-")
    places = places.assign(first=pd.to_numeric(ends.str[0]), last=pd.to_numeric(ends.str[-1]))
    cited = places.merge(sections, on="run_id", suffixes=("_cited", ""))
    within = cited[(cited["first_cited"] <= cited["last"]) & (cited["last_cited"] >= cited["first"])]
    within = within.drop_duplicates([*_CHALLENGE, "section"])
    counts = within.pivot_table(
        index=["run_id", "section"], columns="severity", values="challenge_id", aggfunc="count", observed=False
    ).reindex(columns=list(SEVERITIES), fill_value=0)
    names = [name.lower() for name in SEVERITIES]
    counts.columns = pd.Index(names)
    table = sections.assign(lines=sections["last"] - sections["first"] + 1)
    table = table.merge(counts.reset_index(), on=["run_id", "section"], how="left")
    table[names] = table[names].fillna(0).astype("int64")
    table.insert(7, "n", table[names].sum(axis=1))
    worst = pd.Series(pd.NA, table.index, dtype="object")
    for severity in reversed(SEVERITIES):
        worst = worst.mask(table[severity.lower()] > 0, severity)
    table = mark_synthetic(table.assign(worst=worst.astype(_SEVERITY_TYPE)), runs)
    found = within[_CHALLENGE].drop_duplicates().groupby("run_id").size()
    everything = runs.challenges.groupby("run_id", sort=False).size()
    missing = everything.sub(found, fill_value=0).reindex(everything.index)
    table.attrs["elsewhere"] = {str(run_id): int(n) for run_id, n in missing.items()}
    return table

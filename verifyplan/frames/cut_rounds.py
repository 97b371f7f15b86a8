"""Find the votes that a limit of the run held back, and the rounds that it cut off (rules B8, R4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.event_cross import PLAN_BODY

_LIMITS = ("max_cost", "max_tokens")
_BEGINNINGS = tuple(f"error: {limit}" for limit in _LIMITS)
"""How the explanation of a vote begins whose call a limit held back (`engine/usage_limit.py`)."""

_WHOLE = ["converged", "max-rounds-reached"]
"""How the loop of a cross run ends that no limit cut off."""

TELLING = ["kind", "task_key", "final_state", "ended_by", "added_votes"]
"""The columns of `runs` that tell whether a limit may have held back votes."""


def may_be_cut(runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return whether a limit may have held back votes of each run, as far as its row in `runs` tells.

    These are runs that did not end or were aborted, runs that may have a plan body, whose end is not in `runs`, and
    runs to which votes of other runs were added. For all others, no text of a vote has to be read.

    >>> runs = pd.DataFrame({"run_id": ["r", "s"], "kind": "cross", "final_state": ["aborted-non-result", "converged"]})
    >>> may_be_cut(runs).tolist()
    [True, False]
    """
    known = runs.reindex(columns=TELLING)
    is_open = known["kind"].eq("cross") & (
        ~known["final_state"].isin(_WHOLE) | known["task_key"].eq("implementation-planning")
    )
    is_open |= known["kind"].eq("plan") & (known["ended_by"].isna() | known["ended_by"].eq("budget"))
    is_open |= known["added_votes"].astype("float64").gt(0)
    return is_open.fillna(value=False).to_numpy(dtype=bool)


def held_back(votes: pd.DataFrame, runs: pd.DataFrame | None = None) -> npt.NDArray[np.int64]:
    """Return the positions of the votes whose call a limit of the run held back: they were never cast (rule R4).

    `votes` has `verdict` and perhaps `explanation`; with `runs`, only the votes of runs that `may_be_cut` are read.

    >>> votes = pd.DataFrame({"run_id": "r", "verdict": ["agree", "verification-error", "verification-error"],
    ...     "explanation": ["", "error: ValueError: max_cost", "error: max_cost: 0.1 dollars of 0.1 were spent"]})
    >>> held_back(votes).tolist()
    [2]
    """
    none = np.zeros(0, dtype=np.int64)
    if "explanation" not in votes:
        return none
    may_be_held: Any = True
    if runs is not None:
        open_runs = runs.loc[may_be_cut(runs), "run_id"]
        if open_runs.empty:
            return none
        may_be_held = votes["run_id"].isin(open_runs).to_numpy(dtype=bool)
    lost = votes["verdict"].eq("verification-error").fillna(value=False).to_numpy(dtype=bool)
    rows = np.flatnonzero(lost & may_be_held)
    if not len(rows):
        return none
    begins = votes["explanation"].iloc[rows].astype("str").str.startswith(_BEGINNINGS)
    return rows[begins.fillna(value=False).to_numpy(dtype=bool)]


def cut_findings(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame) -> pd.Series:
    """Return, for each finding whose last round a limit cut off, the name of the limit; missing for the others.

    A run does not judge such a round: its class of the finding is what is left where no round decided. Items of a plan
    body, and each iteration of a plan run, have rounds of their own.

    >>> runs = pd.DataFrame({"run_id": ["r"], "kind": "cross", "final_state": "aborted-non-result"})
    >>> findings = pd.DataFrame({"run_id": "r", "finding_id": ["F-1", "F-2"], "n_rounds": [1, 1], "category": None})
    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["F-1", "F-2"], "iteration": 0, "round": 1,
    ...     "verdict": ["agree", "verification-error"],
    ...     "explanation": ["", "error: max_cost: 0.0050 dollars of 0.005 were spent before r1/cy was called"]})
    >>> cut_findings(runs, findings, votes).tolist()
    ['max_cost', 'max_cost']
    """
    known = runs.reindex(columns=["run_id", *TELLING])
    cross, plan = (known["kind"].eq(kind).to_numpy(dtype=bool) for kind in ("cross", "plan"))
    aborted, over = known["final_state"].eq("aborted-non-result"), known["ended_by"].eq("budget")
    stopped = (cross & aborted.to_numpy(dtype=bool)) | (plan & over.to_numpy(dtype=bool))
    body = findings["category"].eq(PLAN_BODY).fillna(value=False).to_numpy(dtype=bool)
    of_stopped, of_cross = (findings["run_id"].isin(known.loc[which, "run_id"]) for which in (stopped, cross))
    may_be_left = of_stopped.to_numpy(dtype=bool) | (body & of_cross.to_numpy(dtype=bool))
    cut = pd.Series(None, index=findings.index, dtype="object")
    held = votes.iloc[held_back(votes, runs)] if may_be_left.any() else votes.iloc[:0]
    if held.empty:
        return cut
    placed = (
        held[[*FINDING, *_ROUND]]
        .astype("object")
        .assign(limit=held["explanation"].str.extract(f"({'|'.join(_LIMITS)})")[0])
    )
    placed = placed.merge(findings[FINDING].astype("object").assign(body=body), on=FINDING)
    limits = dict(zip(_places(placed, placed["iteration"], placed["round"]), placed["limit"], strict=True))
    left = findings.loc[may_be_left, [*FINDING, "n_rounds"]].astype("object").assign(body=body[may_be_left])
    own = votes.loc[votes["run_id"].isin(held["run_id"]).to_numpy(dtype=bool), [*FINDING, "iteration"]]
    last = own.astype(dict.fromkeys(FINDING, "object")).groupby(FINDING, as_index=False)["iteration"].max()
    iteration = left[FINDING].merge(last, on=FINDING, how="left")["iteration"]
    cut[may_be_left] = [limits.get(place) for place in _places(left, iteration, left["n_rounds"])]
    return cut


_ROUND = ["iteration", "round"]


def _places(findings: pd.DataFrame, iteration: Iterable[Any], rounds: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the round of each finding: its run, whether it is of a plan body, the iteration and the number."""
    return zip(findings["run_id"], findings["body"], iteration, rounds, strict=True)

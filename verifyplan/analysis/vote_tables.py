"""Tables that charts draw: the votes of one run as a grid, and queues shrinking over rounds."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE
from verifyplan.analysis.replay import Reading, at_iteration, replay
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet, expect_runs, mark_synthetic

_QUEUE = ["run_id", "iteration"]


def vote_grid(
    runs: RunSet, run_id: str | None = None, *, mode: Reading | None = None, iteration: int | None = None
) -> pd.DataFrame:
    """Who said what on each finding of one run, the discoverers included.

    `run_id` may be left out where there is one run. The class is the recorded one, or what `mode` makes of the
    votes (an import has no recorded class). Of a plan run's panel, the votes of one `iteration`; by default, of each
    challenge, those of the last. Columns: `finding_id, summary, round, worker, mark,
    explanation, classification`; `mark` is the basis of a disagree that has one, else the verdict, and `discovered`
    (round 0) for those who found it; `attrs["synthetic"]` marks generated data. Raises InputError for a run that
    is not there.
    """
    expect_runs(runs)
    if run_id is None and len(runs) != 1:
        have = ", ".join(runs.runs["run_id"].head(5))
        raise InputError(Problem("run_id", f"is needed: there are {len(runs)} runs", f"name one: {have}"))
    one = at_iteration(runs if run_id is None else runs.select([run_id]), iteration)
    findings = one.findings[["finding_id", "summary", "classification", "discoverers"]]
    if mode is not None or iteration is not None:
        read = replay(one, mode or "recorded").set_index("finding_id")
        classes = read["recorded" if mode is None else "classification"]
        findings = findings.assign(classification=findings["finding_id"].map(classes).astype(CLASS_TYPE))
    votes = one.votes[["finding_id", "round", "worker", "verdict", "disagree_basis", "explanation"]]
    marks = votes["disagree_basis"].astype("object").fillna(votes["verdict"].astype("object"))
    cast = votes.assign(mark=marks)[["finding_id", "round", "worker", "mark", "explanation"]]
    found = findings[["finding_id", "discoverers"]].explode("discoverers").dropna()
    found = found.rename(columns={"discoverers": "worker"}).assign(round=0, mark="discovered", explanation="")
    grid = pd.concat([found, cast.astype({"round": "int64"})], ignore_index=True)
    return mark_synthetic(findings.drop(columns="discoverers").merge(grid, on="finding_id", how="inner"), one)


def queue(runs: RunSet) -> pd.DataFrame:
    """How many findings wait for votes before and after each round, summed over the runs of one mode.

    Columns: `reading` (the runs' mode), `round` (0: as queued), `waiting`, `resolved` (by that round's votes),
    `n_runs` (runs with that mode). A panel's queues are those of its iterations, added up. A run that ended before
    a round goes on waiting with what it had left.
    """
    expect_runs(runs)
    history = runs.rounds.merge(runs.runs[["run_id", "mode"]], on="run_id")
    rows = []
    for mode, part in history.groupby("mode", observed=True):
        sizes = part.pivot_table(index=_QUEUE, columns="round", values="carried_forward_count", aggfunc="sum")
        sizes.insert(0, 0, part[part["round"] == 1].set_index(_QUEUE)["input_queue_size"])
        waiting = sizes.astype("float64").ffill(axis=1).sum()
        resolved = -waiting.diff().fillna(0)
        rows.append(
            pd.DataFrame(
                {
                    "reading": str(mode),
                    "round": waiting.index.astype("int64"),
                    "waiting": waiting.to_numpy(dtype="int64"),
                    "resolved": resolved.to_numpy(dtype="int64"),
                    "n_runs": part["run_id"].nunique(),
                }
            )
        )
    columns = ["reading", "round", "waiting", "resolved", "n_runs"]
    return mark_synthetic(pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns), runs)

"""The votes of one run as a grid, and the queue of findings that shrinks over the rounds (rule E4)."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE
from verifyplan.analysis.replay import ReplayMode, at_iteration, replay
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import mark_synthetic

_QUEUE = ["run_id", "iteration"]


def vote_matrix(
    runs: Runs, run_id: str | None = None, *, mode: ReplayMode | None = None, iteration: int | None = None
) -> pd.DataFrame:
    """Return what each worker said on each finding of one run, the discoverers included.

    `run_id` may be left out where there is one run. The class is the recorded one, or what `mode` makes of the
    votes; of a table of votes, which records none, what the rules of its mode make of them, and `attrs["classes_by"]`
    names the mode; `attrs["later_votes"]` counts votes after the round that decided their finding, and
    `attrs["decided_rounds"]` has that round by finding. Of a plan run's
    panel, the votes of one `iteration`; by default, of each challenge, those of the last. Columns: `finding_id,
    summary, round, worker, mark, explanation, classification`; `mark` is the basis of a disagree that has one, else
    the verdict, and `discovered`
    (round 0) for those who found it; `attrs["synthetic"]` marks generated data. Raises InputError for a run that
    is not there.

    >>> matrix = vote_matrix("contract", "1.2-max-rounds-reached")
    >>> matrix[["finding_id", "worker", "round", "mark"]].head(3)
      finding_id worker  round              mark
    0      F-001    ann      0        discovered
    1      F-001    bob      1             agree
    2      F-001     cy      1  counter-evidence
    """
    runs = as_runs(runs)
    if run_id is None and len(runs) != 1:
        have = ", ".join(runs.runs["run_id"].head(5))
        raise InputError(Problem("run_id", f"is needed: there are {len(runs)} runs", f"name one: {have}"))
    run = at_iteration(runs if run_id is None else runs.select([run_id]), iteration)
    findings = run.findings[["finding_id", "summary", "classification", "discoverers"]]
    by, read = None, None
    if mode is None and run.runs["kind"].eq("votes").all() and findings["classification"].isna().all():
        by = next(iter(run.runs["mode"].dropna().astype("str")), "collaborative")
        read = replay(run).set_index("finding_id")
        classes = read["classification"]
        findings = findings.assign(classification=findings["finding_id"].map(classes).astype(CLASS_TYPE))
    elif mode is not None or iteration is not None:
        read = replay(run, mode or "recorded").set_index("finding_id")
        classes = read["recorded" if mode is None else "classification"]
        findings = findings.assign(classification=findings["finding_id"].map(classes).astype(CLASS_TYPE))
    marks = run.votes["disagree_basis"].astype("object").fillna(run.votes["verdict"].astype("object"))
    cast = run.votes.assign(mark=marks)[["finding_id", "round", "worker", "mark", "explanation"]]
    discovered = findings[["finding_id", "discoverers"]].explode("discoverers").dropna()
    discovered = discovered.rename(columns={"discoverers": "worker"}).assign(round=0, mark="discovered", explanation="")
    grid = pd.concat([discovered, cast.astype({"round": "int64"})], ignore_index=True)
    table = mark_synthetic(findings.drop(columns="discoverers").merge(grid, on="finding_id", how="inner"), run)
    table.attrs |= {"classes_by": by} if by else {}
    if by and read is not None:
        decided = run.votes["finding_id"].map(read["decided_round"])
        later = decided.gt(0) & run.votes["round"].gt(decided)
        if later.any():
            rounds = read["decided_round"].astype("int64").to_dict()
            table.attrs |= {"later_votes": int(later.sum()), "decided_rounds": rounds}
    return table


def queue(runs: Runs) -> pd.DataFrame:
    """Return how many findings wait for votes before and after each round, summed over the runs of one mode.

    Columns: `mode`, `round` (0: as queued), `waiting`, `resolved` (by that round's votes),
    `n_runs` (runs with that mode). A panel's queues are those of its iterations, added up. A run that ended before
    a round goes on waiting with what it had left.

    >>> queue("contract").query("mode == 'adversarial'")[["round", "waiting", "resolved"]]
       round  waiting  resolved
    3      0        8         0
    4      1        6         2
    5      2        6         0
    """
    runs = as_runs(runs)
    history = runs.rounds.merge(runs.runs[["run_id", "mode"]], on="run_id")
    columns = ["mode", "round", "waiting", "resolved", "n_runs"]
    parts = []
    for mode, part in history.groupby("mode", observed=True):
        sizes = part.pivot_table(index=_QUEUE, columns="round", values="carried_forward_count", aggfunc="sum")
        sizes.insert(0, 0, part[part["round"] == 1].set_index(_QUEUE)["input_queue_size"])
        waiting = sizes.astype("float64").ffill(axis=1).sum()
        rows = {"round": waiting.index, "waiting": waiting.to_numpy(), "resolved": -waiting.diff().fillna(0).to_numpy()}
        parts.append(pd.DataFrame(rows).astype("int64").assign(mode=str(mode), n_runs=part["run_id"].nunique()))
    table = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    return mark_synthetic(table, runs)

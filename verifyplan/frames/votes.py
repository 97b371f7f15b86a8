"""Any long table of votes as a RunSet, and the check that a table of votes is one (SPEC E4, B7)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.frames.columns import as_text, as_truth, typed
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import BASES, VERDICT_OF_LABEL, VERDICTS
from verifyplan.rules.citations import cites_location
from verifyplan.words import counted, did_you_mean

NEEDED = ("run_id", "finding_id", "round", "worker", "verdict", "disagree_basis")
"""The columns that an analysis of votes cannot do without."""


def check_votes(votes: pd.DataFrame) -> None:
    """Raise TableError, listing all problems, unless `votes` can be classified (SPEC B7).

    Needed columns: `run_id, finding_id, round, worker, verdict, disagree_basis`. Rounds are whole numbers from 1.
    Whether they have gaps, and whether a worker votes twice on a finding in a round, is checked as votes are
    tallied; where votes carry an `iteration`, in each iteration by itself.
    """
    missing = [name for name in NEEDED if name not in votes]
    if missing:
        have = one_of(votes.columns[:12])
        fix = f"add it, empty where nothing is known; the table has {have}; or use from_votes to rename columns"
        raise TableError(Problem(f"votes: column {name}", "is missing", fix) for name in missing)
    problems = [
        *_outside(votes, "verdict", VERDICTS, empty_allowed=False),
        *_outside(votes, "disagree_basis", BASES, empty_allowed=True),
        *_empty(votes, [name for name in ("run_id", "iteration", "finding_id", "worker") if name in votes]),
    ]
    rounds = pd.to_numeric(votes["round"], errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    bad = ~((rounds >= 1) & (rounds < 2**31) & (rounds == np.floor(rounds)))
    if bad.any():
        row = int(bad.argmax())
        message = f"{votes['round'].iloc[row]} in row {row} is no round ({int(bad.sum())} such)"
        problems.append(Problem("votes: column round", message, "number the rounds 1, 2, 3"))
    if problems:
        raise TableError(problems)


def _outside(votes: pd.DataFrame, name: str, allowed: tuple[str, ...], *, empty_allowed: bool) -> list[Problem]:
    values = votes[name].drop_duplicates()
    problems = []
    if not empty_allowed and values.isna().any():
        message = f"is empty in {_rows(votes, votes[name].isna())}"
        fix = "write 'verification-error' for a vote that gave no result"
        problems.append(Problem(f"votes: column {name}", message, fix))
    unknown = sorted(str(value) for value in values.dropna() if value not in allowed)
    if unknown:
        near = did_you_mean(unknown[0], [*allowed, *VERDICT_OF_LABEL] if name == "verdict" else allowed)
        message = f"holds {one_of(unknown[:5])}{near} in {_rows(votes, votes[name].isin(unknown))}"
        labels = " (or, in from_votes, SURVIVES, SURVIVES-WITH-CAVEAT, REFUTED)" if name == "verdict" else ""
        fix = f"use {one_of(allowed)}{labels}{', or leave it empty' if empty_allowed else ''}"
        problems.append(Problem(f"votes: column {name}", message, fix))
    return problems


def _rows(votes: pd.DataFrame, wrong: pd.Series[Any]) -> str:
    """How many rows are wrong, and which vote the first of them is."""
    mask = wrong.to_numpy(dtype=bool)
    first = votes.iloc[int(mask.argmax())]
    vote = f"{first['worker']} on {first['finding_id']}"
    return f"{counted(int(mask.sum()), 'row')}, the first is row {int(mask.argmax())} ({vote})"


def _empty(votes: pd.DataFrame, names: list[str]) -> list[Problem]:
    return [
        Problem(f"votes: column {name}", f"is empty in {_rows(votes, votes[name].isna())}", "fill it, or drop the row")
        for name in names
        if votes[name].isna().any()
    ]


def from_votes(
    frame: pd.DataFrame,
    *,
    item: str,
    worker: str,
    verdict: str,
    basis: str | None = None,
    round: str | None = None,
    run: str | None = None,
    truth: str | None = None,
    explanation: str | None = None,
) -> RunSet:
    """Any long table of votes, one row a vote, as a RunSet; each argument names the column that holds it.

    Verdicts may be labels (SURVIVES, REFUTED ...) in any case. Without `round` all votes are of round 1, without
    `run` of one run named `votes`; without `basis` none is known, which replays read by `missing_basis`. An
    item's truth must be the same in all its rows. Columns that are not named are left out.

    Raises TableError listing every column that is absent and every value that does not fit.

    >>> table = pd.DataFrame({"claim": [1, 1], "judge": ["a", "b"], "says": ["agree", "REFUTED"]})
    >>> runs = from_votes(table, item="claim", worker="judge", verdict="says")
    >>> runs.votes["verdict"].tolist(), runs.findings["finding_id"].tolist()
    (['agree', 'disagree'], ['1'])
    """
    named = {
        "finding_id": item, "worker": worker, "verdict": verdict, "disagree_basis": basis, "round": round,
        "run_id": run, "truth": truth, "explanation": explanation,
    }  # fmt: skip
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    counts = frame.columns.value_counts()
    problems = [
        Problem(f"votes: {_ARGUMENTS.get(told, told)}", _absent(name, counts.get(name, 0)), _one_column(frame))
        for told, name in named.items()
        if name is not None and counts.get(name, 0) != 1
    ]
    if problems:
        raise TableError(problems)
    votes = pd.DataFrame({told: frame[name] for told, name in named.items() if name is not None})
    votes = _filled(votes.reset_index(drop=True))
    check_votes(votes)
    truths = _truths(votes) if truth is not None else None
    votes = votes.assign(round=pd.to_numeric(votes["round"]).astype("Int64"))
    return _runset(votes.drop(columns="truth", errors="ignore"), truths)


_ARGUMENTS = {"finding_id": "item", "disagree_basis": "basis", "run_id": "run"}


def _absent(name: str, count: int) -> str:
    return f"there are {count} columns {name!r}" if count else f"there is no column {name!r}"


def _one_column(frame: pd.DataFrame) -> str:
    return f"name one of its columns: {one_of(frame.columns)}"


def _filled(votes: pd.DataFrame) -> pd.DataFrame:
    """The standard columns, with what a plain table leaves unsaid, names as text and labels as verdicts."""
    filled = votes.assign(**{str(name): as_text(votes[name]) for name in votes if name not in ("round", "truth")})
    labels = filled["verdict"].drop_duplicates().dropna()
    filled["verdict"] = filled["verdict"].map({label: _verdict(label) for label in labels})
    if "disagree_basis" in filled:
        bases = filled["disagree_basis"].str.strip().str.lower()
        filled["disagree_basis"] = bases.where(bases.ne("").fillna(False).astype(bool), None)
    unsaid: dict[str, Any] = {"run_id": "votes", "round": 1, "disagree_basis": None, "explanation": None}
    return filled.assign(**{name: default for name, default in unsaid.items() if name not in filled})


def _verdict(label: str) -> str:
    """The verdict that a label in any case stands for; a label that stands for none is left for the check."""
    word = label.strip().lower()
    return word if word in VERDICTS else VERDICT_OF_LABEL.get(word, label)


def _truths(votes: pd.DataFrame) -> pd.DataFrame:
    pairs = (
        votes[["run_id", "finding_id"]]
        .assign(truth=as_truth(votes["truth"], "votes: column truth"))
        .dropna()
        .drop_duplicates()
    )
    twice = pairs[pairs.duplicated(["run_id", "finding_id"])]
    if len(twice):
        message = f"finding {twice['finding_id'].iloc[0]!r} is both true and false"
        raise TableError(Problem("votes: column truth", message, "give each finding one truth"))
    return pairs


def _runset(votes: pd.DataFrame, truths: pd.DataFrame | None) -> RunSet:
    findings = (
        votes.groupby(["run_id", "finding_id"], sort=False, observed=True)["round"].max().reset_index(name="n_rounds")
    )
    if truths is not None:
        findings = findings.merge(truths, on=["run_id", "finding_id"], how="left")
    for name in _LISTS:
        findings[name] = [[] for _ in range(len(findings))]
    rounds = findings.groupby("run_id", sort=False)["n_rounds"].max()
    sizes = findings.groupby("run_id", sort=False).size()
    runs = pd.DataFrame({"run_id": rounds.index, "kind": "votes", "effective_max_rounds": rounds.to_numpy()})
    runs = runs.assign(total_rounds=runs["effective_max_rounds"], n_findings=sizes.to_numpy(), log=False)
    cited = votes["explanation"].map(cites_location, na_action="ignore").eq(True)
    uncited = votes["disagree_basis"].eq("counter-evidence") & ~cited
    return RunSet(
        runs=typed("runs", runs),
        findings=typed("findings", findings),
        votes=typed("votes", votes.assign(iteration=0, is_origin=False, uncited=uncited)),
    )


_LISTS = ("ticket_ids", "discoverers", "consensus_workers", "dissenting_workers")

"""Read the bundled tables of real votes, and one of them as verification votes (rules B7, E4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from verifyplan.columns import fitted
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.bundled import data_folder
from verifyplan.frames.runset import RunSet
from verifyplan.frames.ties import Ties, tied_sides, ties_problems
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.frames.votes import from_votes
from verifyplan.text import did_you_mean


def votes(name: str, ties: Ties | None = None) -> pd.DataFrame:
    """Return a bundled table of real votes, one row a vote, with the columns that analyses of a panel look for.

    Every table has `item`, `worker`, `label` and `truth`; those that know of rounds, runs or costs have `round`
    (from 0), `run` and `cost`, and behind them columns of their own, which `documentation(name)` explains. An empty
    label is a vote that was lost. `attrs` has the `source`, the `licence`, and `synthetic`, which is False.
    `datasets.names()` lists the tables; data/README.md says who voted, and what is known to be wrong with each.

    `ties` says how a judge's tie counts: its top score is given to several answers (`judge-scores` and its parts), or
    its belief is exactly .5 (`debate-judges`). By default `against` the claim, as in the published figures of these
    tables; `for` it; `share`, for half of the ties, by a digest of the vote's key; `lost`, no vote. `attrs` has the
    reading under `ties`, and every figure of these votes names it.

    Raises InputError for an unknown name, an unknown reading, and a reading where no vote can be a tie.

    >>> table = votes("rte")
    >>> table.shape, table["worker"].nunique(), table.attrs["licence"]
    ((8000, 4), 164, 'MIT')
    >>> [int((votes("judge-scores/base", ties=each)["label"] == "true").sum()) for each in ("against", "share", "for")]
    [46289, 52978, 59366]
    """
    if name not in VOTE_TABLES:
        message = f"{name!r} is not a bundled table of votes{did_you_mean(name, VOTE_TABLES)}"
        raise InputError(Problem("name", message, f"use {one_of(VOTE_TABLES)}"))
    table = VOTE_TABLES[name]
    problems = ties_problems(ties, place="ties")
    if ties is not None and not table.tie:
        problems = [Problem("ties", f"no vote of {name!r} is a tie", "leave it out")]
    if problems:
        raise InputError(problems)
    stored = pd.read_parquet(data_folder() / "votes" / table.file)
    kept = pd.Series(True, index=stored.index)
    for column, values in table.only.items():
        kept &= stored[column].isin([np.nan if value is None else value for value in values])
    frame = fitted(table.columns, stored[kept].reset_index(drop=True), name)
    frame.attrs = {**stored.attrs, "name": name}
    return _with_ties(frame, table.tie, ties or "against") if table.tie else frame


def _with_ties(frame: pd.DataFrame, tie: tuple[str, str], ties: Ties) -> pd.DataFrame:
    """Return a table whose ties, those with a certain word in a certain column, are read as `ties` says."""
    column, word = tie
    tied = frame[column].eq(word).fillna(False).to_numpy(dtype=bool)
    rows = frame.loc[tied]
    if column == "verdict":
        frame.loc[tied, "verdict"] = tied_sides(ties, rows, ("agree", "disagree", "error"))
        frame.loc[tied, "label"] = tied_sides(ties, rows, ("true", "false", None))
    elif ties == "for":
        frame.loc[tied, "label"] = rows["truth"]
    elif ties != "against":  # there the label stays `tie`, which is never the truth
        frame.loc[tied, "label"] = tied_sides(ties, rows, ("A", "B", None))
    frame.attrs["ties"] = ties
    return frame


def runs_of_votes(name: str) -> RunSet:
    """Return `llmbar` or a part of it as verification votes; InputError for other tables, which have no such reading.

    Each pair is a run of four findings, so that no choice of claim or order decides a figure, and intervals are by
    pairs: "output 1 is better" and "output 2 is better", each as it was judged with the outputs in the first order and
    swapped. Whoever finds the claimed output better agrees, else disagrees; a verdict that could not be read is a
    verification error. No basis is known, as no judge gave a reason.
    """
    if not name.startswith("llmbar"):
        fix = (
            f"read it by vp.datasets.votes({name!r}), and give that to an analysis of panels, such as vp.panel; "
            "as runs, only 'llmbar' and its parts can be read"
        )
        raise InputError(Problem("dataset", f"{name!r} is a table of votes, not of runs", fix))
    table = votes(name)
    claims = [
        table.assign(
            run=table["item"],
            finding=table["item"] + f": output {output} is better, {order}",
            verdict=table[column].eq(output).map({True: "agree", False: "disagree"}).fillna("verification-error"),
            claim_is_true=table["truth"].eq(output),
        )
        for column, order in (("label", "first order"), ("swapped", "swapped"))
        for output in (1, 2)
    ]
    runs = from_votes(
        pd.concat(claims, ignore_index=True), item="finding", worker="worker", verdict="verdict", run="run",
        truth="claim_is_true", category="set",
    )  # fmt: skip
    return replace(runs, runs=runs.runs.assign(synthetic=pd.array([False] * len(runs.runs), dtype="boolean")))

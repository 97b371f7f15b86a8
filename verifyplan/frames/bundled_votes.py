"""Read the bundled tables of real votes, and one of them as verification votes (rules B7, E4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from verifyplan.columns import fitted
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.bundled import data_folder
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.frames.votes import from_votes
from verifyplan.text import did_you_mean


def votes(name: str) -> pd.DataFrame:
    """Return a bundled table of real votes, one row a vote, with the columns that analyses of a panel look for.

    Every table has `item`, `worker`, `label` and `truth`; those that know of rounds, runs or costs have `round`
    (from 0), `run` and `cost`, and behind them columns of their own, which `documentation(name)` explains. An empty
    label is a vote that was lost. `attrs` has the `source`, the `licence`, and `synthetic`, which is False.
    `datasets.names()` lists the tables; data/README.md says who voted, and what is known to be wrong with each.

    Raises InputError for an unknown name.

    >>> table = votes("rte")
    >>> table.shape, table["worker"].nunique(), table.attrs["licence"]
    ((8000, 4), 164, 'MIT')
    """
    if name not in VOTE_TABLES:
        message = f"{name!r} is not a bundled table of votes{did_you_mean(name, VOTE_TABLES)}"
        raise InputError(Problem("name", message, f"use {one_of(VOTE_TABLES)}"))
    table = VOTE_TABLES[name]
    stored = pd.read_parquet(data_folder() / "votes" / table.file)
    kept = pd.Series(True, index=stored.index)
    for column, values in table.only.items():
        kept &= stored[column].isin([np.nan if value is None else value for value in values])
    frame = fitted(table.columns, stored[kept].reset_index(drop=True), name)
    frame.attrs = {**stored.attrs, "name": name}
    return frame


def runs_of_votes(name: str) -> RunSet:
    """Return `llmbar` or a part of it as verification votes; InputError for other tables, which have no such reading.

    The claim of a pair is "output 1 is better". A judge for output 1 agrees, one for output 2 disagrees. What is
    voted in both orders of the outputs is firm: a firm disagree is counter-evidence, another is burden-not-met; an
    agree that is not firm is a supplement. A vote that could not be read is a verification error.
    """
    if not name.startswith("llmbar"):
        fix = (
            f"read it by vp.datasets.votes({name!r}), and give that to an analysis of panels, such as vp.panel; "
            "as runs, only 'llmbar' and 'llmbar/plain' can be read"
        )
        raise InputError(Problem("dataset", f"{name!r} is a table of votes, not of runs", fix))
    table = votes(name)
    first, second = (table["label"].eq(output).fillna(False) for output in (1, 2))
    firm = table["label"].eq(table["swapped"]).fillna(False)
    table = table.assign(verdict="verification-error", basis=None, claim_is_true=table["truth"].eq(1), run=name)
    for chosen, verdict in ((first & firm, "agree"), (first & ~firm, "supplement"), (second, "disagree")):
        table.loc[chosen, "verdict"] = verdict
    table["basis"] = firm.map({True: "counter-evidence", False: "burden-not-met"}).where(second)
    runs = from_votes(
        table, item="item", worker="worker", verdict="verdict", basis="basis", run="run", truth="claim_is_true",
        category="set",
    )  # fmt: skip
    return replace(runs, runs=runs.runs.assign(synthetic=pd.array([False] * len(runs.runs), dtype="boolean")))

"""The disagreement of voters on each finding, whatever class a rule gives it (rule F1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.pairing import KEY
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import VERDICT_LABELS

COLUMNS = ["votes", "pairs", "differing"]


def disagreement(runs: Runs) -> pd.DataFrame:
    """Return the share of differing pairs among all pairs of votes on a finding in one round; 0 to 1.

    What is compared is the verdict (agree, supplement, disagree), not its basis. Votes of all recorded rounds count,
    those after a deciding round too, so that the value is the same under every setting; errors and discoverers' own
    votes do not count, and votes of different rounds or iterations make no pair. The value is NaN where there is no
    pair: no vote that counts, or no more than one in a round. With two voters it is 0 or 1 a round; three who split
    2 to 1 give 2/3.

    Columns: `run_id, iteration, finding_id, votes` (that count), `pairs, differing, disagreement`; one row for each
    finding and iteration that has a vote that counts, in order of appearance. Source: the observed disagreement of
    Krippendorff 2011 (nominal), of one unit, with pairs weighted equally.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": list("FFFGGH"), "who": list("abcaba"),
    ...     "says": ["agree", "agree", "disagree", "agree", "agree", "disagree"]})
    >>> found = disagreement(from_votes(votes, item="item", worker="who", verdict="says"))
    >>> found["disagreement"].round(2).tolist()
    [0.67, 0.0, nan]
    """
    runs = as_runs(runs)
    votes = runs.votes
    counted = votes["verdict"].isin(VERDICT_LABELS) & ~votes["is_origin"].fillna(False).astype(bool)
    cast = votes.loc[counted.to_numpy(dtype=bool), [*KEY, "round", "verdict"]]
    unit, counts = _label_counts(cast, [*KEY, "round"])
    _, firsts = np.unique(unit, return_index=True)
    n = counts.sum(axis=1)
    same = (counts * (counts - 1) // 2).sum(axis=1)
    pairs = n * (n - 1) // 2
    rounds = cast[KEY].iloc[firsts].assign(votes=n, pairs=pairs, differing=pairs - same)
    table = rounds.groupby(KEY, sort=False)[COLUMNS].sum().reset_index()
    return with_share(table)


def _label_counts(votes: pd.DataFrame, key: list[str]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the unit (a distinct `key`) of each vote as a number, and the counts of labels by unit."""
    unit = votes.groupby(key, sort=False).ngroup().to_numpy(dtype=np.int64)
    label = votes["verdict"].map({name: code for code, name in enumerate(VERDICT_LABELS)}).to_numpy(dtype=np.int64)
    units = int(unit.max(initial=-1)) + 1
    n_labels = len(VERDICT_LABELS)
    counts = np.bincount(unit * n_labels + label, minlength=units * n_labels).reshape(-1, n_labels)
    return unit, counts


def with_share(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with `disagreement`, the share of `differing` in `pairs`; NaN where there is no pair."""
    return table.assign(disagreement=table["differing"] / table["pairs"].where(table["pairs"] > 0))

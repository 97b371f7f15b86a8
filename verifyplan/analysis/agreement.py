"""The agreement of workers beyond chance: alpha and kappas of their votes (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from statsmodels.stats.inter_rater import fleiss_kappa

from verifyplan.frames.load import Runs, as_runs
from verifyplan.protocol.vote import VERDICTS

LABELS = tuple(verdict for verdict in VERDICTS if verdict != "verification-error")


def agreement(runs: Runs) -> pd.DataFrame:
    """Return Krippendorff's alpha, Fleiss' kappa, and Cohen's kappa of every pair of workers, on verdicts.

    Only votes of round 1 count, since later rounds hold what was disputed; errors and discoverers' own votes are
    left out. Alpha takes every finding with two votes or more; Fleiss' kappa those with the most common number
    of votes. A measure is NaN where all said the same (chance explains everything) or nothing can be compared.

    Columns: `measure, worker_a, worker_b, value, n`; n counts the findings, and the workers are missing where the
    measure is of all. Source: Krippendorff 2011 (nominal), Fleiss 1971, Cohen 1960.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": list("FFGG"), "who": list("abab"),
    ...     "says": ["agree", "agree", "disagree", "disagree"]})
    >>> agreement(from_votes(votes, item="item", worker="who", verdict="says"))["value"].tolist()
    [1.0, 1.0, 1.0]
    """
    runs = as_runs(runs)
    votes = runs.votes
    counted = votes["round"].eq(1) & votes["verdict"].ne("verification-error") & ~votes["is_origin"].fillna(False)
    first = votes[counted.to_numpy(dtype=bool)]
    unit, label, counts = label_counts(first, ["run_id", "iteration", "finding_id"])
    worker, names = pd.factorize(first["worker"], sort=True)
    missing = [np.nan, np.nan]
    rows = [
        ("krippendorff-alpha", *missing, *_alpha(counts)),
        ("fleiss-kappa", *missing, *_fleiss(counts)),
        *_cohens_kappas(unit, worker * len(LABELS) + label, len(counts), list(names)),
    ]
    return pd.DataFrame(rows, columns=["measure", "worker_a", "worker_b", "value", "n"])


def label_counts(votes: pd.DataFrame, key: list[str]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the unit (a distinct `key`) and the label of each vote as numbers, and the counts of labels by unit."""
    unit = votes.groupby(key, sort=False).ngroup().to_numpy(dtype=np.int64)
    label = votes["verdict"].map({name: code for code, name in enumerate(LABELS)}).to_numpy(dtype=np.int64)
    units = int(unit.max(initial=-1)) + 1
    counts = np.bincount(unit * len(LABELS) + label, minlength=units * len(LABELS)).reshape(-1, len(LABELS))
    return unit, label, counts


def _alpha(counts: npt.NDArray[Any]) -> tuple[float, int]:
    """Return 1 - observed / expected disagreement over all pairs of votes within findings, and n."""
    paired = counts[counts.sum(axis=1) >= 2]
    per_unit, per_label = paired.sum(axis=1), paired.sum(axis=0)
    total = per_label.sum()
    observed = ((per_unit**2 - (paired**2).sum(axis=1)) / np.maximum(per_unit - 1, 1)).sum()
    expected = (total**2 - (per_label**2).sum()) / max(total - 1, 1)
    return float(1 - observed / expected) if expected > 0 else np.nan, len(paired)


def _fleiss(counts: npt.NDArray[Any]) -> tuple[float, int]:
    sizes = np.bincount(counts.sum(axis=1), minlength=3)
    alike = counts[counts.sum(axis=1) == int(sizes[2:].argmax()) + 2]
    defined = len(alike) and (alike.sum(axis=0) > 0).sum() > 1
    return float(fleiss_kappa(alike)) if defined else np.nan, len(alike)


def _cohens_kappas(
    unit: npt.NDArray[Any], answer: npt.NDArray[Any], units: int, names: list[str]
) -> Iterator[tuple[str, str, str, float, int]]:
    """Yield Cohen's kappa of every pair that voted on a finding in common; one matrix product makes all tables."""
    width = len(names) * len(LABELS)
    votes = csr_array((np.ones(len(unit)), (unit, answer)), shape=(units, width))
    tables = (votes.T @ votes).toarray().reshape(len(names), len(LABELS), len(names), len(LABELS))
    for a, b in zip(*np.triu_indices(len(names), k=1), strict=True):
        table = tables[a, :, b, :]
        n = table.sum()
        if n:
            by_chance = (table.sum(axis=1) @ table.sum(axis=0)) / n**2
            kappa = (np.trace(table) / n - by_chance) / (1 - by_chance) if by_chance < 1 else np.nan
            yield "cohen-kappa", names[a], names[b], float(kappa), int(n)

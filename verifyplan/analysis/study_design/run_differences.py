"""Read the differences between two conditions, finding by finding and run by run (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.compare import compare
from verifyplan.analysis.comparison import Comparison
from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.frames.load import Runs
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD
from verifyplan.text import did_you_mean

Floats = npt.NDArray[np.float64]

_OF_TRUTH = {"recall": True, "false-demotion-rate": True, "false-consensus-rate": False}
"""The metrics of held findings that are taken of the true claims alone, or of the false ones."""
METRICS = ("held", "accuracy", *CLASSIFICATIONS, *_OF_TRUTH)
"""The metrics whose difference is a mean over findings; precision and F1 have a denominator a condition."""


@dataclass(frozen=True, eq=False)
class RunDifferences:
    """The findings that a metric is taken of, each with its difference: the second condition minus the first."""

    metric: str
    conditions: tuple[str, str]
    values: Floats
    """-1, 0 or 1 a finding."""
    clusters: Clusters
    """The runs and claims of the findings."""
    run_ids: tuple[str, ...]
    """The runs in their order, by the codes in `clusters`."""
    synthetic: bool
    notes: tuple[str, ...] = ()
    """What is compared where nobody named the conditions."""

    @property
    def sizes(self) -> Floats:
        """The findings of each run."""
        return np.bincount(self.clusters.run, minlength=len(self.run_ids)).astype(np.float64)


def run_differences(data: Comparison | Runs | Mapping[str, Runs], metric: str | None = None) -> RunDifferences:
    """Return the differences of a comparison of two conditions, or of runs that are compared first.

    The metric is that of the comparison's conclusion, unless another is named. Runs without a finding that it is taken
    of are left out. Raises SettingsError for an unknown metric, and InputError for three conditions or more, for
    findings that are not paired, and where no finding counts.
    """
    comparison = data if isinstance(data, Comparison) else compare(data)
    metric = metric or comparison.metric
    _check(comparison, metric)
    first, second = comparison.conditions
    findings = comparison.findings
    if metric in _OF_TRUTH:
        findings = findings[findings["truth"].eq(_OF_TRUTH[metric]).fillna(False).astype(bool)]
    if metric == "accuracy":
        findings = findings[findings["truth"].notna()]
    if findings.empty:
        of_truth = {True: "true claims", False: "false claims", None: "claims whose truth is known"}
        claims = of_truth[_OF_TRUTH.get(metric)]
        message = f"{metric} needs {claims}, and there are none"
        raise InputError(Problem("metric", message, "give findings whose truth is known, or take 'held'"))
    clusters = clusters_of_findings(findings)
    return RunDifferences(
        metric=metric,
        conditions=(first, second),
        values=_counts(findings, second, metric) - _counts(findings, first, metric),
        clusters=clusters,
        run_ids=tuple(map(str, findings["run_id"].unique())),
        synthetic=comparison.synthetic,
        notes=() if isinstance(data, Comparison | Mapping) else (_note_one_set(first, second),),
    )


def _note_one_set(first: str, second: str) -> str:
    return (
        f"One set was given, so its votes are judged by both rules, {first} and {second}: the difference is between "
        "rules on the same votes. To compare two sets of runs, give a mapping of two names to them."
    )


def _check(comparison: Comparison, metric: str) -> None:
    if metric not in METRICS:
        message = f"must be a mean over the same findings, got {metric!r}{did_you_mean(metric, METRICS)}"
        raise SettingsError(Problem("metric", message, f"use one of {one_of(METRICS)}"))
    if len(comparison.conditions) != 2:
        message = f"must have two conditions, this one has {len(comparison.conditions)}"
        raise InputError(Problem("comparison", message, "take two of them by .between"))
    if not comparison.is_paired:
        message = "must be of findings that have a class under both conditions, and these are not paired"
        raise InputError(Problem("comparison", message, "give sets with common finding ids"))


def _counts(findings: pd.DataFrame, condition: str, metric: str) -> Floats:
    """Return 1 for each finding that counts towards a metric under a condition, else 0.

    The accuracy counts findings that are held and true, or not held and false.
    """
    wanted = (metric,) if metric in CLASSIFICATIONS else HELD
    counts = findings[f"classification_{condition}"].isin(wanted).to_numpy(dtype=np.float64)
    if metric == "accuracy":
        return np.asarray(counts == findings["truth"].astype(bool).to_numpy(), dtype=np.float64)
    return np.asarray(1 - counts if metric == "false-demotion-rate" else counts)

"""Two readings of the same findings, side by side: what changes, how much, and whether it helps (SPEC F1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.agreement import agreement
from verifyplan.analysis.bootstrap import interval, resample
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.cost import cost
from verifyplan.analysis.metrics import SHAPE, TRUTH_METRICS, UNKNOWN, Array, changed, of_reading
from verifyplan.analysis.replay import Reading, replay
from verifyplan.analysis.symmetry import symmetry_tests
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import CLASSIFICATIONS, MissingBasis

_KEY = ["run_id", "finding_id"]


def compare(
    runs: RunSet,
    other: RunSet | None = None,
    *,
    a: Reading | None = None,
    b: Reading | None = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Read the same findings in two ways and say what differs, with intervals and, where known, against truth.

    With one set, its recorded votes are judged under modes `a` and `b` (collaborative and adversarial by
    default): the effect of the rule. With two sets, real runs on the same findings are paired, `runs` read as `a`
    and `other` as `b` (both as recorded by default): the effect of rule and prompt together.

    Args:
        runs: the first set; its findings' order is kept.
        other: the second set, paired by run and finding id where run ids agree, else by finding id alone.
        a: how the first is read: `collaborative`, `adversarial` or `recorded`.
        b: how the second is read.
        max_rounds: rounds allowed in both readings; None takes each run's own.
        missing_basis: how an adversarial reading takes a disagree without a basis (see `classify`).
        resamples: of the bootstrap behind the 95 % intervals; by run, or by finding with fewer than 10 runs.
        seed: of the bootstrap.

    Returns:
        A `Comparison`: `.findings`, `.transitions`, `.summary`, `.truth`, `.tests`, and what a reader must know
        in `.notes`.

    Raises:
        InputError: if the two sets share no finding, or cannot be paired one to one.
        SettingsError, TableError: as `classify`.
    """
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise SettingsError(Problem("resamples", f"{resamples!r} is out of range", "give a whole number from 1"))
    first: Reading = a or ("collaborative" if other is None else "recorded")
    second: Reading = b or ("adversarial" if other is None else "recorded")
    left = replay(runs, first, max_rounds=max_rounds, missing_basis=missing_basis)
    right = replay(other or runs, second, max_rounds=max_rounds, missing_basis=missing_basis)
    findings, notes = _paired(left, right, paired=other is not None)
    labels = _labels(first, second, runs, other)
    sets = (runs, runs if other is None else other)
    synthetic = any(bool(one.runs["synthetic"].fillna(False).any()) for one in sets)
    notes += _notes(findings, labels, [runs] if other is None else [runs, other])
    facts = {
        "synthetic": synthetic,
        "agreement": _by_reading(agreement, sets, labels),
        "cost": _by_reading(cost, sets, labels),
    }
    return _compared(findings, labels, notes, resamples, seed, facts)


def _by_reading(
    analysis: Callable[[RunSet], pd.DataFrame], sets: tuple[RunSet, RunSet], labels: tuple[str, str]
) -> pd.DataFrame:
    """An analysis of votes for each reading's set, with the reading in the first column."""
    first = analysis(sets[0])
    parts = (first, first if sets[1] is sets[0] else analysis(sets[1]))
    named = [part.assign(reading=label) for part, label in zip(parts, labels, strict=True)]
    return pd.concat(named, ignore_index=True)[["reading", *first.columns]]


def _labels(a: Reading, b: Reading, runs: RunSet, other: RunSet | None) -> tuple[str, str]:
    """What the readings are called: their modes, told apart where they are the same."""
    labels = [_only_mode(one) if reading == "recorded" else reading for reading, one in ((a, runs), (b, other or runs))]
    return (labels[0], labels[1]) if labels[0] != labels[1] else (f"{labels[0]} (a)", f"{labels[1]} (b)")


def _only_mode(runs: RunSet) -> str:
    modes = runs.runs["mode"].dropna().unique()
    return str(modes[0]) if len(modes) == 1 else "recorded"


def _paired(left: pd.DataFrame, right: pd.DataFrame, *, paired: bool) -> tuple[pd.DataFrame, list[str]]:
    """One row a finding with both readings; findings that only one set has are left out and told."""
    key = _KEY
    if paired and not set(left["run_id"]) & set(right["run_id"]):
        key = ["finding_id"]
        for name, side in (("first", left), ("second", right)):
            twice = side.loc[side["finding_id"].duplicated(), "finding_id"]
            if len(twice):
                message = f"{twice.iloc[0]!r} stands in several runs of the {name} set, and no run id is in both sets"
                fix = "load both sets so that the runs to be paired have the same run_id"
                raise InputError(Problem("finding_id", message, fix))
    read = ["classification", "rule", "decided_round", "censored", "filled_bases"]
    both = left.merge(right[[*key, "truth", *read]], on=key, suffixes=("_a", "_b"), how="inner")
    if paired and both.empty:
        raise InputError(Problem("runs", "the two sets share no finding", "give two runs over the same finding ids"))
    both.insert(4, "truth", both["truth_a"].fillna(both["truth_b"]))
    both = both.drop(columns=["truth_a", "truth_b"])
    notes = []
    lost = len(left) + len(right) - 2 * len(both)
    if lost:
        notes.append(f"{lost} findings stand in one set only and are left out.")
    unknown = both["classification_a"].isna() | both["classification_b"].isna()
    if unknown.any():
        notes.append(f"{int(unknown.sum())} findings have neither votes nor a recorded class and are left out.")
    both = both[~unknown].reset_index(drop=True)
    differs = both["classification_a"].astype("str") != both["classification_b"].astype("str")
    return both.assign(changed=differs), notes


def _notes(findings: pd.DataFrame, labels: tuple[str, str], sets: list[RunSet]) -> list[str]:
    """What a reader must know about the figures: censoring, filled bases, failed calls (SPEC B7, B8)."""
    notes = []
    for label, side in zip(labels, "ab", strict=True):
        censored = int(findings[f"censored_{side}"].sum())
        if censored:
            notes.append(
                f"Under {label}, {censored} of {len(findings)} findings are censored: the votes that would have "
                "decided were never cast, and they count as contested or worker-unique."
            )
        filled = int(findings[f"filled_bases_{side}"].sum())
        if filled:
            notes.append(f"Under {label}, the bases of {filled} disagree votes were not recorded and were filled in.")
    votes = pd.concat([one.votes["verdict"] for one in sets])
    errors = int((votes == "verification-error").sum())
    if errors:
        notes.append(f"{errors} of {len(votes)} recorded votes are verification errors and count for nothing.")
    return notes


def _compared(
    findings: pd.DataFrame,
    labels: tuple[str, str],
    notes: list[str],
    resamples: int,
    seed: int,
    facts: dict[str, Any],
) -> Comparison:
    counts = _counts(findings)
    total = counts.sum(axis=0)
    drawn, resampled = resample(counts, resamples, seed)
    names = list(CLASSIFICATIONS)
    transitions = pd.DataFrame(total.sum(axis=-1), index=names, columns=names)
    transitions = transitions.rename_axis(index=labels[0], columns=labels[1])
    known = bool(total[..., :UNKNOWN].sum())
    metrics = [*CLASSIFICATIONS, "held", *(TRUTH_METRICS if known else ())]
    each = [_reading(total, drawn, side, metrics) for side in (0, 1)]
    if resampled == "findings":
        notes = [
            *notes,
            "There are fewer than 10 runs: the intervals resample findings, and may be too narrow.",
        ]
    return Comparison(
        a=labels[0],
        b=labels[1],
        findings=findings,
        transitions=transitions,
        mix=_mix(each, labels),
        truth=_truth(each, labels) if known else None,
        summary=_summary(total, drawn, each, metrics),
        tests=symmetry_tests(transitions.to_numpy()),
        **facts,
        n_findings=len(findings),
        n_runs=len(counts),
        resampled=resampled,
        notes=tuple(notes),
    )


def _counts(findings: pd.DataFrame) -> Array:
    """Findings by run, class under a, class under b, and truth (false, true, unknown)."""
    run, names = pd.factorize(findings["run_id"])
    truth = findings["truth"].astype("Int8").fillna(UNKNOWN).to_numpy(dtype=np.int64)
    a, b = (findings[f"classification_{side}"].cat.codes.to_numpy(dtype=np.int64) for side in "ab")
    cell = np.ravel_multi_index((run, a, b, truth), (max(len(names), 1), *SHAPE))
    return np.bincount(cell, minlength=max(len(names), 1) * int(np.prod(SHAPE))).reshape(-1, *SHAPE)


def _reading(total: Array, drawn: Array, side: int, metrics: list[str]) -> pd.DataFrame:
    """`value, low, high, n` of every metric of one reading, by metric."""
    observed, resampled = of_reading(total, side), of_reading(drawn, side)
    rows = []
    for name in metrics:
        low, high = interval(resampled[name].value)
        rows.append({"value": float(observed[name].value), "low": low, "high": high, "n": int(observed[name].n)})
    return pd.DataFrame(rows, index=pd.Index(metrics, name="metric"))


def _mix(each: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    parts = [table.loc[list(CLASSIFICATIONS)].assign(reading=label) for table, label in zip(each, labels, strict=True)]
    mix = pd.concat(parts).rename_axis("classification").reset_index().rename(columns={"value": "share"})
    mix["n"] = (mix["share"] * mix["n"]).round().fillna(0).astype("int64")
    mix["classification"] = pd.Categorical(mix["classification"], categories=CLASSIFICATIONS, ordered=True)
    return mix[["reading", "classification", "n", "share", "low", "high"]]


def _truth(each: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    parts = [table.loc[list(TRUTH_METRICS)].assign(reading=label) for table, label in zip(each, labels, strict=True)]
    return pd.concat(parts).reset_index()[["reading", "metric", "value", "low", "high", "n"]]


def _summary(total: Array, drawn: Array, each: list[pd.DataFrame], metrics: list[str]) -> pd.DataFrame:
    """Every metric under both readings; the difference is b - a, with the interval of that difference."""
    a, b = (of_reading(drawn, side) for side in (0, 1))
    differences = [interval(b[name].value - a[name].value) for name in metrics]
    sides = [table.add_prefix(f"{side}_") for side, table in zip("ab", each, strict=True)]
    table = pd.concat(sides, axis=1).rename(columns={"a_value": "a", "b_value": "b", "a_n": "n_a", "b_n": "n_b"})
    table["difference"] = table["b"] - table["a"]
    table["low"], table["high"] = zip(*differences, strict=True)
    moved = changed(total)
    low, high = interval(changed(drawn).value)
    row = {"difference": float(moved.value), "low": low, "high": high, "n_a": int(moved.n), "n_b": int(moved.n)}
    table = pd.concat([table, pd.DataFrame(row, index=["changed"])])
    columns = ["a", "a_low", "a_high", "b", "b_low", "b_high", "difference", "low", "high", "n_a", "n_b"]
    return table[columns].rename_axis("metric").reset_index()

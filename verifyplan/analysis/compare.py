"""Two readings of the same findings, side by side: what changes, how much, and whether it helps (SPEC F1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from verifyplan.analysis.agreement import agreement
from verifyplan.analysis.bootstrap import resample
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.cost import cost
from verifyplan.analysis.measured import counts_by_run, measured, mix_table, summary_table, truth_table
from verifyplan.analysis.metrics import TRUTH_METRICS, UNKNOWN
from verifyplan.analysis.notes import notes_on_findings, notes_on_intervals, notes_on_sets
from verifyplan.analysis.replay import Reading, replay
from verifyplan.analysis.symmetry import symmetry_tests
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.vote import CLASSIFICATIONS, MissingBasis
from verifyplan.words import counted

_KEY = ["run_id", "iteration", "finding_id"]


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
        other: the second set, paired by run and finding id where run ids agree, else by finding id alone; a panel's
            votes by iteration, too.
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
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SettingsError(Problem("seed", f"{seed!r} is no seed", "give a whole number from 0"))
    sets = (runs, runs if other is None else other)
    for one, name in zip(sets, ("runs", "other"), strict=True):
        expect_runs(one, name)
    first: Reading = a or ("collaborative" if other is None else "recorded")
    second: Reading = b or ("adversarial" if other is None else "recorded")
    left = replay(runs, first, max_rounds=max_rounds, missing_basis=missing_basis)
    right = replay(sets[1], second, max_rounds=max_rounds, missing_basis=missing_basis)
    findings, notes = _paired(left, right, paired=other is not None)
    labels = _labels((first, second), sets)
    synthetic = any(bool(one.runs["synthetic"].fillna(False).any()) for one in sets)
    notes += [*notes_on_findings(findings, labels), *notes_on_sets(sets[: 1 if other is None else 2])]
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


def _labels(readings: tuple[Reading, Reading], sets: tuple[RunSet, RunSet]) -> tuple[str, str]:
    """What the readings are called: their modes, told apart where they are the same."""
    a, b = (_only_mode(one) if how == "recorded" else how for how, one in zip(readings, sets, strict=True))
    return (a, b) if a != b else (f"{a} (a)", f"{b} (b)")


def _only_mode(runs: RunSet) -> str:
    modes = runs.runs["mode"].dropna().unique()
    return str(modes[0]) if len(modes) == 1 else "recorded"


def _paired(left: pd.DataFrame, right: pd.DataFrame, *, paired: bool) -> tuple[pd.DataFrame, list[str]]:
    """One row a finding with both readings; findings that only one set has are left out and told."""
    key = _KEY
    if paired and not set(left["run_id"]) & set(right["run_id"]):
        key = ["iteration", "finding_id"]
        for name, side in (("first", left), ("second", right)):
            twice = side.loc[side.duplicated(key), "finding_id"]
            if len(twice):
                message = f"{twice.iloc[0]!r} stands in several runs of the {name} set, and no run id is in both sets"
                fix = (
                    "give the runs to be paired the same run_id (the path under the loaded folder), or load one of each"
                )
                raise InputError(Problem("finding_id", message, fix))
    read = ["classification", "rule", "decided_round", "censored", "filled_bases"]
    right = right.rename(columns={"summary": "summary_b"})
    both = left.merge(right[[*key, "summary_b", "truth", *read]], on=key, suffixes=("_a", "_b"), how="inner")
    if paired and both.empty:
        raise InputError(Problem("runs", "the two sets share no finding", "give two runs over the same finding ids"))
    _refuse_other_claims(both)
    both.insert(5, "truth", both["truth_a"].fillna(both["truth_b"]))
    both = both.drop(columns=["truth_a", "truth_b", "summary_b"])
    notes = []
    lost = len(left) + len(right) - 2 * len(both)
    if lost:
        notes.append(f"Left out, as they stand in one set only: {counted(lost, 'finding')}.")
    unknown = both["classification_a"].isna() | both["classification_b"].isna()
    if unknown.any():
        told = counted(int(unknown.sum()), "finding")
        notes.append(f"Left out, with neither votes nor a recorded class: {told}.")
    both = both[~unknown].reset_index(drop=True)
    differs = both["classification_a"].astype("str") != both["classification_b"].astype("str")
    return both.assign(changed=differs), notes


def _compared(
    findings: pd.DataFrame,
    labels: tuple[str, str],
    notes: list[str],
    resamples: int,
    seed: int,
    facts: dict[str, Any],
) -> Comparison:
    counts = counts_by_run(findings)
    total = counts.sum(axis=0)
    drawn, resampled = resample(counts, resamples, seed)
    names = list(CLASSIFICATIONS)
    transitions = pd.DataFrame(total.sum(axis=-1), index=names, columns=names)
    transitions = transitions.rename_axis(index=labels[0], columns=labels[1])
    known = bool(total[..., :UNKNOWN].sum())
    metrics = [*CLASSIFICATIONS, "held", *(TRUTH_METRICS if known else ())]
    each = [measured(total, drawn, side, metrics) for side in (0, 1)]
    summary = summary_table(total, drawn, each)
    return Comparison(
        a=labels[0],
        b=labels[1],
        findings=findings,
        transitions=transitions,
        mix=mix_table(each, labels),
        truth=truth_table(each, labels) if known else None,
        summary=summary,
        tests=symmetry_tests(transitions.to_numpy()),
        **facts,
        n_findings=len(findings),
        n_runs=findings["run_id"].nunique(),
        resampled=resampled,
        notes=(*notes, *notes_on_intervals(summary, resampled)),
    )


def _refuse_other_claims(both: pd.DataFrame) -> None:
    """InputError where findings that were paired by id are other claims, or are true in one set and false in one."""
    told = both["summary"].notna() & both["summary_b"].notna()
    other = both.loc[told & (both["summary"] != both["summary_b"]), "finding_id"]
    split = both.loc[(both["truth_a"] != both["truth_b"]).fillna(False).astype(bool), "finding_id"]
    fix = "pair runs over the same findings, or give other claims other ids"
    problems = [
        Problem("finding_id", f"{counted(len(ids), 'finding')} of one id {what}, the first is {ids.iloc[0]!r}", fix)
        for ids, what in (
            (other, "make another claim in each set"),
            (split, "are true in one set and false in the other"),
        )
        if len(ids)
    ]
    if problems:
        raise InputError(problems)

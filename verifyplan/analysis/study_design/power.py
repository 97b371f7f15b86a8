"""Estimate from a pilot how many runs show a difference (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import fdtri

from verifyplan.analysis.cluster_intervals import LEVEL, Interval, share_interval
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.analysis.study_design.run_differences import RunDifferences, run_differences
from verifyplan.analysis.study_design.sample_size import (
    ASSUMED_ICC,
    FINDINGS,
    POWER,
    TOO_FEW_CLAIMS,
    Floats,
    SampleSize,
    check_numbers,
    needed_runs,
    needed_table,
    planned_power,
)
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs
from verifyplan.text import counted

RUNS = (5, 10, 20, 50, 100)
"""The numbers of runs whose power is shown unless others are asked for."""
CURVE_FINDINGS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
"""The findings per run of a curve."""
MIN_PILOT_RUNS = 10
"""A pilot of fewer runs says little about how much runs differ."""
_ASSUMED_ICC = Interval(ASSUMED_ICC, 0.0, 0.3, 1)  # of a pilot of one run, which shows nothing of it


@with_field_docs
@dataclass(frozen=True, eq=False)
class Power:
    """How surely runs show a difference, and how many do, by the variance components of a pilot."""

    metric: str
    """The metric whose difference is planned for, such as `held`."""
    conditions: tuple[str, str]
    """The pilot's conditions."""
    delta: float
    """The difference to be seen."""
    observed: float
    """The pilot's own difference: the second condition minus the first."""
    discordance: Interval
    """The share of the pilot's findings that the metric counts under one condition alone; n: findings."""
    icc: Interval
    """The correlation of two findings of one run in their difference; n: runs."""
    claim_icc: Interval | None
    """Of a pilot whose runs have the same claims, and then of all runs that are planned: the correlation of one claim's
    differences in two runs; n: claims. None where each run has claims of its own."""
    by_runs: pd.DataFrame
    """`runs, findings, power, low, high`: how often so many runs show the difference."""
    needed: pd.DataFrame
    """`findings, design_effect, runs, low, high, total`: the runs that show it with the power asked for."""
    power: float
    """The power asked for in `needed`."""
    level: float
    """The level of the interval that is to exclude 0."""
    synthetic: bool
    """Whether the pilot was generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: few runs in the pilot, repeated claims, less discordance than the difference."""
    claims: Interval | None = None
    """Of a pilot of one run: the claims of one run that show the difference, were they independent; n: the pilot's."""

    def __str__(self) -> str:
        """Return the needed runs, the power of some numbers of runs, and what both rest on."""
        pilot = f"{counted(self.icc.n, 'run')}, {counted(self.discordance.n, 'finding')}"
        first, second = self.conditions
        made = ", synthetic" if self.synthetic else ""
        lines = [
            f"to detect a difference of {100 * self.delta:g} points in {self.metric} with {100 * self.power:.10g} % "
            "power:",
            *([] if self.claims is None else [_claims_words(self.claims)]),
            *(
                f"{row['findings']:>4} findings a run: {_runs_words(row['runs'], row['low'], row['high'])}"
                for row in self.needed.to_dict("records")
            ),
            *(
                f"power with {counted(int(rows['findings'].to_numpy()[0]), 'finding')} a run: "
                + "; ".join(map(_power_words, rows.itertuples()))
                for _, rows in self.by_runs.groupby("findings", sort=False)
            ),
            f"pilot ({first} against {second}; {pilot}{made}): {_percent(self.discordance)} of findings differ, "
            f"intra-run correlation {_correlation_words(self.icc)}{self._same_claims}",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def _same_claims(self) -> str:
        if self.claim_icc is None:
            return ""
        return f"; the same claims in every run, correlation {_correlation_words(self.claim_icc)}"

    def _repr_html_(self) -> str:
        """Return power and needed runs for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.needed, self.by_runs)


def power(
    pilot: Comparison | Runs | Mapping[str, Runs],
    *,
    delta: float,
    metric: str | None = None,
    n_runs: int | Sequence[int] = RUNS,
    n_findings: int | Sequence[int] | None = None,
    power: float = POWER,
    level: float = LEVEL,
) -> Power:
    """Return how surely runs show a difference of `delta`, and how many do, by the variance components of a pilot.

    Planned for is what `compare` concludes on: that the interval of the metric named beforehand leaves 0 out. The pilot
    gives the discordance and the correlations of `sample_size`, with their intervals, and so the power and the needed
    runs have intervals, too. The pilot's own difference says nothing about the power for the difference that matters:
    name that one.

    Args:
        pilot: a comparison of two conditions whose findings are paired, or what `compare` takes first: one set (judged
            under both modes, as a note says), or a mapping of two names to sets.
        delta: the difference to be seen, such as 0.1.
        metric: `accuracy`, `held`, a class, `recall`, `false-consensus-rate` or `false-demotion-rate`; of the last
            three findings are true claims, or false ones. None takes that on which the pilot concludes: accuracy where
            truth is known, else held, unless another was named.
        n_runs: runs whose power is wanted, one number or several.
        n_findings: findings per run; None takes those of the pilot for the power, and 5 to 100 for the needed runs.
        power: of the needed runs.
        level: of the interval of the difference, which is to exclude 0; 0.95 for two conditions, and 1 - 0.05 / m if m
            others are compared with the first.

    Returns:
        A `Power`. The intra-run correlation is that of a one-way analysis of variance, never below 0, with the
        interval of its F test (Searle 1971); the ends of power and needed runs take the ends of all components, and
        so are wide. A pilot of one run says nothing of it: 0.1 [0, 0.3] is supposed, and a note says so. Where claims
        repeat over the pilot's runs, the same claims are planned for all runs, with the correlation by claim.

    Raises:
        SettingsError: listing every number out of range; for a metric that is no mean over the same findings.
        InputError: for other than two conditions, or where no finding counts; as `compare`.

    >>> power("stdlib-claims/adversarial", delta=0.05, n_runs=[12]).metric
    'accuracy'
    """
    differences = run_differences(pilot, metric)
    icc, discordance = intra_run_correlation(differences), discordance_of(differences)
    claim_icc = claim_correlation(differences) if differences.clusters.repeated else None
    own = max(1, round(float(differences.sizes.mean())))
    sizes = _listed(n_findings, FINDINGS)
    check_numbers(delta=delta, discordance=1, icc=0, power=power, level=level, n_findings=sizes)
    _check_runs(planned := _listed(n_runs, RUNS))
    ends = planning_ends(delta, discordance, icc, claim_icc)
    needed = [_needed(delta, end, sizes, power, level) for end in ends]
    return Power(
        metric=differences.metric,
        conditions=differences.conditions,
        delta=abs(delta),
        observed=float(differences.values.mean()),
        discordance=discordance,
        icc=icc,
        claim_icc=claim_icc,
        by_runs=_power_table(delta, ends, planned, [own] if n_findings is None else sizes, level),
        needed=needed_table(sizes, icc.value, needed[1], needed[0], needed[2]),
        power=power,
        level=level,
        synthetic=differences.synthetic,
        notes=tuple(_notes(differences, discordance, delta)),
        claims=_claims(delta, ends, len(differences.values), power, level) if len(differences.run_ids) == 1 else None,
    )


class PlanningEnd(NamedTuple):
    """The variance components of a pilot at one end of their intervals, or as estimated."""

    discordance: float
    icc: float
    claim_icc: float | None


def _needed(delta: float, end: PlanningEnd, sizes: Sequence[int], power: float, level: float) -> list[int | None]:
    return needed_runs(delta, end.discordance, end.icc, sizes, power, level, end.claim_icc)


def _claims(delta: float, ends: Sequence[PlanningEnd], n: int, power: float, level: float) -> Interval:
    """Return the claims that show the difference, were they independent: runs of one claim each."""
    alone = (_needed(delta, PlanningEnd(end.discordance, 0, None), [1], power, level)[0] for end in ends)
    low, value, high = (each or 0 for each in alone)
    return Interval(value, low, high, n)


def _claims_words(claims: Interval) -> str:
    more = max(0, round(claims.value) - claims.n)
    return (
        f"one run: {claims.value:,.0f} claims [{claims.low:,.0f}, {claims.high:,.0f}] if claims are independent, "
        f"{more:,} more than the {claims.n:,} of the pilot; only several runs show what changes from run to run:"
    )


def needed_by_delta(
    planned: Power | SampleSize, deltas: Sequence[float], findings: Sequence[int] = CURVE_FINDINGS
) -> pd.DataFrame:
    """Return the runs needed for several differences, as curves over the findings per run: `delta, findings, runs`.

    Of a pilot `low` and `high` are the runs at the ends of its intervals; else they are missing. Without a row where no
    number of runs shows the difference, as the claims are too few.
    """
    tables = []
    for delta in deltas:
        if isinstance(planned, Power):
            ends = planning_ends(delta, planned.discordance, planned.icc, planned.claim_icc)
        else:
            ends = [PlanningEnd(max(planned.discordance, delta), planned.icc, planned.claim_icc)]
        runs = [_needed(delta, end, findings, planned.power, planned.level) for end in ends]
        low, value, high = runs if len(runs) == 3 else (None, runs[0], None)
        tables.append(needed_table(findings, ends[len(ends) // 2].icc, value, low, high).assign(delta=delta))
    table = pd.concat(tables, ignore_index=True)[["delta", "findings", "runs", "low", "high"]]
    return table[table["runs"].notna()].reset_index(drop=True)


def _listed(values: int | Sequence[int] | None, default: Sequence[int]) -> list[int]:
    if values is None:
        return list(default)
    return [values] if isinstance(values, int | np.integer) else list(values)


def _check_runs(runs: Sequence[int]) -> None:
    problems = [
        Problem("n_runs", f"must be at least 2, got {each!r}", "give 2 or more: one run has no variance between runs")
        for each in runs
        if each < 2
    ]
    if problems:
        raise SettingsError(problems)


def discordance_of(differences: RunDifferences) -> Interval:
    """Return the share of findings that differ, with its 95 % interval."""
    differ = np.abs(differences.values)
    return share_interval(differ, np.ones(len(differ)), differences.clusters)


def intra_run_correlation(differences: RunDifferences) -> Interval:
    """Return the correlation of two findings of one run in their difference, never below 0, with its 95 % interval.

    By a one-way analysis of variance for runs of unequal sizes. With one run, or one finding a run, 0.1 [0, 0.3].
    """
    return _correlation(differences.values, differences.clusters.run) or _ASSUMED_ICC._replace(
        n=len(differences.run_ids)
    )


def claim_correlation(differences: RunDifferences) -> Interval:
    """Return the correlation of one claim's differences in two runs, by analysis of variance; 0 [0, 1] if unknown."""
    claims = differences.clusters.claim
    return _correlation(differences.values, claims) or Interval(0.0, 0.0, 1.0, len(np.unique(claims)))


def _correlation(values: Floats, group: npt.NDArray[np.int64]) -> Interval | None:
    """Return the correlation of two values of one group; None where nothing is known of it."""
    sizes = np.bincount(group).astype(np.float64)
    n_groups, n = len(sizes), len(values)
    if n_groups < 2 or n == n_groups:
        return None
    means = np.bincount(group, weights=values) / sizes
    between = float(np.sum(sizes * (means - values.mean()) ** 2)) / (n_groups - 1)
    within = float(np.sum((values - means[group]) ** 2)) / (n - n_groups)
    size = (n - float(np.sum(sizes**2)) / n) / (n_groups - 1)
    if within == 0:  # the findings of each group all differ alike; where none does at all, nothing is known
        return Interval(1, 0, 1, n_groups) if between > 0 else None
    tails = fdtri(n_groups - 1, n - n_groups, [(1 + LEVEL) / 2, 0.5, (1 - LEVEL) / 2])
    ratios = between / within / np.array([tails[0], 1.0, tails[2]])
    low, value, high = (float(np.clip((ratio - 1) / (ratio + size - 1), 0, 1)) for ratio in ratios)
    return Interval(value, low, high, n_groups)


def planning_ends(
    delta: float, discordance: Interval, icc: Interval, claim_icc: Interval | None = None
) -> list[PlanningEnd]:
    """Return discordance and correlations at their low ends, as estimated, and at their high ends.

    A difference needs at least as many findings that differ, which may be more than the pilot has.
    """
    ends = ((each.low, each.value, each.high) for each in (discordance, icc))
    claims = (None,) * 3 if claim_icc is None else (claim_icc.low, claim_icc.value, claim_icc.high)
    return [
        PlanningEnd(max(share, abs(delta)), correlation, of_claims)
        for share, correlation, of_claims in zip(*ends, claims, strict=True)
    ]


def _power_table(
    delta: float, ends: Sequence[PlanningEnd], runs: Sequence[int], findings: Sequence[int], level: float
) -> pd.DataFrame:
    grid = np.array([(n_runs, size) for size in findings for n_runs in runs])
    n_runs, sizes = grid.T
    powers = [planned_power(delta, end.discordance, end.icc, sizes, n_runs, level, end.claim_icc) for end in ends]
    return pd.DataFrame({"runs": n_runs, "findings": sizes, "power": powers[1], "low": powers[2], "high": powers[0]})


def _notes(differences: RunDifferences, discordance: Interval, delta: float) -> Iterator[str]:
    yield from differences.notes
    n_runs = len(differences.run_ids)
    if n_runs == 1:
        yield (
            "A pilot of one run cannot show how much runs differ: an intra-run correlation of 0.1 is assumed, and 0 "
            "to 0.3 for the intervals. Run the pilot three times or more."
        )
    elif n_runs < MIN_PILOT_RUNS:
        yield (
            f"The pilot has {counted(n_runs, 'run')}, which say little about how much runs differ: plan with the "
            "high end of the interval."
        )
    if discordance.value < abs(delta):
        yield (
            f"Only {100 * discordance.value:.1f} % of the pilot's findings differ, fewer than a difference of {delta:g}"
            f" needs: {abs(delta):g} is used instead."
        )


def _runs_words(runs: Any, low: Any, high: Any) -> str:
    """Return the needed runs with their interval, whose ends may be that no number of runs does."""
    if pd.isna(runs):
        return TOO_FEW_CLAIMS + ("" if pd.isna(low) else f" [{low:,} at the least]")
    return f"{runs:,} runs [{low:,}, {'no end' if pd.isna(high) else f'{high:,}'}]"


def _correlation_words(interval: Interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _power_words(row: Any) -> str:
    return f"{counted(row.runs, 'run')} {_percent(Interval(row.power, row.low, row.high, row.runs))}"


def _percent(interval: Interval) -> str:
    return f"{100 * interval.value:.0f} % [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"

"""How many runs of how many findings show a difference of a given size (rule F1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, PRIOR_DEGREES, PRIOR_EFFECT
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs

Floats = npt.NDArray[np.float64]

FINDINGS = (5, 10, 20, 50, 100)
"""The findings per run that a table of needed runs has unless others are asked for."""
POWER = 0.8
"""The power that is planned for unless another is asked for."""
MIN_DELTA = 1e-4
"""The least difference that is planned for: a smaller one needs hundreds of millions of findings."""
MAX_FINDINGS_PER_RUN = 10**8
"""The most findings of a run that are planned for."""
MAX_CERTAINTY = 1 - 1e-9
"""The highest power and level that are planned for."""
ASSUMED_ICC = 0.1
"""The intra-run correlation that is assumed where nothing is known about it."""
TOO_FEW_CLAIMS = "no number of runs does, as the claims are too few"
MAX_RUNS = 2**50
"""Where so many runs do not show a difference, none do: the claims are too few."""
SEEN_FREEDOM = 0.7
"""The part of the degrees of freedom that intervals have, as clusters are uneven by chance; measured (benchmarks)."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class SampleSize:
    """How many runs show a difference, for several numbers of findings per run."""

    delta: float
    """The difference to be seen, such as 0.1."""
    discordance: float
    """The share of findings whose outcome differs between the conditions."""
    icc: float
    """The correlation of two findings of one run in their difference."""
    power: float
    """How often so many runs show the difference."""
    level: float
    """The level of the interval that is to exclude 0."""
    needed: pd.DataFrame
    """`findings, design_effect, runs, low, high, total`: a row a number of findings per run."""
    claim_icc: float | None = None
    """The correlation of one claim's differences in two runs, which all have the same claims; None for other claims in
    every run."""
    notes: tuple[str, ...] = ()
    """What a reader must know: an intra-run correlation that is assumed."""

    def __str__(self) -> str:
        """Return the needed runs, a line a number of findings per run."""
        lines = [
            f"to detect a difference of {100 * self.delta:g} points with {100 * self.power:.10g} % power (discordance "
            f"{self.discordance:.2g}, intra-run correlation {self.icc:.2g}{self._same_claims}, "
            f"{100 * self.level:.10g} % intervals):",
            *(
                f"{row['findings']:>4} findings a run: "
                + (
                    TOO_FEW_CLAIMS
                    if pd.isna(row["runs"])
                    else f"{row['runs']:,} runs, {row['total']:,} findings in all"
                )
                for row in self.needed.to_dict("records")
            ),
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words

    @property
    def _same_claims(self) -> str:
        return "" if self.claim_icc is None else f", the same claims in every run, correlation {self.claim_icc:.2g}"

    def _repr_html_(self) -> str:
        """Return the needed runs for a notebook."""
        first, *_ = str(self).splitlines()
        return words_and_tables("\n".join([first, *self.notes]), self.needed.drop(columns=["low", "high"]))


def sample_size(
    *,
    delta: float,
    discordance: float,
    icc: float | None = None,
    claim_icc: float | None = None,
    n_findings: int | Sequence[int] = FINDINGS,
    power: float = POWER,
    level: float = LEVEL,
) -> SampleSize:
    """Return how many runs show a paired difference, for several numbers of findings per run.

    Planned for is what `compare` concludes on: that the interval of the metric named beforehand leaves 0 out
    (`planned_power`). The variance of a finding's difference is discordance - delta^2 (Connor 1987), the design effect
    of runs of m findings 1 + (m - 1) icc (Miller 2024). One finding a run is a study of one run: its claims.

    Args:
        delta: the difference to be seen, such as 0.1 in the share of held findings, at least 0.0001; its sign does not
            count.
        discordance: the share of findings whose outcome differs between the conditions; at least `delta`.
        icc: the correlation of two findings of one run in their difference; 0 where runs do not matter. None assumes
            0.1, as `power` does of a pilot of one run, and a note says so.
        claim_icc: where every run has the same claims, the correlation of a claim's differences in two runs. None for
            other claims in every run.
        n_findings: findings per run, one number or several.
        power: how often the difference is to be seen.
        level: of the interval of the difference, which is to exclude 0; 0.95 for two conditions, and 1 - 0.05 / m if m
            others are compared with the first.

    Raises:
        SettingsError: listing every number out of range.

    >>> print(sample_size(delta=0.1, discordance=0.3, icc=0.05, n_findings=[20, 50]))
    to detect a difference of 10 points with 80 % power (discordance 0.3, intra-run correlation 0.05, 95 % intervals):
      20 findings a run: 26 runs, 520 findings in all
      50 findings a run: 19 runs, 950 findings in all
    """
    notes = () if icc is not None else (_supposed(delta, discordance, power, level),)
    icc, sizes = ASSUMED_ICC if icc is None else icc, _sizes(n_findings)
    check_numbers(
        delta=delta, discordance=discordance, icc=icc, claim_icc=claim_icc, power=power, level=level, n_findings=sizes
    )
    needed = needed_runs(delta, discordance, icc, sizes, power, level, claim_icc)
    return SampleSize(
        abs(delta), discordance, icc, power, level, needed_table(sizes, icc, needed), claim_icc, notes=notes
    )


def _supposed(delta: float, discordance: float, power: float, level: float) -> str:
    """Return a note that the intra-run correlation is assumed, and how many independent findings would do."""
    check_numbers(delta=delta, discordance=discordance, icc=0, power=power, level=level, n_findings=[1])
    [findings] = needed_runs(delta, discordance, 0, [1], power, level)
    return (
        f"An intra-run correlation (icc) of {ASSUMED_ICC:g} is assumed, as nothing is known about it; a pilot of "
        f"several runs shows it (power). If findings were independent (icc=0), {findings:,} findings in all would do."
    )


def _sizes(findings: int | Sequence[int]) -> list[int]:
    return [findings] if isinstance(findings, int | np.integer) else list(findings)


def check_numbers(
    *,
    delta: float,
    discordance: float,
    icc: float,
    power: float,
    level: float,
    n_findings: Iterable[int],
    claim_icc: float | None = None,
) -> None:
    """Raise SettingsError listing every number that is out of range."""
    share = "be between 0 and 1"
    apart = f"be a difference of shares, at least {MIN_DELTA} and below 1"
    per_run = f"be between 1 and {MAX_FINDINGS_PER_RUN:,}"
    checks = [
        ("delta", delta, MIN_DELTA <= abs(delta) < 1, apart, "give one such as 0.1"),
        ("discordance", discordance, 0 <= discordance <= 1, share, "give the share of findings that differ"),
        ("icc", icc, 0 <= icc <= 1, share, "give the intra-run correlation, such as 0.05; of a pilot see power"),
        ("claim_icc", claim_icc, claim_icc is None or 0 <= claim_icc <= 1, share, "give one such as 0.02, or None"),
        ("power", power, 0.5 <= power <= MAX_CERTAINTY, f"be from 0.5 to {MAX_CERTAINTY}", "give 0.8 or 0.9"),
        ("level", level, 0 < level <= MAX_CERTAINTY, f"be above 0 and at most {MAX_CERTAINTY}", "give 0.95"),
    ]
    checks += [
        ("n_findings", size, 1 <= size <= MAX_FINDINGS_PER_RUN, per_run, "give findings per run") for size in n_findings
    ]
    problems = [
        Problem(name, f"must {must}, got {value!r}", fix) for name, value, fits, must, fix in checks if not fits
    ]
    if not problems and abs(delta) > discordance:
        message = (
            f"must be at least delta, {abs(delta):g}, got {discordance!r}: a difference needs findings that differ"
        )
        problems.append(Problem("discordance", message, "give a larger share, or a smaller delta"))
    if problems:
        raise SettingsError(problems)


def planned_power(
    delta: float,
    discordance: float,
    icc: float,
    findings: npt.ArrayLike,
    runs: npt.ArrayLike,
    level: float,
    claim_icc: float | None = None,
) -> Floats:
    """Return how often the interval of `compare` leaves 0 out, of so many runs of so many findings each.

    It is the interval of Bonett and Price for the expected number of effective pairs, with the moderated variance and
    the degrees of freedom of docs/statistics.md, and the statistic has a non-central t distribution (its approximation
    by Abramowitz and Stegun 26.7.10). With `claim_icc` all runs have the same claims, and both vary.

    >>> planned_power(0.1, 0.3, 0.05, 20, [10, 26], 0.95).round(2)
    array([0.33, 0.81])
    """
    size, n_runs = np.broadcast_arrays(np.asarray(findings, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    delta, variance = abs(delta), discordance - delta**2
    with np.errstate(divide="ignore"):
        effect = 1 + (size - 1) * icc
        freedom = np.where(size > 1, n_runs - 1, np.inf)
        if claim_icc is not None:
            of_runs, of_claims = effect, 1 + (n_runs - 1) * claim_icc
            effect = of_runs + of_claims - 1
            freedom = effect**2 / (of_runs**2 / (n_runs - 1) + of_claims**2 / (size - 1))
    moderated = effect + (PRIOR_EFFECT - effect) * PRIOR_DEGREES / (PRIOR_DEGREES + freedom)
    pairs = n_runs * size / moderated
    shrunk = pairs / (pairs + 2)
    middle = delta * shrunk
    error = np.sqrt(((variance + delta**2) * shrunk + 2 / (pairs + 2) - middle**2) / (pairs + 2))
    half = stdtrit(PRIOR_DEGREES + SEEN_FREEDOM * freedom, (1 + level) / 2) * error
    at_least_1 = np.maximum(freedom, 1)
    uncertain = half**2 / (2 * at_least_1)
    distance = middle - half * (1 - 1 / (4 * at_least_1))
    spread = variance * effect / (n_runs * size) * shrunk**2
    power = ndtr(distance / np.sqrt(spread + uncertain + np.finfo(float).tiny))
    return np.asarray(np.where(freedom > 0, power, 0.0))  # of one claim in all runs nothing is known of claims


def needed_runs(
    delta: float,
    discordance: float,
    icc: float,
    findings: Sequence[int],
    power: float,
    level: float,
    claim_icc: float | None = None,
) -> list[int | None]:
    """Return the fewest runs that show a difference, for each number of findings, at least 2; None where none do."""
    size = np.asarray(findings, dtype=np.float64)
    most = np.full(len(size), MAX_RUNS, dtype=np.int64)
    shown = planned_power(delta, discordance, icc, size, most, level, claim_icc) >= power
    few = np.full(len(size), 1, dtype=np.int64)
    while (most - few > 1).any():
        middle = few + (most - few) // 2
        enough = planned_power(delta, discordance, icc, size, np.maximum(middle, 2), level, claim_icc) >= power
        most, few = np.where(enough, middle, most), np.where(enough, few, middle)
    return [int(n) if of else None for n, of in zip(np.maximum(most, 2), shown, strict=True)]


def needed_table(
    findings: Sequence[int],
    icc: float,
    runs: Sequence[int | None],
    low: Sequence[int | None] | None = None,
    high: Sequence[int | None] | None = None,
) -> pd.DataFrame:
    """Return `.needed`; low and high are missing where nothing was estimated."""
    table = pd.DataFrame({"findings": list(findings), "design_effect": 1 + (np.asarray(findings) - 1) * icc})
    for name, values in (("runs", runs), ("low", low), ("high", high)):
        table[name] = pd.array([None] * len(findings) if values is None else list(values), dtype="Int64")
    return table.assign(total=table["findings"] * table["runs"])

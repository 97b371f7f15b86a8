"""How many runs of how many findings show a difference of a given size (rule F6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs

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
_STEPS = 200  # Student's t asks for so many runs more than the normal distribution, at most


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
    notes: tuple[str, ...] = ()
    """What a reader must know: an intra-run correlation that is assumed."""

    def __str__(self) -> str:
        """Return the needed runs, a line a number of findings per run."""
        lines = [
            f"to detect a difference of {100 * self.delta:g} points with {100 * self.power:.10g} % power (discordance "
            f"{self.discordance:.2g}, intra-run correlation {self.icc:.2g}, {100 * self.level:.10g} % intervals):",
            *(
                f"{row.findings:>4} findings a run: {row.runs:,} runs, {row.total:,} findings in all"
                for row in self.needed.itertuples()
            ),
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words

    def _repr_html_(self) -> str:
        """Return the needed runs for a notebook."""
        first, *_ = str(self).splitlines()
        return words_and_tables("\n".join([first, *self.notes]), self.needed.drop(columns=["low", "high"]))


def sample_size(
    *,
    delta: float,
    discordance: float,
    icc: float | None = None,
    n_findings: int | Sequence[int] = FINDINGS,
    power: float = POWER,
    level: float = LEVEL,
) -> SampleSize:
    """Return how many runs show a paired difference, for several numbers of findings per run.

    R = (t + t')^2 s^2 (1 + (m - 1) icc) / (m delta^2) runs of m findings, with s^2 = discordance - delta^2 the
    variance of a finding's difference (Connor 1987), 1 + (m - 1) icc the design effect of runs (Miller 2024), and
    quantiles of Student's t with R - 1 degrees of freedom. It assumes other claims in every run.

    Args:
        delta: the difference to be seen, such as 0.1 in the share of held findings, at least 0.0001; its sign does not
            count.
        discordance: the share of findings whose outcome differs between the conditions; at least `delta`.
        icc: the correlation of two findings of one run in their difference; 0 where runs do not matter. None assumes
            0.1, as `power` does of a pilot of one run, and a note says so.
        n_findings: findings per run, one number or several.
        power: how often the difference is to be seen.
        level: of the interval of the difference, which is to exclude 0.

    Raises:
        SettingsError: listing every number out of range.

    >>> print(sample_size(delta=0.1, discordance=0.3, icc=0.05, n_findings=[20, 50]))
    to detect a difference of 10 points with 80 % power (discordance 0.3, intra-run correlation 0.05, 95 % intervals):
      20 findings a run: 25 runs, 500 findings in all
      50 findings a run: 18 runs, 900 findings in all
    """
    notes = () if icc is not None else (_supposed(delta, discordance, power, level),)
    icc, sizes = ASSUMED_ICC if icc is None else icc, _sizes(n_findings)
    check_numbers(delta=delta, discordance=discordance, icc=icc, power=power, level=level, n_findings=sizes)
    needed = needed_runs(delta, discordance, icc, sizes, power, level)
    return SampleSize(abs(delta), discordance, icc, power, level, needed_table(sizes, icc, needed), notes)


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
    *, delta: float, discordance: float, icc: float, power: float, level: float, n_findings: Iterable[int]
) -> None:
    """Raise SettingsError listing every number that is out of range."""
    share = "be between 0 and 1"
    apart = f"be a difference of shares, at least {MIN_DELTA} and below 1"
    per_run = f"be between 1 and {MAX_FINDINGS_PER_RUN:,}"
    checks = [
        ("delta", delta, MIN_DELTA <= abs(delta) < 1, apart, "give one such as 0.1"),
        ("discordance", discordance, 0 <= discordance <= 1, share, "give the share of findings that differ"),
        ("icc", icc, 0 <= icc <= 1, share, "give the intra-run correlation, such as 0.05; of a pilot see power"),
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


def run_variance(delta: float, discordance: float, icc: float, findings: Sequence[int]) -> np.ndarray:
    """Return the variance of a run's mean difference, for each number of findings."""
    m = np.asarray(findings, dtype=np.float64)
    return np.asarray((discordance - delta**2) * (1 + (m - 1) * icc) / m)


def needed_runs(
    delta: float, discordance: float, icc: float, findings: Sequence[int], power: float, level: float
) -> list[int]:
    """Return the runs that show a difference, for each number of findings; at least 2 (see `sample_size`)."""
    ratio = run_variance(delta, discordance, icc, findings) / delta**2
    least = np.maximum(2, np.floor((ndtri((1 + level) / 2) + ndtri(power)) ** 2 * ratio)).astype(np.int64)
    runs = least[:, None] + np.arange(_STEPS)
    quantiles = stdtrit(runs - 1, (1 + level) / 2) + stdtrit(runs - 1, power)
    enough = runs >= quantiles**2 * ratio[:, None]
    return [int(each) for each in least + enough.argmax(axis=1)]


def needed_table(
    findings: Sequence[int],
    icc: float,
    runs: Sequence[int],
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Return `.needed`; low and high are missing where nothing was estimated."""
    table = pd.DataFrame({"findings": list(findings), "design_effect": 1 + (np.asarray(findings) - 1) * icc})
    for name, values in (("runs", runs), ("low", low), ("high", high)):
        table[name] = pd.array([pd.NA] * len(findings) if values is None else list(values), dtype="Int64")
    return table.assign(total=table["findings"] * table["runs"])

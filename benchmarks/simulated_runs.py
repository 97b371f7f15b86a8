"""Simulated runs whose true rates are known: what intervals and tests are measured on (docs/statistics.md).

Finding i of run r has, under mode m, a latent difficulty

    z[r,i,m] = sqrt(run) a[r] + sqrt(run_mode) b[r,m] + sqrt(item) c[i] + sqrt(item_mode) d[i,m] + sqrt(rest) e[r,i,m]

with independent standard normal a, b, c, d, e, and shares of variance that add up to 1, so that z is standard normal.
The finding is an error under m where z is above the quantile of 1 - rate of m: both rates are exact, whatever the
correlations are. Fresh claims have a c for each run and finding, which only the modes share; repeated claims have the
same c in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import multivariate_normal, norm

from verifyplan.analysis.clusters import Clusters

MAX_VALUES = 4_000_000  # held at once


@dataclass(frozen=True)
class Design:
    """How runs are simulated; correlations are shares of the variance of the latent difficulty."""

    runs: int
    findings: int
    """Of each run."""
    rates: tuple[float, ...] = (0.3, 0.3)
    """The rate of errors under each mode."""
    run_correlation: float = 0.0
    """Of two findings of one run under one mode; half of it is the run's, half the run's under that mode."""
    item_correlation: float = 0.4
    """Of one claim with itself: under both modes and, where claims are repeated, in all runs."""
    item_mode: float = 0.0
    """The share of a claim under one mode alone, in all runs; 0 leaves what was drawn without it as it was."""
    repeated: bool = False
    """Whether every run has the same claims."""

    @property
    def clusters(self) -> Clusters:
        """The run and the claim of each row: a row a finding, runs one after the other."""
        run = np.repeat(np.arange(self.runs), self.findings)
        rows = np.arange(self.runs * self.findings)
        return Clusters(run, rows % self.findings if self.repeated else rows)

    @property
    def changed(self) -> float:
        """The true share of findings that are an error under exactly one of two modes."""
        between_modes = self.run_correlation / 2 + self.item_correlation
        first, second = self.rates
        both = multivariate_normal(cov=[[1, between_modes], [between_modes, 1]]).cdf(norm.ppf([first, second]))
        return float(first + second - 2 * both)


def latent(design: Design, repetitions: int, seed: int | Sequence[int]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield blocks of latent difficulties of shape (repetitions in the block, modes, rows); see `Design.clusters`."""
    rng = np.random.default_rng(seed)
    modes, runs, findings = len(design.rates), design.runs, design.findings
    shared = design.run_correlation / 2
    rest = 1 - design.run_correlation - design.item_correlation - design.item_mode
    if rest < 0:
        raise ValueError(f"the shares of {design} add up to {1 - rest:g}, more than the whole variance")
    block = max(1, MAX_VALUES // (modes * runs * findings))
    for start in range(0, repetitions, block):
        size = min(block, repetitions - start)
        run = rng.standard_normal((size, 1, runs, 1))
        run_mode = rng.standard_normal((size, modes, runs, 1))
        item = rng.standard_normal((size, 1, 1 if design.repeated else runs, findings))
        own = rng.standard_normal((size, modes, runs, findings))
        z = np.sqrt(shared) * (run + run_mode) + np.sqrt(design.item_correlation) * item + np.sqrt(rest) * own
        if design.item_mode:
            z += np.sqrt(design.item_mode) * rng.standard_normal((size, modes, item.shape[2], findings))
        yield z.reshape(size, modes, runs * findings)


def errors(design: Design, repetitions: int, seed: int | Sequence[int]) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield blocks of which findings are errors, of shape (repetitions in the block, modes, rows)."""
    limits = norm.isf(np.array(design.rates))[:, None]
    for z in latent(design, repetitions, seed):
        yield z > limits


def classes(
    design: Design, shares: Sequence[float], repetitions: int, seed: int | Sequence[int]
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield blocks of classes 0, 1, ..., of shape (repetitions in the block, modes, rows).

    Their true shares are the same under every mode: no mode differs from another but by chance, from run to run.
    """
    limits = norm.ppf(np.cumsum(shares)[:-1])
    for z in latent(design, repetitions, seed):
        yield np.searchsorted(limits, z)

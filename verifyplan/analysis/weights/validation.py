"""How well a fit would do on scores that it has not seen, and how sure its weights are (rule F4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.weights.moments import Fitted, linear, moments, shares, simplex
from verifyplan.analysis.weights.tables import Floats


class Sample(NamedTuple):
    """Plans to fit to: dimensions from 0 to 1, the overall score, and the unit that each plan belongs to."""

    x: Floats
    y: Floats
    unit: npt.NDArray[np.int64]

    @property
    def units(self) -> int:
        """The number of units, which are folded and resampled whole."""
        return int(self.unit.max(initial=-1)) + 1


class Resampled(NamedTuple):
    """Fits to bootstrap samples, one row a resample.

    Each resample has the sign of scale that fits it better, as the fit itself has, so the choice of a sign is part of
    what the intervals tell. Shares of either sign are kept: to leave out resamples of the other sign would keep those
    that agree with the fit, and make intervals too narrow just where the data hardly tells.
    """

    weights: Floats
    """NaN where a sample says nothing."""
    scale: Floats
    intercept: Floats

    def sign_differs(self, scale: float) -> float:
        """The share of resamples whose scale does not have the sign of this one; a scale of 0 has none."""
        return float((np.sign(self.scale) != np.sign(scale)).mean())


def explained(y: Floats, predicted: Floats) -> float:
    """R²: one less the squared errors over the squared distances from the mean of all."""
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def cross_validated(sample: Sample, folds: int, repeats: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """R² of predictions for left-out folds, one a repeat: on the simplex, and unconstrained on the same folds.

    A fold is a set of whole units; each repeat deals the units anew. R² is taken over the predictions of all folds
    together, against the mean of all overall scores, and is below 0 where the mean would predict better.
    """
    by_unit = moments(sample.x, sample.y, sample.unit)
    pairs = [_one_repeat(sample, by_unit, folds, rng.permutation(sample.units) % folds) for _ in range(repeats)]
    constrained, free = zip(*pairs, strict=True)
    return np.array(constrained), np.array(free)


def _one_repeat(
    sample: Sample, by_unit: Floats, folds: int, fold_of_unit: npt.NDArray[np.int64]
) -> tuple[float, float]:
    left_out = np.zeros((folds, *by_unit.shape[1:]))
    np.add.at(left_out, fold_of_unit, by_unit)
    training = by_unit.sum(axis=0) - left_out
    fold = fold_of_unit[sample.unit]
    methods: tuple[Callable[[Floats], Fitted], ...] = (simplex, linear)
    constrained, free = (explained(sample.y, fit(training).predict(sample.x, fold)) for fit in methods)
    return constrained, free


def resampled(sample: Sample, resamples: int, rng: np.random.Generator) -> Resampled:
    """The fits to bootstrap samples of whole units."""
    by_unit = moments(sample.x, sample.y, sample.unit)
    flat, units = by_unit.reshape(sample.units, -1), sample.units
    sums = np.empty((resamples, flat.shape[1]))
    for row in sums:
        row[:] = np.bincount(rng.integers(units, size=units), minlength=units) @ flat
    found = simplex(sums.reshape(resamples, *by_unit.shape[1:]))
    return Resampled(shares(found.slopes), found.slopes.sum(axis=1), found.intercept)

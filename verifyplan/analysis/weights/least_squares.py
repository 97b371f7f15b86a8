"""Least squares on the simplex and unconstrained: cross-validated, resampled, with intervals of weights (rule F4)."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL
from verifyplan.analysis.weights.score_table import Floats

_SINGULAR = 1e-10
"""A direction of the dimensions with less than this share of their largest spread holds nothing to learn from."""

_MAX_STEPS = 1000


class Sample(NamedTuple):
    """Plans to fit to: dimensions from 0 to 1, the overall score, and the unit that each plan belongs to."""

    x: Floats
    y: Floats
    unit: npt.NDArray[np.int64]

    @property
    def units(self) -> int:
        """The number of units, which are folded and resampled whole."""
        return int(self.unit.max(initial=-1)) + 1


class Fitted(NamedTuple):
    """Least-squares fits, one a sample: an intercept, and a slope for each dimension."""

    intercept: Floats
    slopes: Floats

    def predict(self, x: Floats, sample: npt.NDArray[np.int64]) -> Floats:
        """Return the prediction for each row by the fit of its sample."""
        return np.asarray(self.intercept[sample] + (x * self.slopes[sample]).sum(axis=1))


class Resampled(NamedTuple):
    """Fits to bootstrap samples, one row a resample.

    Each resample has the sign of scale that fits it better, as the fit itself has, so the choice of a sign is part of
    what the intervals tell: to leave out resamples of the other sign would keep those that agree with the fit, and make
    intervals too narrow just where the data hardly tells.
    """

    scale: Floats
    intercept: Floats

    def sign_differs(self, scale: float) -> float:
        """Return the share of resamples whose scale does not have the sign of this one; a scale of 0 has none."""
        return float((np.sign(self.scale) != np.sign(scale)).mean())


def moments(x: Floats, y: Floats, unit: npt.NDArray[np.int64]) -> Floats:
    """Return sums of products of (1, x, y) over the rows of each unit; those of several units simply add up."""
    columns = [np.ones(len(y)), *x.T, y]
    units, width = int(unit.max(initial=-1)) + 1, len(columns)
    sums = np.empty((units, width, width))
    for a, b in combinations_with_replacement(range(width), 2):
        sums[:, a, b] = sums[:, b, a] = np.bincount(unit, columns[a] * columns[b], minlength=units)
    return sums


def linear(sums: Floats) -> Fitted:
    """Return unconstrained fits, the shortest where several are best; `sums` has a matrix of moments a sample."""
    means, values, vectors, products = _centred(sums)
    slopes = np.einsum("rik,rk,rjk,rj->ri", vectors, _inverse(values), vectors, products)
    return _fitted(means, slopes)


def simplex(sums: Floats) -> Fitted:
    """Return fits whose slopes all have one sign: weights on the simplex times a scale of either sign.

    The best weights and scale are the non-negative least squares of the centred columns (Lawson and Hanson 1974):
    their sum is the scale, their shares are the weights; for a negative scale, those of the overall score negated.
    Each sample has the sign that fits it better, so bootstrap samples may differ in it: see `Resampled`.
    """
    means, values, vectors, products = _centred(sums)
    roots = np.sqrt(values)
    designs = roots[:, :, None] * vectors.transpose(0, 2, 1)
    targets = _inverse(roots) * np.einsum("rik,ri->rk", vectors, products)
    slopes = np.array([_one_sign(design, target) for design, target in zip(designs, targets, strict=True)])
    return _fitted(means, slopes.reshape(len(sums), -1))


def _one_sign(design: Floats, target: Floats) -> Floats:
    rising, missed = nnls(design, target, maxiter=_MAX_STEPS)
    falling, missed_falling = nnls(design, -target, maxiter=_MAX_STEPS)
    return np.asarray(-falling if missed_falling < missed else rising)


def _inverse(values: Floats) -> Floats:
    return np.divide(1, values, out=np.zeros_like(values), where=values > 0)


def _centred(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return means of (x, y), the variances' eigenvalues and vectors of the centred x, and the products with y."""
    means = sums[:, 0, 1:] / sums[:, :1, 0]
    spread = sums[:, 1:, 1:] - sums[:, :1, :1] * means[:, :, None] * means[:, None, :]
    values, vectors = np.linalg.eigh(spread[:, :-1, :-1])
    values = np.where(values > _SINGULAR * np.maximum(values[:, -1:], _SINGULAR), values, 0)
    return means, values, vectors, spread[:, :-1, -1]


def _fitted(means: Floats, slopes: Floats) -> Fitted:
    return Fitted(means[:, -1] - (means[:, :-1] * slopes).sum(axis=1), slopes)


def shares(slopes: Floats) -> Floats:
    """Return slopes of one sign as weights; NaN where all are 0."""
    total = slopes.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(slopes, total, out=np.full(slopes.shape, np.nan), where=total != 0))


def explained(y: Floats, predicted: Floats) -> float:
    """Return R²: one less the squared errors over the squared distances from the mean of all."""
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def cross_validated(sample: Sample, folds: int, repeats: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return R² of predictions for left-out folds, one a repeat: on the simplex, and unconstrained on the same folds.

    A fold is a set of whole units; each repeat deals the units anew. R² is taken over the predictions of all folds
    together, against the mean of all overall scores, and is below 0 where the mean would predict better.
    """
    by_unit = moments(sample.x, sample.y, sample.unit)
    pairs = []
    for _ in range(repeats):
        fold_of_unit = rng.permutation(sample.units) % folds
        left_out = np.zeros((folds, *by_unit.shape[1:]))
        np.add.at(left_out, fold_of_unit, by_unit)
        training, fold = by_unit.sum(axis=0) - left_out, fold_of_unit[sample.unit]
        pairs.append([explained(sample.y, fit(training).predict(sample.x, fold)) for fit in (simplex, linear)])
    constrained, free = np.array(pairs).T
    return constrained, free


_RESAMPLES_AT_ONCE, _UNITS_AT_ONCE = 32, 512
"""Products of matrices of this size are not split among threads, which would wait for each other."""


def resampled(sample: Sample, resamples: int, rng: np.random.Generator) -> Resampled:
    """Return the fits to bootstrap samples of whole units, by how often each unit is drawn."""
    by_unit, units = moments(sample.x, sample.y, sample.unit), sample.units
    upper = np.triu_indices(by_unit.shape[1])
    each = np.ascontiguousarray(by_unit[:, *upper])
    sums = np.zeros((resamples, *by_unit.shape[1:]))
    for start in range(0, resamples, _RESAMPLES_AT_ONCE):
        rows = slice(start, min(start + _RESAMPLES_AT_ONCE, resamples))
        drawn = [np.bincount(rng.integers(units, size=units), minlength=units) for _ in range(rows.start, rows.stop)]
        counts = np.array(drawn, dtype=np.float64)
        for first in range(0, units, _UNITS_AT_ONCE):
            part = slice(first, first + _UNITS_AT_ONCE)
            sums[rows, *upper] += counts[:, part] @ each[part]
    sums[:, *upper[::-1]] = sums[:, *upper]
    fits = simplex(sums)
    return Resampled(fits.slopes.sum(axis=1), fits.intercept)


def weight_intervals(sample: Sample, weights: Floats) -> tuple[Floats, Floats]:
    """Return the low and high ends of the 95 % interval of each weight; `weights` are those of the fit.

    A weight is the ratio of a slope to the sum of all. Its interval is Fieller's (1954) of the unconstrained linear
    fit, whose slopes have no edge: robust variances (HC2 of MacKinnon and White 1985, of units Bell and McCaffrey
    2002), and t with as many degrees of freedom as there are units beyond the slopes. It is cut to 0 to 1, and holds
    the fitted weight. It is 0 to 1 where the sum of slopes may be 0, and for columns that cannot be told apart.

    The interval is that of a ratio in the linear fit: where that fit says what no weights can (a note of the fit has
    it), the interval of the constrained weight may be another.
    """
    width = sample.x.shape[1]
    design = sample.x - sample.x.mean(axis=0)
    left, values, right = np.linalg.svd(design, full_matrices=False)
    kept = values > np.sqrt(_SINGULAR) * max(values[0], _SINGULAR)
    left, inverse = left[:, kept], right[kept].T / values[kept]
    centred = sample.y - sample.y.mean()
    slopes = inverse @ (left.T @ centred)
    variance = inverse @ _robust(left, centred - design @ slopes, sample) @ inverse.T
    freedom = max(sample.units - 1 - int(kept.sum()), 1)
    low, high = _ratio_ends(slopes, variance, float(stdtrit(freedom, (1 + LEVEL) / 2)))
    unknown = (right[~kept] ** 2).sum(axis=0) > _SINGULAR if len(right) == width else np.ones(width, dtype=bool)
    low, high = np.where(unknown, 0.0, low), np.where(unknown, 1.0, high)
    return np.minimum(low, weights), np.maximum(high, weights)


def _robust(left: Floats, unexplained: Floats, sample: Sample) -> Floats:
    """Return the variance of the products of an orthonormal design with its errors, summed by unit.

    Errors of a unit are scaled up by what the fit takes of them: E (I - H)^(-1/2), on the side of the design.
    """
    n, units = len(left), sample.units
    basis = np.column_stack([left, np.full(n, np.sqrt(1 / n))])
    products, taken = np.zeros((units, basis.shape[1])), np.zeros((units, basis.shape[1], basis.shape[1]))
    np.add.at(products, sample.unit, basis * unexplained[:, None])
    np.add.at(taken, sample.unit, basis[:, :, None] * basis[:, None, :])
    values, vectors = np.linalg.eigh(np.eye(basis.shape[1]) - taken)
    scales = 1 / np.sqrt(np.maximum(values, 1e-9))
    scores = np.einsum("uij,uj,ukj,uk->ui", vectors, scales, vectors, products)[:, :-1]
    return np.asarray(scores.T @ scores) * units / (units - 1)


def _ratio_ends(slopes: Floats, variance: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Return Fieller's interval of the ratio of each slope to the sum of slopes, cut to 0 to 1."""
    total = slopes.sum()
    square = total**2 - quantile**2 * variance.sum()
    if square <= 0:  # the sum may be 0, and the ratio anything
        return np.zeros(len(slopes)), np.ones(len(slopes))
    middle = slopes * total - quantile**2 * variance.sum(axis=1)
    root = np.sqrt(np.maximum(middle**2 - square * (slopes**2 - quantile**2 * np.diag(variance)), 0))
    return np.clip((middle - root) / square, 0, 1), np.clip((middle + root) / square, 0, 1)

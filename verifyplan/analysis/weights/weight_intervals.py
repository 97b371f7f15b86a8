"""Intervals of fitted weights that hold at the edges of the simplex, where a bootstrap does not (rule F4)."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL
from verifyplan.analysis.weights.least_squares import Sample
from verifyplan.analysis.weights.score_table import Floats

_SINGULAR = 1e-10


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

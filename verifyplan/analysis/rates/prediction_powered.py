"""Prediction-powered inference: labels on some items correct what a panel says of all (rule F3c)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, clustered_variance
from verifyplan.analysis.rates.corrected import Correction, mean_of
from verifyplan.analysis.rates.judged_items import Floats, JudgedItems

_CELLS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)  # truth and prediction of imagined labels
_CELL_WEIGHT = 0.5
_OTHER_SCALE = 5  # times as wide a range of labelled items: then predictions and truth are no figures of one scale


def prediction_powered(items: JudgedItems) -> Correction:
    """Return the mean of the truth over all items: predictions on all, corrected by a random sample of labels.

    With power tuning (PPI++: Angelopoulos, Duchi and Zrnic 2023). Value, tuning and standard error are the paper's.
    The interval of a rate rests on two imagined labels more, half of one for each combination of truth and prediction
    (after Agresti and Min 2005), and on Student's t, and ends at 0 and 1: with 20 labels and rare rates the paper's own
    holds the truth in half of all cases. With clusters residuals are summed by run (and claim).
    """
    value, low, high, standard_error, tuning = estimate_powered(items)
    alone = mean_of(items, items.truth, items.labelled)
    notes = (*_note_other_scale(items), *_note_no_weight(tuning))
    return Correction(value, low, high, standard_error, {"labels-alone": alone}, notes, tuning)


class PoweredEstimate(NamedTuple):
    """A prediction-powered mean with its 95 % interval."""

    value: float
    low: float
    high: float
    standard_error: float
    tuning: float


def estimate_powered(items: JudgedItems) -> PoweredEstimate:
    """Return the mean over all items, with its interval (see `prediction_powered`)."""
    tuning = _tuning(items)
    value = float(tuning * items.prediction[~items.labelled].mean() + _rectifier(items, tuning).mean())
    low, high = _interval(items, tuning)
    if items.binary:
        value, low, high = (min(max(figure, 0.0), 1.0) for figure in (value, low, high))
    return PoweredEstimate(value, min(low, value), max(high, value), _standard_error(items, tuning), tuning)


def _rectifier(items: JudgedItems, tuning: float) -> Floats:
    """Return by how much each label exceeds the weighted prediction."""
    return np.asarray(items.truth[items.labelled] - tuning * items.prediction[items.labelled])


def _tuning(items: JudgedItems) -> float:
    """Return the weight of the predictions that makes the variance least, between 0 and 1."""
    labels, said = items.truth[items.labelled], items.prediction[items.labelled]
    n, n_other = len(labels), len(items.truth) - len(labels)
    variance = float(np.var(items.prediction, ddof=1))
    covariance = float(np.mean((labels - labels.mean()) * (said - said.mean())))
    return float(np.clip(covariance / ((1 + n / n_other) * variance), 0, 1)) if variance > 0 else 0.0


def _standard_error(items: JudgedItems, tuning: float) -> float:
    """Return the paper's standard error; with clusters that of residuals summed by cluster."""
    other, rectifier = items.prediction[~items.labelled], _rectifier(items, tuning)
    if items.clusters is None:
        return float(np.sqrt(tuning**2 * np.var(other) / len(other) + np.var(rectifier) / len(rectifier)))
    residuals = np.empty(len(items.truth))
    residuals[~items.labelled] = tuning * (other - other.mean()) / len(other)
    residuals[items.labelled] = (rectifier - rectifier.mean()) / len(rectifier)
    return float(np.sqrt(clustered_variance(residuals, items.clusters)[0]))


def _interval(items: JudgedItems, tuning: float) -> tuple[float, float]:
    """Return the interval's ends, of a rate with the imagined labels (see `prediction_powered`)."""
    other, rectifier = items.prediction[~items.labelled], _rectifier(items, tuning)
    imagined = _CELLS @ [1, -tuning] if items.binary else np.empty(0)
    n = len(rectifier) + _CELL_WEIGHT * len(imagined)
    mean = (rectifier.sum() + _CELL_WEIGHT * imagined.sum()) / n
    residuals = np.empty(len(items.truth))
    residuals[~items.labelled] = tuning * (other - other.mean()) / len(other)
    residuals[items.labelled] = (rectifier - mean) / n
    clustered, _ = clustered_variance(residuals, items.clusters_at(np.ones(len(residuals), dtype=bool)))
    variance = max(clustered, float(np.sum(residuals**2)))  # labels of a single run would vary not at all
    variance += _CELL_WEIGHT * float(np.sum(((imagined - mean) / n) ** 2))
    _, degrees = clustered_variance(residuals[items.labelled], items.clusters_at(items.labelled))
    half = float(stdtrit(degrees, (1 + LEVEL) / 2)) * float(np.sqrt(variance))
    centre = tuning * float(other.mean()) + float(mean)
    return centre - half, centre + half


def _note_no_weight(tuning: float) -> Iterator[str]:
    if tuning == 0:
        yield "What the panel says is not correlated with the truth: only the labels count (tuning is 0)."


def _note_other_scale(items: JudgedItems) -> Iterator[str]:
    """Yield a note where predictions cannot be on the scale of the truth.

    They are not where the truth is 1 and 0 and they lie beyond, nor where on labelled items the range of either is
    five times that of the other, or they have no figure in common.
    """
    if items.binary:
        return
    known, said = items.truth[items.labelled], items.prediction[items.labelled]
    is_rate = bool(np.isin(known, (0.0, 1.0)).all())
    narrow, wide = sorted((np.ptp(known), np.ptp(said)))
    apart = said.max() < known.min() or known.max() < said.min()
    if not (is_rate or apart or (narrow > 0 and wide > _OTHER_SCALE * narrow)):
        return
    shown = said if not is_rate else items.prediction
    threshold = ", or make them 1 and 0 by a threshold" if is_rate else ""
    yield (
        f"Predictions range from {shown.min():.3g} to {shown.max():.3g}, the truth from {known.min():.3g} to "
        f"{known.max():.3g}: the scales differ, so the panel's own mean is not to be compared with the others. "
        f"Bring predictions to the scale of the truth{threshold}."
    )

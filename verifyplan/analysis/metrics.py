"""What two readings of the same findings amount to: metrics as functions of counts (rule F1).

Everything here works on `counts` of shape (..., 4, 4, 3): class under a, class under b, truth (false, true,
unknown). Leading axes are resamples, so an interval costs one call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.protocol.vote import CLASSIFICATIONS, HELD

Array = npt.NDArray[Any]

SHAPE = (len(CLASSIFICATIONS), len(CLASSIFICATIONS), 3)
FALSE, TRUE, UNKNOWN = range(3)

_HELD = np.array([classification in HELD for classification in CLASSIFICATIONS])

TRUTH_METRICS = ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")


class Metric(NamedTuple):
    """A share and its denominator; the value is NaN where the denominator is 0."""

    value: Array
    n: Array


def share(part: Array, whole: Array) -> Metric:
    """`part / whole`, NaN where `whole` is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return Metric(np.where(whole > 0, part / whole, np.nan), whole)


def of_reading(counts: Array, reading: int) -> dict[str, Metric]:
    """All metrics of one reading (0: a, 1: b): the share of each class, of held findings, and truth metrics.

    Held means full or partial consensus. Precision is true among held, recall held among true; the
    false-consensus rate is held among false, the false-demotion rate not held among true. n is the denominator;
    for F1, which is no share of anything, the number of findings whose truth is known.
    """
    by_class = counts.sum(axis=-2 if reading == 0 else -3)  # (..., class, truth)
    total = by_class.sum(axis=(-1, -2))
    metrics: dict[str, Metric] = {
        name: share(by_class[..., i, :].sum(axis=-1), total) for i, name in enumerate(CLASSIFICATIONS)
    }
    held = by_class[..., _HELD, :].sum(axis=-2)
    metrics["held"] = share(held.sum(axis=-1), total)
    true, false = by_class[..., TRUE].sum(axis=-1), by_class[..., FALSE].sum(axis=-1)
    metrics["precision"] = share(held[..., TRUE], held[..., TRUE] + held[..., FALSE])
    metrics["recall"] = share(held[..., TRUE], true)
    f1 = share(2 * held[..., TRUE], held[..., TRUE] + held[..., FALSE] + true)
    metrics["f1"] = Metric(f1.value, true + false)
    metrics["false-consensus-rate"] = share(held[..., FALSE], false)
    metrics["false-demotion-rate"] = share(true - held[..., TRUE], true)
    return metrics


def changed(counts: Array) -> Metric:
    """The share of findings whose class differs between the two readings."""
    by_pair = counts.sum(axis=-1)
    total = by_pair.sum(axis=(-1, -2))
    return share(total - np.trace(by_pair, axis1=-2, axis2=-1), total)

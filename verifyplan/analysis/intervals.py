"""The level of intervals, and the interval of values that were drawn at random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LEVEL = 0.95
"""The level of every interval."""


def interval(values: Array) -> tuple[float, float]:
    """Return the middle 95 % of drawn values; draws in which the figure is undefined are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN: the interval is NaN, as it should be
        low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)

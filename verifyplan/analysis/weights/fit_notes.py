"""What a reader must know of fitted weights: what the sample is too small or too uniform to tell (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.moments import linear, moments
from verifyplan.analysis.weights.tables import Floats
from verifyplan.text import counted

GREEN = 104
"""For single predictors of a regression, Green 1991 asks for 104 rows and one for each predictor."""

FEW_GROUPS = 50
"""Fewer groups than this may be few (Cameron and Miller 2015: from 20 to 50, by the data)."""

INFLATED = 10.0
"""From this variance inflation factor on, dimensions are called collinear (Marquardt 1970)."""

SHORT = 0.02
"""If the simplex costs more cross-validated R² than this, something in the scores speaks against it."""

SIGN = 0.025
"""From this share of resamples with another sign of the scale on, its 95 % interval reaches 0."""

_ZERO = 1e-6


def notes_on_sample(n: int, left_out: int, dimensions: int, groups: int | None) -> Iterator[str]:
    """Notes on how many plans there are."""
    if left_out:
        yield f"Left out, as a dimension or the overall score is missing: {counted(left_out, 'plan')}."
    enough = GREEN + dimensions
    if n < enough:
        yield (
            f"The sample is small: {counted(n, 'plan')} for {counted(dimensions, 'weight')}; for weights one by one, "
            f"Green (1991) asks for 104 and one for each, here {enough}. The intervals may be too narrow."
        )
    if groups is not None and groups < FEW_GROUPS:
        yield (
            f"There are {counted(groups, 'group')}: with fewer than 20 to 50 (Cameron and Miller 2015), intervals that "
            "resample groups tend to be too narrow."
        )


def notes_on_dimensions(x: Floats, names: Sequence[str], constant: Sequence[str]) -> Iterator[str]:
    """Notes on dimensions that the sample says nothing of, or cannot tell from the others."""
    for name in constant:
        yield f"{name} is constant: its weight is 0 as nothing can be learnt of it, not as if it did not matter."
    inflated = [name for name, factor in zip(names, inflation(x), strict=True) if factor >= INFLATED]
    if inflated:
        yield (
            f"Collinear (variance inflation of {INFLATED:g} or more): {', '.join(inflated)}. What they weigh together "
            "is told better than how they share it."
        )


def notes_on_prediction(constrained: Floats, free: Floats) -> Iterator[str]:
    """Notes on R² in plans that were left out, one a repeat: of the fit, and of an unconstrained one."""
    least, mean, most = constrained.min(), constrained.mean(), constrained.max()
    if mean <= 0:
        yield (
            f"The fit explains nothing of scores that it has not seen: do not use these weights. Cross-validated R² is "
            f"{mean:.3f}, and below 0 the mean of all overall scores predicts better."
        )
    elif least <= 0:
        yield (
            "By some ways to deal the folds, the fit explains nothing of scores that it has not seen: do not use these "
            f"weights. Cross-validated R² is {least:.3f} to {most:.3f}."
        )
    costs = float(free.mean() - mean)
    if costs > SHORT and free.mean() > 0:
        yield (
            f"An unconstrained linear fit explains {costs:.3f} more: the overall score falls with some dimension while "
            "it rises with others, and no weights can say that."
        )


def notes_on_weights(weights: pd.DataFrame) -> Iterator[str]:
    """Notes on single weights."""
    known = weights.dropna(subset="low")
    at_zero = known.loc[known["weight"] <= _ZERO, "dimension"]
    unsure = known.loc[(known["low"] <= _ZERO) & (known["weight"] > _ZERO), "dimension"]
    if len(at_zero):
        yield f"At 0, the edge of what is allowed: {', '.join(at_zero)}. There a bootstrap is no sure guide."
    if len(unsure):
        yield f"The interval includes 0, so it may not matter at all: {', '.join(unsure)}."


def notes_on_scale(scale: float, sign_differs: float, sound: bool) -> Iterator[str]:
    """Notes on the direction of the overall score; `sound` where the fit explains scores that it has not seen."""
    if scale == 0:
        yield "No dimension explains anything of the overall score: the weights are equal for want of better ones."
        return
    if scale < 0:
        meant = ": if 1 is its best grade, that is as it should be; else look at the direction of the scores"
        yield f"The overall score falls as the dimensions rise{meant if sound else ''}."
    if sign_differs >= SIGN:
        yield (
            f"The sign of the scale is not sure: {100 * sign_differs:.1f} % of resamples do not have it. The intervals "
            "of the weights hold the shares of either sign, which mean opposite things."
        )


def inflation(x: Floats) -> Floats:
    """The variance inflation factor of each column: 1 / (1 - R²) of its regression on the others."""
    every = np.zeros(len(x), dtype=np.int64)
    found = []
    for column in range(x.shape[1]):
        others = np.delete(x, column, axis=1)
        fitted = linear(moments(others, x[:, column], every)).predict(others, every) if others.shape[1] else x.mean()
        unexplained = ((x[:, column] - fitted) ** 2).sum() / ((x[:, column] - x[:, column].mean()) ** 2).sum()
        found.append(np.inf if unexplained < 1 / 1e9 else 1 / unexplained)
    return np.array(found)

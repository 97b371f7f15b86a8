"""Fit weights on the simplex to overall scores that people gave, and say how sure they are (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import interval
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.analysis.weights.fit_inputs import FitInputs, PerPlan, prepare_inputs
from verifyplan.analysis.weights.least_squares import (
    cross_validated,
    explained,
    linear,
    moments,
    resampled,
    shares,
    simplex,
    weight_intervals,
)
from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.simplex import to_decimals
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, eq=False)
class WeightFit:
    """Weights fitted to overall scores: overall = intercept + scale x the weighted sum of dimensions from 0 to 1.

    The score that such weights give informs and never decides a verdict.
    """

    weights: pd.DataFrame
    """`dimension, weight, low, high`: weights on the simplex, with 95 % intervals (Fieller 1954) that hold at 0 and 1,
    too (docs/statistics.md). NaN in the interval of a dimension that is constant."""
    intercept: float
    """The overall score where every dimension is at the low end of its range."""
    scale: float
    """The change of the overall score from the low end of all ranges to the high end; negative where it falls."""
    intercept_interval: tuple[float, float]
    """The 95 % percentile bootstrap interval of `intercept`."""
    scale_interval: tuple[float, float]
    """The 95 % percentile bootstrap interval of `scale`; where it holds 0, the direction is not sure."""
    sign_differs: float
    """The share of resamples whose scale does not have the sign of `scale`."""
    r2: float
    """The share of the overall scores' variance that the fit explains in the plans it was fitted to."""
    r2_cv: float
    """The same in plans that were left out of the fit: cross-validated, the mean over repeats."""
    r2_cv_linear: float
    """`r2_cv` of an unconstrained linear fit under the same folds: what the simplex costs is the difference."""
    r2_cv_spread: tuple[float, float]
    """The least and the greatest `r2_cv` of a repeat."""
    r2_cv_linear_spread: tuple[float, float]
    """The least and the greatest `r2_cv_linear` of a repeat."""
    ranges: dict[str, tuple[float, float]]
    """The ends of each dimension that were rescaled to 0 and 1; the weights are of dimensions rescaled so."""
    n: int
    """The number of plans that were fitted to."""
    n_groups: int | None
    """The number of their groups; None where plans are not grouped."""
    folds: int
    """The number of folds in each repeat."""
    repeats: int
    """How often the plans were split into folds anew."""
    resamples: int
    """How many bootstrap samples were drawn."""
    synthetic: bool = False
    """True where the scores were generated, not observed."""
    notes: tuple[str, ...] = ()
    """Warnings for a reader: a fit that explains nothing, a sign that is not sure, small samples, dimensions that
    say nothing or cannot be told apart, weights at 0."""

    @property
    def explains(self) -> bool:
        """Whether it predicts scores that it has not seen better than their mean does, however folds are split."""
        return min(self.r2_cv, *self.r2_cv_spread) > 0

    def exact(self) -> dict[str, Decimal]:
        """Return the weights as decimals of four places that sum to exactly 1, of dimensions rescaled by `ranges`.

        `apply` and `save` take the fit itself, with its ranges; given only these numbers, they rescale nothing.
        """
        return to_decimals(self.weights.set_index("dimension")["weight"])

    def __str__(self) -> str:
        """Return the fit in about ten lines."""
        made = " (synthetic)" if self.synthetic else ""
        of = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        least, most = self.r2_cv_spread
        repeats = f"{least:.3f} to {most:.3f} over {counted(self.repeats, 'repeat')} of {self.folds} folds"
        intercept, scale = (f"{low:.3g} to {high:.3g}" for low, high in (self.intercept_interval, self.scale_interval))
        lines = [
            f"weights fitted to {counted(self.n, 'overall score')}{of}{made}",
            f"R² {self.r2:.3f}; cross-validated {self.r2_cv:.3f} ({repeats}), unconstrained {self.r2_cv_linear:.3f}",
            *(
                f"{name}: {weight:.3f} [{'not known' if pd.isna(low) else f'{low:.3f} to {high:.3f}'}]"
                for name, weight, low, high in self.weights.itertuples(index=False, name=None)
            ),
            f"overall = {self.intercept:.3g} + {self.scale:.3g} x the weighted sum of dimensions from 0 to 1",
            f"95 % intervals: intercept {intercept}, scale {scale}",
            *([RANGES_DIFFER] if len(set(self.ranges.values())) > 1 else []),
            *(f"note: {note}" for note in self.notes),
            INFORMS,
        ]
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        """Return the fit for a notebook; every text is shown as text."""
        return words_and_tables(str(self))


GREEN = 104
"""For single predictors of a regression, Green 1991 asks for 104 rows and one for each predictor."""

MIN_GROUPS = 50
"""Fewer groups than this may be few (Cameron and Miller 2015: from 20 to 50, by the data)."""

COLLINEAR_FROM = 10.0
"""From this variance inflation factor on, dimensions are called collinear (Marquardt 1970)."""

MAX_SIMPLEX_COST = 0.02
"""If the simplex costs more cross-validated R² than this, something in the scores speaks against it."""

UNSURE_SIGN_FROM = 0.025
"""From this share of resamples with another sign of the scale on, its 95 % interval reaches 0."""

RANGES_DIFFER = (
    "the ranges of the dimensions differ: given this fit, apply and the functions beside it put them on one scale, and "
    "save writes the ranges; given only its numbers (.exact()), they do not"
)
"""The weights are of dimensions rescaled to 0-1, and must not be multiplied with scores of different ranges."""

_ZERO = 1e-6


def fit(
    scores: Runs | pd.DataFrame,
    overall: PerPlan,
    *,
    folds: int = 10,
    repeats: int = 20,
    resamples: int = 1000,
    seed: int = 0,
    groups: PerPlan | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> WeightFit:
    """Return the weights that come closest to overall scores given by people, over any set of dimensions.

    Each dimension is rescaled to 0-1; then overall = intercept + scale x weighted sum is fitted by least squares,
    with weights at least 0 that sum to 1, and intercept and scale free. A scale below 0 (the overall score falls as
    the dimensions rise, as where 1 is the best grade) is taken where it fits better, and the notes say so. Each
    resample of the bootstrap takes its own sign: the notes tell how many resamples differ from the fit, and the
    intervals of scale and intercept show it; those of the weights reach from 0 to 1 where the scale may be 0. Where the
    fit explains nothing of scores that it has not seen, a note says not to use it.

    Args:
        scores: as `wide` takes them; plans that lack a dimension or an overall score are left out; notes count them.
        overall: by plan name (a Series, or a mapping), in the order of the plans, or the name of a column of
            `scores`, which then is no dimension.
        folds: of the cross-validation; fewer where there are fewer plans or groups.
        repeats: how often the plans are split into folds anew.
        resamples: of the bootstrap behind the 95 % intervals of scale and intercept; those of weights are Fieller's.
        seed: of folds and bootstrap.
        groups: which plans belong together, given like `overall`: versions of one plan, answers in one dialogue,
            plans that one person scored. Groups are folded and resampled whole. Without them intervals of such plans
            are too narrow, and `r2_cv` too good.
        ranges: the ends of a dimension's scale. By default 1 to 10 for the six dimensions of rule A10 whose scores
            lie there, so that the weights hold for `verify`, and what was observed for any other.

    Returns:
        A `WeightFit`: `.weights` with intervals, `.r2_cv` beside that of an unconstrained fit, `.notes`, `.exact()`.
        The score informs and never decides a verdict.

    Raises:
        InputError: listing all that is wrong: settings, overall scores that are no numbers or all the same, fewer
            plans than it takes to fit (two more than dimensions that vary).

    >>> table = pd.DataFrame({"wit": [1, 2, 3, 4, 5, 9], "depth": [2, 9, 1, 5, 3, 4]})
    >>> result = fit(
    ...     table,
    ...     0.75 * table["wit"] + 0.25 * table["depth"],
    ...     ranges=dict.fromkeys(table, (0, 10)),
    ... )
    >>> result.exact()
    {'wit': Decimal('0.7500'), 'depth': Decimal('0.2500')}
    """
    settings = {"folds": folds, "repeats": repeats, "resamples": resamples, "seed": seed}
    inputs = prepare_inputs(scores, overall, groups, ranges, settings)
    sample, units = inputs.sample, inputs.sample.units
    used_folds = min(folds, units)
    for_folds, for_bootstrap = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    every = np.zeros(len(sample.y), dtype=np.int64)
    best = simplex(moments(sample.x, sample.y, every))
    drawn = resampled(sample, resamples, for_bootstrap)
    weights = _weight_table(inputs, best.slopes[0])
    constrained, free = cross_validated(sample, used_folds, repeats, for_folds)
    scale = float(best.slopes[0].sum()) * inputs.spread
    n_groups = units if inputs.grouped else None
    fewer = [f"There are {units} folds, not {folds}: one for each plan or group."] if units < folds else []
    return WeightFit(
        weights=weights,
        intercept=float(best.intercept[0]) * inputs.spread + inputs.centre,
        scale=scale,
        intercept_interval=_in_units(interval(drawn.intercept), inputs.spread, inputs.centre),
        scale_interval=_in_units(interval(drawn.scale), inputs.spread, 0.0),
        sign_differs=drawn.sign_differs(scale),
        r2=explained(sample.y, best.predict(sample.x, every)),
        r2_cv=float(constrained.mean()),
        r2_cv_linear=float(free.mean()),
        r2_cv_spread=(float(constrained.min()), float(constrained.max())),
        r2_cv_linear_spread=(float(free.min()), float(free.max())),
        ranges=inputs.ranges,
        n=len(sample.y),
        n_groups=n_groups,
        folds=used_folds,
        repeats=repeats,
        resamples=resamples,
        synthetic=inputs.synthetic,
        notes=(
            *_notes_on_prediction(constrained, free),
            *_notes_on_scale(scale, drawn.sign_differs(scale), bool(constrained.min() > 0)),
            *_notes_on_outcome(sample.y),
            *_notes_on_sample(len(sample.y), inputs.left_out, len(inputs.varying), n_groups),
            *fewer,
            *_notes_on_dimensions(sample.x, inputs.varying, inputs.constant),
            *_notes_on_weights(weights),
        ),
    )


def _in_units(ends: tuple[float, float], spread: float, centre: float) -> tuple[float, float]:
    """Return an interval in the units of the overall score, which was centred and divided by its spread."""
    return ends[0] * spread + centre, ends[1] * spread + centre


def _weight_table(inputs: FitInputs, slopes: Floats) -> pd.DataFrame:
    """Return weights with intervals; a constant dimension weighs 0, and nothing is known of it."""
    fitted = shares(slopes)
    weights = np.nan_to_num(fitted, nan=1 / len(fitted))
    low, high = weight_intervals(inputs.sample, weights)
    known = {name: (float(weights[i]), float(low[i]), float(high[i])) for i, name in enumerate(inputs.varying)}
    rows = [(name, *known.get(name, (0.0, np.nan, np.nan))) for name in inputs.ranges]
    return pd.DataFrame(rows, columns=["dimension", "weight", "low", "high"])


def _notes_on_outcome(judged: Floats) -> Iterator[str]:
    if len(np.unique(judged)) == 2:
        yield (
            "The overall score has two values: a straight line is fitted to them (booleans as 0 and 1), whose values "
            "are not probabilities."
        )


def _notes_on_sample(n: int, left_out: int, dimensions: int, groups: int | None) -> Iterator[str]:
    """Yield notes on how many plans there are."""
    if left_out:
        yield f"Left out, as a dimension or the overall score is missing: {counted(left_out, 'plan')}."
    enough = GREEN + dimensions
    if n < enough:
        yield (
            f"The sample is small: {counted(n, 'plan')} for {counted(dimensions, 'weight')}; for weights one by one, "
            f"Green (1991) asks for 104 and one for each, here {enough}. The intervals may be too narrow."
        )
    if groups is not None and groups < MIN_GROUPS:
        yield (
            f"There are {counted(groups, 'group')}: with fewer than 20 to 50 (Cameron and Miller 2015), intervals that "
            "resample groups tend to be too narrow."
        )


def _notes_on_dimensions(x: Floats, names: Sequence[str], constant: Sequence[str]) -> Iterator[str]:
    """Yield notes on dimensions that the sample says nothing of, or cannot tell from the others."""
    for name in constant:
        yield f"{name} is constant: nothing can be learnt about it, so its weight is 0, even if it matters."
    for first, other in combinations(range(len(names)), 2):
        if np.allclose(x[:, first], x[:, other]):
            yield (
                f"{names[first]} and {names[other]} are equal in every plan: how they share their weight is arbitrary, "
                "and only their sum means anything."
            )
    inflated = [name for name, factor in zip(names, inflation(x), strict=True) if factor >= COLLINEAR_FROM]
    if inflated:
        yield (
            f"Collinear (variance inflation of {COLLINEAR_FROM:g} or more): {', '.join(inflated)}. Their weight "
            "together is better known than how they share it."
        )


def inflation(x: Floats) -> Floats:
    """Return the variance inflation factor of each column: 1 / (1 - R²) of its regression on the others."""
    every = np.zeros(len(x), dtype=np.int64)
    factors = []
    for column in range(x.shape[1]):
        others = np.delete(x, column, axis=1)
        fitted = linear(moments(others, x[:, column], every)).predict(others, every) if others.shape[1] else x.mean()
        unexplained = ((x[:, column] - fitted) ** 2).sum() / ((x[:, column] - x[:, column].mean()) ** 2).sum()
        factors.append(np.inf if unexplained < 1 / 1e9 else 1 / unexplained)
    return np.array(factors)


def _notes_on_prediction(constrained: Floats, free: Floats) -> Iterator[str]:
    """Yield notes on R² in plans that were left out, one a repeat: of the fit, and of an unconstrained one."""
    least, mean, most = constrained.min(), constrained.mean(), constrained.max()
    if mean <= 0:
        yield (
            f"The fit explains nothing of scores that it has not seen: do not use these weights. Cross-validated R² is "
            f"{mean:.3f}, and below 0 the mean of all overall scores predicts better."
        )
    elif least <= 0:
        yield (
            "With some splits into folds, the fit explains nothing of scores that it has not seen: do not use these "
            f"weights. Cross-validated R² is {least:.3f} to {most:.3f}."
        )
    costs = float(free.mean() - mean)
    if costs > MAX_SIMPLEX_COST and free.mean() > 0:
        yield (
            f"An unconstrained linear fit explains {costs:.3f} more: the overall score falls with some dimension while "
            "it rises with others, which weights cannot express."
        )


def _notes_on_weights(weights: pd.DataFrame) -> Iterator[str]:
    """Yield notes on single weights."""
    known = weights.dropna(subset="low")
    at_zero = known.loc[known["weight"] <= _ZERO, "dimension"]
    unsure = known.loc[(known["low"] <= _ZERO) & (known["weight"] > _ZERO), "dimension"]
    if len(at_zero):
        yield f"At 0, the least that is allowed: {', '.join(at_zero)}; the interval says how large the weight may be."
    if len(unsure):
        yield f"The interval includes 0, so it may not matter at all: {', '.join(unsure)}."


def _notes_on_scale(scale: float, sign_differs: float, sound: bool) -> Iterator[str]:
    """Yield notes on the direction of the overall score; `sound` where the fit explains scores it has not seen."""
    if scale == 0:
        yield "No dimension explains anything of the overall score, so all weights are equal."
        return
    if scale < 0:
        meant = (
            ": this is right if 1 is its best grade. If 1 is the best score of the dimensions, turn these (1 to 10: "
            "11 - score) before you rank plans: rank 1 has the highest weighted sum"
        )
        yield f"The overall score falls as the dimensions rise{meant if sound else ''}."
    if sign_differs >= UNSURE_SIGN_FROM:
        yield (
            f"The sign of the scale is not certain: {100 * sign_differs:.1f} % of resamples have another. Weights of "
            "either sign mean opposite things; where the scale may be 0, their intervals are 0 to 1."
        )

"""Scores and ranks of plans under weights, in exact arithmetic, and their sensitivity to weights (rules A10, F4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.weights.score_table import SCALE, Floats, is_long, wide
from verifyplan.analysis.weights.simplex import Exact, FittedWeights, WeightsOfScores, checked, load, moved
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.load import Runs
from verifyplan.progress import say
from verifyplan.text import short_repr

_PLACES = 10
_SURE = 10**15
"""A float is sure to be the decimal that was written where it has 15 digits or fewer."""

MIN_SCALE_RATIO = 5
"""From this ratio of the largest scores of two dimensions on, they are taken to have different scales."""

SCALES_DIFFER = (
    "Warning: equal weights count the scores as they are, and their scales differ: the largest score of {small!r} is "
    "{least:g}, that of {large!r} {most:g}, which outweighs it. Put the dimensions on one scale first, such as by "
    "scores / scores.max()."
)

OUT_OF_RANGE = (
    "Warning: the scores of {name!r}, such as {worst:g}, lie far from the range of the fit, {low:g} to {high:g}. If "
    "they are on another scale than those that were fitted, the ranks mean nothing: bring them to that scale."
)

_DOUBLE = 2**53
"""Whole numbers below this are exact in a float, and their sums in 64 bits."""


def apply(scores: Runs | pd.DataFrame, weights: WeightsOfScores = None) -> pd.DataFrame:
    """Return the score of every plan under weights, and its rank; the score informs and never decides a verdict.

    `scores` are as `wide` takes them. `weights` map each dimension to a decimal or its text, with a sum of exactly 1;
    `equal` gives each dimension the same weight, and None the default ones, whatever weights a run had; the path of a
    weights file (a text ends in `.json`) is taken as what `load` returns. What `fit` returns, or `load` of its file,
    is taken as its `.exact()` weights, of the dimensions that it was fitted to: other columns, such as the
    overall score, are left out. Where the ranges of its dimensions differ, each is first put on 1 to 10 by its range,
    as the weights are of dimensions rescaled so, and `attrs["rescaled"]` holds the ranges. It warns on standard error
    where all scores of a dimension lie outside its range, or one by more than the range is wide. `equal` counts every
    column as it is, so leave out those that are not dimensions; it warns on standard error where the largest scores of
    two columns differ by a factor of 5 or more. Of these two, `attrs["dimensions"]` names the columns
    that were counted. Binary fractions, such as the positions of sliders, are taken as the decimals that they print
    as, and divided by their sum if that is within 1e-9 of 1.

    Columns: `plan, score, final, rank, missing`. `score` is the weighted sum; `final` is that sum rounded half up,
    in exact arithmetic as `rules.scoring.final_score` does (2.5 to 3, -2.5 to -2). Rank 1 has the highest sum;
    plans with equal sums share the smallest rank. A plan that lacks a dimension, be its weight 0, has no score and no
    rank, and `missing` names what it lacks. Raises TableError and SettingsError listing all that is wrong. Source: rule
    A10.

    >>> table = pd.DataFrame(
    ...     {"wit": [7, 8, 5], "depth": [4, 2, None]}, index=["a", "b", "c"]
    ... )
    >>> apply(table, {"wit": "0.5", "depth": "0.5"})
      plan  score  final  rank missing
    0    a    5.5      6     1
    1    b    5.0      5     2
    2    c    NaN   <NA>  <NA>   depth
    >>> apply(table, "equal")["score"].tolist()
    [5.5, 5.0, nan]
    """
    table, exact = checked_inputs(scores, weights)
    scored = Plans.of(table).under(exact)
    absent = table.isna().to_numpy()
    missing = [", ".join(table.columns[row]) if row.any() else "" for row in absent]
    columns = {
        "plan": table.index,
        "score": scored.score,
        "final": whole_or_missing(scored.final, scored.known),
        "rank": whole_or_missing(scored.rank, scored.known),
        "missing": pd.Series(missing, dtype="str"),
    }
    return with_attrs(pd.DataFrame(columns), table)


def checked_inputs(
    scores: Runs | pd.DataFrame, weights: WeightsOfScores, problems: Sequence[Problem] = ()
) -> tuple[pd.DataFrame, Exact]:
    """Return the table and the weights, checked; InputError lists `problems` and all that is wrong with them."""
    errors: list[InputError] = [SettingsError(problems)] if problems else []
    table = exact = None
    if isinstance(weights, PathLike) or (isinstance(weights, str) and weights.endswith(".json")):
        try:
            weights = load(Path(weights))
        except InputError as error:
            raise joined_error([*errors, error]) from None
    try:
        table = _table_for(scores, weights)
    except InputError as error:
        errors.append(error)
    try:
        if table is not None or not isinstance(weights, str):  # weights by name are those of the table's columns
            exact = checked(weights, None if table is None else list(table.columns))
    except InputError as error:
        errors.append(error)
    if table is not None and exact is not None and not errors:
        return table, exact
    raise joined_error(errors)


def _table_for(scores: Runs | pd.DataFrame, weights: WeightsOfScores) -> pd.DataFrame:
    """Return the wide table; of a fit only the columns that it was fitted to, and `attrs` name those counted."""
    if isinstance(weights, FittedWeights) and isinstance(scores, pd.DataFrame) and not is_long(scores):
        fitted = set(weights.exact())
        scores = scores[[name for name in scores.columns if str(name) in fitted]]
    table = wide(scores)
    table.attrs.pop("dimensions", None)
    if isinstance(weights, str | FittedWeights):
        table.attrs["dimensions"] = list(table.columns)
    if isinstance(weights, str):
        _warn_of_scales(table)
    if not isinstance(weights, FittedWeights):
        return table
    _warn_of_ranges(table, weights.ranges)
    return _rescaled(table, weights.ranges)


def _warn_of_ranges(table: pd.DataFrame, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Say which dimensions seem to be on another scale than that of the fit; one that never varied there is left out.

    A new plan may well lie somewhat outside what a fit saw. So it takes all scores outside, or one that is off by more
    than the range is wide.
    """
    for name in table.columns.intersection(list(ranges)):
        low, high = ranges[name]
        values = table[name].dropna().to_numpy(dtype=np.float64)
        off = np.maximum(low - values, values - high)
        if high > low and len(off) and (off.min() > 0 or off.max() > high - low):
            worst = values[off.argmax()]
            say(OUT_OF_RANGE.format(name=name, worst=worst, low=low, high=high), shown=True)


def _warn_of_scales(table: pd.DataFrame) -> None:
    """Say which dimensions have different scales, by their largest scores; dimensions of zeros alone are left out."""
    largest = table.abs().max()
    largest = largest[largest > 0]
    if len(largest) and largest.max() >= MIN_SCALE_RATIO * largest.min():
        small, large = str(largest.idxmin()), str(largest.idxmax())
        say(SCALES_DIFFER.format(small=small, least=largest.min(), large=large, most=largest.max()), shown=True)


def _rescaled(table: pd.DataFrame, ranges: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Return each dimension on the scale from 1 to 10 by its range, unless all have one range: that weighs the same."""
    if len(set(ranges.values())) < 2 or not set(table.columns) <= set(ranges):
        return table
    low, high = np.array([ranges[name] for name in table.columns]).T
    shares = (table - low) / np.where(high > low, high - low, 1)
    rescaled: pd.DataFrame = (SCALE[0] + (SCALE[1] - SCALE[0]) * shares).round(_PLACES)
    rescaled.attrs = {**table.attrs, "rescaled": {name: ranges[name] for name in table.columns}}
    return rescaled


def joined_error(errors: Sequence[InputError]) -> InputError:
    """Return several errors as one, of their kind if they are of one kind."""
    kinds = {type(error) for error in errors}
    return (kinds.pop() if len(kinds) == 1 else InputError)(problem for error in errors for problem in error.problems)


class Scored(NamedTuple):
    """Scores and ranks of plans under weights, in their order; of a plan not `known`, NaN, and all else 0."""

    known: npt.NDArray[np.bool_]
    score: Floats
    final: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Plans:
    """The plans that have every score, as whole numbers over one denominator."""

    known: npt.NDArray[np.bool_]
    numerators: npt.NDArray[Any]
    denominator: int

    @classmethod
    def of(cls, table: pd.DataFrame) -> Plans:
        """Return the plans of a wide table."""
        values = table.to_numpy(dtype=np.float64)
        known = ~np.isnan(values).any(axis=1)
        return cls(known, *_fractions(values[known]))

    def under(self, weights: Exact) -> Scored:
        """Return scores and ranks under weights, one weight for each column."""
        common = lcm(*(weight.denominator for weight in weights.values()))
        factors = [int(weight * common) for weight in weights.values()]
        denominator = self.denominator * common
        largest = int(abs(self.numerators).max(initial=0)) * common
        dtype: Any = np.int64 if max(largest, denominator) < _DOUBLE else object
        totals = self.numerators.astype(dtype) @ np.array(factors, dtype=dtype)
        score, final, rank = np.full(len(self.known), np.nan), *np.zeros((2, len(self.known)), dtype=np.int64)
        score[self.known] = (totals / denominator).astype(np.float64)
        final[self.known] = ((2 * totals + denominator) // (2 * denominator)).astype(np.int64)
        rank[self.known] = ranks(totals)
        return Scored(self.known, score, final, rank)


def ranks(totals: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return ranks from 1, the largest first; equal totals share the smallest rank."""
    _, place, count = np.unique(totals, return_inverse=True, return_counts=True)
    better = count.sum() - count.cumsum()
    return np.asarray(1 + better[place].astype(np.int64))


def whole_or_missing(values: npt.NDArray[np.int64], known: npt.NDArray[np.bool_]) -> Any:
    """Return whole numbers that may be missing, as pandas has them."""
    return pd.arrays.IntegerArray(values.copy(), ~known)


def with_attrs(result: pd.DataFrame, table: pd.DataFrame, **attrs: object) -> pd.DataFrame:
    """Return the result with `attrs`: whether its plans were generated, and how it was made."""
    kept = ("synthetic", "dimensions", "rescaled")
    result.attrs = {name: value for name, value in table.attrs.items() if name in kept}
    result.attrs.update(attrs)
    return result


def _fractions(values: Floats) -> tuple[npt.NDArray[Any], int]:
    """Return floats as whole numbers over one denominator, each as the shortest decimal that means it."""
    for places in range(_PLACES + 1):
        scaled = np.rint(values * 10.0**places)
        if np.abs(scaled).max(initial=0) < _SURE and (scaled / 10.0**places == values).all():
            return scaled.astype(np.int64), 10**places
    pairs = [Decimal(repr(value)).as_integer_ratio() for value in values.ravel().tolist()]
    common = lcm(*(below for _, below in pairs))
    whole = [above * (common // below) for above, below in pairs]
    return np.array(whole, dtype=object).reshape(values.shape), common


def fraction(value: float) -> Fraction:
    """Return a number as the shortest decimal that means it, exactly."""
    return Fraction(repr(float(value)))


MAX_FLOAT = 1e300
"""A number beyond this is taken for infinite."""


def within(name: str, value: object, above: float, most: float | None = None) -> list[Problem]:
    """Return a problem unless `value` is a number above `above` and up to `most` (None: whatever a float can hold)."""
    number = int(value) if isinstance(value, Integral) else value
    if isinstance(number, int | float) and not isinstance(value, bool) and above < number <= (most or MAX_FLOAT):
        return []
    upper = "" if most is None else f" and up to {most:g}"
    return [Problem(name, f"{short_repr(value)} is out of range", f"give a number above {above:g}{upper}")]


def whole(name: str, value: object, least: int, most: int = 10**9) -> list[Problem]:
    """Return a problem unless `value` is a whole number from `least` to `most`."""
    if isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return []
    return [Problem(name, f"{short_repr(value)} is out of range", f"give a whole number from {least} to {most}")]


DIRECTIONS = ("lower", "higher")


def sensitivity(scores: Runs | pd.DataFrame, weights: WeightsOfScores = None, *, by: float = 0.10) -> pd.DataFrame:
    """Return scores and ranks with each weight lowered and raised by `by`, one at a time, beside those under `weights`.

    A weight stays within 0 and 1; the others give way in proportion, or evenly where all of them are 0. A single
    dimension keeps its weight of 1. `scores` and `weights` are as `apply` takes them.

    One row a dimension, direction (`lower`, `higher`) and plan: `plan, dimension, direction, weight, score, rank,
    base_score, base_rank`; `weight` is the new weight of that dimension, and base is under `weights` themselves. A
    plan that lacks a dimension has no score and no rank. `attrs["by"]`. The score informs and never decides a
    verdict. Raises TableError and SettingsError listing all that is wrong.

    >>> table = pd.DataFrame({"wit": [7, 5], "depth": [4, 6]}, index=["a", "b"])
    >>> sensitivity(table, {"wit": "0.6", "depth": "0.4"}).query("dimension == 'wit' and plan == 'a'")[
    ...     ["direction", "weight", "score", "rank", "base_score"]]
      direction  weight  score  rank  base_score
    0     lower     0.5    5.5     1         5.8
    2    higher     0.7    6.1     1         5.8
    """
    table, exact = checked_inputs(scores, weights, within("by", by, 0, 1))
    plans, step = Plans.of(table), fraction(by)
    base = plans.under(exact)
    settings = [
        (name, direction, moved(exact, name, exact[name] + sign * step))
        for name in exact
        for direction, sign in zip(DIRECTIONS, (-1, 1), strict=True)
    ]
    scored = [plans.under(weights) for _, _, weights in settings]
    times, known = len(settings), np.tile(plans.known, len(settings))
    columns = {
        "plan": np.tile(table.index.to_numpy(dtype="object"), times),
        "dimension": np.repeat([name for name, _, _ in settings], len(table)),
        "direction": np.repeat([direction for _, direction, _ in settings], len(table)),
        "weight": np.repeat([float(weights[name]) for name, _, weights in settings], len(table)),
        "score": np.concatenate([moved_scores.score for moved_scores in scored]),
        "rank": whole_or_missing(np.concatenate([moved_scores.rank for moved_scores in scored]), known),
        "base_score": np.tile(base.score, times),
        "base_rank": whole_or_missing(np.tile(base.rank, times), known),
    }
    return with_attrs(pd.DataFrame(columns).astype({"plan": "str"}), table, by=float(by))

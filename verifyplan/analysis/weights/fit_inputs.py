"""The inputs of a fit of weights: scores, overall scores, groups and ranges, checked and joined (rule F4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.least_squares import Sample
from verifyplan.analysis.weights.score_table import SCALE, Floats, numbers, value_problems, wide
from verifyplan.analysis.weights.scored import MAX_FLOAT, joined_error, whole
from verifyplan.errors import InputError, Problem, SettingsError, TableError, one_of
from verifyplan.frames.columns import as_text
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.text import counted, did_you_mean, short_repr

T = TypeVar("T")

PerPlan: TypeAlias = "pd.Series[Any] | Mapping[str, Any] | Sequence[Any] | np.ndarray[Any, Any] | str"
"""By plan name, in the order of the plans, or the name of a column of the wide table."""

_LIMITS = {"folds": (2, 1000), "repeats": (1, 1000), "resamples": (1, 100_000), "seed": (0, 2**63 - 1)}


@dataclass(frozen=True)
class FitInputs:
    """Plans that weights can be fitted to; the overall score is centred and divided by its spread."""

    sample: Sample
    varying: list[str]
    constant: list[str]
    ranges: dict[str, tuple[float, float]]
    centre: float
    spread: float
    left_out: int
    grouped: bool
    synthetic: bool


def prepare_inputs(
    scores: object, overall: object, groups: object, ranges: object, settings: Mapping[str, int]
) -> FitInputs:
    """Return the inputs of `fit`, checked; raises InputError listing all that is wrong."""
    errors: list[InputError] = []

    def attempt(check: Callable[[], T]) -> T | None:
        try:
            return check()
        except InputError as error:
            errors.append(error)
            return None

    problems = [problem for name, value in settings.items() for problem in whole(name, value, *_LIMITS[name])]
    errors += [SettingsError(problems)] if problems else []
    table = attempt(lambda: wide(_dimensions(scores, overall, groups)))
    if table is None:
        raise joined_error(errors)
    judged = attempt(lambda: _overall(overall, scores, table))
    members = attempt(lambda: _groups(groups, scores, table))
    scales = attempt(lambda: _checked_ranges(ranges, table))
    if errors or judged is None or members is None or scales is None:
        raise joined_error(errors)
    _refuse_itself(judged, table)
    used = ~(table.isna().any(axis=1).to_numpy() | np.isnan(judged))
    return _inputs(table[used], judged[used], None if groups is None else members[used], scales, int((~used).sum()))


def _inputs(
    table: pd.DataFrame, judged: Floats, members: pd.Series[Any] | None, scales: dict[str, Any], left_out: int
) -> FitInputs:
    """Return the plans that have all scores; raises InputError where they are too few, or say nothing."""
    values = table.to_numpy(dtype=np.float64)
    names = list(table.columns)
    varies = np.ptp(values, axis=0) > 0 if len(values) else np.zeros(len(names), dtype=bool)
    varying = table.columns[varies].tolist()
    need = max(len(varying) + 2, 3)
    if len(judged) < need:
        lost = f"; {left_out} left out, as a score is missing" if left_out else ""
        message = f"{counted(len(judged), 'plan')} are too few for {counted(len(varying), 'dimension')}{lost}"
        raise InputError(Problem("scores", message, f"give {need} plans at least, and many more to learn from"))
    if not varying:
        raise InputError(Problem("scores", "are the same for all plans", "give plans that differ"))
    if np.ptp(judged) == 0:
        fix = "give plans that people judged differently"
        raise InputError(Problem("overall", "is the same for all plans", fix))
    if members is not None and members.isna().any():
        message = f"are missing for {counted(int(members.isna().sum()), 'plan')}"
        raise InputError(Problem("groups", message, "give every plan a group, or leave the plan out"))
    unit = np.arange(len(judged)) if members is None else pd.factorize(members)[0].astype(np.int64)
    if unit.max() == 0:
        raise InputError(Problem("groups", "all plans are in one group", "give two groups at least, or None"))
    ranges = {name: scales.get(name) or _observed_range(name, values[:, i]) for i, name in enumerate(names)}
    low, high = np.array([ranges[name] for name in varying]).T
    centre, spread = float(judged.mean()), float(judged.std())
    return FitInputs(
        sample=Sample((values[:, varies] - low) / (high - low), (judged - centre) / spread, unit),
        varying=varying,
        constant=[name for name in names if name not in varying],
        ranges=ranges,
        centre=centre,
        spread=spread,
        left_out=left_out,
        grouped=members is not None,
        synthetic=bool(table.attrs.get("synthetic", False)),
    )


def _observed_range(name: str, values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return SCALE if name in DIMENSIONS and low >= SCALE[0] and high <= SCALE[1] else (low, high)


def _dimensions(scores: object, *named: object) -> Any:
    """Return the scores without the columns that are named as something else."""
    columns = [name for name in named if isinstance(name, str)]
    if not columns or not isinstance(scores, pd.DataFrame):
        return scores
    return scores.drop(columns=[name for name in columns if name in scores])


def _overall(overall: object, scores: object, table: pd.DataFrame) -> Floats:
    column = per_plan(overall, "overall", scores, table)
    if all(isinstance(value, bool | np.bool_) for value in column.dropna()):
        column = column.astype("object").map({True: 1.0, False: 0.0}, na_action="ignore").astype("float64")
    values = numbers(column)
    if values is None:
        fix = "give numbers or booleans, missing ones as None or NaN"
        raise TableError(Problem("overall", "holds more than numbers", fix))
    if problems := value_problems(values, "overall"):
        raise TableError(problems)
    return values


def _refuse_itself(judged: Floats, table: pd.DataFrame) -> None:
    """Raise InputError where a column of the scores is the overall score, which nothing could explain better."""
    known = ~np.isnan(judged)
    for name in table.columns:
        if known.any() and np.array_equal(table[name].to_numpy()[known], judged[known]):
            fix = "leave it out of the scores, or give its name in place of its values"
            raise InputError(Problem("overall", f"is the same as the dimension {name!r}", fix))


def _groups(groups: object, scores: object, table: pd.DataFrame) -> pd.Series[Any]:
    if groups is None:
        return pd.Series(table.index, index=table.index)
    return as_text(per_plan(groups, "groups", scores, table))


def _checked_ranges(ranges: object, table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the ranges by dimension; raises SettingsError where one is not a range, or scores lie outside."""
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        fix = "give a mapping of dimensions to (low, high)"
        raise SettingsError(Problem("ranges", f"are a {type(ranges).__name__}, not a mapping", fix))
    parsed = {str(name): _range(ends) for name, ends in ranges.items()}
    problems = []
    for name, ends in parsed.items():
        place = f"ranges.{name}"
        if name not in table:
            message = f"is not a dimension of these scores{did_you_mean(name, table.columns)}"
            problems.append(Problem(place, message, f"use {one_of(table.columns[:8])}"))
        elif ends is None:
            message = f"must be a pair (low, high), got {short_repr(ranges[name])}"
            problems.append(Problem(place, message, "give (low, high), low first"))
        elif (table[name] < ends[0]).any() or (table[name] > ends[1]).any():
            low, high = table[name].min(), table[name].max()
            message = f"scores from {low:g} to {high:g} lie outside of {ends[0]:g} to {ends[1]:g}"
            problems.append(Problem(place, message, "give the ends of the scale"))
    if problems:
        raise SettingsError(problems)
    return {name: ends for name, ends in parsed.items() if ends is not None}


def _range(ends: object) -> tuple[float, float] | None:
    if not isinstance(ends, Sequence) or isinstance(ends, str | bytes) or len(ends) != 2:
        return None
    column = numbers(pd.Series(list(ends), dtype="object"))
    if column is None or not (-MAX_FLOAT < column[0] < column[1] < MAX_FLOAT):
        return None
    return float(column[0]), float(column[1])


def per_plan(value: object, name: str, scores: object, table: pd.DataFrame) -> pd.Series[Any]:
    """Return a value for each plan, in the order of `table`; missing where a plan is not named.

    InputError, at the place `name`, where it fits no plan, names one twice, or is of another length.
    """
    if isinstance(value, str):
        columns = [str(column) for column in scores.columns] if isinstance(scores, pd.DataFrame) else []
        if not isinstance(scores, pd.DataFrame) or columns.count(value) != 1 or len(scores) != len(table):
            message = f"{value!r} is not a column of the scores{did_you_mean(value, columns)}"
            fix = "name a column of a table with one row a plan, or give a Series by plan"
            raise InputError(Problem(name, message, fix))
        return scores.iloc[:, columns.index(value)].set_axis(table.index)
    if isinstance(value, pd.Series | Mapping):
        return _by_name(pd.Series(value, dtype=None if len(value) else "object"), name, table)
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, bytes):
        fix = "give a Series or mapping by plan, a list in the order of the plans, or the name of a column"
        raise InputError(Problem(name, f"is a {type(value).__name__}", fix))
    if len(value) != len(table) or np.ndim(value) != 1:
        message = f"has {counted(len(value), 'value')} for {counted(len(table), 'plan')}"
        raise InputError(Problem(name, message, "give one for each plan, missing ones as None"))
    return pd.Series(value, index=table.index)


def _by_name(value: pd.Series[Any], name: str, table: pd.DataFrame) -> pd.Series[Any]:
    plans = pd.Index([str(plan) for plan in value.index], dtype="str")
    if plans.has_duplicates:
        first = plans[plans.duplicated()][0]
        raise InputError(Problem(name, f"the plan {first!r} occurs twice", "give every plan once"))
    if len(table) and not plans.isin(table.index).any():
        have = one_of(table.index[:3])
        fix = f"index it by plan, such as {have}, or give a list in the order of the plans"
        raise InputError(Problem(name, "has none of the plans that have scores", fix))
    return value.set_axis(plans).reindex(table.index)

"""What weights are fitted to: scores, overall scores, groups and ranges, checked and brought together (rule F4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.least_squares import Sample
from verifyplan.analysis.weights.score_table import Floats, numbers, value_problems, wide
from verifyplan.analysis.weights.scored import MAX_FLOAT, joined_error, whole
from verifyplan.errors import InputError, Problem, SettingsError, TableError, one_of
from verifyplan.frames.columns import as_text
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.text import counted, did_you_mean, short_repr

PerPlan: TypeAlias = "pd.Series[Any] | Mapping[str, Any] | Sequence[Any] | np.ndarray[Any, Any] | str"
"""By plan name, in the order of the plans, or the name of a column of the wide table."""


def per_plan(value: object, name: str, scores: object, table: pd.DataFrame) -> pd.Series[Any]:
    """What was given for each plan, in the order of `table`; missing where a plan is not named.

    InputError, at the place `name`, where it fits no plan, names one twice, or is of another length.
    """
    if isinstance(value, str):
        return _column(value, name, scores, table)
    if isinstance(value, pd.Series | Mapping):
        return _by_name(pd.Series(value, dtype=None if len(value) else "object"), name, table)
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, bytes):
        fix = "give a Series or mapping by plan, a list in the order of the plans, or the name of a column"
        raise InputError(Problem(name, f"is a {type(value).__name__}", fix))
    if len(value) != len(table) or np.ndim(value) != 1:
        message = f"has {counted(len(value), 'value')} for {counted(len(table), 'plan')}"
        raise InputError(Problem(name, message, "give one for each plan, missing ones as None"))
    return pd.Series(value, index=table.index)


def _column(value: str, name: str, scores: object, table: pd.DataFrame) -> pd.Series[Any]:
    columns = [str(one) for one in scores.columns] if isinstance(scores, pd.DataFrame) else []
    if not isinstance(scores, pd.DataFrame) or columns.count(value) != 1 or len(scores) != len(table):
        near = did_you_mean(value, columns)
        fix = "name a column of a table with one row a plan, or give a Series by plan"
        raise InputError(Problem(name, f"{value!r} is no column of the scores{near}", fix))
    return scores.iloc[:, columns.index(value)].set_axis(table.index)


def _by_name(value: pd.Series[Any], name: str, table: pd.DataFrame) -> pd.Series[Any]:
    plans = pd.Index([str(one) for one in value.index], dtype="str")
    if plans.has_duplicates:
        first = plans[plans.duplicated()][0]
        raise InputError(Problem(name, f"the plan {first!r} stands twice", "give every plan once"))
    if len(table) and not plans.isin(table.index).any():
        have = one_of(table.index[:3])
        fix = f"index it by plan, such as {have}, or give a list in the order of the plans"
        raise InputError(Problem(name, "names none of the plans that have scores", fix))
    return value.set_axis(plans).reindex(table.index)


T = TypeVar("T")

SCALE = (1.0, 10.0)
"""The ends of the scale of the six dimensions (rule A10)."""

_MIN = {"folds": 2, "repeats": 1, "resamples": 1, "seed": 0}
_MAX = {"folds": 1000, "repeats": 1000, "resamples": 100_000, "seed": 2**63 - 1}


@dataclass(frozen=True)
class FitInputs:
    """Plans that can be fitted to; the overall score is centred and divided by its spread."""

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
    """The inputs of `fit`, checked; InputError listing all that is wrong."""
    errors: list[InputError] = []

    def attempt(check: Callable[[], T]) -> T | None:
        try:
            return check()
        except InputError as error:
            errors.append(error)
            return None

    attempt(lambda: _check_settings(settings))
    table = attempt(lambda: wide(_dimensions(scores, overall, groups)))
    if table is None:
        raise joined_error(errors)
    judged = attempt(lambda: _overall(overall, scores, table))
    members = attempt(lambda: _groups(groups, scores, table))
    given = attempt(lambda: _given_ranges(ranges, table))
    if errors or judged is None or members is None or given is None:
        raise joined_error(errors)
    _refuse_itself(judged, table)
    used = ~(table.isna().any(axis=1).to_numpy() | np.isnan(judged))
    return _prepared(table[used], judged[used], None if groups is None else members[used], given, int((~used).sum()))


def _prepared(
    table: pd.DataFrame, judged: Floats, members: pd.Series[Any] | None, given: dict[str, Any], left_out: int
) -> FitInputs:
    """The plans that have all scores; InputError where they are too few, or say nothing."""
    values = table.to_numpy(dtype=np.float64)
    names = list(table.columns)
    varies = np.ptp(values, axis=0) > 0 if len(values) else np.zeros(len(names), dtype=bool)
    varying = [name for name, told in zip(names, varies, strict=True) if told]
    _check_plans(judged, varying, left_out)
    if members is not None and members.isna().any():
        message = f"are missing for {counted(int(members.isna().sum()), 'plan')}"
        raise InputError(Problem("groups", message, "give every plan a group, or leave the plan out"))
    unit = np.arange(len(judged)) if members is None else pd.factorize(members)[0].astype(np.int64)
    if unit.max() == 0:
        raise InputError(Problem("groups", "all plans are in one group", "give two groups at least, or None"))
    ranges = {name: given.get(name) or _observed(name, values[:, i]) for i, name in enumerate(names)}
    low, high = np.array([ranges[name] for name in varying]).T
    centre, spread = float(judged.mean()), float(judged.std())
    return FitInputs(
        Sample((values[:, varies] - low) / (high - low), (judged - centre) / spread, unit),
        varying,
        [name for name in names if name not in varying],
        ranges,
        centre,
        spread,
        left_out,
        members is not None,
        bool(table.attrs.get("synthetic", False)),
    )


def _check_plans(judged: Floats, varying: Sequence[str], left_out: int) -> None:
    need = len(varying) + 2
    problems = []
    if len(judged) < max(need, 3):
        lost = f"; left out for want of a score: {left_out}" if left_out else ""
        message = f"{counted(len(judged), 'plan')} are too few for {counted(len(varying), 'dimension')}{lost}"
        problems.append(Problem("scores", message, f"give {max(need, 3)} plans at least, and many more to learn from"))
    elif not varying:
        problems.append(Problem("scores", "are the same for all plans", "give plans that differ"))
    elif np.ptp(judged) == 0:
        problems.append(Problem("overall", "is the same for all plans", "give plans that people judged differently"))
    if problems:
        raise InputError(problems)


def _observed(name: str, values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return SCALE if name in DIMENSIONS and low >= SCALE[0] and high <= SCALE[1] else (low, high)


def _check_settings(settings: Mapping[str, int]) -> None:
    problems = [one for name, value in settings.items() for one in whole(name, value, _MIN[name], _MAX[name])]
    if problems:
        raise SettingsError(problems)


def _dimensions(scores: object, *named: object) -> Any:
    """The scores without the columns that are named as something else."""
    columns = [name for name in named if isinstance(name, str)]
    if not columns or not isinstance(scores, pd.DataFrame):
        return scores
    return scores.drop(columns=[name for name in columns if name in scores])


def _overall(overall: object, scores: object, table: pd.DataFrame) -> Floats:
    found = numbers(per_plan(overall, "overall", scores, table))
    problems = [] if found is None else value_problems(found, "overall")
    if found is None:
        problems = [Problem("overall", "holds more than numbers", "give numbers, missing ones as None or NaN")]
    if found is None or problems:
        raise TableError(problems)
    return found


def _refuse_itself(judged: Floats, table: pd.DataFrame) -> None:
    """InputError where a column of the scores is the overall score, which nothing could explain better."""
    told = ~np.isnan(judged)
    for name in table.columns:
        if told.any() and np.array_equal(table[name].to_numpy()[told], judged[told]):
            fix = "leave it out of the scores, or give its name in place of its values"
            raise InputError(Problem("overall", f"is the same as the dimension {name!r}", fix))


def _groups(groups: object, scores: object, table: pd.DataFrame) -> pd.Series[Any]:
    if groups is None:
        return pd.Series(table.index, index=table.index)
    return as_text(per_plan(groups, "groups", scores, table))


def _given_ranges(ranges: object, table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The ranges that were given; SettingsError where they are none, or scores lie outside."""
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        fix = "give a mapping of dimensions to (low, high)"
        raise SettingsError(Problem("ranges", f"are a {type(ranges).__name__}, not a mapping", fix))
    found = {str(name): _range(ends) for name, ends in ranges.items()}
    problems = []
    for name, ends in found.items():
        if name not in table:
            what = f"is no dimension of these scores{did_you_mean(name, table.columns)}"
            problems.append(Problem(f"ranges.{name}", what, f"use {one_of(table.columns[:8])}"))
        elif ends is None:
            problems.append(
                Problem(f"ranges.{name}", f"{short_repr(ranges[name])} is no range", "give (low, high), low first")
            )
        elif (table[name] < ends[0]).any() or (table[name] > ends[1]).any():
            what = (
                f"scores from {table[name].min():g} to {table[name].max():g} lie outside of {ends[0]:g} to {ends[1]:g}"
            )
            problems.append(Problem(f"ranges.{name}", what, "give the ends of the scale"))
    if problems:
        raise SettingsError(problems)
    return {name: ends for name, ends in found.items() if ends is not None}


def _range(ends: object) -> tuple[float, float] | None:
    if not isinstance(ends, Sequence) or isinstance(ends, str | bytes) or len(ends) != 2:
        return None
    column = numbers(pd.Series(list(ends), dtype="object"))
    if column is None or not (-MAX_FLOAT < column[0] < column[1] < MAX_FLOAT):
        return None
    return float(column[0]), float(column[1])

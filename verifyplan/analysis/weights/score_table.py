"""The table of scores, one row a plan and one column a dimension, from any source (rules E4, F4)."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from verifyplan.errors import Problem, TableError
from verifyplan.frames.columns import as_text
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import mark_synthetic
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.text import counted

Floats = npt.NDArray[np.float64]

SCALE = (1.0, 10.0)
"""The ends of the scale of the six dimensions (rule A10)."""

MAX_SCORE = 1e15
"""Scores beyond this, up or down, could not be told apart to the last digit."""

_LONG = {"dimension", "score"}
_NUMBERS = "give numbers, or leave the column out: every column is a dimension"


def wide(scores: Runs | pd.DataFrame) -> pd.DataFrame:
    """Return scores as one row a plan (the index, as text) and one column of numbers a dimension.

    Takes runs (a RunSet, a run, a path or the name of a bundled set), their table `scores`, or a table that is wide
    already, of any dimensions. Of runs, the synthesizer's scores count that were not refused; a plan that lacks a
    dimension keeps NaN there. The six dimensions are in the order of rule A10, others in the order of their coming. The
    score informs and never decides a verdict.

    Raises TableError listing columns that hold no numbers, infinite values, and plans, columns or scores that appear
    twice.

    >>> table = pd.DataFrame(
    ...     {"run_id": ["a", "a"], "dimension": ["wit", "depth"], "score": [7, 4]}
    ... )
    >>> wide(table)
           wit  depth
    plan
    a      7.0    4.0
    """
    if not isinstance(scores, pd.DataFrame):
        runs = as_runs(scores, "scores")
        return mark_synthetic(_from_long(runs.scores), runs)
    table = _from_long(scores) if is_long(scores) else _from_wide(scores)
    table.attrs = dict(scores.attrs)
    return table


def is_long(scores: pd.DataFrame) -> bool:
    """Return whether a table has one row a score, as the table `scores` of runs, and not one row a plan."""
    return set(scores.columns) >= _LONG


def numbers(column: pd.Series[Any]) -> Floats | None:
    """Return a column as floats, missing values as NaN; None if it holds anything but numbers."""
    kind = column.dtype
    if is_numeric_dtype(kind) and not is_bool_dtype(kind) and not is_complex_dtype(kind):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind != "object":
        return None
    if not all(isinstance(v, Real | Decimal) and not isinstance(v, bool | np.bool_) for v in column.dropna()):
        return None
    return column.where(column.notna(), np.nan).map(_float).to_numpy(dtype=np.float64)


def _float(value: Any) -> float:
    """Return a number as a float; one beyond any float is infinite, and refused as such."""
    try:
        return float(value)
    except OverflowError:
        return np.inf


def value_problems(values: Floats, place: str) -> list[Problem]:
    """Return what is wrong with numbers: infinite ones, or ones so large that their last digits are lost."""
    outside = np.abs(values) > MAX_SCORE  # false for NaN
    if not outside.any():
        return []
    worst = values[outside][0]
    return [Problem(place, f"must be finite and at most {MAX_SCORE:g}, got {worst:g}", "give other numbers")]


def _from_wide(scores: pd.DataFrame) -> pd.DataFrame:
    names = [str(name) for name in scores.columns]
    plans = pd.Series([str(name) for name in scores.index.astype("object")], dtype="object")
    problems = [] if names else [Problem("scores", "have no column", "give one column of numbers a dimension")]
    problems += _twice(pd.Series(names, dtype="object"), "column", "give every dimension one column")
    problems += _twice(plans, "plan", "give every plan its own name in the index")
    columns: list[Floats] = []
    for place, name in enumerate(names):
        values = numbers(scores.iloc[:, place])
        if values is None:
            message = f"holds {scores.dtypes.iloc[place]}, not numbers alone"
            is_names = not scores.iloc[:, place].duplicated().any()
            index = f"if it names the plans, make it the index: scores.set_index({name!r}); else " if is_names else ""
            problems.append(Problem(f"scores: column {name}", message, f"{index}{_NUMBERS}"))
        else:
            problems += value_problems(values, f"scores: column {name}")
            columns.append(values)
    if problems:
        raise TableError(problems)
    return _table(np.column_stack(columns), plans, names)


def _from_long(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the synthesizer's scores that count; all rows where there is no column of authors."""
    if "run_id" not in scores:
        fix = "give the table `scores` of runs, or one row a plan and one column a dimension"
        raise TableError(Problem("scores", "has no column 'run_id'", fix))
    own = scores[scores["by"].astype("object").eq("synthesizer").to_numpy(dtype=bool)] if "by" in scores else scores
    plan, dimension, values = as_text(own["run_id"]), as_text(own["dimension"]), numbers(own["score"])
    problems = [
        Problem(f"scores: column {column}", f"is missing in {counted(int(texts.isna().sum()), 'row')}", "fill it")
        for column, texts in (("run_id", plan), ("dimension", dimension))
        if texts.isna().any()
    ]
    if values is None:
        problems.append(Problem("scores: column score", f"holds {own['score'].dtype}, not numbers alone", _NUMBERS))
        raise TableError(problems)
    problems += value_problems(values, "scores: column score")
    pairs = plan.astype("object") + " in " + dimension.astype("object")
    problems += _twice(pairs.dropna(), "score", "keep one score of a plan in a dimension")
    if problems:
        raise TableError(problems)
    if "refused" in own:
        values = np.where(own["refused"].notna().to_numpy(dtype=bool), np.nan, values)
    rows, plans = pd.factorize(plan)
    names = list(dict.fromkeys(dimension))
    names = list(DIMENSIONS) if set(names) <= set(DIMENSIONS) else names
    cells = np.full((len(plans), len(names)), np.nan)
    cells[rows, pd.Index(names).get_indexer(pd.Index(dimension))] = values
    return _table(cells, pd.Series(list(plans), dtype="object"), names)


def _table(cells: Floats, plans: pd.Series[Any], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(cells, index=pd.Index(plans.tolist(), name="plan", dtype="str"), columns=pd.Index(names))


def _twice(names: pd.Series[Any], what: str, fix: str) -> list[Problem]:
    again = names[names.duplicated()].drop_duplicates()
    return [Problem("scores", f"the {what} {name!r} occurs twice", fix) for name in again]

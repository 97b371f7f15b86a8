"""Something given for each plan: by name, in the order of the plans, or as a column beside the scores (rule F4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.text import counted, did_you_mean

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

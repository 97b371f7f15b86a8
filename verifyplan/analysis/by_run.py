"""The tables of one run out of many, found by an index that is made once (rule E4)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import TABLE_NAMES, RunSet, expect_runs
from verifyplan.text import did_you_mean


class RunIndex:
    """Runs to be looked at one by one: `one(run_id)` costs a millisecond or two however many there are.

    The index of a table is made when it is first asked of; the tables must not be changed afterwards.
    """

    def __init__(self, runs: RunSet) -> None:
        expect_runs(runs)
        self.runs = runs
        self._rows: dict[str, _RowIndex] = {}

    def one(self, run_id: str) -> RunSet:
        """The run's rows of every table, as a RunSet; the errors of loading are left out.

        Raises InputError for a run that is not there.
        """
        if run_id not in self._known:
            have = ", ".join(list(self._known)[:5]) or "none"
            message = f"{run_id!r} is not in this set{did_you_mean(run_id, list(self._known)[:1000])}"
            raise InputError(Problem("run_id", message, f"use one of: {have}"))
        return RunSet(**{name: self._table(name).of(run_id) for name in TABLE_NAMES})

    @cached_property
    def _known(self) -> dict[str, None]:
        return dict.fromkeys(self.runs.runs["run_id"])

    def _table(self, name: str) -> _RowIndex:
        if name not in self._rows:
            self._rows[name] = _RowIndex(getattr(self.runs, name))
        return self._rows[name]


class _RowIndex:
    """Where each run's rows stand in one table."""

    def __init__(self, frame: pd.DataFrame) -> None:
        codes, names = pd.factorize(frame["run_id"])
        in_order = bool((np.diff(codes) >= 0).all())  # as loaded; rows that are mixed are sorted once
        self._frame = frame if in_order else frame.iloc[np.argsort(codes, kind="stable")]
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        self._spans = dict(zip(names, zip(starts.tolist(), ends.tolist(), strict=True), strict=True))

    def of(self, run_id: str) -> pd.DataFrame:
        first, end = self._spans.get(run_id, (0, 0))
        return self._frame.iloc[first:end].reset_index(drop=True)

"""One run of many at hand, however many there are (rule E4)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.text import did_you_mean


class RunIndex:
    """An index of many runs: `run(run_id)` costs a millisecond or two however many there are.

    The index of a table is made when it is first needed; the tables must not be changed afterwards.
    """

    def __init__(self, runs: RunSet) -> None:
        self.runs = runs
        self._indexes: dict[str, tuple[pd.DataFrame, dict[str, slice]]] = {}

    def run(self, run_id: str) -> RunSet:
        """Return the run's rows of every table, as a RunSet; the errors of loading are left out.

        Raises InputError for a run that is not there.
        """
        if run_id not in self._known:
            have = ", ".join(list(self._known)[:5]) or "none"
            message = f"{run_id!r} is not in this set{did_you_mean(run_id, list(self._known)[:1000])}"
            raise InputError(Problem("run_id", message, f"use one of: {have}"))
        return RunSet(**{name: self._rows(name, run_id) for name in TABLE_NAMES})

    @cached_property
    def _known(self) -> dict[str, None]:
        return dict.fromkeys(self.runs.runs["run_id"])

    def _rows(self, name: str, run_id: str) -> pd.DataFrame:
        if name not in self._indexes:
            table: pd.DataFrame = getattr(self.runs, name)
            codes, names = pd.factorize(table["run_id"])
            if (np.diff(codes) < 0).any():  # as loaded they are in order; rows that are mixed are sorted once
                table = table.iloc[np.argsort(codes, kind="stable")]
            ends = np.cumsum(np.bincount(codes, minlength=len(names))).tolist()
            self._indexes[name] = table, dict(zip(names, map(slice, [0, *ends[:-1]], ends), strict=True))
        table, spans = self._indexes[name]
        return table.iloc[spans.get(run_id, slice(0, 0))].reset_index(drop=True)

"""Comparing the same runs again and again: what does not depend on the settings is worked out once (rule F1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.agreement import agreement
from verifyplan.analysis.bootstrap import resample
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.confounds import confounds, recorded_facts
from verifyplan.analysis.cost import cost
from verifyplan.analysis.measured import counts_by_run, measured, mix_table, summary_table, truth_table
from verifyplan.analysis.metrics import TRUTH_METRICS, UNKNOWN
from verifyplan.analysis.notes import (
    notes_on_classes,
    notes_on_findings,
    notes_on_intervals,
    notes_on_modes,
    notes_on_sets,
)
from verifyplan.analysis.pairing import pair
from verifyplan.analysis.setting import Setting, labels
from verifyplan.analysis.symmetry import symmetry_tests
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES, Mode

_KEPT = 8
"""Readings that are kept; each has as many rows as there are findings."""


class Comparer:
    """Compares one set with itself, or two sets, under any two settings; `compare` says how.

    Keeps the last eight readings and whatever depends on the sets alone, so that a change of one setting costs one
    replay. The sets must not be changed meanwhile.
    """

    def __init__(self, runs: RunSet, other: RunSet | None = None) -> None:
        self.paired = other is not None
        self.sets = (runs, runs if other is None else other)
        for one, name in zip(self.sets, ("runs", "other"), strict=True):
            expect_runs(one, name)
        self._readings: OrderedDict[tuple[int, str], pd.DataFrame] = OrderedDict()

    def reading(self, side: int, setting: Setting) -> pd.DataFrame:
        """The findings of one side (0 or 1) under a setting; the table is shared, and not to be changed."""
        if setting.mode == "recorded" and (mode := self._mode[side]):
            setting = replace(setting, mode=mode)
        key = (side if self.paired else 0, repr(setting))  # unlike a hash, it also takes values that will be refused
        if key not in self._readings:
            self._readings[key] = setting.read(self.sets[side])
        self._readings.move_to_end(key)
        while len(self._readings) > _KEPT:
            self._readings.popitem(last=False)
        return self._readings[key]

    @cached_property
    def _mode(self) -> list[Mode | None]:
        """The mode of each set, if all its runs have one: as recorded is then another name of it."""
        each = [one.runs["mode"].astype("object").fillna("") for one in self.sets]
        return [next((mode for mode in MODES if len(modes) and modes.eq(mode).all()), None) for modes in each]

    def compare(self, a: Setting, b: Setting, *, resamples: int = 2000, seed: int = 0) -> Comparison:
        """Both sides under their settings, as `compare` gives it; SettingsError, InputError and TableError as there."""
        _check_bootstrap(resamples, seed)
        left, right = self.reading(0, a), self.reading(1, b)
        findings, notes = pair(left, right, paired=self.paired)
        told = labels((a, b), self.sets)
        notes += [*notes_on_findings(findings, told), *self._notes_on_sets, *self._notes_on_reading((a, b))]
        facts = {
            "synthetic": any(bool(one.runs["synthetic"].fillna(False).any()) for one in self.sets),
            "agreement": _named(self._agreement, told),
            "cost": _named(self._cost, told),
        }
        return _compared(findings, told, notes, resamples, seed, facts)

    @cached_property
    def _notes_on_sets(self) -> list[str]:
        sets = self.sets if self.paired else self.sets[:1]
        told = [self.reading(side, Setting()) if _has_classes(one) else None for side, one in enumerate(sets)]
        return [*notes_on_sets(sets), *notes_on_classes(told)]

    def _notes_on_reading(self, settings: tuple[Setting, Setting]) -> list[str]:
        """Notes on how two real sets are read: confounds, and modes that are not recorded."""
        recorded = [setting.mode == "recorded" for setting in settings]
        unknown = list(notes_on_modes(self.sets, recorded))
        return [*unknown, *(confounds(*self._facts, settings) if self.paired else ())]

    @cached_property
    def _facts(self) -> tuple[dict[str, set[Any]], dict[str, set[Any]]]:
        return recorded_facts(self.sets[0]), recorded_facts(self.sets[1])

    @cached_property
    def _agreement(self) -> list[pd.DataFrame]:
        return self._of_each_set(agreement)

    @cached_property
    def _cost(self) -> list[pd.DataFrame]:
        return self._of_each_set(cost)

    def _of_each_set(self, analysis: Callable[[RunSet], pd.DataFrame]) -> list[pd.DataFrame]:
        first = analysis(self.sets[0])
        return [first, analysis(self.sets[1]) if self.paired else first]


def _has_classes(runs: RunSet) -> bool:
    return bool(runs.findings["classification"].notna().any())


def _check_bootstrap(resamples: int, seed: int) -> None:
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise SettingsError(Problem("resamples", f"{resamples!r} is out of range", "give a whole number from 1"))
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SettingsError(Problem("seed", f"{seed!r} is no seed", "give a whole number from 0"))


def _named(each: list[pd.DataFrame], told: tuple[str, str]) -> pd.DataFrame:
    """The tables of both sides as one, with the reading in the first column."""
    parts = [part.assign(reading=label) for part, label in zip(each, told, strict=True)]
    return pd.concat(parts, ignore_index=True)[["reading", *each[0].columns]]


def _compared(
    findings: pd.DataFrame,
    labels: tuple[str, str],
    notes: list[str],
    resamples: int,
    seed: int,
    facts: dict[str, Any],
) -> Comparison:
    counts = counts_by_run(findings)
    total = counts.sum(axis=0)
    drawn, resampled = resample(counts, resamples, seed)
    names = list(CLASSIFICATIONS)
    transitions = pd.DataFrame(total.sum(axis=-1), index=names, columns=names)
    transitions = transitions.rename_axis(index=labels[0], columns=labels[1])
    known = bool(total[..., :UNKNOWN].sum())
    metrics = [*CLASSIFICATIONS, "held", *(TRUTH_METRICS if known else ())]
    each = [measured(total, drawn, side, metrics) for side in (0, 1)]
    summary = summary_table(total, drawn, each)
    return Comparison(
        a=labels[0],
        b=labels[1],
        findings=findings,
        transitions=transitions,
        mix=mix_table(each, labels),
        truth=truth_table(each, labels) if known else None,
        summary=summary,
        tests=symmetry_tests(transitions.to_numpy()),
        **facts,
        n_findings=len(findings),
        n_runs=findings["run_id"].nunique(),
        resampled=resampled,
        notes=(*notes, *notes_on_intervals(summary, resampled)),
    )

"""Compare two readings of the same findings: what changes, how much, and whether it helps (rule F1)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.agreement import agreement
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.comparison_notes import (
    confounds,
    notes_on_classes,
    notes_on_findings,
    notes_on_intervals,
    notes_on_modes,
    notes_on_sets,
    recorded_facts,
)
from verifyplan.analysis.cost import cost
from verifyplan.analysis.intervals import resample
from verifyplan.analysis.metrics import (
    TRUTH_METRICS,
    UNKNOWN,
    counts_by_run,
    mix_table,
    reading_table,
    summary_table,
    truth_table,
)
from verifyplan.analysis.pairing import pair
from verifyplan.analysis.replay import ReplayMode, Setting, as_setting, labels
from verifyplan.analysis.symmetry import symmetry_tests
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.load import Runs, as_runs
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES, MissingBasis, Mode

MAX_KEPT_READINGS = 8
"""A `Comparer` keeps so many readings; each has as many rows as there are findings."""


def compare(
    runs: Runs,
    other: Runs | None = None,
    *,
    a: ReplayMode | Setting | None = None,
    b: ReplayMode | Setting | None = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Read the same findings in two ways and say what differs, with intervals and, where known, against truth.

    With one set, its recorded votes are judged under modes `a` and `b` (collaborative and adversarial by
    default): the effect of the rule. With two sets, real runs on the same findings are paired, `runs` read as `a`
    and `other` as `b` (both as recorded by default): the effect of rule and prompt together.

    Args:
        runs: the first set; its findings' order is kept.
        other: the second set, paired by run and finding id where run ids agree, else by finding id alone; a panel's
            votes by iteration, too.
        a: how the first is read: `collaborative`, `adversarial` or `recorded`, or a `Setting` with rounds and a
            reading of missing bases of its own.
        b: how the second is read.
        max_rounds: rounds allowed in both readings, unless they are Settings; None takes each run's own.
        missing_basis: how an adversarial reading takes a disagree without a basis (see `classify`); not that of a
            Setting, which says it itself.
        resamples: of the bootstrap behind the 95 % intervals; by run, or by finding with fewer than 10 runs.
        seed: of the bootstrap.

    Returns:
        A `Comparison`: `.findings`, `.transitions`, `.summary`, `.truth`, `.tests`, and what a reader must know
        in `.notes`.

    Raises:
        InputError: if the two sets share no finding, or cannot be paired one to one.
        SettingsError, TableError: as `classify`.
    """
    first = as_setting(a, "collaborative" if other is None else "recorded", max_rounds, missing_basis)
    second = as_setting(b, "adversarial" if other is None else "recorded", max_rounds, missing_basis)
    return Comparer(runs, other).compare(first, second, resamples=resamples, seed=seed)


class Comparer:
    """Compares one set with itself, or two sets, under any two settings, again and again; see `compare`.

    Keeps the last eight readings and whatever depends on the sets alone, so that a change of one setting costs one
    replay. The sets must not be changed meanwhile.
    """

    def __init__(self, runs: Runs, other: Runs | None = None) -> None:
        self.paired = other is not None
        first = as_runs(runs)
        self.sets = (first, first if other is None else as_runs(other, "other"))
        self._readings: OrderedDict[tuple[int, str], pd.DataFrame] = OrderedDict()

    def reading(self, side: int, setting: Setting) -> pd.DataFrame:
        """Return the findings of one side (0 or 1) under a setting; the table is shared, and not to be changed."""
        if setting.mode == "recorded" and (mode := self._mode[side]):
            setting = replace(setting, mode=mode)
        key = (side if self.paired else 0, repr(setting))  # unlike a hash, it also takes values that will be refused
        if key not in self._readings:
            self._readings[key] = setting.read(self.sets[side])
        self._readings.move_to_end(key)
        while len(self._readings) > MAX_KEPT_READINGS:
            self._readings.popitem(last=False)
        return self._readings[key]

    @cached_property
    def _mode(self) -> list[Mode | None]:
        """The mode of each set, if all its runs have one: `recorded` is then another name of it."""
        columns = [run_set.runs["mode"].astype("object").fillna("") for run_set in self.sets]
        return [next((mode for mode in MODES if len(modes) and modes.eq(mode).all()), None) for modes in columns]

    def compare(self, a: Setting, b: Setting, *, resamples: int = 2000, seed: int = 0) -> Comparison:
        """Return the comparison of both sides under their settings; raises as the function `compare`."""
        if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
            raise SettingsError(Problem("resamples", f"{resamples!r} is out of range", "give a whole number from 1"))
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SettingsError(Problem("seed", f"{seed!r} is out of range", "give a whole number from 0"))
        left, right = self.reading(0, a), self.reading(1, b)
        findings, notes = pair(left, right, paired=self.paired)
        names = labels((a, b), self.sets)
        modes = notes_on_modes(self.sets, [setting.mode == "recorded" for setting in (a, b)])
        differences = confounds(*self._recorded_facts, (a, b)) if self.paired else ()
        facts = {
            "synthetic": any(bool(run_set.runs["synthetic"].fillna(False).any()) for run_set in self.sets),
            "agreement": _with_reading(self._agreement, names),
            "cost": _with_reading(self._cost, names),
        }
        notes += [*notes_on_findings(findings, names), *self._notes_on_sets, *modes, *differences]
        return _comparison(findings, names, notes, resamples, seed, facts)

    @cached_property
    def _notes_on_sets(self) -> list[str]:
        sets = self.sets if self.paired else self.sets[:1]
        has_classes = [bool(run_set.findings["classification"].notna().any()) for run_set in sets]
        readings = [self.reading(side, Setting()) if known else None for side, known in enumerate(has_classes)]
        return [*notes_on_sets(sets), *notes_on_classes(readings)]

    @cached_property
    def _recorded_facts(self) -> tuple[dict[str, set[Any]], dict[str, set[Any]]]:
        return recorded_facts(self.sets[0]), recorded_facts(self.sets[1])

    @cached_property
    def _agreement(self) -> list[pd.DataFrame]:
        first = agreement(self.sets[0])
        return [first, agreement(self.sets[1]) if self.paired else first]

    @cached_property
    def _cost(self) -> list[pd.DataFrame]:
        first = cost(self.sets[0])
        return [first, cost(self.sets[1]) if self.paired else first]


def _with_reading(tables: list[pd.DataFrame], names: tuple[str, str]) -> pd.DataFrame:
    """Return the tables of both sides as one, with the reading in the first column."""
    parts = [table.assign(reading=name) for table, name in zip(tables, names, strict=True)]
    return pd.concat(parts, ignore_index=True)[["reading", *tables[0].columns]]


def _comparison(
    findings: pd.DataFrame, names: tuple[str, str], notes: list[str], resamples: int, seed: int, facts: dict[str, Any]
) -> Comparison:
    counts = counts_by_run(findings)
    total = counts.sum(axis=0)
    drawn, resampled = resample(counts, resamples, seed)
    classes = list(CLASSIFICATIONS)
    transitions = pd.DataFrame(total.sum(axis=-1), index=classes, columns=classes)
    transitions = transitions.rename_axis(index=names[0], columns=names[1])
    known = bool(total[..., :UNKNOWN].sum())
    metrics = [*CLASSIFICATIONS, "held", *(TRUTH_METRICS if known else ())]
    tables = [reading_table(total, drawn, side, metrics) for side in (0, 1)]
    summary = summary_table(total, drawn, tables)
    return Comparison(
        a=names[0],
        b=names[1],
        findings=findings,
        transitions=transitions,
        mix=mix_table(tables, names),
        truth=truth_table(tables, names) if known else None,
        summary=summary,
        tests=symmetry_tests(transitions.to_numpy()),
        **facts,
        n_findings=len(findings),
        n_runs=findings["run_id"].nunique(),
        resampled=resampled,
        notes=(*notes, *notes_on_intervals(summary, resampled)),
    )

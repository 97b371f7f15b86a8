"""The model of the rule studio: votes are read once and judged under any two voting rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.metrics import (
    CONCLUDED,
    TRUTH_METRICS,
    changed_share,
    condition_table,
    difference_table,
    differences_of,
    kinds_of,
    mix_table,
    summary_table,
    truth_codes,
    truth_table,
)
from verifyplan.analysis.pairing import paired_clusters
from verifyplan.analysis.treatments.bounds import ClassBounds, metric_bounds
from verifyplan.analysis.treatments.idle_fields import vote_facts
from verifyplan.analysis.treatments.rule_outcomes import NO_CLASS, Classes, RuleOutcomes, rule_outcomes
from verifyplan.analysis.voters import order_of_runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.widgets.rule_studio.form import SIDES, Side, preset_of

MAX_KEPT_OUTCOMES = 8
"""Outcomes that are kept; each takes three bytes a finding."""

Rules = Mapping[Side, VotingRules]


@dataclass(frozen=True, eq=False)
class SideOutcome:
    """The outcome of a setting for every finding; classes are positions in CLASSIFICATIONS."""

    classes: Classes
    """The class by the votes that were cast."""
    low: Classes
    """The worst class that votes which were never cast could give."""
    high: Classes
    """The best class that they could give."""

    @property
    def censored(self) -> npt.NDArray[np.bool_]:
        """Whether uncast votes could give a finding another class."""
        differ: npt.NDArray[np.bool_] = self.low != self.high
        return differ


@dataclass(frozen=True, eq=False)
class StudioResult:
    """The result of two settings over the same findings."""

    rules: Rules
    """The settings."""
    names: Mapping[Side, str]
    """The names of the settings: those of presets, else of their sides."""
    outcomes: Mapping[Side, SideOutcome]
    """The classes of the findings under each."""
    comparison: Comparison
    """The tables that charts draw. Tests, agreement and cost are left out: `vp.compare` computes these."""
    bounds: Mapping[Side, Mapping[str, dict[str, float]]]
    """The rows of `metric_bounds` of a side, by metric; sides without censored findings are left out."""

    @cached_property
    def metrics(self) -> dict[str, dict[str, float]]:
        """The rows of the comparison's `summary`, by metric."""
        return _rows(self.comparison.summary)

    @property
    def unseen(self) -> dict[Side, bool]:
        """Whether votes that were never cast could change a class, by side."""
        return {side: bool(self.outcomes[side].censored.any()) for side in SIDES}

    @property
    def findings(self) -> pd.DataFrame:
        """One row a finding: its class under each setting, the worst and best possible one, whether it is censored."""
        columns: dict[str, Any] = {}
        for side in SIDES:
            outcome, name = self.outcomes[side], self.names[side]
            columns |= {
                f"low_{name}": _classes(outcome.low),
                f"high_{name}": _classes(outcome.high),
                f"censored_{name}": outcome.censored,
            }
        return self.comparison.findings.assign(**columns)


class StudioRuns:
    """The votes of runs as arrays, judged under any rules; the last outcomes are kept.

    Raises TableError for votes that cannot be judged.
    """

    def __init__(self, runs: RunSet) -> None:
        self.facts = vote_facts(runs)
        self._runs, self._rosters_contradict = runs, bool(order_of_runs(runs))
        self._synthetic = bool(runs.runs["synthetic"].fillna(False).any())
        self._judged: RuleOutcomes = rule_outcomes(runs, (VotingRules(),))
        self._known = self._judged.classes(0) != NO_CLASS
        self._findings = self._judged.findings[self._known].reset_index(drop=True)
        self._truth = truth_codes(self._findings)
        self._clusters: Clusters = paired_clusters(self._findings, SIDES)["left", "right"]
        self._kept: dict[str, SideOutcome] = {}

    @property
    def n_left_out(self) -> int:
        """Findings with neither votes nor a recorded class, which are in no table."""
        return int(np.sum(~self._known))

    def outcome(self, rules: VotingRules) -> SideOutcome:
        """Return the classes of every finding under the rules."""
        key = rules.digest
        if key not in self._kept:
            judged, known = self._judged_under(rules), self._known
            self._kept[key] = SideOutcome(judged.classes(0)[known], judged.low(0)[known], judged.high(0)[known])
        while len(self._kept) > MAX_KEPT_OUTCOMES:
            del self._kept[next(iter(self._kept))]
        return self._kept[key]

    def _judged_under(self, rules: VotingRules) -> RuleOutcomes:
        """Return the outcomes of rules; votes are read again for rules that ask each run in the order of its roster."""
        if self._rosters_contradict and rules.stop != "round":
            return rule_outcomes(self._runs, (rules,))
        return replace(self._judged, rules=(rules,))

    def result(self, rules: Rules) -> StudioResult:
        """Return both settings side by side."""
        names, outcomes = setting_names(rules), {side: self.outcome(rules[side]) for side in SIDES}
        first, second = (names[side] for side in SIDES)
        classes = {f"classification_{names[side]}": _classes(outcomes[side].classes) for side in SIDES}
        changed = outcomes["left"].classes != outcomes["right"].classes
        findings = self._findings.assign(**classes, changed=changed)
        kinds = kinds_of(findings, (first, second))
        counted = kinds.counted(self._clusters)
        metrics = {name: kinds.metrics(name) for name in (first, second)}
        tables = {name: condition_table(metrics[name], counted) for name in metrics}
        share = changed_share(kinds.classes[first], kinds.classes[second], counted)
        differences = {second: difference_table(differences_of(metrics[first], metrics[second], counted), share)}
        comparison = Comparison(
            conditions=(first, second),
            metric=next(each for each in CONCLUDED if each in metrics[first]),
            findings=findings,
            mix=mix_table(tables, findings),
            truth=truth_table(tables) if TRUTH_METRICS[0] in tables[first].index else None,
            summary=summary_table(tables, differences),
            tests=pd.DataFrame(),
            agreement=pd.DataFrame(),
            cost=pd.DataFrame(),
            n_findings=len(findings),
            n_runs=self._clusters.n_runs,
            resampled=self._clusters.unit,
            synthetic=self._synthetic,
        )
        bounds = {side: self._bounds(outcomes[side]) for side in SIDES if outcomes[side].censored.any()}
        return StudioResult(rules, names, outcomes, comparison, bounds)

    def _bounds(self, outcome: SideOutcome) -> dict[str, dict[str, float]]:
        ends = ClassBounds(outcome.low.astype(np.int64), outcome.high.astype(np.int64))
        return _rows(metric_bounds(outcome.classes, ends, self._truth, self._clusters))


def setting_names(rules: Rules) -> dict[Side, str]:
    """Return a name for each setting: that of its preset, else of its side; equal settings have those of their sides.

    >>> setting_names({"left": VotingRules(), "right": VotingRules(majority="2/3")})
    {'left': 'as-recorded', 'right': 'right'}
    """
    if rules["left"] == rules["right"]:
        return {side: side for side in SIDES}
    return {side: preset_of(rules[side]) or side for side in SIDES}


def _rows(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the rows of a table of metrics, by metric."""
    rows = table.set_index("metric").to_dict("index")
    return {str(metric): {str(column): value for column, value in row.items()} for metric, row in rows.items()}


def _classes(places: npt.NDArray[Any]) -> Any:
    return pd.Categorical.from_codes(places.astype(np.int64), dtype=CLASS_TYPE)

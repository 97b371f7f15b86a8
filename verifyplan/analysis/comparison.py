"""The result of a comparison of two or more conditions, as tables to read, chart and test, and its conclusion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.comparison_bounds import bounds_lines, no_bounds
from verifyplan.analysis.conclusion import concluded_metric, conclusion_lines, conclusion_words
from verifyplan.analysis.metrics import difference_column, transition_counts
from verifyplan.analysis.pairing import FINDING, rows_of
from verifyplan.analysis.result_words import difference_words, paragraph, share_words
from verifyplan.errors import Problem, SettingsError, expect, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD
from verifyplan.text import counted, did_you_mean, joined

MAX_SHOWN_CHANGES = 12
"""A notebook shows the findings that changed, up to this number."""
OTHER_SETS = "to compare prompts or panels, give a set for each"


@with_field_docs
@dataclass(frozen=True)
class Comparison:
    """Two or more conditions side by side, over the same findings or each over its own; the first is the baseline.

    Intervals are 95 % intervals by clusters (docs/statistics.md); `resampled` says what these are. A share or metric
    whose denominator is 0 is NaN, with n = 0.
    """

    conditions: tuple[str, ...]
    """The names of the conditions, such as `collaborative` and `adversarial`."""
    metric: str
    """The metric that is concluded on, named beforehand; all others are exploratory."""
    findings: pd.DataFrame
    """One row a finding: class, rule, round and censoring under each condition (`classification_collaborative`), and
    `changed`: whether its class differs between any two. Where findings are not paired, one row a finding of each set,
    without a class under the other conditions."""
    mix: pd.DataFrame
    """`condition, classification, n, share, low, high`: how the findings spread over the classes."""
    truth: pd.DataFrame | None
    """`condition, metric, value, low, high, n` for precision, recall, F1, false-consensus rate and
    false-demotion rate; None where no finding's truth is known. n is the metric's denominator."""
    summary: pd.DataFrame
    """`metric`, then of each condition its value, interval and n (`gpt, gpt_low, gpt_high, gpt_n`), and its difference
    from the baseline: `difference, difference_low, difference_high`; of three conditions or more, `difference_claude`
    and so on. Where truth is known, `accuracy` is the share of findings that are held and true, or not held and false.
    The row `changed` is the share of findings whose class differs from that under the baseline; it is missing where
    findings are not paired. Intervals are of 95 %; those of the concluded metric hold together with 95 %."""
    tests: pd.DataFrame
    """`condition, role, of, test, method, assumes, statistic, df, p_value, p_holm, n, clusters`: of each condition but
    the baseline whether it differs from it. Of each metric there is the test of its interval, `concluding` for the
    metric named beforehand, else `exploratory` with Holm's adjustment; of paired findings a test of all classes, too,
    and those that take findings as independent (`reference`: Stuart-Maxwell, McNemar), which reject too often where
    runs differ by chance; see `documentation("tests")`."""
    agreement: pd.DataFrame
    """`condition, measure, worker_a, worker_b, value, low, high, n, note`: how far workers agree (see `agreement`).
    Conditions of one set have the same votes, and so the same rows."""
    cost: pd.DataFrame
    """`condition, measure, value, n_runs`: calls, rounds, votes and time (see `cost`)."""
    n_findings: int
    """The number of findings that were compared."""
    n_runs: int
    """The number of the baseline's runs that have these findings; another set may have more of them, or fewer."""
    resampled: str
    """`runs`, `claims` (of one run), `runs and claims` (where claims repeat over runs), or such as `values of category`
    (`cluster_by`, `pair_by`): what intervals take to be independent."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    paired_by: str | None = FINDING
    """What was paired: `finding`, a column of findings such as `category` (by means), or None for nothing."""
    notes: tuple[str, ...] = ()
    """Warnings for a reader: censored findings, filled bases, failed calls, what else differs, few runs."""
    same_votes: bool = False
    """Whether all conditions are the votes of one set, counted by different rules."""
    bounds: pd.DataFrame = field(default_factory=no_bounds)
    """`condition, metric, value, low, high, low_bound, high_bound, n, n_censored, difference_low_bound,
    difference_high_bound`: the range of each metric that votes never cast allow, whatever they would have been, and an
    interval that contains those of both ends (rule R4). No row where nothing is censored: each value is then
    its own bounds. More runs do not narrow the range; the votes would."""
    _compare: Callable[[tuple[str, str]], Comparison] | None = field(default=None, repr=False, compare=False)
    """Compares two of the conditions over the same findings."""

    def between(self, first: str, second: str) -> Comparison:
        """Return the comparison of two of the conditions, over the findings of this one; `first` is its baseline.

        Raises SettingsError for a name that is not a condition, or the same name twice.
        """
        problems = [
            Problem("between", f"{name!r} is not a condition{did_you_mean(name, self.conditions)}", self._names)
            for name in (first, second)
            if name not in self.conditions
        ]
        if first == second and not problems:
            problems = [Problem("between", f"must name two conditions, got {first!r} twice", self._names)]
        if problems:
            raise SettingsError(problems)
        if (first, second) == self.conditions or self._compare is None:
            return self
        return self._compare((first, second))

    @property
    def _names(self) -> str:
        return f"use two of {one_of(self.conditions)}"

    @property
    def pairs(self) -> dict[str, Comparison]:
        """The comparison of each other condition with the baseline, by its name."""
        return {name: self.between(self.conditions[0], name) for name in self.conditions[1:]}

    @cached_property
    def transitions(self) -> pd.DataFrame:
        """4 x 4 counts of two conditions: classes under the first down, under the second across.

        In the order of CLASSIFICATIONS. Of three conditions or more SettingsError says to take two by `between`; it is
        raised where findings are not paired, too.
        """
        self._expect_paired("transitions")
        if len(self.conditions) != 2:
            message = f"are those between two conditions, and this comparison has {len(self.conditions)}"
            fix = f"take two of them, as .between({one_of(self.conditions[:2])}).transitions"
            raise SettingsError(Problem("transitions", message, fix))
        first, second = self.conditions
        classes = list(CLASSIFICATIONS)
        counts = transition_counts(self.findings, first, second)
        table = pd.DataFrame(counts, index=classes, columns=classes).rename_axis(index=first, columns=second)
        table.attrs = dict(self.mix.attrs)
        return table

    @cached_property
    def changed(self) -> pd.DataFrame:
        """The findings whose class differs between any two conditions, in the order of `findings`.

        Columns: `run_id, finding_id`, of each condition the class and whether the finding is held
        (`classification_adversarial, held_adversarial`), and `why`: the rule that decided under each condition, in
        their order (docs/protocol.md, B6; a `lone-doubt` may be that of several workers). Of a plan run's panel the
        `iteration` is there, too. SettingsError where findings are not paired.
        """
        self._expect_paired("changed")
        rows = self.findings[self.findings["changed"].to_numpy(dtype=bool)].reset_index(drop=True)
        keys = ["run_id", *(["iteration"] if rows["iteration"].ne(0).any() else []), "finding_id"]
        table = rows[[*keys, *(f"classification_{name}" for name in self.conditions)]]
        held = {f"held_{name}": rows[f"classification_{name}"].isin(HELD) for name in self.conditions}
        rules = [rows[f"rule_{name}"].astype("str") for name in self.conditions]
        table = table.assign(**held, why=[" -> ".join(each) for each in zip(*rules, strict=True)])
        table.attrs = dict(self.mix.attrs)
        return table

    @property
    def is_paired(self) -> bool:
        """Whether each finding has a class under every condition."""
        return self.paired_by == FINDING

    def _expect_paired(self, name: str) -> None:
        if not self.is_paired:
            message = "needs findings that have a class under every condition, and these sets are compared "
            message += f"by {self.paired_by}" if self.paired_by else "unpaired"
            raise SettingsError(Problem(name, message, "read .summary and .mix, or give sets with common finding ids"))

    def in_words(self, metric: str) -> str:
        """Return one metric under each condition and its difference, with intervals and n; or the share that changed.

        The words begin with the metric's name, and with those of two conditions, in the order of their values.
        A difference is that of the condition less the baseline. For the metric that is concluded on, the conclusion
        follows, for another that it is exploratory, with p adjusted for all of these (Holm); for every metric, what
        votes never cast could make of the difference. A rate may be named without `-rate`. Raises SettingsError for a
        metric that is not there.
        """
        metric = concluded_metric(metric, list(self.summary["metric"]), truth_is_known=self.truth is not None)
        of = f", {' against '.join(self.conditions)}" if len(self.conditions) == 2 else ""
        return f"{metric}{of}: {self._metric_words(metric, concluded=True)}"

    def _metric_words(self, metric: str, *, concluded: bool = False) -> str:
        """Return a metric in words, also with the conclusion about its difference where that is not said elsewhere."""
        row = self.summary.set_index("metric").loc[[metric]].iloc[0]
        others = self.conditions[1:]
        column_of = {name: difference_column(self.conditions, name) for name in others}
        if metric == "changed":
            shares, changes = {name: _share(row, column) for name, column in column_of.items()}, {}
        else:
            shares = {name: _share(row, name) for name in self.conditions}
            changes = {name: difference_words(*_with_ends(row, column)) for name, column in column_of.items()}
            for name in others if concluded else ():
                changes[name] += conclusion_words(
                    metric, self.metric, self.tests, self.bounds, name, one_run=self._has_one_run
                )
        sizes = {name: f" (n = {int(row[f'{name}_n']):,})" for name in shares}
        if len(others) > 1:
            return "; ".join(f"{name} {share}{sizes[name]}{changes.get(name, '')}" for name, share in shares.items())
        if len(set(sizes.values())) == 1:
            return f"{' against '.join(shares.values())}{sizes[others[0]]}{changes.get(others[0], '')}"
        return " against ".join(f"{share}{sizes[name]}" for name, share in shares.items()) + changes.get(others[0], "")

    @property
    def conclusions(self) -> list[str]:
        """A line for each other condition: whether it is shown to differ from the first in the concluded metric."""
        tables = (self.tests, self.summary, self.bounds)
        return list(conclusion_lines(self.metric, *tables, self.conditions, one_run=self._has_one_run))

    @property
    def _has_one_run(self) -> bool:
        """Whether a set has a single run, so that nothing is known of changes from run to run."""
        return 1 in self.runs_of.values()

    @cached_property
    def runs_of(self) -> dict[str, int]:
        """The number of runs that have the findings of each condition."""
        of = {name: rows_of(self.findings, name) for name in self.conditions}
        return {name: int(rows.get(f"run_id_{name}", rows["run_id"]).nunique()) for name, rows in of.items()}

    def __str__(self) -> str:
        """Return what differs, whether a difference is shown in the concluded metric, and the notes."""
        made = " (synthetic)" if self.synthetic else ""
        truths = [] if self.truth is None else list(self.truth["metric"].drop_duplicates())
        lines = [
            *([f"The same votes, counted by {len(self.conditions)} rules; {OTHER_SETS}."] if self.same_votes else []),
            f"{' against '.join(self.conditions)}: {size_words(self, made)} ({self._subtracted})",
            *(
                [f"findings whose class differs: {self._metric_words('changed')}"]
                if self.is_paired
                else [_pairing_words(self)]
            ),
            *(f"{name}: {self._class_counts(name)}" for name in self.conditions),
            *(f"{metric} (exploratory): {self._metric_words(metric)}" for metric in truths if metric != self.metric),
            *bounds_lines(self.findings, self.bounds),
            *self.conclusions,
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def _subtracted(self) -> str:
        first, *others = self.conditions
        if len(others) > 1:
            return f"each difference = the condition named before it - {first}"
        return f"difference = {others[0]} - {first}"

    def _class_counts(self, condition: str) -> str:
        counts = self.mix[self.mix["condition"].eq(condition)].sort_values("classification")
        return ", ".join(f"{n} {name}" for n, name in zip(counts["n"], counts["classification"], strict=True))

    def _repr_html_(self) -> str:
        """Return the comparison for a notebook; every text is shown as text."""
        parts = [paragraph(str(self))]
        if self.is_paired and len(self.conditions) == 2:
            first, second = map(escape, self.conditions)
            parts.append(f"<p>From the class under {first} (rows) to that under {second}:</p>")
            parts.append(self.transitions.to_html())
        if self.is_paired and 0 < len(self.changed) <= MAX_SHOWN_CHANGES:
            parts.append(f"<p>The findings whose class differs:</p>{self.changed.to_html(index=False)}")
        parts.append(f"<p>Every metric; differences are from {escape(self.conditions[0])}, with 95 % intervals:</p>")
        parts.append(self.summary.to_html(index=False, float_format="{:.3f}".format, na_rep="-"))
        return "".join(parts)


def expect_comparison(value: object) -> None:
    """Raise InputError unless `value` is a Comparison."""
    expect(value, Comparison, "comparison", "give what compare returns")


def _share(row: pd.Series[Any], column: str) -> str:
    """Return a share as a percentage with its interval; a dash where it is not defined."""
    return share_words(*_with_ends(row, column))


def _with_ends(row: pd.Series[Any], column: str) -> tuple[float, float, float]:
    return row[column], row[f"{column}_low"], row[f"{column}_high"]


def size_words(comparison: Comparison, made: str = "") -> str:
    """Return how many findings of how many runs are compared; of several sets, the runs of each."""
    n_runs = list(comparison.runs_of.values())
    sizes = [comparison.n_findings]
    if not comparison.is_paired:
        sizes = [len(rows_of(comparison.findings, name)) for name in comparison.conditions]
    findings = (
        counted(sizes[0], "finding") if len(sizes) == 1 else f"{joined(f'{n:,}' for n in sizes)} findings"
    ) + made
    if comparison.same_votes:
        return f"{findings} of {counted(comparison.n_runs, 'run')}"
    if len(set(n_runs)) == 1:
        return f"{findings} of {counted(n_runs[0], 'run')} each"
    return f"{findings} of {joined(f'{n:,}' for n in n_runs)} runs"


def _pairing_words(comparison: Comparison) -> str:
    """Return what is paired in place of findings, and what is taken to be independent."""
    independent = f"independent are {comparison.resampled}"
    if comparison.paired_by is None:
        return f"unpaired: no finding is compared with itself; {independent}"
    n = rows_of(comparison.findings, comparison.conditions[0])[comparison.paired_by].nunique()
    return f"paired by {comparison.paired_by}: the means of {counted(n, 'value')} that all sets have; {independent}"

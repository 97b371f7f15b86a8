"""Compare two or more conditions over the same findings: what changes, how much, and whether it helps (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.comparison_bounds import bounds_table, notes_on_bounds
from verifyplan.analysis.comparison_notes import (
    notes_on_cut_rounds,
    notes_on_differences,
    notes_on_failed_calls,
    notes_on_findings,
    notes_on_missing_bases,
    notes_on_runs,
    notes_on_unnamed_modes,
)
from verifyplan.analysis.conditions import Condition, are_several_sets, conditions_of
from verifyplan.analysis.difference_tests import difference_tests, notes_on_tests, with_holm
from verifyplan.analysis.interval_notes import notes_on_intervals
from verifyplan.analysis.metrics import (
    TRUTH_METRICS,
    changed_share,
    condition_table,
    difference_table,
    kinds_of,
    mix_table,
    summary_table,
    truth_table,
)
from verifyplan.analysis.pairing import pair, paired_clusters, with_changed
from verifyplan.analysis.replay import ReplayMode, Setting
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.load import Runs
from verifyplan.garbage import no_garbage_collection
from verifyplan.protocol.vote import MissingBasis


def compare(
    runs: Runs | Mapping[str, Runs],
    other: Runs | None = None,
    *,
    modes: Sequence[ReplayMode | Setting] | None = None,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare conditions over the same findings: what differs, with intervals and, where known, against truth.

    With one set, its recorded votes are judged under both modes, or under `modes` or `rules`: the effect of the rule.
    With two sets, or a mapping of names to two or more, real runs on the same findings are paired, each as it was
    recorded: the effect of rule, prompt and agents together. The first condition is the baseline, from which
    differences are taken.

    Args:
        runs: a set of runs (a RunSet, a run, or a path), or a mapping of names to such sets.
        other: a second set, paired by run and finding id where run ids agree, else by finding id alone; a panel's
            votes by iteration, too.
        modes: two or more modes for one set, or one mode for each set, in their order: `collaborative`,
            `adversarial`, `recorded`, or a `Setting` with rounds and missing bases of its own.
        rules: for one set a mapping of names to voting rules, or a list of them (named by their presets, or by what
            differs): each a VotingRules, the name of a preset, a mapping of fields, or a JSON file. For several sets
            rules for each, in their order or by their names, or the same rules for all. Rules that name nothing but
            rounds and missing bases judge each run by what it recorded (see `replay`).
        max_rounds: rounds allowed under every mode that is no Setting, and all rules that name none; None takes each
            run's own.
        missing_basis: how an adversarial mode fills in a missing basis of a disagree (see `classify`), unless it is a
            Setting.
        resamples: random draws behind the p-values of tests where not all sign-flips can be listed; the intervals
            need none (see docs/statistics.md).
        seed: of these draws.

    Returns:
        A `Comparison`: `.findings`, `.transitions`, `.summary`, `.truth`, `.tests`, `.bounds` (the range of each
        metric that votes never cast allow; rule R4), and what a reader must know in `.notes`; `.between` compares two
        of several conditions.

    Raises:
        InputError: if the sets share no finding, or cannot be paired one to one.
        SettingsError: for fewer than two conditions, names that cannot be columns, and as `classify`.
        TableError: as `classify`.

    >>> comparison = compare("stdlib-claims/adversarial", resamples=100)
    >>> comparison.conditions, comparison.n_findings
    (('collaborative', 'adversarial'), 720)
    >>> sticky = compare(
    ...     "stdlib-claims/adversarial",
    ...     rules={"as run": {}, "sticky": "sticky-refutes"},
    ...     resamples=100,
    ... )
    >>> sticky.conditions
    ('as run', 'sticky')
    """
    conditions = conditions_of(runs, other, modes, max_rounds, missing_basis, rules)
    several_sets = are_several_sets(runs, other)
    return compare_conditions(conditions, several_sets=several_sets, resamples=resamples, seed=seed)


def compare_conditions(
    conditions: Sequence[Condition], *, several_sets: bool, resamples: int = 2000, seed: int = 0
) -> Comparison:
    """Return the comparison of some conditions, the first of which is the baseline; raises as `compare`.

    The findings of several sets are paired by run and id, and may be left out; those of one set are the same.
    """
    expect_draws(resamples, seed)
    findings_of = {condition.name: condition.findings for condition in conditions}
    findings, left_out = pair(findings_of, several_sets=several_sets)
    with no_garbage_collection():
        return _comparison_of(conditions, findings, left_out, resamples, seed)


def expect_draws(resamples: int, seed: int) -> None:
    """Raise SettingsError for a number of random draws, or a seed of them, that is none."""
    problems = [
        Problem(name, f"must be an integer of at least {low}, got {value!r}", f"give a whole number from {low}")
        for name, value, low in (("resamples", resamples, 1), ("seed", seed, 0))
        if isinstance(value, bool) or not isinstance(value, int) or value < low
    ]
    if problems:
        raise SettingsError(problems)


def _comparison_of(
    conditions: Sequence[Condition], findings: pd.DataFrame, left_out: Sequence[str], resamples: int, seed: int
) -> Comparison:
    """Return the comparison over paired findings, with notes, of which those that most change its reading are first."""
    names = tuple(condition.name for condition in conditions)
    figures = figures_of(findings, names, resamples, seed)
    failed = list(notes_on_failed_calls(conditions))
    for table in (figures.mix, figures.truth, figures.summary):
        if table is not None:
            table.attrs["failed_calls"] = "; ".join(failed)
    notes = [
        *([] if len(findings) else ["There are no findings: nothing was compared."]),
        *(f"{note}." for note in failed),
        *notes_on_cut_rounds(conditions),
        *left_out,
        *notes_on_differences(conditions),
        *notes_on_missing_bases(findings, names),
        *notes_on_intervals(figures.summary, figures.clusters),
        *notes_on_tests(figures.tests),
        *notes_on_bounds(figures.bounds),
        *notes_on_runs(conditions),
        *notes_on_findings(findings, conditions),
        *notes_on_unnamed_modes(conditions),
    ]
    return Comparison(
        conditions=names,
        findings=findings,
        mix=figures.mix,
        truth=figures.truth,
        summary=figures.summary,
        bounds=figures.bounds,
        tests=figures.tests,
        agreement=by_condition({condition.name: condition.replayed.agreement for condition in conditions}),
        cost=by_condition({condition.name: condition.replayed.cost for condition in conditions}),
        n_findings=len(findings),
        n_runs=figures.clusters[names[0]].n_runs,
        resampled=figures.unit,
        synthetic=any(bool(condition.frames.runs["synthetic"].fillna(False).any()) for condition in conditions),
        same_votes=len({id(condition.replayed) for condition in conditions}) == 1,
        notes=tuple(notes),
        _compare=partial(_between, conditions, findings, left_out, resamples, seed),
    )


class Figures(NamedTuple):
    """Figures that follow from the classes of paired findings alone; the fields are those of `Comparison`."""

    mix: pd.DataFrame
    truth: pd.DataFrame | None
    summary: pd.DataFrame
    bounds: pd.DataFrame
    tests: pd.DataFrame
    clusters: dict[str, Clusters]
    """The clusters of the findings under each condition, the baseline first."""
    unit: str
    """What is taken to be independent."""


def figures_of(findings: pd.DataFrame, names: Sequence[str], resamples: int, seed: int) -> Figures:
    """Return the figures of a comparison over paired findings: every other condition is compared with the first."""
    baseline, *others = names
    clusters = paired_clusters(findings, names)
    kinds = kinds_of(findings, names)
    metrics = {name: kinds.metrics(name) for name in names}
    counted = {id(each): kinds.counted(each) for each in clusters.values()}  # conditions of one set share one
    tables = {name: condition_table(metrics[name], counted[id(clusters[name, name])]) for name in names}
    differences, tests_of = {}, {}
    for name in others:
        both = clusters[baseline, name]
        changed = changed_share(kinds.classes[baseline], kinds.classes[name], counted[id(both)])
        differences[name] = difference_table(metrics[baseline], metrics[name], changed, counted[id(both)])
        tests_of[name] = difference_tests(findings, baseline, name, both, seed, resamples)
    own = {name: clusters[name, name] for name in names}
    return Figures(
        mix=mix_table(tables, findings),
        truth=truth_table(tables) if TRUTH_METRICS[0] in tables[baseline].index else None,
        summary=summary_table(tables, differences),
        bounds=bounds_table(findings, own),
        tests=with_holm(by_condition(tests_of)),
        clusters=own,
        unit=clusters[baseline, others[0]].unit,
    )


def _between(
    conditions: Sequence[Condition],
    findings: pd.DataFrame,
    left_out: Sequence[str],
    resamples: int,
    seed: int,
    names: tuple[str, str],
) -> Comparison:
    named = {condition.name: condition for condition in conditions}
    return _comparison_of([named[name] for name in names], with_changed(findings, names), left_out, resamples, seed)


def by_condition(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all conditions as one, with the condition in the first column."""
    parts = [table.assign(condition=name) for name, table in tables.items()]
    return pd.concat(parts, ignore_index=True)[["condition", *parts[0].columns.drop("condition")]]

"""Compare two or more conditions: what changes, how much, and whether it helps (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.comparison_bounds import notes_on_bounds
from verifyplan.analysis.comparison_figures import ComparisonOptions, by_condition, figures_of
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
from verifyplan.analysis.interval_notes import notes_on_intervals
from verifyplan.analysis.pairing import FINDING, Paired, expect_units, pair
from verifyplan.analysis.replay import ReplayMode, Setting
from verifyplan.frames.load import Runs
from verifyplan.frames.ties import ties_of_runs, ties_sentence
from verifyplan.protocol.vote import MissingBasis


def compare(
    runs: Runs | Mapping[str, Runs],
    other: Runs | None = None,
    *,
    metric: str | None = None,
    modes: Sequence[ReplayMode | Setting] | None = None,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    pair_by: str | None = FINDING,
    cluster_by: str | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare conditions: what differs, with intervals and, where known, against truth; and conclude on one metric.

    With one set, its recorded votes are judged under both modes, or under `modes` or `rules`: the effect of the rule.
    With two sets, or a mapping of names to two or more, real runs are compared, each as it was recorded: the effect of
    rule, prompt and agents together. The first condition is the baseline, from which differences are taken.

    Args:
        runs: a set of runs (a RunSet, a run, or a path), or a mapping of names to such sets.
        other: a second set.
        metric: the metric to conclude on, named before anybody looks: a row of `.summary` but `changed`, such as
            `false-consensus-rate`. None takes the accuracy where truth is known, else the share held. All other metrics
            are exploratory.
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
        pair_by: how several sets are paired. `finding`: by run and finding id where run ids agree, else by finding id
            alone; a panel's votes by iteration, too; sets that have no finding in common are compared unpaired. A
            column of findings (`category`, `run_id`, `summary`): by the means of what both sets have of each of its
            values, each value counted once. None: unpaired, whatever the ids are.
        cluster_by: the column of findings whose values are independent of each other, in place of runs: `category`,
            `run_id` or `summary`. Values that several sets share vary together.
        resamples: random draws behind the p-value of the test of all classes, where not all sign-flips can be listed;
            nothing else is drawn (see docs/statistics.md).
        seed: of these draws.

    Returns:
        A `Comparison`: `.findings`, `.transitions`, `.summary`, `.truth`, `.tests`, `.bounds` (the range of each
        metric that votes never cast allow; rule R4), and what a reader must know in `.notes`; `.between` compares two
        of several conditions. `.paired_by` says what was paired.

    Raises:
        InputError: if sets cannot be paired one to one, a set has no finding, or no unit to pair by is in all sets.
        SettingsError: for fewer than two conditions, names that cannot be columns, a metric that is not there, and as
            `classify`.
        TableError: as `classify`.

    >>> comparison = compare("stdlib-claims/adversarial", resamples=100)
    >>> comparison.conditions, comparison.n_findings, comparison.metric
    (('collaborative', 'adversarial'), 720, 'accuracy')
    >>> sticky = compare(
    ...     "stdlib-claims/adversarial",
    ...     rules={"as run": {}, "sticky": "sticky-refutes"},
    ...     resamples=100,
    ... )
    >>> sticky.conditions
    ('as run', 'sticky')
    """
    several_sets = are_several_sets(runs, other)
    options = ComparisonOptions(metric, pair_by, cluster_by, resamples, seed)
    options.check(several_sets=several_sets)
    conditions = conditions_of(runs, other, modes, max_rounds, missing_basis, rules)
    return compare_conditions(conditions, several_sets=several_sets, options=options)


def compare_conditions(
    conditions: Sequence[Condition], *, several_sets: bool, options: ComparisonOptions | None = None
) -> Comparison:
    """Return the comparison of some conditions, the first of which is the baseline; raises as `compare`.

    The findings of several sets are paired, and may be left out; those of one set are the same.
    """
    options = options or ComparisonOptions()
    findings_of = {condition.name: condition.findings for condition in conditions}
    if options.cluster_by:
        tables = findings_of if several_sets else {"the set": conditions[0].findings}
        expect_units(tables, options.cluster_by, "cluster_by")
    paired = pair(findings_of, several_sets=several_sets, pair_by=options.pair_by)
    return _comparison_of(conditions, paired, options)


def _comparison_of(conditions: Sequence[Condition], paired: Paired, options: ComparisonOptions) -> Comparison:
    """Return the comparison over paired findings, with notes, of which those that most change its reading are first."""
    names = tuple(condition.name for condition in conditions)
    findings = paired.findings
    figures = figures_of(findings, names, paired.by, options)
    failed = list(notes_on_failed_calls(conditions))
    readings = [reading for condition in conditions for reading in ties_of_runs(condition.frames.runs)]
    ties = ties_sentence([*dict.fromkeys(readings)])
    for table in (figures.mix, figures.truth, figures.summary):
        if table is not None:
            table.attrs |= {"failed_calls": "; ".join(failed), "ties": ties}
    notes = [
        *([] if len(findings) else ["There are no findings: nothing was compared."]),
        *(f"{note}." for note in failed),
        *([ties] if ties else []),
        *notes_on_cut_rounds(conditions),
        *paired.notes,
        *notes_on_differences(conditions),
        *notes_on_missing_bases(findings, names),
        *notes_on_intervals(figures.summary, figures.clusters),
        *notes_on_bounds(figures.bounds),
        *notes_on_runs(conditions),
        *notes_on_findings(findings, conditions),
        *notes_on_unnamed_modes(conditions),
    ]
    return Comparison(
        conditions=names,
        metric=figures.metric,
        findings=findings,
        mix=figures.mix,
        truth=figures.truth,
        summary=figures.summary,
        bounds=figures.bounds,
        tests=figures.tests,
        agreement=by_condition({condition.name: condition.replayed.agreement for condition in conditions}),
        cost=by_condition({condition.name: condition.replayed.cost for condition in conditions}),
        n_findings=len(findings),
        n_runs=figures.n_runs,
        paired_by=paired.by,
        resampled=figures.unit,
        synthetic=any(bool(condition.frames.runs["synthetic"].fillna(False).any()) for condition in conditions),
        same_votes=len({id(condition.replayed) for condition in conditions}) == 1,
        notes=tuple(notes),
        _compare=partial(_between, conditions, paired, options._replace(metric=figures.metric)),
    )


def _between(
    conditions: Sequence[Condition], paired: Paired, options: ComparisonOptions, names: tuple[str, str]
) -> Comparison:
    named = {condition.name: condition for condition in conditions}
    return _comparison_of([named[name] for name in names], paired.between(names), options)

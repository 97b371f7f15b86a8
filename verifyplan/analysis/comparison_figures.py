"""The figures of a comparison: metrics under each condition, their differences, and tests (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from verifyplan.analysis.cluster_intervals import LEVEL, Difference, Interval, unpaired_difference
from verifyplan.analysis.clustered_tests import DRAWS
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.comparison_bounds import bounds_table, no_bounds
from verifyplan.analysis.conclusion import concluded_metric
from verifyplan.analysis.difference_tests import difference_tests, metric_tests, with_holm
from verifyplan.analysis.kind_counts import KindCounts
from verifyplan.analysis.metrics import (
    TRUTH_METRICS,
    Metric,
    changed_share,
    condition_table,
    difference_table,
    differences_of,
    kinds_of,
    mix_table,
    summary_table,
    truth_table,
)
from verifyplan.analysis.pairing import FINDING, UNITS, paired_clusters, rows_of, share_of_units, stacked_clusters
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.text import did_you_mean


class ComparisonOptions(NamedTuple):
    """What the figures of a comparison are to be."""

    metric: str | None = None
    """The metric to conclude on; None for the accuracy where truth is known, else the share held."""
    pair_by: str | None = FINDING
    """What is paired: `finding`, a column of findings, or nothing."""
    cluster_by: str | None = None
    """The column of findings whose values are independent; None for runs."""
    resamples: int = DRAWS
    """Random draws of the test of all classes, where not all sign-flips can be listed."""
    seed: int = 0
    """The seed of these draws."""

    def check(self, *, several_sets: bool) -> None:
        """Raise SettingsError, listing every value that is out of range."""
        problems = [
            Problem(name, f"must be an integer of at least {low}, got {value!r}", f"give a whole number from {low}")
            for name, value, low in (("resamples", self.resamples, 1), ("seed", self.seed, 0))
            if isinstance(value, bool) or not isinstance(value, int) or value < low
        ]
        for name, value, known in (
            ("pair_by", self.pair_by, (FINDING, *UNITS)),
            ("cluster_by", self.cluster_by, UNITS),
        ):
            if value is not None and value not in known:
                message = f"must be None or one of {one_of(known)}, got {value!r:.80}{did_you_mean(value, known)}"
                fix = "load a unit of your own as the category, from_votes(..., category='story')"
                problems.append(Problem(name, message, fix))
        if self.pair_by != FINDING and not several_sets:
            fix = "leave it out: the findings of one set are the same under all conditions"
            problems.append(Problem("pair_by", f"goes with several sets, got {self.pair_by!r:.80} and one set", fix))
        if problems:
            raise SettingsError(problems)


class Figures(NamedTuple):
    """Figures that follow from the classes of findings alone; the fields are those of `Comparison`."""

    metric: str
    """The metric that is concluded on."""
    mix: pd.DataFrame
    truth: pd.DataFrame | None
    summary: pd.DataFrame
    bounds: pd.DataFrame
    tests: pd.DataFrame
    clusters: dict[str, Clusters]
    """The clusters of the findings under each condition, the baseline first."""
    n_runs: int
    """The runs of the baseline's findings."""
    unit: str
    """What is taken to be independent."""


class _Measured(NamedTuple):
    """The metrics of all conditions, and their differences from the first."""

    tables: dict[str, pd.DataFrame]
    """`value, low, high, n` by metric, of each condition."""
    differences: dict[str, dict[str, Difference]]
    """The differences by metric, of each condition but the first."""
    changed: dict[str, Interval]
    """The share of findings whose class differs; nothing where they are not paired."""
    own: dict[str, Clusters]
    """The clusters of each condition."""
    between: dict[str, list[Clusters]]
    """The clusters of each difference: of its findings, or of each set where they have none in common."""


def figures_of(
    findings: pd.DataFrame, names: Sequence[str], paired_by: str | None, options: ComparisonOptions
) -> Figures:
    """Return the figures of a comparison: every other condition is compared with the first.

    Raises SettingsError for a metric to conclude on that is not there.
    """
    paired = paired_by == FINDING
    measured = (
        _paired(findings, names, options.cluster_by)
        if paired
        else _unpaired(findings, names, paired_by, options.cluster_by or paired_by)
    )
    others = names[1:]
    known = list(measured.differences[others[0]])
    truth_is_known = TRUTH_METRICS[0] in known
    metric = concluded_metric(options.metric, known, truth_is_known=truth_is_known)
    levels = {metric: 1 - (1 - LEVEL) / len(others)}
    tests = {}
    for name in others:
        tests[name] = metric_tests(measured.differences[name], measured.between[name], metric, len(others))
        if paired:
            more = difference_tests(
                findings, names[0], name, measured.between[name][0], options.seed, options.resamples
            )
            tests[name] = pd.concat([tests[name], more], ignore_index=True)
    rows = {name: (rows_of(findings, name), measured.own[name]) for name in names}
    return Figures(
        metric=metric,
        mix=mix_table(measured.tables, findings),
        truth=truth_table(measured.tables) if truth_is_known else None,
        summary=summary_table(
            measured.tables,
            {
                name: difference_table(of_name, measured.changed.get(name), levels)
                for name, of_name in measured.differences.items()
            },
        ),
        bounds=no_bounds() if paired_by in UNITS else bounds_table(rows),
        tests=with_holm(by_condition(tests)),
        clusters=measured.own,
        n_runs=measured.own[names[0]].n_runs if options.cluster_by is None else rows[names[0]][0]["run_id"].nunique(),
        unit=" and ".join(dict.fromkeys(each.unit for each in measured.between[others[0]])),
    )


def _paired(findings: pd.DataFrame, names: Sequence[str], cluster_by: str | None) -> _Measured:
    """Measure conditions over the same findings."""
    baseline, *others = names
    clusters = paired_clusters(findings, names, cluster_by)
    kinds = kinds_of(findings, names)
    metrics = {name: kinds.metrics(name) for name in names}
    counted = {id(each): kinds.counted(each) for each in clusters.values()}  # conditions of one set share one
    both = {name: counted[id(clusters[baseline, name])] for name in others}
    return _Measured(
        tables={name: condition_table(metrics[name], counted[id(clusters[name, name])]) for name in names},
        differences={name: differences_of(metrics[baseline], metrics[name], both[name]) for name in others},
        changed={name: changed_share(kinds.classes[baseline], kinds.classes[name], both[name]) for name in others},
        own={name: clusters[name, name] for name in names},
        between={name: [clusters[baseline, name]] for name in others},
    )


def _unpaired(findings: pd.DataFrame, names: Sequence[str], unit: str | None, cluster_by: str | None) -> _Measured:
    """Measure conditions each over its own findings, those of one unit as one where units are paired."""
    share = None if unit is None else share_of_units(findings, names, unit)
    sides: dict[str, tuple[Mapping[str, Metric], KindCounts]] = {}
    own = {}
    for name in names:
        rows, there = rows_of(findings, name), findings[f"classification_{name}"].notna().to_numpy(dtype=bool)
        own[name] = stacked_clusters(rows, cluster_by)
        kinds = kinds_of(rows, [name], None if share is None else share[there])
        sides[name] = kinds.metrics(name), kinds.counted(own[name])
    tables = {name: condition_table(metrics, counted) for name, (metrics, counted) in sides.items()}
    known = [metric for metric in tables[names[0]].index if all(metric in table.index for table in tables.values())]
    differences, between = {}, {}
    for name in names[1:]:
        pair = (names[0], name)
        there = findings[[f"classification_{each}" for each in pair]].notna().any(axis=1).to_numpy(dtype=bool)
        rows = findings[there].reset_index(drop=True)
        if _have_units_in_common(rows, pair, cluster_by or "run_id"):
            clusters = stacked_clusters(rows, cluster_by)
            kinds = kinds_of(rows, pair, None if share is None else share[there])
            every = differences_of(kinds.metrics(pair[0]), kinds.metrics(pair[1]), kinds.counted(clusters))
            differences[name], between[name] = {metric: every[metric] for metric in known}, [clusters]
            continue
        (first, of_first), (second, of_second) = (sides[each] for each in pair)
        differences[name] = {
            metric: unpaired_difference(*first[metric][:2], of_first, *second[metric][:2], of_second)
            for metric in known
        }
        between[name] = [own[each] for each in pair]
    return _Measured(tables, differences, {}, own, between)


def _have_units_in_common(rows: pd.DataFrame, pair: Sequence[str], column: str) -> bool:
    """Return whether sets share values of a column, so that these vary together; not where one set has a single one."""
    values = [set(rows.loc[rows[f"classification_{name}"].notna(), column].unique()) for name in pair]
    return min(map(len, values)) > 1 and bool(set.intersection(*values))


def by_condition(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all conditions as one, with the condition in the first column."""
    parts = [table.assign(condition=name) for name, table in tables.items()]
    return pd.concat(parts, ignore_index=True)[["condition", *parts[0].columns.drop("condition")]]

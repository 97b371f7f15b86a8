"""Compare conditions over the findings of a dataset, whose votes are judged part by part (rules F1, E5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from verifyplan.analysis.agreement import AGREEMENT_COLUMNS
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.comparison_bounds import notes_on_bounds
from verifyplan.analysis.comparison_figures import ComparisonOptions, by_condition, figures_of
from verifyplan.analysis.comparison_notes import notes_on_classes, notes_on_missing_bases
from verifyplan.analysis.conditions import conditions_of
from verifyplan.analysis.cost import cost
from verifyplan.analysis.interval_notes import notes_on_intervals
from verifyplan.analysis.out_of_core.class_counts import Address, as_dataset
from verifyplan.analysis.out_of_core.map_parts import map_parts
from verifyplan.analysis.pairing import FINDING, expect_units, pair, with_changed
from verifyplan.analysis.parts_to_judge import cut_rows, parts_to_judge
from verifyplan.analysis.replay import ReplayMode, Setting, replay_under
from verifyplan.errors import InputError, Problem
from verifyplan.frames.cut_notes import note_replayed_cut_rounds
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.dataset.part_files import joined_categories
from verifyplan.protocol.vote import MissingBasis
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted, is_or_are

_TEXTS = ["run_id", "finding_id", "summary", "category"]

LEFT_OUT = (
    "The votes were judged part by part: agreement, and the notes on votes that were not read, are not there; "
    "compare of a selection has them."
)


class _PartComparison(NamedTuple):
    findings: pd.DataFrame
    cost: pd.DataFrame
    n_unknown: int
    cut: pd.DataFrame
    """The findings whose last round a limit cut off, as `cut_rows` returns them."""


def compare_dataset(
    dataset: Dataset | Address,
    *others: object,
    metric: str | None = None,
    modes: Sequence[ReplayMode | Setting] | None = None,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    cluster_by: str | None = None,
    resamples: int = 2000,
    seed: int = 0,
    client: Any = None,
) -> Comparison:
    """Compare conditions over the findings of one dataset, as `compare` does, without its votes in memory.

    The votes of each part are judged by themselves, under all conditions; what is kept is a row a finding with names
    as categoricals, some 100 bytes for two conditions, from which every figure, interval and test follows as in memory.
    Agreement is left out, and so are the notes on votes that no class reads.

    Args:
        dataset: what `load` returns for the folder of a dataset, or its address.
        others: none; `compare` takes several sets.
        metric: see `compare`; likewise all others but `client`.
        modes: see `compare`.
        rules: see `compare`, for one set.
        max_rounds: see `compare`.
        missing_basis: see `compare`.
        cluster_by: see `compare`.
        resamples: see `compare`.
        seed: see `compare`.
        client: where parts are judged (see `map_parts`): None for here, a number of processes, or a Dask client.

    Raises:
        InputError: for what is no dataset, and for several.
        SettingsError, TableError: as `compare`.

    >>> import verifyplan as vp
    >>> _ = vp.compile_dataset(vp.datasets.path("contract"), "memory://compared")
    >>> compare_dataset("memory://compared").in_words("changed")
    'changed, collaborative against adversarial: 51.9 % [24.7, 78.0] (n = 27)'
    """
    if others:
        message = f"must be one dataset, got {counted(1 + len(others), 'set')}"
        fix = "compare several sets in memory, compare(load(a), load(b)), or compile their runs into one dataset"
        raise InputError(Problem("dataset", message, fix))
    options = ComparisonOptions(metric, FINDING, cluster_by, resamples, seed)
    options.check(several_sets=False)
    opened = as_dataset(dataset)
    conditions = conditions_of(opened, None, modes, max_rounds, missing_basis, rules)
    named = {condition.name: condition.rules for condition in conditions}
    parts: tuple[Any, ...] = parts_to_judge(opened, *named.values())
    found = list(map_parts(partial(_part_comparison, rules=named), parts, client))
    findings = joined_categories([part.findings for part in found])
    n_unknown = sum(part.n_unknown for part in found)
    unknown = f"{counted(n_unknown, 'finding')} {is_or_are(n_unknown)} left out, without votes or a class."
    cut = pd.concat([part.cut for part in found], ignore_index=True)
    first = tuple(filter(None, (note_replayed_cut_rounds(cut, cut["limit"]), unknown if n_unknown else None)))
    costs = _summed([part.cost for part in found])
    if cluster_by:
        expect_units({"the dataset": findings}, cluster_by, "cluster_by")
    return _comparison(findings, costs, first, opened, options, tuple(named))


def _part_comparison(part: Dataset, rules: Mapping[str, VotingRules]) -> _PartComparison:
    tables = {name: replay_under(part, each) for name, each in rules.items()}
    n = len(next(iter(tables.values())))
    findings = pair(tables, several_sets=False).findings
    small = dict.fromkeys(findings.columns[findings.dtypes == "int64"], "int32")
    texts = dict.fromkeys(_TEXTS, "category")
    return _PartComparison(findings.astype({**small, **texts}), cost(part), n - len(findings), cut_rows(part))


def _summed(costs: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the costs of all parts, added up; a measure that no part knows stays missing."""
    table = pd.concat(costs).groupby("measure", sort=False)[["value"]].sum(min_count=1).reset_index()
    return table.assign(n_runs=sum(int(each["n_runs"].iloc[0]) for each in costs))


def _comparison(
    findings: pd.DataFrame,
    costs: pd.DataFrame,
    first_notes: tuple[str, ...],
    dataset: Dataset,
    options: ComparisonOptions,
    names: tuple[str, ...],
) -> Comparison:
    figures = figures_of(with_changed(findings, names), names, FINDING, options)
    options = options._replace(metric=figures.metric)
    notes = [
        *first_notes,
        *notes_on_missing_bases(findings, names),
        *notes_on_intervals(figures.summary, figures.clusters),
        *notes_on_bounds(figures.bounds),
        *notes_on_classes(findings, names),
        LEFT_OUT,
    ]
    return Comparison(
        conditions=names,
        metric=figures.metric,
        findings=with_changed(findings, names),
        mix=figures.mix,
        truth=figures.truth,
        summary=figures.summary,
        bounds=figures.bounds,
        tests=figures.tests,
        agreement=pd.DataFrame(columns=["condition", *AGREEMENT_COLUMNS]),
        cost=by_condition(dict.fromkeys(names, costs)),
        n_findings=len(findings),
        n_runs=figures.n_runs,
        resampled=figures.unit,
        synthetic=any(part.synthetic for part in dataset.statistics),
        same_votes=True,
        notes=tuple(notes),
        _compare=partial(_comparison, findings, costs, first_notes, dataset, options),
    )

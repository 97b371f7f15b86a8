"""Put the findings of two or more conditions into one table: paired by finding, by a coarser unit, or not (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.clusters import Clusters, codes
from verifyplan.analysis.replay import BASIS_COUNTS, DECIDING_VOTES
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.panel_votes import claim_keys
from verifyplan.frames.vote_losses import LOST
from verifyplan.rules.grouping import claim_words
from verifyplan.text import counted, is_or_are, joined

Floats = npt.NDArray[np.float64]

KEY = ["run_id", "iteration", "finding_id"]
SHARED = [*KEY, "summary", "category", "truth"]
"""The columns that a finding has once, whatever the conditions are."""
OF_CONDITION = (
    *("classification", "rule", "decided_round", "censored", "recorded", *BASIS_COUNTS, DECIDING_VOTES, *LOST),
    *("low", "high"),
)
"""The columns that a finding has under every condition, as `classification_gpt`."""


FINDING = "finding"
UNITS = ("category", "run_id", "summary")
"""The columns of findings that can be a coarser unit: to pair by, or to take as independent."""


class Paired(NamedTuple):
    """The findings of all conditions in one table."""

    findings: pd.DataFrame
    """One row a finding; where findings are not paired, one a finding of each set, without a class in the others."""
    by: str | None
    """What is paired: `finding`, a column such as `category`, or None for nothing."""
    notes: list[str]
    """Which findings were left out."""

    def between(self, names: Sequence[str]) -> Paired:
        """Return the findings that some of the conditions have, with the columns of these alone."""
        if self.by == FINDING:
            return self._replace(findings=with_changed(self.findings, names))
        there = self.findings[[f"classification_{name}" for name in names]].notna().any(axis=1)
        columns = [*SHARED, *(f"{column}_{name}" for name in names for column in OF_CONDITION), "changed"]
        return self._replace(findings=self.findings.loc[there, columns].reset_index(drop=True))


def pair_key(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Return the columns by which sets are paired: without the run where no run id is in all of them."""
    shared = set.intersection(*(set(table["run_id"].unique()) for table in tables))
    return KEY if shared else KEY[1:]


def pair(tables: Mapping[str, pd.DataFrame], *, several_sets: bool, pair_by: str | None = FINDING) -> Paired:
    """Return the findings of all conditions in one table, and what in it is paired.

    `tables` are replays by the names of their conditions. By finding, each is a row with its class under each
    condition; run and category are those of the first. Several sets that have no finding in common are not paired. By
    a column such as `category`, or by nothing (None), each finding of each set is a row.

    Raises InputError where a set has no finding, cannot be paired one to one, makes other claims under the same ids, or
    where no unit to pair by is in all sets.
    """
    if not several_sets:
        return _by_finding(tables, KEY, several_sets=False)
    empty = [name for name, table in tables.items() if table.empty]
    if empty:
        message = f"{joined(empty)} {'has' if len(empty) == 1 else 'have'} no finding"
        raise InputError(Problem("runs", message, "give runs with findings"))
    if pair_by == FINDING:
        key = pair_key(list(tables.values()))
        shared = set.intersection(*(set(table["finding_id"].unique()) for table in tables.values()))
        paired = _by_finding(tables, key, several_sets=True) if shared else None
        if paired is not None and len(paired.findings):
            return paired
        ids = "; ".join(f"{one_of(table['finding_id'].head(3))} in {name}" for name, table in tables.items())
        found = _stacked(tables, None)
        return found._replace(
            notes=[f"No finding is in all sets, so that they are compared unpaired: {ids}.", *found.notes]
        )
    return _stacked(tables, pair_by)


def _by_finding(tables: Mapping[str, pd.DataFrame], key: list[str], *, several_sets: bool) -> Paired:
    names = list(tables)
    if key != KEY:
        _refuse_repeats(tables, key)
    together = tables[names[0]][[*SHARED, *OF_CONDITION]].rename(columns=_named(names[0]))
    for name in names[1:]:
        own_run = {} if key == KEY else {"run_id": f"run_id_{name}"}
        facts = ["summary", "truth"] if several_sets else []  # those of one set are the same
        columns = dict.fromkeys([*key, *own_run, *facts, *OF_CONDITION])
        next_table = tables[name][list(columns)].rename(columns=_named(name) | own_run)
        together = together.merge(next_table, on=key, suffixes=("", "_next"))
        if several_sets:
            _refuse_other_claims(together, name)
            together["truth"] = together["truth"].fillna(together.pop("truth_next"))
            together["summary"] = together["summary"].fillna(together.pop("summary_next"))
    notes = []
    sizes = {len(together), *map(len, tables.values())}  # paired one to one: all of them, if all are as many
    left_out = 0
    if len(sizes) > 1:
        left_out = len(pd.concat([table[key] for table in tables.values()]).drop_duplicates()) - len(together)
    if left_out:
        notes.append(f"{counted(left_out, 'finding')} {is_or_are(left_out)} left out, as they are not in all sets.")
    unknown = together[[f"classification_{name}" for name in names]].isna().any(axis=1)
    if unknown.any():
        notes.append(_note_on_unknown(int(unknown.sum())))
        together = together[~unknown].reset_index(drop=True)
    return Paired(with_changed(together, names), FINDING, notes)


def _stacked(tables: Mapping[str, pd.DataFrame], unit: str | None) -> Paired:
    """Return one row a finding of each set; of those alone whose unit is in all sets, if findings have one."""
    notes = []
    known = {name: table[table["classification"].notna()] for name, table in tables.items()}
    if n_unknown := sum(map(len, tables.values())) - sum(map(len, known.values())):
        notes.append(_note_on_unknown(n_unknown))
    if unit:
        expect_units(tables, unit, "pair_by")
        shared = set.intersection(*(set(table[unit].unique()) for table in known.values()))
        if not shared:
            ids = "; ".join(f"{one_of(table[unit].unique()[:3])} in {name}" for name, table in known.items())
            fix = "name another column, or pair_by=None to compare sets unpaired"
            raise InputError(Problem("pair_by", f"no {unit} is in all sets: {ids}", fix))
        kept = {name: table[table[unit].isin(shared)] for name, table in known.items()}
        if left_out := sum(map(len, known.values())) - sum(map(len, kept.values())):
            notes.append(
                f"{counted(left_out, 'finding')} {is_or_are(left_out)} left out, as their {unit} is not in all sets."
            )
        known = kept
    n = sum(map(len, known.values()))
    together = pd.concat([table[SHARED] for table in known.values()], ignore_index=True)
    start, columns = 0, {}
    for name, table in known.items():
        rows = pd.RangeIndex(n) - start
        missing_fits: dict[str, Any] = {"int64": "Int64", "bool": "boolean"}
        for column in OF_CONDITION:
            own: pd.Series[Any] = table[column].reset_index(drop=True)
            if str(own.dtype) in missing_fits:
                own = own.astype(missing_fits[str(own.dtype)])
            columns[f"{column}_{name}"] = own.reindex(rows).set_axis(together.index)
        start += len(table)
    return Paired(together.assign(**columns, changed=pd.array([pd.NA] * n, dtype="boolean")), unit, notes)


def _note_on_unknown(n: int) -> str:
    return f"{counted(n, 'finding')} {is_or_are(n)} left out, as they have neither votes nor a recorded class."


def expect_units(tables: Mapping[str, pd.DataFrame], column: str, argument: str) -> None:
    """Raise InputError for findings that have no value of a column which is to be their unit."""
    problems = [
        Problem(
            argument,
            f"{counted(n, 'finding')} of {name} {'has' if n == 1 else 'have'} no {column}",
            f"name the column that has it when the votes are loaded, from_votes(..., {column}=...)",
        )
        for name, table in tables.items()
        if (n := int(table[column].isna().sum()))
    ]
    if problems:
        raise InputError(problems)


def rows_of(findings: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the findings that a condition has: all where findings are paired, else those of its set."""
    own = findings[f"classification_{name}"].notna().to_numpy(dtype=bool)
    if own.all():
        return findings
    rows = findings[own].reset_index(drop=True)
    columns = [f"{column}_{name}" for column in OF_CONDITION]
    whole = {"Int64": "int64", "boolean": "bool"}
    return rows.astype({each: kind for each in columns if (kind := whole.get(str(rows[each].dtype)))})


def _named(name: str) -> dict[str, str]:
    return {column: f"{column}_{name}" for column in OF_CONDITION}


def with_changed(findings: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the columns of some conditions alone, and `changed`: whether a class differs between any two of them."""
    own_runs = [column for name in names if (column := f"run_id_{name}") in findings]
    columns = [*SHARED, *own_runs, *(f"{column}_{name}" for name in names for column in OF_CONDITION)]
    classes = [findings[f"classification_{name}"].cat.codes for name in names]
    changed = pd.concat([first != second for first, second in pairwise(classes)], axis=1).any(axis=1)
    return findings[columns].assign(changed=changed)


def paired_clusters(
    findings: pd.DataFrame, names: Sequence[str], cluster_by: str | None = None
) -> dict[tuple[str, str], Clusters]:
    """Return the clusters of paired findings for each condition (its name twice) and for each pair with the first.

    Where no run is in all sets, each set has runs of its own, and a difference varies with those of both: the more
    numerous come first, whichever set is the baseline. Where a column is named, its values are the clusters.
    """
    claim = codes(claim_keys(findings))
    if cluster_by:
        units = Clusters(codes(findings[cluster_by]), claim, by=cluster_by)
        return {pair: units for name in names for pair in ((name, name), (names[0], name))}
    run_of = {name: codes(findings.get(f"run_id_{name}", findings["run_id"])) for name in names}
    shared = not any(f"run_id_{name}" in findings for name in names)
    own = {name: Clusters(run, claim) for name, run in run_of.items()}
    if shared:
        return {pair: own[names[0]] for name in names for pair in ((name, name), (names[0], name))}
    both = {}
    for name in names[1:]:
        run, other = sorted((run_of[names[0]], run_of[name]), key=lambda code: -len(np.unique(code)))
        both[names[0], name] = Clusters(run, claim, other)
    return {(name, name): clusters for name, clusters in own.items()} | both


def stacked_clusters(rows: pd.DataFrame, unit: str | None) -> Clusters:
    """Return the clusters of findings that are not paired: their values of a column, or their runs, and claims."""
    return Clusters(codes(rows[unit or "run_id"]), codes(claim_keys(rows)), by=unit)


def share_of_units(findings: pd.DataFrame, names: Sequence[str], unit: str) -> Floats:
    """Return what each finding counts for, so that all findings of one unit in one set count as one."""
    side = np.select([findings[f"classification_{name}"].notna() for name in names], range(len(names)))
    group = codes(pd.MultiIndex.from_arrays([codes(findings[unit]), side]))
    return np.asarray(1 / np.bincount(group)[group])


def _refuse_repeats(tables: Mapping[str, pd.DataFrame], key: list[str]) -> None:
    """Raise InputError where a set has a finding in several runs, so that nobody knows which of them is meant."""
    fix = (
        "give each run its own log_dir and load one of each; or give the runs to be paired the same run_id "
        "(the path under the loaded folder); pair_by=None compares sets unpaired"
    )
    problems = [
        Problem("finding_id", f"{twice.iloc[0]!r} is in several runs of {name}, and no run id is in all sets", fix)
        for name, table in tables.items()
        if len(twice := table.loc[table.duplicated(key), "finding_id"])
    ]
    if problems:
        raise InputError(problems)


def _refuse_other_claims(together: pd.DataFrame, name: str) -> None:
    """Raise InputError where findings paired by id are other claims, or are true in one set and false in another."""
    named = together[
        together["summary"].notna()
        & together["summary_next"].notna()
        & (together["summary"] != together["summary_next"])
    ]
    other = named.loc[named["summary"].map(claim_words).ne(named["summary_next"].map(claim_words)), "finding_id"]
    split = together.loc[(together["truth"] != together["truth_next"]).fillna(False).astype(bool), "finding_id"]
    fix = "pair runs over the same findings, or give pair_by=None to compare the sets unpaired"
    violations = (
        (other, f"make another claim in {name} than in the sets before"),
        (split, f"are true in {name} and false in a set before, or the other way round"),
    )
    problems = [
        Problem("finding_id", f"{counted(len(ids), 'finding')} of one id {what}, the first is {ids.iloc[0]!r}", fix)
        for ids, what in violations
        if len(ids)
    ]
    if problems:
        raise InputError(problems)

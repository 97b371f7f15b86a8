"""Pair the findings of two or more conditions, one row a finding (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters, codes
from verifyplan.analysis.replay import BASIS_COUNTS, DECIDING_VOTES
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.panel_votes import claim_keys
from verifyplan.frames.rows import joined_rows
from verifyplan.frames.vote_losses import LOST
from verifyplan.rules.grouping import claim_words
from verifyplan.text import counted, is_or_are

KEY = ["run_id", "iteration", "finding_id"]
SHARED = [*KEY, "summary", "category", "truth"]
"""The columns that a finding has once, whatever the conditions are."""
OF_CONDITION = (
    *("classification", "rule", "decided_round", "censored", "recorded", *BASIS_COUNTS, DECIDING_VOTES, *LOST),
    *("low", "high"),
)
"""The columns that a finding has under every condition, as `classification_gpt`."""


def pair_key(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Return the columns by which sets are paired: without the run where no run id is in all of them."""
    shared = set.intersection(*(set(table["run_id"].unique()) for table in tables))
    return KEY if shared else KEY[1:]


def pair(tables: Mapping[str, pd.DataFrame], *, several_sets: bool) -> tuple[pd.DataFrame, list[str]]:
    """Return one row a finding with its class under each condition, and notes on findings that were left out.

    `tables` are replays by the names of their conditions; run and category are those of the first. Raises InputError
    where several sets share no finding, cannot be paired one to one, or do not make the same claims under the same ids.
    """
    names = list(tables)
    key = pair_key(list(tables.values())) if several_sets else KEY
    if key != KEY:
        _refuse_repeats(tables, key)
    joined = tables[names[0]][[*SHARED, *OF_CONDITION]].rename(columns=_named(names[0]))
    for name in names[1:]:
        own_run = {} if key == KEY else {"run_id": f"run_id_{name}"}
        facts = ["summary", "truth"] if several_sets else []  # those of one set are the same
        columns = dict.fromkeys([*key, *own_run, *facts, *OF_CONDITION])
        next_table = tables[name][list(columns)].rename(columns=_named(name) | own_run)
        joined = joined_rows(joined, next_table, key, suffixes=("", "_next"), how="inner")
        if several_sets:
            _refuse_other_claims(joined, name)
            joined["truth"] = joined["truth"].fillna(joined.pop("truth_next"))
            joined["summary"] = joined["summary"].fillna(joined.pop("summary_next"))
    if several_sets and joined.empty:
        ids = "; ".join(f"{one_of(table['finding_id'].head(3)) or 'none'} in {name}" for name, table in tables.items())
        message = f"no finding is in all sets: {ids}"
        raise InputError(Problem("runs", message, "give runs over the same finding ids"))
    notes = []
    sizes = {len(joined), *map(len, tables.values())}  # paired one to one: all of them, if all are as many
    left_out = 0
    if len(sizes) > 1:
        left_out = len(pd.concat([table[key] for table in tables.values()]).drop_duplicates()) - len(joined)
    if left_out:
        notes.append(f"{counted(left_out, 'finding')} {is_or_are(left_out)} left out, as they are not in all sets.")
    unknown = joined[[f"classification_{name}" for name in names]].isna().any(axis=1)
    if unknown.any():
        n_unknown = counted(int(unknown.sum()), "finding")
        notes.append(
            f"{n_unknown} {is_or_are(unknown.sum())} left out, as they have neither votes nor a recorded class."
        )
        joined = joined[~unknown].reset_index(drop=True)
    return with_changed(joined, names), notes


def _named(name: str) -> dict[str, str]:
    return {column: f"{column}_{name}" for column in OF_CONDITION}


def with_changed(findings: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the columns of some conditions alone, and `changed`: whether a class differs between any two of them."""
    own_runs = [column for name in names if (column := f"run_id_{name}") in findings]
    columns = [*SHARED, *own_runs, *(f"{column}_{name}" for name in names for column in OF_CONDITION)]
    classes = [findings[f"classification_{name}"].cat.codes for name in names]
    changed = pd.concat([first != second for first, second in pairwise(classes)], axis=1).any(axis=1)
    return findings[columns].assign(changed=changed)


def paired_clusters(findings: pd.DataFrame, names: Sequence[str]) -> dict[tuple[str, str], Clusters]:
    """Return the clusters of paired findings for each condition (its name twice) and for each pair with the first.

    Where no run is in all sets, each set has runs of its own, and a difference varies with those of both: the more
    numerous come first, whichever set is the baseline.
    """
    claim = codes(claim_keys(findings))
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


def _refuse_repeats(tables: Mapping[str, pd.DataFrame], key: list[str]) -> None:
    """Raise InputError where a set has a finding in several runs, so that nobody knows which of them is meant."""
    fix = (
        "give each run its own log_dir and load one of each; or give the runs to be paired the same run_id "
        "(the path under the loaded folder)"
    )
    problems = [
        Problem("finding_id", f"{twice.iloc[0]!r} is in several runs of {name}, and no run id is in all sets", fix)
        for name, table in tables.items()
        if len(twice := table.loc[table.duplicated(key), "finding_id"])
    ]
    if problems:
        raise InputError(problems)


def _refuse_other_claims(joined: pd.DataFrame, name: str) -> None:
    """Raise InputError where findings paired by id are other claims, or are true in one set and false in another."""
    named = joined[
        joined["summary"].notna() & joined["summary_next"].notna() & (joined["summary"] != joined["summary_next"])
    ]
    other = named.loc[named["summary"].map(claim_words).ne(named["summary_next"].map(claim_words)), "finding_id"]
    split = joined.loc[(joined["truth"] != joined["truth_next"]).fillna(False).astype(bool), "finding_id"]
    fix = "pair runs over the same findings, or give other claims other ids"
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

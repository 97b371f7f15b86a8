"""Pair two readings of the same findings, one row a finding (rule F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.replay import BASES_READ
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.support import LOST
from verifyplan.rules.grouping import claim_words
from verifyplan.text import counted

KEY = ["run_id", "iteration", "finding_id"]


def pair_key(left: pd.DataFrame, right: pd.DataFrame) -> list[str]:
    """Return the columns by which two real sets are paired: without the run where they share no run id."""
    return KEY if set(left["run_id"].unique()) & set(right["run_id"].unique()) else KEY[1:]


def pair(left: pd.DataFrame, right: pd.DataFrame, *, paired: bool) -> tuple[pd.DataFrame, list[str]]:
    """Return one row a finding with both readings, and notes on the findings that only one set has, left out.

    Raises InputError where two sets (`paired`) share no finding, cannot be paired one to one, or do not make the
    same claims under the same ids.
    """
    key = pair_key(left, right) if paired else KEY
    if key != KEY:
        for name, side in (("first", left), ("second", right)):
            twice = side.loc[side.duplicated(key), "finding_id"]
            if len(twice):
                message = f"{twice.iloc[0]!r} is in several runs of the {name} set, and no run id is in both sets"
                fix = (
                    "give each run its own log_dir and load one of each; or give the runs to be paired the same run_id "
                    "(the path under the loaded folder)"
                )
                raise InputError(Problem("finding_id", message, fix))
    read = ["classification", "rule", "decided_round", "censored", *BASES_READ, *LOST]
    right = right.rename(columns={"summary": "summary_b"})
    both = left.merge(right[[*key, "summary_b", "truth", *read]], on=key, suffixes=("_a", "_b"), how="inner")
    if paired and both.empty:
        first, second = (one_of(side["finding_id"].head(3)) or "none" for side in (left, right))
        message = f"the two sets share no finding: {first} in the first, {second} in the second"
        raise InputError(Problem("runs", message, "give two runs over the same finding ids"))
    _refuse_other_claims(both)
    both.insert(5, "truth", both["truth_a"].fillna(both["truth_b"]))
    both = both.drop(columns=["truth_a", "truth_b", "summary_b"])
    notes = []
    lost = len(left) + len(right) - 2 * len(both)
    if lost:
        notes.append(f"Left out, as they are in one set only: {counted(lost, 'finding')}.")
    unknown = both["classification_a"].isna() | both["classification_b"].isna()
    if unknown.any():
        n_unknown = counted(int(unknown.sum()), "finding")
        notes.append(f"Left out, with neither votes nor a recorded class: {n_unknown}.")
    both = both[~unknown].reset_index(drop=True)
    return both.assign(changed=both["classification_a"].astype("str") != both["classification_b"].astype("str")), notes


def _refuse_other_claims(both: pd.DataFrame) -> None:
    """Raise InputError where findings paired by id are other claims, or are true in one set and false in the other."""
    named = both[both["summary"].notna() & both["summary_b"].notna() & (both["summary"] != both["summary_b"])]
    other = named.loc[named["summary"].map(claim_words).ne(named["summary_b"].map(claim_words)), "finding_id"]
    split = both.loc[(both["truth_a"] != both["truth_b"]).fillna(False).astype(bool), "finding_id"]
    fix = "pair runs over the same findings, or give other claims other ids"
    violations = ((other, "make another claim in each set"), (split, "are true in one set and false in the other"))
    problems = [
        Problem("finding_id", f"{counted(len(ids), 'finding')} of one id {what}, the first is {ids.iloc[0]!r}", fix)
        for ids, what in violations
        if len(ids)
    ]
    if problems:
        raise InputError(problems)

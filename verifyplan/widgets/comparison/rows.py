"""The findings of a comparison as rows to filter, sort and choose, with their changes and disagreement."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.conditions import ReplayedSet
from verifyplan.analysis.disagreement import COLUMNS, disagreement, with_share
from verifyplan.analysis.pairing import KEY, pair_key
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD
from verifyplan.widgets.controls import sorted_rows

CHANGED, ALL = "changed", "all"
KINDS = {
    CHANGED: "any change of class",
    "lost": "held → not held",
    "gained": "not held → held",
    "kept": "another class, held or not as before",
}
ARROW = " → "
_MAX_ID_CHARACTERS = 80
"""Characters of an id in the name of a row; equal names are numbered."""


def votes_by_set(sets: tuple[ReplayedSet, ReplayedSet]) -> list[pd.DataFrame]:
    """Return the `disagreement` of each compared set, with only the columns by which findings are paired."""
    first, second = sets
    of_first = disagreement(first.frames)[[*KEY, *COLUMNS]]
    if first is second:
        return [of_first]
    key = pair_key([each.frames.findings for each in sets])
    return [of_first, disagreement(second.frames)[[*key, *COLUMNS]]]


def _with_votes(findings: pd.DataFrame, votes: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the findings with `votes` and `disagreement`; two sets add up, without pairs between them."""
    total = pd.DataFrame(0, index=findings.index, columns=COLUMNS)
    for each in votes:
        key = [name for name in KEY if name in each]
        own = findings[key].merge(each, on=key, how="left", sort=False)[COLUMNS]
        total += own.fillna(0).astype("int64").set_axis(findings.index)
    shares = with_share(total)
    return findings.assign(votes=shares["votes"], disagreement=shares["disagreement"])


class ComparisonRows:
    """The rows of one comparison; `table` is its `.findings` with `key`, `votes` and `disagreement`."""

    def __init__(self, comparison: Comparison, votes: list[pd.DataFrame]) -> None:
        findings = comparison.findings
        truth = findings["truth"].map({True: "true", False: "false"}).astype("str")
        self.table = _with_votes(findings, votes).assign(key=_keys(findings), told_truth=truth)
        self._counts = comparison.transitions.to_numpy()
        self._conditions = comparison.conditions
        self._classes = [f"classification_{name}" for name in comparison.conditions]

    def titles(self) -> dict[str, str]:
        """Return the columns to show and their heads, without those that are constant or blank."""
        optional = {
            "run_id": ("Run", self.table["run_id"].nunique() > 1),
            "iteration": ("Iteration", bool(self.table["iteration"].any())),
            "summary": ("Claim", bool(self.table["summary"].notna().any())),
            "told_truth": ("Truth", bool(self.table["truth"].notna().any())),
        }
        shown = {name: head for name, (head, needed) in optional.items() if needed}
        classes = {column: f"Under {name}" for column, name in zip(self._classes, self._conditions, strict=True)}
        return {"finding_id": "Finding", **shown, **classes, "disagreement": "Disagreement", "votes": "Votes"}

    def options(self) -> list[tuple[str, str]]:
        """Return the kinds of change with their numbers of findings, then each pair of classes, even with none."""
        held = np.isin(CLASSIFICATIONS, list(HELD))
        moved = self._counts - np.diag(np.diag(self._counts))
        lost, gained = moved[np.ix_(held, ~held)].sum(), moved[np.ix_(~held, held)].sum()
        n = {CHANGED: moved.sum(), "lost": lost, "gained": gained, "kept": moved.sum() - lost - gained}
        kinds = [(f"{words} ({n[kind]:,})", kind) for kind, words in KINDS.items()]
        pairs = [
            (f"{a}{ARROW}{b} ({self._counts[i, j]:,})", f"{a}{ARROW}{b}")
            for i, a in enumerate(CLASSIFICATIONS)
            for j, b in enumerate(CLASSIFICATIONS)
            if i != j
        ]
        return [*kinds, *pairs, (f"every finding, changed or not ({self._counts.sum():,})", ALL)]

    def shown(self, what: str, text: str, sort: dict[str, Any]) -> pd.DataFrame:
        """Return the rows where `what` changed and an id or the claim contains `text`, sorted with missing values last.

        Case does not matter. Rows that are equal in the column stay in the order of the findings.
        """
        mask = self._changed(what)
        if text.strip():
            mask &= self._search.str.contains(text.strip().casefold(), regex=False).to_numpy(dtype=bool)
        return sorted_rows(self.table[mask], sort)

    def chosen(self, keys: list[str]) -> pd.DataFrame:
        """Return the rows with these keys, in their order; keys without a row are left out."""
        place = self._places.get_indexer(pd.Index(keys, dtype=self._places.dtype))
        return self.table.iloc[place[place >= 0]].drop(columns="told_truth")

    def _changed(self, what: str) -> Any:
        if what == ALL:
            return np.ones(len(self.table), dtype=bool)
        if ARROW in what:
            before, after = what.split(ARROW)
            is_before, is_after = self.table[self._classes[0]] == before, self.table[self._classes[1]] == after
            return (is_before & is_after).to_numpy(dtype=bool)
        held = [self.table[column].isin(HELD).to_numpy(dtype=bool) for column in self._classes]
        changed = self.table["changed"].to_numpy(dtype=bool)
        kinds = {CHANGED: changed, "lost": held[0] & ~held[1], "gained": ~held[0] & held[1]}
        return kinds[what].copy() if what in kinds else changed & (held[0] == held[1])

    @cached_property
    def _search(self) -> pd.Series[Any]:
        texts = self.table
        joined = texts["finding_id"] + "\n" + texts["run_id"] + "\n" + texts["summary"].astype("str").fillna("")
        return joined.str.casefold()

    @cached_property
    def _places(self) -> pd.Index[str]:
        return pd.Index(self.table["key"].astype("str"))


def _keys(findings: pd.DataFrame) -> pd.Series[Any]:
    """Return a distinct name for each row: the finding, and its run and iteration if needed."""
    names = findings["finding_id"].astype("str").str.slice(0, _MAX_ID_CHARACTERS)
    if findings["run_id"].nunique() > 1:
        names = names + " in " + findings["run_id"].astype("str").str.slice(0, _MAX_ID_CHARACTERS)
    if findings["iteration"].any():
        names = names + ", iteration " + findings["iteration"].astype("str")
    if names.duplicated().any():
        names = (findings.index + 1).astype("str").to_series(findings.index) + ": " + names
    return names

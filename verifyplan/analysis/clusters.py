"""Say which rows vary together: rows of one run share its workers, rows of one claim share its difficulty (rule F1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.panel_votes import PanelVotes, claim_keys

Ints = npt.NDArray[np.int64]


class Dimension(NamedTuple):
    """One way in which rows come in clusters, as a term of the variance of their sum."""

    code: Ints
    """The cluster of each row."""
    sign: int
    """1 for a dimension, and what is counted by two of them is taken off again (-1)."""
    is_claim: bool
    """Whether its clusters are claims: then rows that all agree count once a claim."""
    is_joint: bool
    """Whether its clusters are those that several dimensions have in common."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The run and the claim of each row, as codes from 0; rows of one code are not independent."""

    run: Ints
    """The run of each row."""
    claim: Ints
    """The claim of each row."""
    other_run: Ints | None = None
    """Where two sets of different runs are compared: the run of each row in the other set."""
    by: str | None = None
    """The column whose values `run` holds where these, and not runs, are taken to be independent."""

    @property
    def name(self) -> str:
        """The name of what `run` holds: `runs`, or such as `values of category`."""
        return f"values of {self.by}" if self.by else "runs"

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return int(self.run.max(initial=-1)) + 1

    @property
    def n_claims(self) -> int:
        """The number of claims."""
        return int(self.claim.max(initial=-1)) + 1

    @cached_property
    def repeated(self) -> bool:
        """Whether a claim is in more than one run."""
        run_of = np.zeros(self.n_claims, dtype=np.int64)
        run_of[self.claim] = self.run
        return bool((run_of[self.claim] != self.run).any())

    @property
    def unit(self) -> str:
        """The unit that is taken to be independent: `runs` (or `name`), `claims`, or both where claims repeat."""
        if max(self.n_runs, 0 if self.other_run is None else int(self.other_run.max(initial=-1)) + 1) < 2:
            return "claims"
        return f"{self.name} and claims" if self.repeated else self.name

    @property
    def weight(self) -> int:
        """How many rows each entry is of."""
        return 1

    def sums(self, term: Dimension, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum over the rows of each cluster of a dimension, of a value for each row."""
        return np.bincount(term.code, values)

    def take(self, rows: npt.NDArray[Any]) -> Clusters:
        """Return the clusters of some rows, by position or mask, numbered anew from 0."""
        other = None if self.other_run is None else codes(self.other_run[rows])
        return Clusters(codes(self.run[rows]), codes(self.claim[rows]), other, self.by)

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The ways in which rows come in clusters, and what these have in common (Cameron, Gelbach and Miller 2011).

        A dimension of one run, of as many clusters as rows, or equal to another says nothing and is left out.
        """
        ways: list[tuple[Ints, bool]] = []
        for code, is_claim in ((self.run, False), (self.other_run, False), (self.claim, True)):
            if code is None or not varies(np.bincount(code), is_claim=is_claim):
                continue
            equal = next((place for place, (known, _) in enumerate(ways) if _are_equal(code, known)), None)
            if equal is None:
                ways.append((code, is_claim))
            elif is_claim:  # each run is about a claim of its own
                ways[equal] = (code, True)
        terms = [Dimension(code, 1, is_claim, False) for code, is_claim in ways]
        for size in range(2, len(ways) + 1):
            for chosen in combinations(ways, size):
                joint = codes(pd.MultiIndex.from_arrays([code for code, _ in chosen]))
                terms.append(Dimension(joint, (-1) ** (size + 1), False, True))
        return tuple(terms)


def varies(sizes: npt.NDArray[Any], *, is_claim: bool) -> bool:
    """Return whether clusters of some sizes say something: there are several, or they are claims, and one is large."""
    return (is_claim or int((sizes > 0).sum()) > 1) and int(sizes.max(initial=0)) > 1


def _are_equal(first: Ints, second: Ints) -> bool:
    """Return whether two codes divide the rows in the same way."""
    pairs = len(pd.DataFrame({"first": first, "second": second}).drop_duplicates())
    return pairs == len(np.unique(first)) == len(np.unique(second))


def clusters_of_findings(findings: pd.DataFrame) -> Clusters:
    """Return the clusters of a table of findings with `run_id`, `finding_id` and `summary`.

    >>> table = pd.DataFrame({"run_id": list("aabb"), "finding_id": list("fgfg"), "summary": None})
    >>> clusters_of_findings(table).repeated
    True
    """
    return clusters_of(findings["run_id"], claim_keys(findings))


def clusters_of_units(votes: PanelVotes) -> Clusters:
    """Return the clusters of the units of a panel's votes: their runs, and the items that they are about."""
    return clusters_of(votes.units["run"], votes.units["item"])


def clusters_of(run: pd.Series[Any], claim: pd.Series[Any]) -> Clusters:
    """Return the clusters of rows from the names of their runs and claims."""
    return Clusters(codes(run), codes(claim))


def codes(names: Any) -> Ints:
    """Return names as codes from 0, in order of appearance."""
    return np.asarray(pd.factorize(names)[0], dtype=np.int64)

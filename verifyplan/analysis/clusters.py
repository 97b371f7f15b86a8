"""Say which rows vary together: rows of one run share its workers, rows of one claim share its difficulty (rule F1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.panel_votes import PanelVotes, claim_keys

Ints = npt.NDArray[np.int64]


class Clusters(NamedTuple):
    """The run and the claim of each row, as codes from 0; rows of one code are not independent."""

    run: Ints
    claim: Ints

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return int(self.run.max(initial=-1)) + 1

    @property
    def n_claims(self) -> int:
        """The number of claims."""
        return int(self.claim.max(initial=-1)) + 1

    @property
    def repeated(self) -> bool:
        """Whether a claim stands in more than one run."""
        pairs = pd.DataFrame({"run": self.run, "claim": self.claim}).drop_duplicates()
        return len(pairs) > self.n_claims

    def take(self, rows: npt.NDArray[Any]) -> Clusters:
        """Return the clusters of some rows, by position or mask, numbered anew from 0."""
        run, claim = (pd.factorize(code[rows])[0].astype(np.int64) for code in self)
        return Clusters(run, claim)


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
    return Clusters(pd.factorize(run)[0].astype(np.int64), pd.factorize(claim)[0].astype(np.int64))

"""Allow for a rare claim that few rows may lack by chance, and that would move a figure far (rule F1)."""

from __future__ import annotations

import numpy as np

from verifyplan.analysis.cluster_intervals import AnyClusters


def variance_of_one_more(moved: float, n_entries: int, clusters: AnyClusters) -> float:
    """Return the variance that one more claim would add to a figure which one row of it moves by `moved`.

    Of few claims, none may be of the rare kind that moves a figure far, such as one on which all judges err: then the
    rows show too little variance on that side, and the interval must end further out. One such claim is imagined, as
    Agresti and Coull (1998) imagine rows of either kind; it has as many rows as claims have on average.

    >>> from verifyplan.analysis.clusters import Clusters
    >>> once = Clusters(np.zeros(6, dtype=int), np.arange(6))
    >>> in_two_runs = Clusters(np.arange(6) // 3, np.arange(6) % 3)
    >>> variance_of_one_more(3, 6, once), variance_of_one_more(3, 6, in_two_runs)
    (9.0, 36.0)
    """
    claims = next((term for term in clusters.dimensions if term.is_claim), None)
    if claims is None:
        return float(moved) ** 2
    sizes = clusters.sums(claims, np.ones(n_entries))
    return float(moved * sizes.sum() / np.count_nonzero(sizes)) ** 2

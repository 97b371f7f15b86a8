"""Tests of whether two conditions differ: Stuart-Maxwell on the classes, McNemar on held or not (rule F1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import mcnemar

from verifyplan.analysis.metrics import IS_HELD

EXACT_BELOW = 25
"""With fewer discordant findings McNemar's test is exact (binomial)."""

_COLUMNS = ["test", "method", "statistic", "df", "p_value", "n"]


def symmetry_tests(transitions: npt.NDArray[Any]) -> pd.DataFrame:
    """Test the marginal homogeneity of a 4 x 4 table of class changes: `test, method, statistic, df, p_value, n`.

    Both tests take findings as independent; with few runs of many findings each the p-values are too small.
    Classes that neither condition uses are dropped; a test that is not defined (nothing moves, or one class is left)
    has NaN. Source: Stuart 1955, Maxwell 1970, McNemar 1947.

    >>> table = np.diag([5, 5, 5, 5]); table[0, 2] = 9
    >>> symmetry_tests(table).set_index("test")["p_value"].round(4).to_dict()
    {'stuart-maxwell': 0.0027, 'mcnemar': 0.0039}
    """
    table = np.asarray(transitions, dtype=np.int64)
    n = int(table.sum())
    rows = [("stuart-maxwell", *_stuart_maxwell(table), n), ("mcnemar", *_mcnemar(table), n)]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _stuart_maxwell(table: npt.NDArray[np.int64]) -> tuple[str, float, float, float]:
    moved = table - np.diag(np.diag(table))
    used = (moved.sum(axis=0) + moved.sum(axis=1)) > 0  # a class that nothing enters or leaves says nothing
    if used.sum() < 2:
        return "chi-squared", np.nan, np.nan, np.nan
    kept = table[np.ix_(used, used)]
    difference = (kept.sum(axis=1) - kept.sum(axis=0))[:-1]
    covariance = np.diag(kept.sum(axis=1) + kept.sum(axis=0)) - kept - kept.T
    covariance = covariance[:-1, :-1]  # the last class follows from the others; further dependence: pinv, rank
    rank = int(np.linalg.matrix_rank(covariance))
    statistic = float(difference @ np.linalg.pinv(covariance) @ difference)
    return "chi-squared", statistic, float(rank), float(chi2.sf(statistic, rank))


def _mcnemar(table: npt.NDArray[np.int64]) -> tuple[str, float, float, float]:
    """Test the findings that are held under one condition alone: are there as many of one kind as of the other?"""
    held = np.array([[table[np.ix_(a, b)].sum() for b in (IS_HELD, ~IS_HELD)] for a in (IS_HELD, ~IS_HELD)])
    discordant = int(held[0, 1] + held[1, 0])
    exact = discordant < EXACT_BELOW
    method = "exact binomial" if exact else "chi-squared"
    if discordant == 0:
        return method, np.nan, np.nan, np.nan
    result = mcnemar(held, exact=exact)
    if exact:  # it has neither a statistic nor degrees of freedom
        return method, np.nan, np.nan, float(result.pvalue)
    return method, float(result.statistic), 1.0, float(result.pvalue)

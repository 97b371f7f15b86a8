"""The rate by labels that were chosen by verdict: among accepted and rejected items apart, then weighted (rule F3c)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, clustered_variance
from verifyplan.analysis.rates.corrected import Correction, mean_of
from verifyplan.analysis.rates.judged_items import VERDICTS, Floats, JudgedItems
from verifyplan.errors import InputError, Problem
from verifyplan.text import counted, short_repr


class StratifiedEstimate(NamedTuple):
    """A stratified rate with its 95 % interval."""

    value: float
    low: float
    high: float
    standard_error: float


def stratified(items: JudgedItems) -> Correction:
    """Return the rate of all items: the share of each verdict times the share of true items among its labelled ones.

    Whatever decided how many accepted and how many rejected items were labelled: within each verdict labels must be a
    random sample. An even panel's ties are a verdict of their own. The standard error is that of double sampling for
    stratification (Cochran 1977, 12.2). The interval rests on four imagined labels more, 2 / m true and as many false
    in each of m verdicts (Price and Bonett 2004), and on Student's t: it has a width where no label shows an error.
    With clusters residuals are summed by run (and claim).
    """
    _check_verdicts(items)
    shares = {f"true-among-{VERDICTS[verdict]}": items.prediction == verdict for verdict in _verdicts(items)}
    among = {name: mean_of(items, items.truth, rows & items.labelled) for name, rows in shares.items()}
    return Correction(*estimate_stratified(items), among)


def _verdicts(items: JudgedItems) -> list[float]:
    return [verdict for verdict in VERDICTS if (items.prediction == verdict).any()]


def _check_verdicts(items: JudgedItems) -> None:
    """Raise InputError for predictions that are no verdicts, and for verdicts without a label."""
    others = items.prediction[~np.isin(items.prediction, list(VERDICTS))]
    if len(others):
        message = f"must be verdicts, 1 (accepted), 0 (rejected) or 1/2 (tied), got {short_repr(float(others[0]))}"
        raise InputError(Problem("predictions", message, "make them 1 and 0 as they were when items were chosen"))
    problems = []
    for verdict in _verdicts(items):
        rows = items.prediction == verdict
        if not items.labelled[rows].any():
            message = f"is known of none of {counted(int(rows.sum()), f'{VERDICTS[verdict]} item')}"
            problems.append(
                Problem("truth", message, "label a random sample of them, too: nothing else says their rate")
            )
    if problems:
        raise InputError(problems)


def estimate_stratified(items: JudgedItems) -> StratifiedEstimate:
    """Return the rate of all items, with its interval (see `stratified`)."""
    value, residuals, _ = _linearised(items, imagined=0.0)
    centre, imagined_residuals, imagined_variance = _linearised(items, imagined=2 / len(_verdicts(items)))
    everything = np.ones(len(residuals), dtype=bool)
    variance = float(np.sum(residuals**2))
    if items.clusters is not None:
        variance = clustered_variance(residuals, items.clusters)[0]
    clustered, _ = clustered_variance(imagined_residuals, items.clusters_at(everything))
    spread = max(clustered, float(np.sum(imagined_residuals**2)))  # labels of a single run would vary not at all
    _, degrees = clustered_variance(imagined_residuals[items.labelled], items.clusters_at(items.labelled))
    half = float(stdtrit(degrees, (1 + LEVEL) / 2)) * float(np.sqrt(spread + imagined_variance))
    low, high = max(0.0, min(centre - half, value)), min(1.0, max(centre + half, value))
    return StratifiedEstimate(value, low, high, float(np.sqrt(variance)))


def _linearised(items: JudgedItems, imagined: float) -> tuple[float, Floats, float]:
    """Return the rate with so many imagined true and false labels a verdict, and how much each item moves it.

    Last the variance of the imagined labels. A labelled item moves the share of true items within its verdict, and
    every item the share of its verdict.
    """
    rate, variance = 0.0, 0.0
    residuals, within = np.zeros(len(items.truth)), np.zeros(len(items.truth))
    for verdict in _verdicts(items):
        rows = items.prediction == verdict
        labelled = rows & items.labelled
        n, weight = float(labelled.sum()) + 2 * imagined, float(rows.mean())
        share = (float(items.truth[labelled].sum()) + imagined) / n
        rate += weight * share
        within[rows] = share
        residuals[labelled] = weight * (items.truth[labelled] - share) / n
        variance += imagined * (share**2 + (1 - share) ** 2) * (weight / n) ** 2
    return rate, residuals + (within - rate) / len(residuals), variance

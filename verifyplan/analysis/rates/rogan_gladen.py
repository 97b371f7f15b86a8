"""Correct a panel's rate by its sensitivity and specificity, both measured on labelled items (rule F3c)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, Interval, clustered_variance, share_interval
from verifyplan.analysis.rates.corrected import CorrectedRate, check_samples, note_few_labels, rates_table
from verifyplan.analysis.rates.judged_items import JudgedItems, judged_items
from verifyplan.errors import InputError, Problem
from verifyplan.frames.panel_votes import Which
from verifyplan.text import short_repr


class RateEstimate(NamedTuple):
    """A corrected rate with its 95 % interval."""

    value: float
    low: float
    high: float


class PanelShare(NamedTuple):
    """A share of the panel's predictions, with the number of independent items that would be as sure."""

    value: float
    effective: float
    quantile: float
    """Of the normal distribution; of Student's t where items come in clusters."""


def corrected_rate(
    predictions: Any, truth: Any = None, *, clusters: Any = None, positive: str | None = None, at: Which = "first"
) -> CorrectedRate:
    """Return the rate among the items without truth: what a panel measured, corrected by its errors on labelled items.

    By Rogan and Gladen (1978): (rate + specificity - 1) / (sensitivity + specificity - 1). Labelled items need be no
    random sample: they may be chosen by truth, half of them true, or come from elsewhere, as long as the panel errs on
    them as on the others. Where they are a random sample `ppi` is narrower.

    Args:
        predictions: what the panel says of every item, 1 or 0, as an array or column; or runs, or votes (see `ppi`).
        truth: 1 or 0 for each item, missing where it is not known; of runs and votes leave it out.
        clusters: of arrays, the run of each item, or whatever else items share; None where they are independent.
        positive: of votes with more than two labels, the label whose rate is wanted; of two the last is.
        at: of votes over rounds, which count: `first`, `last`, or a round.

    Returns:
        A `CorrectedRate`. Its interval accounts for all three shares (Lang and Reiczigel 2014), with the number of
        independent items that would be as sure where there are clusters; the rate and both ends lie between 0 and 1.
        Where sensitivity + specificity - 1 may be 0, by its 95 % interval, the panel does not tell true from false:
        the rate is NaN, and a note says so; likewise where the whole interval lies below 0 or above 1, as the panel
        then errs otherwise on the items without truth than on the labelled ones.

    Raises:
        InputError: for truth other than 0 and 1, labels on all items, or none among the true or the false ones.

    >>> says = [1, 1, 0, 1, 0, 0, 1, 0, 1, 0] * 4
    >>> found = corrected_rate(
    ...     [*says, 1, 0, 1, 1], [1, 1, 0, 1, 0, 0, 1, 0, 0, 0] * 4 + [None] * 4
    ... )
    >>> round(found.value, 3)
    0.7
    """
    items = judged_items(predictions, truth, clusters, positive, at)
    check_samples(items, "corrected_rate")
    _check_both_classes(items)
    true, false = items.truth == 1, items.truth == 0
    rate, sensitivity, specificity = panel_shares(items)
    uncut = _uncut_estimate(rate, sensitivity, specificity)
    found = _cut(uncut)
    upheld, ones = items.prediction, np.ones(len(items.truth))
    shares = {
        "sensitivity": share_interval(upheld[true], ones[true], items.clusters_at(true)),
        "specificity": share_interval(1 - upheld[false], ones[false], items.clusters_at(false)),
    }
    n_labelled = int(items.labelled.sum())
    value, low, high = found if found else (np.nan, np.nan, np.nan)
    return CorrectedRate(
        method="rogan-gladen",
        value=value,
        low=low,
        high=high,
        rates=rates_table(items, **shares, corrected=Interval(value, low, high, len(items.truth) - n_labelled)),
        n_labelled=n_labelled,
        n_unlabelled=len(items.truth) - n_labelled,
        tuning=np.nan,
        standard_error=_standard_error(rate, sensitivity, specificity) if found else np.nan,
        binary=True,
        synthetic=items.synthetic,
        notes=(*items.notes, *_notes(items, sensitivity, specificity, uncut)),
    )


def _check_both_classes(items: JudgedItems) -> None:
    known = items.truth[items.labelled]
    wrong = known[~np.isin(known, (0.0, 1.0))]
    problems = []
    if len(wrong):
        problems.append(Problem("truth", f"must be 1 or 0, got {short_repr(float(wrong[0]))}", "use ppi for means"))
    elif not items.binary:
        message = "must be between 0 and 1, as a rate's are"
        problems.append(Problem("predictions", message, "take ppi for means"))
    problems += [
        Problem("truth", f"is {name} of no labelled item, so {share} is not known", f"label items that are {name}, too")
        for code, name, share in ((1.0, "true", "sensitivity"), (0.0, "false", "specificity"))
        if not problems and code not in known
    ]
    if problems:
        raise InputError(problems)


def panel_shares(items: JudgedItems) -> tuple[PanelShare, PanelShare, PanelShare]:
    """Return the rate among the items without truth, the sensitivity, and the specificity."""
    rate, sensitivity, upheld = (_share(items, rows) for rows in (~items.labelled, items.truth == 1, items.truth == 0))
    return rate, sensitivity, upheld._replace(value=1 - upheld.value)


def _share(items: JudgedItems, rows: Any) -> PanelShare:
    """Return the share of some items that the panel upholds; clusters that all agree count as one item each."""
    said, clusters = items.prediction[rows], items.clusters_at(rows)
    n, value = len(said), float(said.mean())
    if items.clusters is None:
        return PanelShare(value, n, float(ndtri((1 + LEVEL) / 2)))
    variance, degrees = clustered_variance((said - value) / n, clusters)
    n_clusters = clusters.n_runs if clusters.n_runs > 1 else clusters.n_claims
    effective = min(n, value * (1 - value) / variance) if variance > 0 else n_clusters
    return PanelShare(value, effective, float(stdtrit(degrees, (1 + LEVEL) / 2)))


def estimate_corrected(rate: PanelShare, sensitivity: PanelShare, specificity: PanelShare) -> RateEstimate | None:
    """Return the corrected rate and its interval (Lang and Reiczigel 2014); None where it cannot be corrected."""
    return _cut(_uncut_estimate(rate, sensitivity, specificity))


def _uncut_estimate(rate: PanelShare, sensitivity: PanelShare, specificity: PanelShare) -> RateEstimate | None:
    """Return the estimate, which may lie below 0 or above 1; None where the panel may tell nothing."""
    z = max(rate.quantile, sensitivity.quantile, specificity.quantile)
    n = rate.effective + z**2
    p = (rate.value * rate.effective + z**2 / 2) / n
    (se, var_se), (sp, var_sp) = map(_one_more, (sensitivity, specificity))
    youden = se + sp - 1
    if youden <= z * np.sqrt(var_se + var_sp):
        return None
    centre = (p + sp - 1) / youden
    shift = 2 * z**2 * (centre * var_se - (1 - centre) * var_sp)
    half = z * np.sqrt(p * (1 - p) / n + centre**2 * var_se + (1 - centre) ** 2 * var_sp) / youden
    value = (rate.value + specificity.value - 1) / (sensitivity.value + specificity.value - 1)
    return RateEstimate(float(value), float(centre + shift - half), float(centre + shift + half))


def _cut(uncut: RateEstimate | None) -> RateEstimate | None:
    """Return an estimate cut to the range of a rate; None where its whole interval lies outside of it."""
    if uncut is None or uncut.high <= 0 or uncut.low >= 1:
        return None
    value, low, high = (min(max(figure, 0.0), 1.0) for figure in uncut)
    return RateEstimate(value, min(low, value), max(high, value))


def _one_more(share: PanelShare) -> tuple[float, float]:
    """Return the share with one success and one failure more, and its variance."""
    value = (share.value * share.effective + 1) / (share.effective + 2)
    return value, value * (1 - value) / (share.effective + 2)


def _says_the_opposite(sensitivity: PanelShare, specificity: PanelShare) -> bool:
    """Return whether sensitivity + specificity - 1 is below 0, by its 95 % interval."""
    (se, var_se), (sp, var_sp) = map(_one_more, (sensitivity, specificity))
    z = max(sensitivity.quantile, specificity.quantile)
    return bool(se + sp - 1 < -z * np.sqrt(var_se + var_sp))


def _standard_error(rate: PanelShare, sensitivity: PanelShare, specificity: PanelShare) -> float:
    """Return the standard error of Rogan and Gladen, from the variances of the three shares."""
    youden = sensitivity.value + specificity.value - 1
    value = (rate.value + specificity.value - 1) / youden
    p, se, sp = (share.value * (1 - share.value) / share.effective for share in (rate, sensitivity, specificity))
    return float(np.sqrt(p + value**2 * se + (1 - value) ** 2 * sp) / abs(youden))


def _notes(
    items: JudgedItems, sensitivity: PanelShare, specificity: PanelShare, uncut: RateEstimate | None
) -> list[str]:
    youden = sensitivity.value + specificity.value - 1
    n_labelled = int(items.labelled.sum())
    if _says_the_opposite(sensitivity, specificity):
        return [
            f"Sensitivity + specificity - 1 is {youden:.2f}, clearly below 0: on {n_labelled:,} labels the panel says "
            "the opposite of the truth, so its rate cannot be corrected. Are labels swapped?"
        ]
    if uncut is None:
        return [
            f"Sensitivity + specificity - 1 is {youden:.2f}, and may be 0: on {n_labelled:,} labels the panel "
            "does not tell true from false, so its rate cannot be corrected. Use ppi, which then uses the labels alone."
        ]
    computed = f"The corrected rate is computed as {100 * uncut.value:.1f} %"
    if _cut(uncut) is None:
        side = "below 0" if uncut.high <= 0 else "above 100 %"
        return [
            f"{computed} [{100 * uncut.low:.1f}, {100 * uncut.high:.1f}], all {side}, which no rate can be: the "
            "panel seems to err differently on these items than on the labelled ones, so its rate cannot be corrected "
            "by them. Label a random sample of these items, and use ppi."
        ]
    beyond = [f"{computed}, and is cut to the range from 0 to 100 %."] if not 0 <= uncut.value <= 1 else []
    return beyond + note_few_labels(items.n_distinct_labels, "98 to 100 %", "94 to 100 %")

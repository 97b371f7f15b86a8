"""Correct a panel's rate by its sensitivity and specificity, both measured on labelled items (rule F3c)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, clustered_variance
from verifyplan.analysis.rates.corrected import Correction, mean_of
from verifyplan.analysis.rates.judged_items import JudgedItems
from verifyplan.errors import InputError, Problem


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


def rogan_gladen(items: JudgedItems, *, random: bool) -> Correction:
    """Return (rate + specificity - 1) / (sensitivity + specificity - 1), after Rogan and Gladen (1978).

    The panel's rate is taken of the items without a label: a set of known true and known false items has the share of
    true ones that its makers chose. Where labels are a `random` sample the others are one, too, so that the rate is
    that of all items. The panel must err on the labelled items as on the others. The interval accounts for all three
    shares (Lang and Reiczigel 2014), with the number of independent items that would be as sure where there are
    clusters; rate and ends lie between 0 and 1. Where sensitivity + specificity - 1 may be 0, by its 95 % interval, the
    panel does not tell true from false: the rate is NaN, and a note says so; likewise where the whole interval lies
    below 0 or above 1.
    """
    _check_both_classes(items)
    rate, sensitivity, specificity = panel_shares(items)
    uncut = _uncut_estimate(rate, sensitivity, specificity)
    found = _cut(uncut)
    true, false = items.truth == 1, items.truth == 0
    shares = {
        "sensitivity": mean_of(items, items.prediction, true),
        "specificity": mean_of(items, 1 - items.prediction, false),
    }
    if random:
        shares = {"labels-alone": mean_of(items, items.truth, items.labelled), **shares}
    standard_error = _standard_error(rate, sensitivity, specificity) if found else np.nan
    value, low, high = found if found else (np.nan, np.nan, np.nan)
    n_labels = int(items.labelled.sum())
    notes = tuple(_notes(n_labels, sensitivity, specificity, uncut, random=random))
    return Correction(value, low, high, standard_error, shares, notes)


def _check_both_classes(items: JudgedItems) -> None:
    known = items.truth[items.labelled]
    problems = [
        Problem("truth", f"is {name} of no labelled item, so {share} is not known", f"label items that are {name}, too")
        for code, name, share in ((1.0, "true", "sensitivity"), (0.0, "false", "specificity"))
        if code not in known
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
    n_labels: int, sensitivity: PanelShare, specificity: PanelShare, uncut: RateEstimate | None, *, random: bool
) -> Iterator[str]:
    youden = sensitivity.value + specificity.value - 1
    if _says_the_opposite(sensitivity, specificity):
        yield (
            f"Sensitivity + specificity - 1 is {youden:.2f}, clearly below 0: on {n_labels:,} labels the panel says "
            "the opposite of the truth, so its rate cannot be corrected. Are labels swapped?"
        )
        return
    if uncut is None:
        remedy = (
            "Prediction-powered" if random else 'Label a random sample of the items: with labels="random" the default'
        )
        yield (
            f"Sensitivity + specificity - 1 is {youden:.2f}, and may be 0: on {n_labels:,} labels the panel "
            f"does not tell true from false, so its rate cannot be corrected. {remedy} then uses the labels alone."
        )
        return
    computed = f"The corrected rate is computed as {100 * uncut.value:.1f} %"
    if _cut(uncut) is None:
        side = "below 0" if uncut.high <= 0 else "above 100 %"
        remedy = "Are they a random sample?" if random else 'Label a random sample of these items: labels="random".'
        yield (
            f"{computed} [{100 * uncut.low:.1f}, {100 * uncut.high:.1f}], all {side}, which no rate can be: the "
            "panel seems to err differently on these items than on the labelled ones, so its rate cannot be corrected "
            f"by them. {remedy}"
        )
    elif not 0 <= uncut.value <= 1:
        yield f"{computed}, and is cut to the range from 0 to 100 %."

"""Correct a rate that a panel measured by items of known truth: how these were chosen decides the method (rule F3c)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.rates.corrected import CorrectedRate, Correction, mean_of, rates_table
from verifyplan.analysis.rates.judged_items import JudgedItems, judged_items
from verifyplan.analysis.rates.label_checks import check_rate, check_samples, note_few_labels, note_label_rates
from verifyplan.analysis.rates.prediction_powered import prediction_powered
from verifyplan.analysis.rates.rogan_gladen import rogan_gladen
from verifyplan.analysis.rates.stratified import stratified
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.panel_votes import Which
from verifyplan.text import short_repr

LabelDesign: TypeAlias = Literal["random", "by-truth", "by-verdict"]
RateMethod: TypeAlias = Literal["prediction-powered", "rogan-gladen", "stratified"]

DESIGNS: dict[str, str] = {
    "random": "chance alone decided which items were labelled, whatever they are and whatever the panel said",
    "by-truth": "a set of known true and known false items, so many of each as somebody chose",
    "by-verdict": "what the panel said decided, such as accepted items checked more often than rejected ones",
}
"""The designs of labels, and how to tell them apart."""

METHODS: dict[str, tuple[str, ...]] = {
    "random": ("prediction-powered", "rogan-gladen"),
    "by-truth": ("rogan-gladen",),
    "by-verdict": ("stratified",),
}
"""The methods that are valid under each design; the first is its default."""

_WHY_NOT = {
    ("random", "stratified"): 'it is for labels chosen by verdict; with labels="by-verdict" it is right here, too',
    ("by-truth", "prediction-powered"): "the share of true items among the labels was chosen, and it would count",
    ("by-truth", "stratified"): "the share of true items among the labels was chosen, and it would count",
    ("by-verdict", "prediction-powered"): "the labels are no random sample of what the panel said, and it needs one",
    ("by-verdict", "rogan-gladen"): "sensitivity and specificity cannot be read off labels chosen by verdict",
}


def corrected_rate(
    predictions: Any,
    truth: Any = None,
    *,
    labels: LabelDesign | None = None,
    method: RateMethod | None = None,
    clusters: Any = None,
    positive: str | None = None,
    at: Which = "first",
) -> CorrectedRate:
    """Return the rate of true items: what a panel measured on all, corrected by the items whose truth is known.

    How the labelled items were chosen decides the method. `labels` is therefore required: a wrong design makes a wrong
    rate, and the data alone do not show it.

    - `random`, of which chance alone decided: `prediction-powered` (PPI++, the narrowest, and for means of other
      numbers, too) or `rogan-gladen`. The rate is that of all items.
    - `by-truth`, a set of known true and known false items, also from elsewhere: `rogan-gladen`. The panel must err on
      them as on the others. The rate is that of the items without truth.
    - `by-verdict`, of which the panel's verdicts decided: `stratified`, the share accepted times the share of true
      items among the accepted, plus the same of the rejected. Within each verdict chance decides. The rate is that of
      all items. It is right for a random sample, too.

    Args:
        predictions: what the panel says of every item, 1 and 0 (prediction-powered: also shares or scores), as an array
            or column; or runs (a RunSet, a run, a path, a bundled name: whether each finding held), or votes of a panel
            (of `from_table`, or a table with `item, worker, label, truth`: the majority). A tie of an even panel is
            1/2; by verdict tied items are a third verdict, and need labels of their own.
        truth: 1 or 0 for each item, missing where it is not known; of runs and votes leave it out.
        labels: required: `random`, `by-truth` or `by-verdict`, how the items of known truth were chosen.
        method: `prediction-powered`, `rogan-gladen` or `stratified`; None for the first that the design allows.
        clusters: of arrays, the run of each item, or whatever else items share; None where they are independent.
        positive: of votes with more than two labels, the label whose rate is wanted; of two the last is.
        at: of votes over rounds, which count: `first`, `last`, or a round.

    Returns:
        A `CorrectedRate`; docs/statistics.md has how often its intervals hold the truth. Label rates that differ by
        verdict under `random` are noted (a test at 1 %).

    Raises:
        SettingsError: without `labels`, and for a method that the design does not allow.
        InputError: for lists of other lengths, fewer than two labels, labels on all items, truths other than 1 and 0
            (except prediction-powered), or a verdict or a truth without labels that the method needs.

    >>> says = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]
    >>> truth = [1, 0, 0, 1, 0, 1, *[None] * 6]
    >>> round(corrected_rate(says, truth, labels="random").value, 3)
    0.5
    >>> checked = corrected_rate(says, truth, labels="by-verdict")  # 8 of 12 accepted, 3 of 4 of them true
    >>> round(checked.value, 3), checked.population
    (0.5, 'all items')
    """
    design, chosen = _design_and_method(labels, method)
    items = judged_items(predictions, truth, clusters, positive, at)
    check_samples(items)
    correction = _correct(items, chosen, random=design == "random")
    label_rates = note_label_rates(items) if design == "random" else ()
    n, n_labelled = len(items.truth), int(items.labelled.sum())
    n_rated = n - n_labelled if design == "by-truth" else n
    rows = {
        "panel": mean_of(items, items.prediction, np.ones(n, dtype=bool)),
        **correction.shares,
        "corrected": Interval(correction.value, correction.low, correction.high, n_rated),
    }
    return CorrectedRate(
        labels=design,
        method=chosen,
        population="items without truth" if design == "by-truth" else "all items",
        value=correction.value,
        low=correction.low,
        high=correction.high,
        rates=rates_table(rows),
        n_labelled=n_labelled,
        n_unlabelled=n - n_labelled,
        tuning=correction.tuning,
        standard_error=correction.standard_error,
        binary=items.binary,
        synthetic=items.synthetic,
        notes=(*label_rates, *correction.notes, *note_few_labels(items, chosen), *items.notes),
    )


def _correct(items: JudgedItems, method: str, *, random: bool) -> Correction:
    if method == "prediction-powered":
        return prediction_powered(items)
    check_rate(items, method)
    return stratified(items) if method == "stratified" else rogan_gladen(items, random=random)


def _design_and_method(labels: object, method: object) -> tuple[str, str]:
    """Return the design of the labels, and the method for it; raises SettingsError unless they fit together."""
    if not isinstance(labels, str) or labels not in DESIGNS:
        wrong = "is missing" if labels is None else f"must be one of {one_of(DESIGNS)}, got {short_repr(labels)}"
        designs = "".join(f'\n  "{design}": {how};' for design, how in DESIGNS.items())
        fix = f"say how the items of known truth were chosen, since this decides the method:{designs[:-1]}"
        raise SettingsError(Problem("labels", wrong, fix))
    allowed = METHODS[labels]
    if method is None:
        return labels, allowed[0]
    if not isinstance(method, str) or method not in allowed:
        why = _WHY_NOT.get((labels, str(method)), "no such method is known")
        message = f'{short_repr(method)} is not valid with labels="{labels}": {why}'
        raise SettingsError(Problem("method", message, f"use {one_of(allowed)}, or leave it out"))
    return labels, method

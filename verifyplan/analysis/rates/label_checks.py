"""Check that the labels of a rate suffice, and note what its reader must know of them (rule F3c)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from verifyplan.analysis.cluster_intervals import difference_interval
from verifyplan.analysis.rates.judged_items import VERDICTS, JudgedItems
from verifyplan.errors import InputError, Problem
from verifyplan.text import counted, short_repr

MIN_LABELS = 200
"""With fewer labels than this a note says what coverage to expect."""
MIN_RUNS = 10
"""With labels from fewer runs than this a note says that their differences are uncertain."""
LABEL_RATES_LEVEL = 0.99
"""Of the interval by which label rates differ by verdict: of random samples about one in a hundred does."""

_UNLIKELY = "so uneven as in 1 of 100 random samples"

_COVERED = {  # with 20 labels, and with 50 or more: docs/statistics.md
    "prediction-powered": ("92 to 100 %", "94 to 100 %"),
    "rogan-gladen": ("98 to 100 %", "93 to 100 %"),
    "stratified": ("98 to 100 %", "95 to 100 %"),
}


def check_samples(items: JudgedItems) -> None:
    """Raise InputError unless the truth of two items or more is known, and that of others is not."""
    n_labelled = int(items.labelled.sum())
    if n_labelled < 2:
        message = f"is known of {counted(n_labelled, 'item')}, and a correction needs at least 2"
        raise InputError(Problem("truth", message, f"label more items, at best {MIN_LABELS}"))
    if n_labelled == len(items.truth):
        message = f"is known of all {n_labelled:,} items, so there is no rate to correct"
        raise InputError(
            Problem("truth", message, "add the items without truth; of these items take the mean of truth")
        )


def check_rate(items: JudgedItems, method: str) -> None:
    """Raise InputError unless truths are 1 and 0 and predictions lie between them: else it is a mean, and no rate."""
    known = items.truth[items.labelled]
    fix = f"give 1 and 0: {method} is for rates; of a random sample of labels prediction-powered takes other numbers"
    wrong = known[~np.isin(known, (0.0, 1.0))]
    if len(wrong):
        raise InputError(Problem("truth", f"must be 1 or 0, got {short_repr(float(wrong[0]))}", fix))
    beyond = items.prediction[(items.prediction < 0) | (items.prediction > 1)]
    if len(beyond):
        raise InputError(
            Problem("predictions", f"must be between 0 and 1, as a rate's are, got {short_repr(float(beyond[0]))}", fix)
        )


def note_label_rates(items: JudgedItems) -> Iterator[str]:
    """Yield a note where label rates differ by verdict, by a 99 % interval of the difference, clusters respected.

    Predictions that are no verdicts are weights: how far each is towards the highest, and towards the lowest.
    """
    labelled, prediction = items.labelled.astype(float), items.prediction
    if (span := float(np.ptp(prediction))) == 0:
        return
    high = (prediction - prediction.min()) / span
    clusters = items.clusters_at(np.ones(len(labelled), dtype=bool))
    difference = difference_interval(
        labelled * high, high, labelled * (1 - high), 1 - high, clusters, level=LABEL_RATES_LEVEL
    )
    if difference.low <= 0 <= difference.high:
        return
    if items.binary and np.isin(prediction, list(VERDICTS)).all():
        rows = [(name, prediction == verdict) for verdict, name in VERDICTS.items()]
        counts = [f"{int(labelled[of].sum()):,} of {int(of.sum()):,} {name}" for name, of in rows if of.any()]
        remedy = 'if verdicts decided what was labelled, say labels="by-verdict"'
        yield f"{' and '.join(counts)} items have a label, {_UNLIKELY}: {remedy}."
        return
    means = [f"{prediction[rows].mean():.3g}" for rows in (items.labelled, ~items.labelled)]
    remedy = "if predictions decided what was labelled, the figure is biased, and a random sample is needed"
    yield f"The mean prediction is {' among labelled items and '.join(means)} among the others, {_UNLIKELY}: {remedy}."


def note_few_labels(items: JudgedItems, method: str) -> Iterator[str]:
    """Yield a note where labels come from few runs, and one where there are few: what coverage to expect."""
    if items.clusters is not None and (n := items.clusters_at(items.labelled).n_runs) < MIN_RUNS:
        yield f"The labels come from {counted(n, 'run')}: with fewer than ten, how much runs differ is uncertain."
    if (n_labels := items.n_distinct_labels) < MIN_LABELS:
        few = n_labels < 50
        yield (
            f"There are {counted(n_labels, 'label')}: with {'20' if few else f'50 to {MIN_LABELS}'} labels such "
            f"intervals contained the true value in {_COVERED[method][not few]} of simulated samples "
            f"(docs/statistics.md). Label {MIN_LABELS} or more items for a narrow interval."
        )

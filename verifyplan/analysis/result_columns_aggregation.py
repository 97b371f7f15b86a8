"""The columns of the tables of aggregated labels and scores (rules E4, F3)."""

from __future__ import annotations

from verifyplan.analysis.result_columns_comparison import interval_ends
from verifyplan.columns import Column, Columns

_AGGREGATED_LABELS: Columns = (
    Column("run", "text", "the run; `all` where there are none", key=True),
    Column("item", "text", "the item", key=True),
    Column("label", "text", "the highest label; of tied ones the first, or none; missing where there is no vote"),
    Column("posterior", "number", "share of the votes (majority) or weights, or probability, of the highest label"),
    Column("n", "whole", "votes on the item; empty ones do not count"),
    Column("tied", "whole", "how many labels are highest: 1 where there is no tie, 0 where there is no vote"),
    Column("truth", "text", "the right label, where it is known; no method uses it"),
)
_AGGREGATED_WORKERS: Columns = (
    Column("worker", "text", "the worker", key=True),
    Column("n", "whole", "its votes; empty ones do not count"),
    Column(
        "accuracy",
        "number",
        "how often it is right if the aggregated labels are, its own vote among them: mean posterior of its votes' "
        "labels (dawid-skene, one-coin), else the share of its votes that are the highest label; truth is not used",
    ),
    Column(
        "skill",
        "number",
        "the method's own figure: a weight (wawa, zero-based-skill, m-msr), alpha (glad), the "
        "probability of not guessing (mace); missing for others",
    ),
)
_AGGREGATED_CONFUSION: Columns = (
    Column("worker", "text", "the worker", key=True),
    Column("truth", "text", "the label that is true", key=True),
    Column("label", "text", "the label that the worker gives", key=True),
    Column("probability", "number", "how probable that is by the model (rule F3); 0 for a label it never gave"),
)
_AGGREGATED_SCORES: Columns = (
    *_AGGREGATED_LABELS[:2],
    Column("value", "number", "mean or median of the scores on the item; missing where there is none"),
    Column("n", "whole", "scores on the item; empty ones do not count"),
    Column(
        "low",
        "number",
        "lower end of the mean's 95 % interval, if other workers like these had given as many scores; missing for a "
        "median, and where no two scores on an item differ",
    ),
    Column("high", "number", "upper end"),
    Column("truth", "number", "the true value, where it is known"),
)
_SCORERS: Columns = (
    *_AGGREGATED_WORKERS[:1],
    Column("n", "whole", "its scores; empty ones do not count"),
    Column("mean", "number", "their mean"),
    Column("offset", "number", "how far its scores are above the mean of the others on the same items, on average"),
)
_SCORE_MEASURES: Columns = (
    Column("measure", "text", "`mean-absolute-error`, `mean-error` (value less truth), `best-is-right`", key=True),
    Column("value", "number", "the figure; of `best-is-right` a share of groups"),
    *interval_ends(),
    Column("n", "whole", "items, or groups, that count"),
)
AGGREGATION_TABLES: dict[str, Columns] = {
    "aggregate.labels": _AGGREGATED_LABELS,
    "aggregate.workers": _AGGREGATED_WORKERS,
    "aggregate.confusion": _AGGREGATED_CONFUSION,
    "aggregate.scores": _AGGREGATED_SCORES,
    "aggregate.scorers": _SCORERS,
    "aggregate.measures": _SCORE_MEASURES,
}

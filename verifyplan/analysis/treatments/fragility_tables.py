"""The tables of `fragility`: what each change of votes does to findings and metrics (rule R4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE
from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import IS_HELD, metrics_of_classes
from verifyplan.analysis.result_columns_treatments import TREATMENT_TABLES
from verifyplan.analysis.treatments.bounds import bounds_of, figures_of, metric_bounds
from verifyplan.analysis.treatments.changed_votes import Effect
from verifyplan.rules.vote_codes import Bools, Ints

_FIGURES = ["value", "low", "high", "low_bound", "high_bound"]


class Change(NamedTuple):
    """A kind of change, over all findings."""

    kind: str
    taken_as: str
    effect: Effect
    alternatives: tuple[Ints, ...] | None
    """The classes of all findings under each way in which the votes change together; None: each finding by itself."""


def change_table(changes: list[Change], classes: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return how many findings each change concerns, and how many it changes."""
    rows = []
    for kind, taken_as, effect, _ in changes:
        changed, held = _changed(effect, classes)
        rows.append(
            {
                "kind": kind,
                "taken_as": taken_as,
                "n_votes": int(effect.n_votes.sum()),
                "n_findings": int((effect.n_votes > 0).sum()),
                "n_deciding": int(effect.n_deciding.sum()),
                "n_class_changed": int(changed.sum()),
                "n_held_changed": int(held.sum()),
                **_share("class", changed, clusters),
                **_share("held", held, clusters),
                "n": len(classes),
                "n_goes_on": int(effect.goes_on.sum()),
            }
        )
    return pd.DataFrame(rows)


def _share(name: str, part: Bools, clusters: Clusters) -> dict[str, float]:
    """Return the share of all findings with its interval, as columns."""
    share = share_interval(part, np.ones(len(part)), clusters)
    return dict(zip((f"{name}_share", f"{name}_low", f"{name}_high"), share[:3], strict=True))


def _changed(effect: Effect, classes: Ints) -> tuple[Bools, Bools]:
    """Return whether the class of each finding can change, and whether it is held."""
    worst, best = bounds_of(effect.attainable)
    return effect.attainable != 1 << classes, IS_HELD[worst] != IS_HELD[best]


def metric_table(changes: list[Change], classes: Ints, truth: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return the range of each metric under each change."""
    tables = []
    for kind, taken_as, effect, alternatives in changes:
        if alternatives is None:
            table = metric_bounds(classes, bounds_of(effect.attainable), truth, clusters).drop(columns="n_censored")
        else:
            table = _range_over(alternatives, truth, clusters)
        table.insert(0, "kind", kind)
        table.insert(1, "taken_as", taken_as)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _range_over(alternatives: tuple[Ints, ...], truth: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return the range of each metric over ways to judge all findings; the first is as recorded."""
    first, *others = (metrics_of_classes(classes, truth) for classes in alternatives)
    ends = {name: (metric, metric) for name, metric in first.items()}
    for metrics in others:
        for name, metric in metrics.items():
            low, high = ends[name]
            ends[name] = (
                metric if metric.value < low.value or np.isnan(low.value) else low,
                metric if metric.value > high.value or np.isnan(high.value) else high,
            )
    rows = [
        (name, *figures_of(ends[name][0], metric, ends[name][1], clusters), metric.n) for name, metric in first.items()
    ]
    return pd.DataFrame(rows, columns=["metric", *_FIGURES, "n"])


def finding_table(changes: list[Change], classes: Ints, findings: pd.DataFrame) -> pd.DataFrame:
    """Return the findings that each change gives another class."""
    tables = []
    for kind, taken_as, effect, _ in changes:
        changed, held = _changed(effect, classes)
        rows = np.flatnonzero(changed)
        worst, best = bounds_of(effect.attainable[rows])
        tables.append(
            findings.iloc[rows].assign(
                kind=kind,
                taken_as=taken_as,
                n_deciding=effect.n_deciding[rows],
                classification=pd.Categorical.from_codes(classes[rows], dtype=CLASS_TYPE),
                worst=pd.Categorical.from_codes(worst, dtype=CLASS_TYPE),
                best=pd.Categorical.from_codes(best, dtype=CLASS_TYPE),
                held_changes=held[rows],
                goes_on=effect.goes_on[rows],
            )
        )
    return pd.concat(tables, ignore_index=True)


def worker_table(
    without: Mapping[str, Any], voted: Mapping[str, int], classes: Ints, clusters: Clusters
) -> pd.DataFrame:
    """Return a row a worker: the findings that change `without` it, and how many it `voted` on."""
    rows = []
    for name, after in without.items():
        changed, held = after != classes, IS_HELD[after] != IS_HELD[classes]
        counts = {"n_findings": voted[name], "n_class_changed": int(changed.sum()), "n_held_changed": int(held.sum())}
        shares = _share("class", changed, clusters) | _share("held", held, clusters)
        rows.append({"worker": name, **counts, **shares, "n": len(classes)})
    return pd.DataFrame(rows, columns=[column.name for column in TREATMENT_TABLES["fragility.workers"]])

"""Say how far the intervals of a comparison can be trusted: few findings, one run, rare events (rule F1)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import difference_column
from verifyplan.protocol.vote import CLASSIFICATIONS

MIN_FINDINGS = 20
"""A metric of fewer findings than this has an interval that says little."""

MIN_TRUSTED_RUNS = 9
"""With fewer runs, little is known about how much runs differ ..."""

MIN_SURE_RUNS = 12
"""... and with fewer than these intervals do not always hold the truth in 93 to 97 %."""

MIN_EVENTS = 10
"""Of a share with fewer events than this the interval is only roughly one of 95 %."""

RARE = 0.05
"""Where claims repeat over runs, a share below this rests on few of the claims."""


def notes_on_intervals(summary: pd.DataFrame, clusters: Mapping[str, Clusters]) -> Iterator[str]:
    """Yield notes on how far the intervals can be trusted (docs/statistics.md).

    `clusters` are those of each condition, the baseline first.
    """
    names = list(clusters)
    changed = summary[summary["metric"].eq("changed")]  # no row where findings are not paired
    for name in names[1:]:
        if changed[difference_column(names, name)].eq(0).any():
            yield (
                f"No finding changes class between {names[0]} and {name}. The intervals say how large a difference may "
                "still be."
            )
    summary = summary[~summary["metric"].isin(CLASSIFICATIONS)]
    sizes = summary[[f"{name}_n" for name in clusters]].min(axis=1)
    short = summary.loc[(sizes > 0) & (sizes < MIN_FINDINGS), "metric"]
    if len(short):
        which, their = ("every figure", "the") if len(short) == (sizes > 0).sum() else (", ".join(short), "their")
        yield f"Fewer than {MIN_FINDINGS} findings are behind {which}: {their} intervals say little."
    n_runs = {name: of_condition.n_runs for name, of_condition in clusters.items()}
    by = next(iter(clusters.values())).by
    unit = clusters[names[0]].name
    alone = [name for name, n in n_runs.items() if n == 1 and not by]
    few = sorted({n for n in n_runs.values() if 1 < n < MIN_TRUSTED_RUNS})
    if alone:
        left_out = "the intervals and tests leave" if alone[0] == next(iter(clusters)) else "the intervals leave"
        where = "" if len(alone) == len(clusters) else f" of {' and '.join(alone)}"
        yield (
            f"There is only one run{where}: how much a result changes from run to run is not known, and {left_out} it "
            "out. They show what other claims would give in this run; another run may differ by more."
        )
    if few:
        yield (
            f"With {' and '.join(map(str, few))} {unit}, little is known about how much these differ, so the intervals "
            "are wide. In simulations they contain the true value in 90 to 100 % of cases; from "
            f"{MIN_SURE_RUNS} {unit} on, in about 95 %."
        )
    some = sorted({n for n in n_runs.values() if MIN_TRUSTED_RUNS <= n < MIN_SURE_RUNS})
    if some:
        yield (
            f"With {' and '.join(map(str, some))} {unit}, the intervals contain the true value in 92 to 98 % of "
            f"simulations; from {MIN_SURE_RUNS} {unit} on, in about 95 %."
        )
    repeated = any(of_condition.repeated for of_condition in clusters.values())
    rows = summary[sizes >= MIN_FINDINGS].to_dict("records")
    rare = [str(row["metric"]) for row in rows if _is_rare(row, clusters, repeated)]
    if rare:
        yield (
            f"{', '.join(rare)} {'rests' if len(rare) == 1 else 'rest'} on fewer than {MIN_EVENTS} findings of one "
            "kind (such as false ones that are held), or on few claims with such findings. Intervals of such shares "
            "contain the true value in 92 to 100 % of cases, not in 95 %."
        )


def _is_rare(row: Mapping[Hashable, Any], names: Iterable[str], repeated: bool) -> bool:
    """Return whether a share of any condition has few events, or few others; where claims repeat, a low rate."""
    if row["metric"] in ("changed", "f1"):
        return False
    rates = {name: min(row[name], 1 - row[name]) for name in names}
    few = any(rate * row[f"{name}_n"] < MIN_EVENTS - 0.5 for name, rate in rates.items())
    return few or (repeated and any(rate < RARE for rate in rates.values()))

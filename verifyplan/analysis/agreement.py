"""The agreement of workers beyond chance, with intervals by clusters: alpha, AC1 and kappas of votes (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.agreement_measures import (
    LEAST_ALPHA,
    Measured,
    alpha,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    measured,
    ordinal_alpha,
    units_needed,
)
from verifyplan.analysis.cluster_intervals import AnyClusters
from verifyplan.analysis.clusters import Clusters, clusters_of_units
from verifyplan.analysis.independence import notes_on_independence
from verifyplan.analysis.kind_counts import kind_counts
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.codes import first_rows
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import VERDICT_LABELS, PanelVotes, Which, votes_of_runs
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import VoteNumbers
from verifyplan.text import counted, is_or_are

MAX_PAIRS = 20_000
"""Pairs of workers whose kappa is computed at most: all of 200 workers; their number grows with the square."""

MAX_PATTERN = 2**62
"""The labels that workers give a unit are one number where all such numbers are below this."""

MIN_UNITS_A_KIND = 4
"""Units with the same labels are counted where there are so many of them to a kind, else taken one by one."""

AGREEMENT_COLUMNS = ["measure", "worker_a", "worker_b", "value", "low", "high", "n", "note"]
"""The columns of a table of agreement."""


class AgreementTable(pd.DataFrame):
    """A table of agreement, which prints every column; what is taken of it is an ordinary table."""

    def __repr__(self) -> str:
        """Return the table as text, no column hidden; the rows in the middle are, where there are very many."""
        return self.to_string(max_rows=pd.get_option("display.max_rows"))


def agreement(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    at: Which = "first",
    ordered: Sequence[Any] = (),
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    round: str | None = None,
    run: str | None = None,
) -> pd.DataFrame:
    """Return how far workers agree beyond chance: alpha, AC1, Fleiss' kappa, and Cohen's kappa of every pair.

    Of runs the labels are verdicts, in the order agree, supplement, disagree; of other votes whatever labels they have.
    Of more than 20,000 pairs (those of 200 workers) none is given, and the notes say so.
    Later rounds hold what was disputed, so that each worker's first vote on an item counts. Lost votes and
    discoverers' own are left out; replies that are repeated or copied are in the notes. Every measure is of the items
    with two votes or more alone, chance and interval included: a single vote agrees with nothing, and would only move
    the chance away from the items that are compared. So no value leaves [-1, 1]. A measure is NaN where all said the
    same (chance explains everything) or nothing can be compared; `documentation("agreement")` has each one's
    definition and source.

    Args:
        data: runs, votes of a panel, or a long table whose columns the other arguments name.
        at: which vote of a worker on an item counts: its first, its last, or that of one round.
        ordered: the labels from one end of a scale to the other, which adds the ordinal alpha; of runs it is known.
        item: the column of a table that says what is labelled; None takes `item`. Likewise `worker`, `label`, and,
            where there are such columns, `round` and `run`.
        worker: who gives the label.
        label: the label.
        round: the round of the vote.
        run: the run; an item in two runs is labelled twice.

    Returns:
        Columns `measure, worker_a, worker_b, value, low, high, n, note`; n counts the items of runs with two votes or
        more, and the workers are missing where the measure is of all. `note` says what a reader must know of the row;
        that of the first row also what holds for the whole table.

    Raises:
        SettingsError: where `ordered` does not name every label once.
        TableError: as `from_table`.

    >>> votes = pd.DataFrame(
    ...     {"item": list("FFGGHH"), "worker": list("ababab"), "label": list("ynyynn")}
    ... )
    >>> agreement(votes)[["measure", "value", "n"]].round(3)
                  measure  value  n
    0  krippendorff-alpha  0.444  3
    1        fleiss-kappa  0.333  3
    2            gwet-ac1  0.333  3
    3         cohen-kappa  0.400  3
    """
    columns = {"item": item, "worker": worker, "label": label, "round": round, "run": run}
    votes, scale = _votes_and_scale(data, columns, ordered)
    return _table(votes.at(at), scale)


def agreement_of_runs(runs: RunSet, numbers: VoteNumbers | None) -> pd.DataFrame:
    """Return what `agreement` does for runs; `numbers` as in `votes_of_runs`."""
    return _table(votes_of_runs(runs, numbers, verdicts=True).at("first"), range(len(VERDICT_LABELS)))


def _table(votes: PanelVotes, scale: Sequence[int]) -> pd.DataFrame:
    pairable, rows_of = _pairable_units(votes)
    matrix, clusters = _kinds_of_units(pairable, rows_of, len(votes.labels))
    lost = int((votes.label < 0).sum())
    left_out = f"{lost:,} of {counted(len(votes), 'vote')} {is_or_are(lost)} lost, and left out" if lost else ""
    dependent = notes_on_independence(votes.runs) if votes.runs is not None else ()
    rows = [*_of_all(matrix, scale or range(len(votes.labels)), bool(scale), clusters, rows_of.n_claims)]
    shared = _shared(matrix)
    n_pairs = int(np.count_nonzero(shared))
    too_many = f"Cohen's kappa is left out: the {n_pairs:,} pairs are over {MAX_PAIRS:,}; choose fewer workers"
    if n_pairs <= MAX_PAIRS:
        rows += _of_pairs(matrix, votes, clusters, shared)
    of_table = (left_out, *dependent, "" if n_pairs <= MAX_PAIRS else too_many)
    rows[0] = (*rows[0][:-1], "; ".join(filter(None, (rows[0][-1], *of_table))))
    columns_of_text = dict.fromkeys(("worker_a", "worker_b", "note"), "str")
    table = AgreementTable(pd.DataFrame(rows, columns=AGREEMENT_COLUMNS).astype(columns_of_text))
    table.attrs["synthetic"] = votes.synthetic
    return table


def _pairable_units(votes: PanelVotes) -> tuple[npt.NDArray[Any], Clusters]:
    """Return the labels of the units that have two or more, a row a unit, and the clusters of these."""
    matrix, clusters = votes.matrix(), clusters_of_units(votes)
    pairable = np.flatnonzero((matrix >= 0).sum(axis=1) >= 2)
    return (matrix, clusters) if len(pairable) == len(matrix) else (matrix[pairable], clusters.take(pairable))


def _kinds_of_units(
    matrix: npt.NDArray[Any], clusters: Clusters, n_labels: int
) -> tuple[npt.NDArray[Any], AnyClusters]:
    """Return the labels of each kind of units that workers vote on alike, and how many these are; else all units."""
    radix, n_workers = n_labels + 1, matrix.shape[1]
    if radix**n_workers >= MAX_PATTERN:
        return matrix, clusters
    pattern = np.zeros(len(matrix), dtype=np.int64)
    for labels in matrix.T:
        pattern = pattern * radix + labels + 1
    kind = pd.factorize(pattern)[0]
    first = first_rows(kind)
    if MIN_UNITS_A_KIND * len(first) > len(matrix):
        return matrix, clusters
    return matrix[first], kind_counts(kind, len(first), clusters)


def _votes_and_scale(
    data: pd.DataFrame | PanelVotes | Runs, columns: dict[str, Any], ordered: Sequence[Any]
) -> tuple[PanelVotes, Sequence[int]]:
    """Return votes, and the codes of their labels from one end of a scale to the other; none if they have no order."""
    votes = as_panel_votes(data, columns, verdicts=True)
    if votes.runs is not None and not isinstance(data, PanelVotes):
        ordered = ordered or VERDICT_LABELS
    names = [str(name) for name in ordered]
    if names and sorted(names) != sorted(votes.labels):
        fix = f"name each once, from one end of the scale to the other: {one_of(votes.labels)}"
        raise SettingsError(Problem("ordered", f"must name every label, got {one_of(names)}", fix))
    return votes, [votes.labels.index(name) for name in names]


def _of_all(
    matrix: npt.NDArray[Any], codes: Sequence[int], ordered: bool, clusters: AnyClusters, n_claims: int
) -> Iterator[tuple[Any, ...]]:
    unit, worker = np.nonzero(matrix >= 0)
    n_labels = max(codes, default=0) + 1
    cell = unit * n_labels + matrix[unit, worker]
    by_code = np.bincount(cell, minlength=len(matrix) * n_labels).reshape(-1, n_labels).astype(np.float64)
    counts = by_code.take(codes, axis=1)
    n = int(np.sum(clusters.weight * np.ones(len(matrix))))
    scale = [("krippendorff-alpha-ordinal", ordinal_alpha)] if ordered else []
    measures = [("krippendorff-alpha", alpha), *scale, ("fleiss-kappa", fleiss_kappa), ("gwet-ac1", gwet_ac1)]
    few = _few((counts.T * clusters.weight).T, n_claims)
    for name, sums_of in measures:
        figures = measured(sums_of(counts), clusters, n)
        notes = (_why(figures), few if name == "krippendorff-alpha" and np.isfinite(figures.low) else "")
        yield name, None, None, *figures, "; ".join(filter(None, notes))


def _shared(matrix: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which pairs of workers have a unit in common, of shape (workers, workers), each pair once."""
    voted = (matrix >= 0).astype(np.float64)
    return np.asarray(np.triu(voted.T @ voted, k=1) > 0)


def _of_pairs(
    matrix: npt.NDArray[Any], votes: PanelVotes, clusters: AnyClusters, shared: npt.NDArray[np.bool_]
) -> Iterator[tuple[Any, ...]]:
    """Yield Cohen's kappa of every pair that has a unit in common."""
    for a, b in np.argwhere(shared):
        both = np.flatnonzero((matrix[:, a] >= 0) & (matrix[:, b] >= 0))
        shared_clusters = clusters if len(both) == len(matrix) else clusters.take(both)
        figures = cohen_kappa(matrix[both, a], matrix[both, b], len(votes.labels), shared_clusters)
        yield "cohen-kappa", votes.workers[a], votes.workers[b], *figures, _why(figures)


def _few(counts: npt.NDArray[Any], n: int) -> str:
    """Return a note where items are fewer than it takes to judge alpha by, or nothing."""
    by_label = counts.sum(axis=0)
    rarest = float(by_label[by_label > 0].min() / by_label.sum()) if by_label.any() else 1.0
    if rarest >= 1 or n >= (needed := units_needed(rarest)):
        return ""
    return (
        f"{counted(n, 'item')} {is_or_are(n)} few: to show an alpha of {LEAST_ALPHA} takes {needed:,}, as the rarest "
        f"label has {100 * rarest:.1f} % of the votes (Krippendorff 2004)"
    )


def _why(figures: Measured) -> str:
    """Return why a measure or its interval is not defined, or nothing."""
    if not figures.n:
        return "no item has two votes"
    if np.isnan(figures.value):
        return "all votes are the same label: chance explains everything"
    if figures.value >= 1 - 1e-12:
        return "no two votes on an item differ, so there is no interval"
    if figures.n == 1:
        return "one item has two votes, so there is no interval"
    if np.isnan(figures.low):
        return "nothing varies between items (a worker who always gives one label has kappa 0), so there is no interval"
    return ""

"""The tables of a panel: its judges, their pairs, their order, and the majority of fewer of them (rule F3a)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval
from verifyplan.analysis.panels.error_correlation import ErrorCorrelation
from verifyplan.analysis.panels.majority_accuracy import majority_of_draws
from verifyplan.analysis.panels.panel_answers import Floats, PanelAnswers
from verifyplan.analysis.panels.selection import JudgeOrder, widened

MAX_DRAWN_FROM = 200
"""Votes of an item at most for the majority of fewer of them, whose time grows with their square."""
UNKNOWN = Interval(np.nan, np.nan, np.nan, 0)
ORDER_COLUMNS = (
    "position", "worker", "accuracy", "held_out", "held_out_low", "held_out_high", "held_out_n", "gain", "gain_low",
    "gain_high", "cost_share",
)  # fmt: skip
SIZE_COLUMNS = (
    "size",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "accuracy_n",
    "change",
    "change_low",
    "change_high",
)


def judges_table(answers: PanelAnswers, found: ErrorCorrelation, ties: str) -> pd.DataFrame:
    """Return a row a judge, the most accurate first; accuracy and correlation are missing where no truth is known.

    `ties` says how ties were read, for the caption of its chart; blank where there were none.
    """
    correct, voted = answers.correct.astype(np.float64), answers.voted.astype(np.float64)
    counts = answers.one_hot.sum(axis=2, dtype=np.int16)
    alike = np.take_along_axis(counts.T, np.maximum(answers.answer, 0), axis=1) - 1.0
    others = counts.sum(axis=0)[:, None] - voted
    rows = []
    for j, name in enumerate(answers.workers):
        known = share_interval(correct[:, j], voted[:, j], answers.clusters) if answers.has_truth else UNKNOWN
        agreed = share_interval(alike[:, j] * voted[:, j], others[:, j] * voted[:, j], answers.clusters)
        rows.append((name, int(voted[:, j].sum()), *known, *agreed))
    table = pd.DataFrame(rows, columns=["worker", "n_votes", *_columns("accuracy"), *_columns("agreement")])
    table.insert(6, "error_correlation", _mean_of_rows(found.pairs) if answers.has_truth else np.nan)
    table["cost"] = answers.cost if answers.costs_known else np.nan
    by = "accuracy" if answers.has_truth else "agreement"
    table.attrs["ties"] = ties
    return table.sort_values([by, "worker"], ascending=[False, True], ignore_index=True)


def pairs_table(answers: PanelAnswers, found: ErrorCorrelation) -> pd.DataFrame:
    """Return a row a pair of judges that have items in common."""
    first, second = np.triu_indices(len(answers.workers), k=1)
    names = np.array(answers.workers, dtype=object)
    table = pd.DataFrame(
        {
            "worker_a": names[first],
            "worker_b": names[second],
            "correlation": found.pairs[first, second] if answers.has_truth else np.nan,
            "agreement": agreement_matrix(answers)[first, second],
            "n": found.n_common[first, second],
        }
    )
    return table[table["n"].gt(0)].reset_index(drop=True)


def agreement_matrix(answers: PanelAnswers) -> Floats:
    """Return the share of the common items on which two judges say the same; NaN where they have none."""
    voted = answers.voted.astype(np.float32)
    alike = sum(votes.T @ votes for votes in answers.one_hot.astype(np.float32))
    common = voted.T @ voted
    return np.where(common > 0, alike / np.maximum(common, 1), np.nan)


def order_table(answers: PanelAnswers, order: JudgeOrder | None) -> pd.DataFrame:
    """Return a row a judge in the order chosen; no rows where judges cannot be ordered."""
    if order is None:
        return pd.DataFrame(columns=list(ORDER_COLUMNS))
    held_out, spread, gain_spread = order.held_out.right, order.held_out.variance, order.gains.variance
    one = np.ones(len(held_out))
    cost = (answers.cost * answers.voted.mean(axis=0))[order.order].cumsum()
    rows = []
    for k, judge in enumerate(order.order):
        now, before = held_out[:, k], held_out[:, max(k - 1, 0)]
        added = (
            widened(difference_interval(before, one, now, one, answers.clusters), gain_spread[k - 1], least=-1.0)
            if k
            else UNKNOWN
        )
        reached = widened(share_interval(now, one, answers.clusters), spread[k])
        rows.append((k + 1, answers.workers[judge], order.accuracy[k], *reached, *added[:3], cost[k] / cost[-1]))
    return pd.DataFrame(rows, columns=list(ORDER_COLUMNS))


def size_table(answers: PanelAnswers) -> pd.DataFrame:
    """Return how right the majority of k judges drawn from the panel is, for each k that half the items have.

    `change` is against the majority of all, on the same items.
    Without truth, or with more than 200 votes on an item, there are no rows.
    """
    if not answers.has_truth or answers.voted.sum(axis=1).max() > MAX_DRAWN_FROM:
        return pd.DataFrame(columns=list(SIZE_COLUMNS))
    shares, n_votes = majority_of_draws(answers)
    sizes = [k for k in range(1, shares.shape[1] + 1) if 2 * (n_votes >= k).sum() >= len(n_votes)]
    rows, whole = [], shares[np.arange(len(n_votes)), n_votes - 1]
    for k in sizes:
        there = (n_votes >= k).astype(np.float64)
        share, all_there = np.where(there, shares[:, k - 1], 0.0), np.where(there, whole, 0.0)
        change = difference_interval(all_there, there, share, there, answers.clusters)
        rows.append((k, *share_interval(share, there, answers.clusters), *change[:3]))
    return pd.DataFrame(rows, columns=list(SIZE_COLUMNS))


def _columns(name: str) -> tuple[str, ...]:
    return name, f"{name}_low", f"{name}_high", f"{name}_n"


def _mean_of_rows(pairs: Floats) -> Floats:
    known = np.isfinite(pairs)
    n = known.sum(axis=1)
    return np.where(n > 0, np.where(known, pairs, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)

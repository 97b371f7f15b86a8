"""Rank, in each draw of weights, only the plans that reach a threshold: billions of scores a few seconds (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.weights.dirichlet import Drawn, Ranks
from verifyplan.analysis.weights.score_table import Floats
from verifyplan.errors import Problem, SettingsError

MAX_SCORES_ABOVE = 50_000_000
"""So many scores at most may reach the threshold, over all plans and draws."""

_TILE = (128, 1024)
"""Draws and plans whose scores are held at once: they stay in the cache."""

Tile = npt.NDArray[np.float32]


class RanksAbove(NamedTuple):
    """Shares of draws of each kind of plan, and the ranks of the middle of those draws in which it is ranked."""

    kept_rank: Floats
    first: Floats
    above: Floats
    low: Ranks
    """0 for a kind that no draw ranks; likewise `high`."""
    high: Ranks


def ranks_above(drawn: Drawn, tail: float) -> RanksAbove:
    """Return how the kinds of plans rank among those that reach the threshold; `tail` is left out on each side.

    Raises SettingsError where more scores reach the threshold than can be ranked.
    """
    kinds, ranks, n_kinds, draws = [], [], len(drawn.count), len(drawn.weights)
    n_above = 0
    for kind, draw in _reached(drawn):
        n_above += len(kind)
        if n_above > MAX_SCORES_ABOVE:
            message = f"{drawn.attrs['threshold']:g} is reached by more than {MAX_SCORES_ABOVE:,} scores over all draws"
            fix = "give a higher threshold, fewer draws, or ranked='all'"
            raise SettingsError(Problem("threshold", message, fix))
        scores = _scores(drawn, kind, draw)
        order = np.lexsort((-scores, draw))
        kind, draw = kind[order], draw[order]
        better = np.cumsum(drawn.count[kind]) - drawn.count[kind]
        begins = np.flatnonzero(np.diff(draw, prepend=-1))
        kinds.append(kind)
        ranks.append(1 + better - np.repeat(better[begins], np.diff(begins, append=len(draw))))
    kind, rank = (np.concatenate([np.zeros(0, dtype=np.int64), *parts]) for parts in (kinds, ranks))

    def share(rows: Any) -> Floats:
        return np.bincount(kind[rows], minlength=n_kinds) / draws

    order = np.lexsort((rank, kind))
    times = np.bincount(kind, minlength=n_kinds)
    start, ranked = np.cumsum(times) - times, times > 0
    low, high = np.zeros((2, n_kinds), dtype=np.int64)
    last = times[ranked] - 1
    low[ranked] = rank[order[start[ranked] + np.floor(tail * last).astype(np.int64)]]
    high[ranked] = rank[order[start[ranked] + np.ceil((1 - tail) * last).astype(np.int64)]]
    return RanksAbove(share(rank == drawn.base_rank[kind]), share(rank == 1), share(slice(None)), low, high)


def _reached(drawn: Drawn) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield the kinds and draws whose scores reach the threshold, some draws after the others.

    Scores of single precision say which may; these are computed again.
    """
    threshold = drawn.attrs["threshold"]
    n_draws, n_kinds = len(drawn.weights), len(drawn.count)
    n_rows, n_columns = _TILE
    largest = float(np.abs(drawn.values).max(initial=0))
    slack = 4 * (drawn.values.shape[1] + 1) * float(np.finfo(np.float32).eps) * largest + 1e-9
    least = np.nextafter(np.float32(float(threshold or 0) - slack), np.float32(-np.inf))
    weights = drawn.weights.astype(np.float32)
    columns = [
        np.ascontiguousarray(drawn.values[start : start + n_columns].T.astype(np.float32))
        for start in range(0, n_kinds, n_columns)
    ]
    tiles: dict[tuple[int, int], Tile] = {}
    for top in range(0, n_draws, n_rows):
        rows = weights[top : top + n_rows]
        found = []
        for at, column in enumerate(columns):
            shape = len(rows), column.shape[1]
            tile = np.matmul(rows, column, out=tiles.setdefault(shape, np.empty(shape, dtype=np.float32)))
            may = np.flatnonzero((tile >= least).ravel())
            if len(may):
                draw, kind = np.divmod(may, shape[1])
                found.append((kind + at * n_columns, draw + top))
        if found:
            kind, draw = (np.concatenate(parts) for parts in zip(*found, strict=True))
            sure = drawn.reached(_scores(drawn, kind, draw))
            yield kind[sure], draw[sure]


def _scores(drawn: Drawn, kind: npt.NDArray[np.int64], draw: npt.NDArray[np.int64]) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", drawn.weights[draw], drawn.values[kind]))

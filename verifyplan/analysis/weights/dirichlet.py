"""Draw weights from a Dirichlet distribution around a centre, and rank plans under them (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import MAX_FLOAT, Plans, Scored, checked_inputs, whole, within
from verifyplan.analysis.weights.simplex import WeightsOfScores
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.codes import first_rows, row_numbers
from verifyplan.frames.load import Runs
from verifyplan.text import short_repr

Ranks = npt.NDArray[np.int64]

MAX_DRAWS = 1_000_000

_ROUNDING = 1e-9
"""A score that misses the threshold by less than this does so in the arithmetic of floats alone."""

_MAX_SCORES = 2_000_000  # held at once


class Block(NamedTuple):
    """Some draws: one row a draw, one column a kind of plan."""

    scores: Floats
    ranks: Ranks


@dataclass(frozen=True)
class Drawn:
    """Plans under drawn weights. Plans that no weights can tell apart are of one kind, and tie in every draw."""

    table: pd.DataFrame
    base: Scored
    """The plans at the centre."""
    kind: npt.NDArray[np.intp]
    """The kind of each plan that has every score."""
    count: npt.NDArray[np.int64]
    """The number of plans of each kind."""
    weights: Floats
    """One row a draw, one column a dimension whose weight is not 0."""
    attrs: dict[str, float | int | None]
    """The settings of the draws: draws, concentration, seed, threshold."""
    values: Floats
    """The scores of each kind, one column a dimension whose weight is not 0."""

    @property
    def base_rank(self) -> Ranks:
        """The rank of each kind at the centre."""
        ranks = np.zeros(len(self.count), dtype=np.int64)
        ranks[self.kind] = self.base.rank[self.base.known]
        return ranks

    @property
    def base_score(self) -> Floats:
        """The score of each kind at the centre."""
        scores = np.zeros(len(self.count))
        scores[self.kind] = self.base.score[self.base.known]
        return scores

    def reached(self, scores: Floats) -> npt.NDArray[np.bool_]:
        """Return which scores are at or above the threshold; none without one."""
        threshold = self.attrs["threshold"]
        return scores >= (np.inf if threshold is None else threshold - _ROUNDING)

    def blocks(self) -> Iterator[Block]:
        """Yield all draws in order, a bounded number of scores at a time."""
        size = max(1, _MAX_SCORES // max(len(self.count), 1))
        for start in range(0, len(self.weights), size):
            scores = self.weights[start : start + size] @ self.values.T
            order = np.argsort(-scores, axis=1)
            counts = self.count[order]
            ranks = np.empty(scores.shape, dtype=np.int64)
            np.put_along_axis(ranks, order, counts.cumsum(axis=1) - counts + 1, axis=1)
            yield Block(scores, ranks)


def draw(
    scores: Runs | pd.DataFrame,
    weights: WeightsOfScores,
    concentration: float,
    draws: int,
    seed: int,
    threshold: float | None = None,
    problems: Sequence[Problem] = (),
) -> Drawn:
    """Return weights drawn from a Dirichlet distribution whose mean is `weights`.

    InputError lists all problems, with those that the caller found.
    """
    problems = [
        *problems,
        *within("concentration", concentration, 0),
        *whole("draws", draws, 1, MAX_DRAWS),
        *whole("seed", seed, 0, 2**63 - 1),
    ]
    if threshold is not None and within("", threshold, -MAX_FLOAT):
        problems.append(
            Problem("threshold", f"must be a number or None, got {short_repr(threshold)}", "give a score such as 6.5")
        )
    table, exact = checked_inputs(scores, weights, problems)
    base = Plans.of(table).under(exact)
    used = [name for name, weight in exact.items() if weight]
    values = table.loc[base.known, used].to_numpy(dtype=np.float64)
    kind = row_numbers(*values.T) if values.shape[1] else np.zeros(len(values), dtype=np.int64)
    kinds, count = values[first_rows(kind)], np.bincount(kind)
    centre = np.array([float(exact[name]) for name in used])
    drawn = np.ones((int(draws), 1))
    if len(centre) > 1:
        drawn = np.random.default_rng(int(seed)).dirichlet(float(concentration) * centre, size=int(draws))
    attrs: dict[str, float | int | None] = {"draws": int(draws), "concentration": float(concentration)}
    attrs |= {"seed": int(seed), "threshold": None if threshold is None else float(threshold)}
    return Drawn(table, base, kind, count, drawn, attrs, kinds)


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
    for kind, of_draw in _reached(drawn):
        n_above += len(kind)
        if n_above > MAX_SCORES_ABOVE:
            message = f"{drawn.attrs['threshold']:g} is reached by more than {MAX_SCORES_ABOVE:,} scores over all draws"
            fix = "give a higher threshold, fewer draws, or ranked='all'"
            raise SettingsError(Problem("threshold", message, fix))
        scores = _scores(drawn, kind, of_draw)
        order = np.lexsort((-scores, of_draw))
        kind, of_draw = kind[order], of_draw[order]
        better = np.cumsum(drawn.count[kind]) - drawn.count[kind]
        begins = np.flatnonzero(np.diff(of_draw, prepend=-1))
        kinds.append(kind)
        ranks.append(1 + better - np.repeat(better[begins], np.diff(begins, append=len(of_draw))))
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
                of_draw, kind = np.divmod(may, shape[1])
                found.append((kind + at * n_columns, of_draw + top))
        if found:
            kind, of_draw = (np.concatenate(parts) for parts in zip(*found, strict=True))
            sure = drawn.reached(_scores(drawn, kind, of_draw))
            yield kind[sure], of_draw[sure]


def _scores(drawn: Drawn, kind: npt.NDArray[np.int64], of_draw: npt.NDArray[np.int64]) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", drawn.weights[of_draw], drawn.values[kind]))

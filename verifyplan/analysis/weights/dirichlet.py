"""Draw weights from a Dirichlet distribution around a centre, and rank plans under them (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import MAX_FLOAT, Plans, Scored, checked_inputs, whole, within
from verifyplan.analysis.weights.simplex import Weights
from verifyplan.errors import Problem
from verifyplan.frames.load import Runs
from verifyplan.frames.text_codes import first_rows, numbered_rows
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
    weights: Weights | None,
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
        problems.append(Problem("threshold", f"{short_repr(threshold)} is no score", "give a number, or None"))
    table, exact = checked_inputs(scores, weights, problems)
    base = Plans.of(table).under(exact)
    used = [name for name, weight in exact.items() if weight]
    values = table.loc[base.known, used].to_numpy(dtype=np.float64)
    kind = numbered_rows(list(values.T)) if values.shape[1] else np.zeros(len(values), dtype=np.int64)
    kinds, count = values[first_rows(kind)], np.bincount(kind)
    centre = np.array([float(exact[name]) for name in used])
    drawn = np.ones((int(draws), 1))
    if len(centre) > 1:
        drawn = np.random.default_rng(int(seed)).dirichlet(float(concentration) * centre, size=int(draws))
    attrs: dict[str, float | int | None] = {"draws": int(draws), "concentration": float(concentration)}
    attrs |= {"seed": int(seed), "threshold": None if threshold is None else float(threshold)}
    return Drawn(table, base, kind, count, drawn, attrs, kinds)

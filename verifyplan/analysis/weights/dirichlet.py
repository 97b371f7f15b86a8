"""Weights drawn around a centre, and how they rank plans (rule F4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import MAX_FLOAT, Plans, Scored, checked_inputs, whole, within
from verifyplan.analysis.weights.simplex import Exact, Weights
from verifyplan.errors import Problem
from verifyplan.frames.runset import RunSet
from verifyplan.text import short_repr

Ranks = npt.NDArray[np.int64]

MAX_DRAWS = 1_000_000

_BLOCK = 2_000_000  # scores held at once


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
    """How many plans there are of each kind."""
    weights: Floats
    """One row a draw, one column a dimension whose weight is not 0."""
    _values: Floats

    @property
    def base_rank(self) -> Ranks:
        """The rank of each kind at the centre."""
        found = np.zeros(len(self.count), dtype=np.int64)
        found[self.kind] = self.base.rank[self.base.known]
        return found

    @property
    def base_score(self) -> Floats:
        """The score of each kind at the centre."""
        found = np.zeros(len(self.count))
        found[self.kind] = self.base.score[self.base.known]
        return found

    def blocks(self) -> Iterator[Block]:
        """All draws in order, a bounded number of scores at a time."""
        size = max(1, _BLOCK // max(len(self.count), 1))
        for start in range(0, len(self.weights), size):
            scores = self.weights[start : start + size] @ self._values.T
            order = np.argsort(-scores, axis=1)
            counts = self.count[order]
            ranks = np.empty(scores.shape, dtype=np.int64)
            np.put_along_axis(ranks, order, counts.cumsum(axis=1) - counts + 1, axis=1)
            yield Block(scores, ranks)


def draw(
    scores: RunSet | pd.DataFrame,
    weights: Weights | None,
    concentration: float,
    draws: int,
    seed: int,
    threshold: float | None = None,
) -> Drawn:
    """Weights drawn from a Dirichlet distribution whose mean is `weights`; InputError with all problems."""
    problems = [
        *within("concentration", concentration, 0),
        *whole("draws", draws, 1, MAX_DRAWS),
        *whole("seed", seed, 0, 2**63 - 1),
        *(_threshold(threshold) if threshold is not None else ()),
    ]
    table, exact = checked_inputs(scores, weights, problems)
    base = Plans.of(table).under(exact)
    counted = [name for name, weight in exact.items() if weight]
    values = table.loc[base.known, counted].to_numpy(dtype=np.float64)
    kinds, kind, count = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return Drawn(table, base, kind, count, _drawn(exact, float(concentration), int(draws), int(seed)), kinds)


def _threshold(value: object) -> list[Problem]:
    return (
        [Problem("threshold", f"{short_repr(value)} is no score", "give a number, or None")]
        if within("", value, -MAX_FLOAT)
        else []
    )


def _drawn(exact: Exact, concentration: float, draws: int, seed: int) -> Floats:
    centre = np.array([float(weight) for weight in exact.values() if weight])
    if len(centre) == 1:
        return np.ones((draws, 1))
    return np.random.default_rng(seed).dirichlet(concentration * centre, size=draws)

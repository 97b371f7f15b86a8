"""Find workers without whom a panel would decide the same, or who err as another worker does (rule F3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from verifyplan.analysis.cluster_intervals import LEVEL
from verifyplan.analysis.panels.error_correlation import error_correlation
from verifyplan.analysis.panels.leave_one_out import LeaveOneOut
from verifyplan.analysis.panels.panel_answers import panel_answers
from verifyplan.analysis.panels.standing_apart import MIN_UNITS
from verifyplan.analysis.panels.worker_table import Figures

MAX_CHANGE = 0.05
"""A worker may be redundant if its interval of changed decisions ends below this."""

MAX_LOSS = 0.01
"""With truth, its interval of what it adds to the majority's accuracy must end below this, too."""

MIN_CORRELATION = 0.8
"""A worker errs as another does if the interval of their errors' correlation begins above this."""

MIN_COMMON, MIN_ERRORS = 50, 10
"""A worker with fewer items in common with another, or with fewer errors, is not said to err as the other does."""

MAX_CELLS = 20_000_000
"""Panels of more items times workers than this are not searched for workers who err alike."""


def closest_figures(votes: LeaveOneOut) -> Figures:
    """Return for each worker whose errors are most like its own, the correlation of errors, and its n.

    Errors are correlated within classes of truth (`error_correlation`). Nothing without truth, and of panels with more
    than 20 million pairs of an item and a worker.
    """
    cast, n = votes.votes, len(votes.votes.workers)
    voters = len(np.unique(cast.worker[votes.truth >= 0]))
    if voters < 2 or len(cast.units) * n > MAX_CELLS:
        return {}
    answers = panel_answers(cast, "all")[0]
    found = error_correlation(answers, "within-truth")
    place = np.array([cast.workers.index(name) for name in answers.workers])
    pairs = np.where(np.isfinite(found.pairs), found.pairs, -np.inf)
    other = pairs.argmax(axis=1)
    every = np.arange(len(place))
    known = np.isfinite(pairs[every, other])
    figures: Figures = {
        "closest": np.full(n, None, dtype=object),
        "closest_correlation": np.full(n, np.nan),
        "closest_n": np.zeros(n, dtype=np.int64),
    }
    figures["closest"][place[known]] = np.array(answers.workers, dtype=object)[other[known]]
    figures["closest_correlation"][place[known]] = pairs[every, other][known]
    figures["closest_n"][place[known]] = found.n_common[every, other][known]
    return figures


def redundant(figures: Figures, votes: LeaveOneOut) -> npt.NDArray[np.bool_]:
    """Return which workers are redundant, one left out at a time.

    Without the worker, at 95 %, fewer than 5 % of 20 decisions or more change, and with truth the majority loses less
    than 1 point of accuracy; or it adds no accuracy that its interval shows, and its errors, 10 or more, correlate
    with those of another worker above 0.8, as Fisher's interval on 50 items or more has it.
    """
    has = {name: np.asarray(values) for name, values in figures.items() if name != "closest"}
    unmoved = (has["influence_high"] < MAX_CHANGE) & (has["influence_n"] >= MIN_UNITS)
    if "adds" not in has:
        return np.asarray(unmoved)
    unmoved &= has["adds_high"] < MAX_LOSS
    return np.asarray(unmoved | (errs_alike(has, votes) & ~(has["adds_low"] > 0)))


def errs_alike(figures: dict[str, Any], votes: LeaveOneOut) -> npt.NDArray[np.bool_]:
    """Return which workers err as their closest one does."""
    cast = votes.votes
    errors = np.bincount(cast.worker[votes.right == 0], minlength=len(cast.workers))
    if "closest_correlation" not in figures:
        return np.zeros(len(cast.workers), dtype=bool)
    r, n = np.nan_to_num(figures["closest_correlation"]), figures["closest_n"]
    with np.errstate(divide="ignore"):
        low = np.tanh(np.arctanh(r) - ndtri((1 + LEVEL) / 2) / np.sqrt(np.maximum(n - 3, 1)))
    return np.asarray((low > MIN_CORRELATION) & (n >= MIN_COMMON) & (errors >= MIN_ERRORS))

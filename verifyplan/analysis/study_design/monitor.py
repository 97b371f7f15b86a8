"""Look at a difference after every run: a confidence sequence that is valid at every look (rule F7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, Interval
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.analysis.study_design.run_differences import Floats, run_differences
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs
from verifyplan.text import counted

GRID_POINTS = 2_001
"""The differences that are tested at every look, from -1 to 1: the ends are exact to 0.001, outward."""
_MAX_BET = 0.75  # of the capital: the constant c of Waudby-Smith and Ramdas; 0.5 is wider at few runs
_MAX_CELLS = 2_000_000  # runs times grid points held at once


@with_field_docs
@dataclass(frozen=True, eq=False)
class Monitor:
    """A difference after every run, with an interval that is valid however often one looks."""

    metric: str
    """The metric whose difference is watched; `difference` where differences were given."""
    conditions: tuple[str, ...]
    """The conditions: the second minus the first; none where differences were given."""
    looks: pd.DataFrame
    """`look, run_id, difference, n, mean, low, high, excludes_zero`: a row a run, in order."""
    first_exclusion: int | None
    """The first look whose interval excludes 0; None where none does."""
    fixed: Interval
    """The t interval after the last run, valid only if that number of runs was fixed beforehand; of one run its ends
    are NaN."""
    level: float
    """How surely all intervals together hold the difference."""
    synthetic: bool
    """Whether the runs were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: how the order was taken, runs that drift."""

    def __str__(self) -> str:
        """Return the last interval, the first look that excludes 0, and what a fixed number of runs would give."""
        last = self.looks.iloc[-1]
        of = " minus ".join(reversed(self.conditions))
        made = " (synthetic)" if self.synthetic else ""
        when = "none of the looks excludes 0"
        if self.first_exclusion is not None:
            run = self.looks["run_id"].iloc[self.first_exclusion - 1]
            when = f"0 is excluded from look {self.first_exclusion} on (run {run}), so the difference was shown then"
        lines = [
            f"{self.metric}{f', {of}' if of else ''}, after {counted(len(self.looks), 'run')}{made}: "
            f"{100 * last['mean']:+.1f} points [{100 * last['low']:+.1f}, {100 * last['high']:+.1f}], valid at every "
            "look",
            when,
            "with one run there is no interval for a number of runs fixed beforehand"
            if self.fixed.n < 2
            else f"for a number of runs fixed beforehand: [{100 * self.fixed.low:+.1f}, {100 * self.fixed.high:+.1f}]",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not the table

    def _repr_html_(self) -> str:
        """Return the last ten looks for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.looks.tail(10))


def monitor(
    data: Comparison | Runs | Mapping[str, Runs] | Sequence[float] | pd.Series[Any] | Floats,
    *,
    metric: str = "held",
    level: float = LEVEL,
) -> Monitor:
    """Return the mean difference after each run, with an interval that stays valid however often one looks.

    Who tests after every run and stops at the first p-value below 5 % is wrong in a third of all cases within 100
    runs. These intervals hold the mean difference of runs at all looks together with 95 %: stop whenever 0 is out.
    They are wider than one for a fixed number of runs, the more so the fewer runs there are.

    By hedged betting on the differences of runs (Waudby-Smith and Ramdas 2024), each run counted the same, whatever
    its findings; an interval never gets wider than one before it.

    `compare` has another interval of the same difference. Report that one if the number of runs was fixed before the
    first of them; report the last one of these if you looked on the way, or might have stopped because of what you saw.

    Args:
        data: a comparison of two conditions, or what `compare` takes first, its runs in their order; or the
            differences themselves, one a run, between -1 and 1.
        metric: of runs, `held`, `accuracy`, a class, `recall`, `false-consensus-rate` or `false-demotion-rate`.
        level: of all intervals together.

    Raises:
        InputError: for differences that are missing or not between -1 and 1; as `power`.
        SettingsError: for a level that is not between 0 and 1; as `power`.

    >>> watched = monitor([0.2, 0.1, 0.3, 0.2] * 10)
    >>> watched.first_exclusion, watched.looks.loc[39, ["low", "high"]].round(2).tolist()
    (27, [0.06, 0.29])
    """
    if not 0 < level < 1:
        raise SettingsError(Problem("level", f"must lie between 0 and 1, got {level!r}", "give 0.95"))
    conditions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    synthetic = False
    if isinstance(data, Sequence | pd.Series | np.ndarray) and not isinstance(data, str):
        means = _given(data)
        ids = list(map(str, data.index)) if isinstance(data, pd.Series) else [str(n + 1) for n in range(len(means))]
        sizes, metric = np.full(len(means), np.nan), "difference"
    else:
        differences = run_differences(data, metric)
        means, sizes, ids = differences.means, differences.sizes, list(differences.run_ids)
        conditions, synthetic, notes = differences.conditions, differences.synthetic, differences.notes
    low, high = confidence_sequence(means, level)
    number = np.arange(1, len(means) + 1)
    looks = pd.DataFrame({"look": number, "run_id": ids, "difference": means, "n": sizes})
    looks = looks.assign(mean=np.cumsum(means) / number, low=low, high=high, excludes_zero=(low > 0) | (high < 0))
    looks["n"] = looks["n"].astype("Int64")
    excluded = looks["excludes_zero"].to_numpy()
    return Monitor(
        metric=metric,
        conditions=conditions,
        looks=looks,
        first_exclusion=int(excluded.argmax()) + 1 if excluded.any() else None,
        fixed=_fixed(means, level),
        level=level,
        synthetic=synthetic,
        notes=(*notes, *_notes(looks, given=not conditions)),
    )


def _given(values: Any) -> Floats:
    numbers = pd.to_numeric(pd.Series(values, dtype="object"), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.abs(numbers) <= 1))
    if not len(numbers):
        raise InputError(Problem("differences", "must not be empty", "give one difference for each run"))
    if len(wrong):
        at = int(wrong[0])
        message = f"must be numbers between -1 and 1, got {list(values)[at]!r} at run {at + 1}"
        raise InputError(Problem("differences", message, "give the difference of two shares for each run"))
    return numbers


def confidence_sequence(differences: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the low and the high end after each difference; all together hold the mean with `level`.

    Every candidate mean is bet against, above and below, with stakes set by the differences before; it is out from
    the first look at which half of either capital exceeds 1 / (1 - level).
    """
    outcome = (np.asarray(differences, dtype=np.float64) + 1) / 2
    stake = _stakes(outcome, 1 - level)
    grid = np.linspace(0, 1, GRID_POINTS)
    blocks = np.array_split(grid, -(-GRID_POINTS * len(outcome) // _MAX_CELLS))
    inside = np.concatenate([_inside(outcome, stake, block, 1 - level) for block in blocks], axis=1)
    inside = np.logical_and.accumulate(inside, axis=0)
    step, some = grid[1], inside.any(axis=1)
    low = np.where(some, grid[inside.argmax(axis=1)] - step, np.nan)
    high = np.where(some, grid[GRID_POINTS - 1 - inside[:, ::-1].argmax(axis=1)] + step, np.nan)
    ends = pd.DataFrame({"low": low, "high": high}).ffill().clip(0, 1).to_numpy().T * 2 - 1
    return ends[0], ends[1]


def _stakes(outcome: Floats, alpha: float) -> Floats:
    """Return the share of the capital that is bet at each look, from the looks before it alone."""
    number = np.arange(1, len(outcome) + 1)
    mean = (0.5 + np.cumsum(outcome)) / (number + 1)
    variance = (0.25 + np.cumsum((outcome - mean) ** 2)) / (number + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    return np.asarray(np.sqrt(2 * np.log(2 / alpha) / (before * number * np.log(number + 1))))


def _inside(outcome: Floats, stake: Floats, candidates: Floats, alpha: float) -> np.ndarray:
    """Return for each look (down) and candidate mean (across) whether neither capital has grown too large."""
    surplus = outcome[:, None] - candidates
    with np.errstate(divide="ignore"):
        above = np.minimum(stake[:, None], _MAX_BET / candidates)
        below = np.minimum(stake[:, None], _MAX_BET / (1 - candidates))
    capital = np.maximum(np.cumsum(np.log1p(above * surplus), axis=0), np.cumsum(np.log1p(-below * surplus), axis=0))
    return np.asarray(capital < np.log(2 / alpha))


def _fixed(means: Floats, level: float) -> Interval:
    n, value = len(means), float(means.mean())
    if n < 2:
        return Interval(value, np.nan, np.nan, n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(means.std(ddof=1)) / np.sqrt(n)
    return Interval(value, value - half, value + half, n)


def _notes(looks: pd.DataFrame, *, given: bool) -> Iterator[str]:
    if len(looks) == 1:
        yield "A monitor needs several runs: it uses how much runs differ, which one run cannot show."
    if not given:
        yield "Runs are taken in the order of their table, each counted the same whatever its findings."
    if len(looks) > 1 and looks["difference"].nunique() == 1:
        yield (
            f"All {counted(len(looks), 'run')} have the same difference, so the interval for a number of runs fixed "
            "beforehand has zero width and is too narrow: use the one that is valid at every look."
        )
    outside = (looks["mean"] < looks["low"]) | (looks["mean"] > looks["high"])
    if outside.any():
        yield (
            f"From look {int(looks.loc[outside, 'look'].iloc[0])} on, the mean is outside the earlier intervals: "
            "the difference seems to drift from run to run, and then no interval is valid."
        )

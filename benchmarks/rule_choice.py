"""What `search_rules(...).recommend()` recommends of simulated judges: how often it errs, and how often it decides.

Run it with `make bench-statistics`; the tables are in docs/statistics.md ("Choosing rules"). Judges are right on a
finding where a latent normal, part of which they share, is below the quantile of their accuracy. Rules are subsets of
judges by majority, a tie against the claim; the rules of the recorded runs are all judges. Half of the claims are true.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from verifyplan.analysis.treatments.cross_fit import cross_fit
from verifyplan.analysis.treatments.recommend import MAX_LOSS, RuleTable, recommend
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.protocol.voting_rules import VotingRules

TRIALS, SEED, PILOT = 200, 0, 100
SIZES, LARGE = (20, 40, 100, 300), (300, 1000, 3000)
TRUTH_DRAWS = 400_000
"""Draws of a finding by which the true accuracy of each rule is known to a tenth of a point."""
RUN_CORRELATION = 0.1
HELD, NOT_HELD = 0, 2
N_CLASSES, N_TRUTHS = 4, 3

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SimulatedOutcomes:
    """The classes that simulated rules give, with what a cross-fitting reads of `RuleOutcomes`."""

    table: npt.NDArray[np.uint8]
    """The class of each finding under each rule, of shape (rules, findings)."""
    truth: npt.NDArray[np.int64]
    findings: pd.DataFrame

    def classes(self, k: int) -> npt.NDArray[np.uint8]:
        """Return the class of each finding under the k-th rules."""
        return np.asarray(self.table[k])

    def counts(self, groups: npt.NDArray[np.int64], n_groups: int) -> npt.NDArray[np.int64]:
        """Return findings counted by rules, group, truth and class."""
        cell = (groups * N_TRUTHS + self.truth) * N_CLASSES
        shape = (n_groups, N_TRUTHS, N_CLASSES)
        each = [np.bincount(cell + row, minlength=int(np.prod(shape))).reshape(shape) for row in self.table]
        return np.array(each)


@dataclass(frozen=True)
class Judges:
    """Judges of some accuracies whose errors are correlated, and the subsets of them that rules ask."""

    name: str
    accuracies: tuple[float, ...]
    correlation: float = 0.0
    """The share of the latent normal that all judges have in common."""
    subsets: tuple[tuple[int, ...], ...] = ()
    """The last are the rules of the recorded runs."""
    stopping: int = 0
    """So many rules, from the first on, ask their judges one after another until the majority is certain."""
    runs: int = 1
    """Findings come in so many runs, each of which is easier or harder for a judge: a tenth of the latent normal."""

    def draw(self, n: int, seed: Sequence[int]) -> tuple[Array, Array, Array]:
        """Return the truth of n findings, and under each rule whether each is held, and its cost."""
        random = np.random.default_rng(seed)
        of_run = RUN_CORRELATION if self.runs > 1 else 0.0
        latent = np.sqrt(self.correlation) * random.standard_normal(n)
        latent = latent + np.sqrt(1 - self.correlation - of_run) * random.standard_normal((len(self.accuracies), n))
        if of_run:
            n_runs = self.runs if n < TRUTH_DRAWS else n  # the truth is over all runs there may be
            latent += np.sqrt(of_run) * random.standard_normal((len(self.accuracies), n_runs))[:, _runs(n, n_runs)]
        right = latent < norm.ppf(self.accuracies)[:, None]
        truth = random.random(n) < 0.5
        agrees = right == truth
        votes = [np.asarray(agrees[list(subset)]) for subset in self.subsets]
        held = np.array([2 * each.sum(axis=0) > len(each) for each in votes])
        return truth, held, np.array([self._cost(each, k < self.stopping) for k, each in enumerate(votes)])

    def _cost(self, votes: Array, stops: bool) -> Array:
        """Return how many of the judges of a subset are asked about each finding."""
        if not stops:
            return np.full(votes.shape[1], float(len(votes)))
        agrees, asked = votes.cumsum(axis=0), np.arange(1, len(votes) + 1)[:, None]
        certain = (2 * agrees > len(votes)) | (2 * (asked - agrees) >= len(votes))
        return np.asarray(certain.argmax(axis=0) + 1.0)

    @cached_property
    def true(self) -> tuple[Array, Array]:
        """The true accuracy and the true cost of each rule."""
        truth, held, cost = self.draw(TRUTH_DRAWS, [SEED, 1])
        return (held == truth).mean(axis=1), cost.mean(axis=1)


def _runs(n: int, n_runs: int) -> Array:
    """Return the run of each of n findings."""
    return np.arange(n) * n_runs // n


def all_subsets(n_judges: int) -> tuple[tuple[int, ...], ...]:
    """Return every subset of judges, from small to large."""
    sizes = range(1, n_judges + 1)
    return tuple(subset for size in sizes for subset in combinations(range(n_judges), size))


FIVE, ALONE = all_subsets(5), tuple((k,) for k in (1, 2, 3, 0, 4))
DESIGNS = (
    Judges("five equal, independent", (0.75,) * 5, 0.0, FIVE),
    Judges("the same, and all may stop when it is certain", (0.75,) * 5, 0.0, (*FIVE, FIVE[-1]), len(FIVE)),
    Judges("five equal, independent, 12 runs", (0.75,) * 5, 0.0, FIVE, runs=12),
    Judges("five equal, correlation .95", (0.75,) * 5, 0.95, FIVE),
    Judges("one of .88, each judge alone", (0.88, *(0.75,) * 4), 0.0, ALONE),
    Judges("one of .88, correlation .95", (0.88, *(0.75,) * 4), 0.95, FIVE),
    Judges("one of .88, correlation .5", (0.88, *(0.75,) * 4), 0.5, FIVE),
    Judges("one of .88, independent", (0.88, *(0.75,) * 4), 0.0, FIVE),
    Judges("recorded .65, others .8 and .85, alone", (0.65, 0.8, 0.85), 0.5, ((1,), (2, 2), (0,))),
    Judges("16 cheap rules 3.2 points below", (*(0.818,) * 16, 0.85), 0.5, (*((k,) for k in range(16)), (16, 16, 16))),
)
EQUAL = (
    Judges("five equal, correlation .95", (0.75,) * 5, 0.95, FIVE),
    Judges("two equal, .9", (0.8, 0.8), 0.9, ((0,), (1, 1, 1))),
    Judges("20 equal, .9, each dearer", (0.8,) * 20, 0.9, tuple((k,) * (2 * k + 1) for k in range(20))),
    Judges("five independent, stopping when it is certain", (0.75,) * 5, 0.0, (FIVE[-1], FIVE[-1]), 1),
)
"""A cheaper rule is truly as good as the best one, or within half a point."""


def choice(judges: Judges, n: int, seed: Sequence[int], max_loss: float = MAX_LOSS) -> Recommendation:
    """Return what is recommended on n findings; `rules.max_rounds` is the position of the rule, from 1."""
    truth, held, cost = judges.draw(n, seed)
    claim = np.arange(n).astype(str)
    run = _runs(n, judges.runs).astype(str)
    findings = pd.DataFrame({"run_id": run, "finding_id": claim, "summary": claim, "truth": truth})
    classes = np.where(held, HELD, NOT_HELD).astype(np.uint8)
    outcomes: Any = SimulatedOutcomes(classes, truth.astype(np.int64), findings)
    value = (held == truth).mean(axis=1)
    table = pd.DataFrame({"value": value, "low_bound": value, "high_bound": value, "votes": cost.sum(axis=1)})
    table = table.assign(n=n, censored=0, is_recorded=np.arange(len(value)) == len(value) - 1)
    rules = tuple(VotingRules(max_rounds=k + 1) for k in range(len(value)))
    searched = RuleTable(table, rules, "accuracy", "votes", None, lambda k: cost[k])
    return recommend(cross_fit(outcomes, "accuracy", int(seed[-1])), searched, None, max_loss)


def trials(judges: Judges, n: int, n_trials: int) -> pd.DataFrame:
    """Return a row a trial: what was recommended, what it truly loses, and which figures hold the truth."""
    return pd.DataFrame([_trial(judges, choice(judges, n, [SEED, n, trial])) for trial in range(n_trials)])


def _trial(judges: Judges, made: Recommendation) -> dict[str, Any]:
    quality, cost = judges.true
    position = _position(made.rules)
    row: dict[str, Any] = {
        "decided": made.decided,
        "judges": len(set(judges.subsets[position])),
        "loss": max(quality) - quality[position] if made.decided else 0.0,
        "needed": made.n_needed,
    }
    figures = made.figures.set_index("rule")
    for name, rules in (("cheapest", made.cheapest), ("best", made.best), ("recorded", made.recorded)):
        k = _position(rules)
        truths = {"": quality[k], "loss": max(quality) - quality[k], "gain": quality[k] - quality[-1], "cost": cost[k]}
        for of, true in truths.items():
            low, high = (float(figures[f"{of}_{end}".strip("_")][name]) for end in ("low", "high"))
            row[f"{name}-{of}"] = low - 1e-3 <= true <= high + 1e-3  # true values are known to a tenth of a point
    return row


def _position(rules: VotingRules) -> int:
    return int(rules.max_rounds or 0) - 1


def covered(made: pd.DataFrame, of: str) -> str:
    """Return in how many percent a figure holds the truth: the least of the cheapest, best and recorded rules."""
    return f"{100 * min(made[f'{name}-{of}'].mean() for name in ('cheapest', 'best', 'recorded')):.1f}"


def row_of(judges: Judges, n: int, made: pd.DataFrame) -> str:
    """Return the row of a table for the trials of a design."""
    decided = made.loc[made["decided"], "judges"]
    size = int(decided.mode().iloc[0]) if len(decided) else 0
    commonest = f"{'one judge' if size == 1 else f'{size} judges'}, {100 * decided.eq(size).sum() / len(made):.0f}"
    cells = [judges.name, n, f"{100 * made['decided'].mean():.1f}", commonest if size else "-"]
    cells += [
        f"{100 * (made['loss'] > MAX_LOSS).mean():.1f}",
        *(covered(made, of) for of in ("", "loss", "gain", "cost")),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main(n_trials: int = TRIALS) -> None:
    print(
        f"max_loss {MAX_LOSS}, {n_trials} trials a row; quality, loss, gain, cost: intervals that hold the truth, %\n"
    )
    print("| judges | findings | decided, % | commonest, % | loses more, % | quality | loss | gain | cost |")
    print("|---|--:|--:|---|--:|--:|--:|--:|--:|")
    for judges in DESIGNS:
        for n in LARGE if judges is DESIGNS[-1] else SIZES:
            print(row_of(judges, n, trials(judges, n, n_trials)), flush=True)
    print(f"\nAt the number that {PILOT} findings name, a cheaper rule being as good: {n_trials} trials a row\n")
    print("| judges | named, median | a cheaper rule is recommended there, % |\n|---|--:|--:|")
    for judges in EQUAL:
        named = trials(judges, PILOT, n_trials)["needed"].dropna()
        found = [is_cheaper(judges, int(n), trial) for trial, n in enumerate(named)]
        print(f"| {judges.name} | {named.median():,.0f} | {100 * np.mean(found):.1f} |", flush=True)


def is_cheaper(judges: Judges, n: int, trial: int) -> bool:
    """Return whether a rule is recommended, on new findings, that costs less than the recorded ones."""
    made = choice(judges, n, [SEED, PILOT, n, trial])
    return made.decided and made.cost < made.cost_recorded


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

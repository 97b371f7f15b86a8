"""What choosing among rules finds where no rule is better, and where one is, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`. Every rule errs on its rate of findings, by the generator of `simulated_runs`; its
costs are 1, 2, 3 ...; today's rules are the dearest. Half of the claims are true.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.simulated_runs import Design, errors
from verifyplan.analysis.treatments.cross_fit import N_SPLITS, CrossFit, cross_fit
from verifyplan.analysis.treatments.recommend import recommend
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.protocol.voting_rules import VotingRules

TRIALS, SEED = 200, 0
HELD, NOT_HELD = 0, 2
N_CLASSES, N_TRUTHS = 4, 3


@dataclass(frozen=True, eq=False)
class SimulatedOutcomes:
    """The classes that simulated rules give, with what a cross-fitting reads of `RuleOutcomes`."""

    table: npt.NDArray[np.uint8]
    """The class of each finding under each rule, of shape (rules, findings)."""
    truth: npt.NDArray[np.int64]
    findings: pd.DataFrame

    def classes(self, k: int) -> npt.NDArray[np.uint8]:
        """Return the class of each finding under the k-th rules."""
        return self.table[k]

    def counts(self, groups: npt.NDArray[np.int64], n_groups: int) -> npt.NDArray[np.int64]:
        """Return findings counted by rules, group, truth and class."""
        cell = (groups * N_TRUTHS + self.truth) * N_CLASSES
        shape = (n_groups, N_TRUTHS, N_CLASSES)
        each = [np.bincount(cell + row, minlength=int(np.prod(shape))).reshape(shape) for row in self.table]
        return np.array(each)


def fitted(design: Design, wrong: npt.NDArray[np.bool_], seed: int) -> tuple[CrossFit, pd.DataFrame]:
    """Return the cross-fitting and the table of rules with these errors, of shape (rules, findings)."""
    truth = np.random.default_rng([seed, 1]).random(design.clusters.n_claims)[design.clusters.claim] < 0.5
    run, claim = design.clusters.run.astype(str), design.clusters.claim.astype(str)
    findings = pd.DataFrame({"run_id": run, "finding_id": claim, "summary": claim, "truth": truth})
    classes = np.where(truth != wrong, HELD, NOT_HELD).astype(np.uint8)
    outcomes: Any = SimulatedOutcomes(classes, truth.astype(np.int64), findings)
    n_rules, n = wrong.shape
    fit = cross_fit(outcomes, "f1", np.arange(1, n_rules + 1), seed)
    right = (classes == HELD) & truth
    value = 2 * right.sum(axis=1) / ((classes == HELD).sum(axis=1) + truth.sum())
    best_before = np.maximum.accumulate(np.append(-np.inf, value[:-1]))
    table = pd.DataFrame({"value": value, "calls": np.arange(1.0, n_rules + 1), "on_frontier": value > best_before})
    table = table.assign(low=value, high=value, low_bound=value, high_bound=value, n=n, censored=0)
    table["is_today"] = np.arange(n_rules) == n_rules - 1
    return fit, table


def choice(fit: CrossFit, table: pd.DataFrame) -> Recommendation:
    """Return what is recommended of these rules."""
    rules = tuple(VotingRules(max_rounds=k + 1) for k in range(len(table)))
    return recommend(fit, table, rules, "f1", "calls", synthetic=True)


def trials(design: Design, n: int, seed: int = SEED) -> pd.DataFrame:
    """Return a row a trial: what was recommended, and whether choosing was taken to gain."""
    rows = []
    for block in errors(design, n, seed):
        for wrong in block:
            made = choice(*fitted(design, wrong, len(rows)))
            for of in ("today", "cheapest"):
                gain = made.figure(f"choosing-over-{of}")
                p_value = made.figures.set_index("figure").loc[f"choosing-over-{of}", "p_value"]
                rows.append((of, made.cost, gain.value, gain.low, gain.high, p_value))
    return pd.DataFrame(rows, columns=["over", "cost", "value", "low", "high", "p_value"])


def main(n_trials: int = TRIALS) -> None:
    shapes = [
        (20, 30, 0.1, False),
        (20, 30, 0.0, False),
        (12, 20, 0.1, False),
        (1, 300, 0.0, False),
        (4, 60, 0.1, False),
        (4, 60, 0.1, True),
    ]
    print(f"No rule is better: {n_trials} trials a row, error rate 20 %, medians of {N_SPLITS} halvings\n")
    print("| rules | runs | findings | claims | correlation | 0 in the interval, % | p < .05, % | cheapest, % |")
    print("|--:|--:|--:|---|" + "--:|" * 4)
    for n_rules in (2, 20, 200):
        for runs, findings, correlation, repeated in shapes:
            design = Design(runs, findings, (0.2,) * n_rules, correlation, repeated=repeated)
            made = trials(design, n_trials)
            held = 100 * made.assign(held=(made["low"] <= 0) & (made["high"] >= 0)).groupby("over")["held"].mean()
            shown = 100 * made.assign(p=made["p_value"] < 0.05).groupby("over")["p"].mean()
            p_values = f"{shown['today']:.1f} / {shown['cheapest']:.1f}" if made["p_value"].notna().any() else "-"
            cheapest = 100 * made["cost"].eq(1).mean()
            claims = "repeated" if repeated else "fresh"
            print(
                f"| {n_rules} | {runs} | {findings} | {claims} | {correlation} | {held['today']:.1f} / "
                f"{held['cheapest']:.1f} | {p_values} | {cheapest:.1f} |",
                flush=True,
            )
    print(f"\nThe tenth of 20 rules errs less: {n_trials} trials a row, 20 runs of 30 findings, correlation .1\n")
    print("| its error rate, % | recommended, % | mean gain over today's, points | shown by interval, % | p < .05, % |")
    print("|" + "--:|" * 5)
    for better in (0.15, 0.1, 0.05):
        rates = tuple(better if k == 9 else 0.2 for k in range(20))
        design = replace(Design(20, 30, rates, 0.1), rates=rates)
        made = trials(design, n_trials)
        over = made[made["over"].eq("today")]
        print(
            f"| {100 * better:.0f} | {100 * over['cost'].eq(10).mean():.1f} | {100 * over['value'].mean():+.1f} | "
            f"{100 * (over['low'] > 0).mean():.1f} | {100 * (over['p_value'] < 0.05).mean():.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

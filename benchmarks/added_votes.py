"""How often values, intervals and bounds hold after planned votes were added: synthetic findings, two workers.

Run it with `make bench-statistics`. One worker (right in 75 % of the cases) voted on all findings, the other (85 %)
on a fifth of them. `settle` plans the votes that the unanimous rule lacks, and some of the plan, or all, is added.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

import verifyplan as vp

N_FINDINGS, N_TRIALS = 150, 100
RIGHT = {"a": 0.75, "b": 0.85}
BOTH = vp.VotingRules(aggregate="unanimous", workers=["a", "b"])
BOTH_RIGHT, BOTH_WRONG = np.prod([*RIGHT.values()]), np.prod([1 - right for right in RIGHT.values()])
PRECISION = BOTH_RIGHT / (BOTH_RIGHT + BOTH_WRONG)
"""The precision of claims that both accept, in the population."""


class Trial(NamedTuple):
    """What is said of the precision after a share of the plan."""

    value: float
    width: float
    """How far apart the bounds are."""
    is_covered: bool
    """Whether the 95 % interval contains the population's."""
    is_bounded: bool
    """Whether the bounds contain what all votes give."""


def trial(seed: int, share: float, n: int = N_FINDINGS) -> Trial:
    """Return what a search says after a share of the planned votes was added."""
    random = np.random.default_rng(seed)
    true = random.random(n) < 0.5
    says = [np.where(random.random(n) < right, true, ~true) for right in RIGHT.values()]
    table = pd.DataFrame(
        {
            "item": np.tile(np.arange(n).astype(str), 2),
            "who": np.repeat([*RIGHT], n),
            "says": np.where(np.concatenate(says), "agree", "disagree"),
            "true": np.tile(true, 2),
        }
    )
    whole = vp.from_votes(table, item="item", worker="who", verdict="says", truth="true", mode="collaborative")
    known = whole.votes["worker"].eq("a").to_numpy() | np.tile(random.random(n) < 0.2, 2)
    plan = vp.search_rules(_with(whole, known), [BOTH], quality="precision", cost="votes").settle(len(whole.votes))
    plan = plan.head(round(share * len(plan)))[["finding_id", "worker"]].assign(planned=True)
    planned = whole.votes[["finding_id", "worker"]].merge(plan, how="left")["planned"].notna().to_numpy()
    now, full = _figures(_with(whole, known | planned)), _figures(whole)
    return Trial(
        value=now["value"],
        width=now["high_bound"] - now["low_bound"],
        is_covered=now["low"] <= PRECISION <= now["high"],
        is_bounded=now["low_bound"] - 1e-9 <= full["value"] <= now["high_bound"] + 1e-9,
    )


def _with(runs: vp.RunSet, votes: np.ndarray) -> vp.RunSet:
    return replace(runs, votes=runs.votes[votes].reset_index(drop=True))


def _figures(runs: vp.RunSet) -> dict[str, float]:
    search = vp.search_rules(runs, [BOTH], quality="precision", cost="votes")
    return dict(search.table.iloc[search.rules.index(BOTH)])


def main() -> None:
    print(f"Precision of both workers, {100 * PRECISION:.1f} % in the population; {N_TRIALS} trials\n")
    print("| planned votes added | value | bounds apart | interval contains the population's | bounds hold |")
    print("|---|" + "--:|" * 4)
    for share in (0, 0.5, 1):
        means = np.array([trial(seed, share) for seed in range(N_TRIALS)], dtype=float).mean(axis=0)
        print(f"| {100 * share:.0f} % |" + "".join(f" {100 * mean:.1f} % |" for mean in means), flush=True)


if __name__ == "__main__":
    main()

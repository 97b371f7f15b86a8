"""How far planned votes narrow the bounds of a frontier, against as many votes at random, on recorded votes.

Run it with `make bench`. The votes of a debate in three rounds by three agents are all known (`debate-rounds`: 24 runs
of 18 questions; the claim is the first agent's first answer). Some are hidden; rules are searched on the others; then
the planned votes, or as many hidden ones at random, are read as if they had been asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

import verifyplan as vp

SIZES = (25, 50, 100, 150, 200, 300, 400)
N_RANDOM = 5
VOTE = ["run_id", "finding_id", "round", "worker"]


def recorded_debates() -> vp.RunSet:
    """Return the debates as runs of votes on whether the first agent's first answer is right."""
    votes = vp.datasets.votes("debate-rounds")
    votes["key"] = votes["run"].astype(str) + "/" + votes["item"].astype(str)
    claims = votes[votes["round"].eq(0)].drop_duplicates("key").set_index("key")["label"]
    votes["claim"] = votes["key"].map(claims)
    votes["says"] = np.where(votes["label"].eq(votes["claim"]), "agree", "disagree")
    votes.loc[votes["label"].isna(), "says"] = "verification-error"
    votes["right"] = votes["claim"].astype(str).eq(votes["truth"].astype(str))
    columns = {"item": "item", "worker": "worker", "verdict": "says", "run": "run", "truth": "right"}
    return vp.from_votes(votes.assign(number=votes["round"] + 1), round="number", **columns)


def space(runs: vp.RunSet, pruning: str) -> list[vp.VotingRules]:
    """Return rules that the recorded votes know in full: subsets of workers, rounds, aggregates, sticky refutations."""
    workers = list(dict.fromkeys(runs.votes["worker"]))
    return [
        vp.VotingRules(
            mode="adversarial",
            workers=chosen,
            aggregate=aggregate,
            max_rounds=rounds,
            refutes=refutes,
            pruning=pruning,
        )
        for size in range(1, len(workers) + 1)
        for chosen in combinations(workers, size)
        for aggregate in ("rules", "majority", "unanimous", "any-refute")
        for rounds in (1, 2, 3)
        for refutes in ("round", "sticky")
    ]


def hidden_votes(runs: vp.RunSet, seed: int = 0) -> Iterator[tuple[str, np.ndarray, str]]:
    """Yield ways to hide votes, which are hidden, and how rules prune; every round that is left has a vote."""
    votes, random = runs.votes, np.random.default_rng(seed)
    finding = pd.factorize(votes["run_id"] + "/" + votes["finding_id"])[0]
    chosen = (random.random(finding.max() + 1) < 0.5)[finding]
    workers = list(dict.fromkeys(votes["worker"]))
    last, first = votes["worker"].eq(workers[-1]).to_numpy(), votes["worker"].eq(workers[0]).to_numpy()
    yield "40 % of the votes of two agents", (random.random(len(votes)) < 0.4) & ~first, "queue"
    yield "one agent on half of the findings", last & chosen, "queue"
    later = votes["round"].gt(1).to_numpy()
    yield "rounds 2 and 3 on half of the findings, no pruning", later & chosen, "none"


def reveal(runs: vp.RunSet, hidden: np.ndarray, plan: pd.DataFrame) -> vp.RunSet:
    """Return the runs with the votes that are not hidden, or in the plan."""
    planned = runs.votes[VOTE].merge(plan[VOTE].assign(planned=True), on=VOTE, how="left")["planned"].notna()
    return replace(runs, votes=runs.votes[~hidden | planned.to_numpy()].reset_index(drop=True))


def in_random_order(votes: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return votes in random order, those of a finding's later rounds after those of its earlier ones."""
    finding, key = VOTE[:2], np.random.default_rng(seed).random(len(votes))
    drawn = votes.assign(key=key, last=key)
    rounds = drawn.groupby([*finding, "round"], sort=True, as_index=False)["last"].max()
    rounds["after"] = rounds.groupby(finding)["last"].cummax().groupby([rounds[name] for name in finding]).shift()
    after = drawn.merge(rounds[[*finding, "round", "after"]], on=[*finding, "round"], how="left")
    after["key"] = after[["key", "after"]].max(axis=1)
    return after.sort_values(["key", "round"], kind="stable")


def width(runs: vp.RunSet, rules: list[vp.VotingRules]) -> float:
    """Return the mean width of the bounds of F1 of some rules."""
    table = vp.search_rules(runs, rules).table
    wanted = table[table["digest"].isin([each.digest for each in rules])]
    return float((wanted["high_bound"] - wanted["low_bound"]).mean())


def measured(
    runs: vp.RunSet, hidden: np.ndarray, rules: list[vp.VotingRules], sizes: tuple[int, ...], n_random: int
) -> pd.DataFrame:
    """Return the width of the frontier's bounds after n votes: `n, planned, random, expected`."""
    known = replace(runs, votes=runs.votes[~hidden].reset_index(drop=True))
    search = vp.search_rules(known, rules, cost="votes")
    frontier = [search.rules[k] for k in np.flatnonzero(search.table["on_frontier"])]
    rows = [(0, width(known, frontier), width(known, frontier), 0.0)]
    for n in sizes:
        plan = search.settle(n)
        planned = width(reveal(runs, hidden, plan), frontier)
        drawn = [in_random_order(runs.votes[hidden], seed).head(n) for seed in range(n_random)]
        at_random = float(np.mean([width(reveal(runs, hidden, each), frontier) for each in drawn]))
        rows.append((n, planned, at_random, float(plan["narrows"].sum())))
    return pd.DataFrame(rows, columns=["n", "planned", "random", "expected"])


def main() -> None:
    runs = recorded_debates()
    print(f"Mean width of the bounds of F1 over the frontier, in points; {len(runs.findings)} findings\n")
    for name, hidden, pruning in hidden_votes(runs):
        print(
            f"{name}: {hidden.sum():,} votes hidden\n\n"
            "| votes | planned | at random | ratio | expected narrowing | narrowing |"
        )
        print("|" + "--:|" * 6)
        table = measured(runs, hidden, space(runs, pruning), SIZES, N_RANDOM)
        for n, planned, at_random, expected in table.itertuples(index=False):
            narrowed = 100 * (table["planned"][0] - planned)
            print(
                f"| {n} | {100 * planned:.1f} | {100 * at_random:.1f} | {planned / max(at_random, 1e-9):.2f} | "
                f"{100 * expected:.1f} | {narrowed:.1f} |",
                flush=True,
            )
        print()


if __name__ == "__main__":
    main()

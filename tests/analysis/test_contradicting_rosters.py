"""Runs whose rosters contradict each other are judged each in its own order, together as apart."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp


def contradicting(n_runs: int = 12) -> vp.RunSet:
    """Return runs of five findings, each with a roster of its own order."""
    rng, names = np.random.default_rng(4), list("abcde")
    rows = [
        (f"r{run:02}", f"F{finding}", number, worker, rng.choice(["agree", "disagree", "verification-error"]))
        for run in range(n_runs)
        for finding in range(5)
        for number in range(1, 3)
        for worker in rng.permutation(names)[: rng.integers(2, 6)]
    ]
    table = pd.DataFrame(rows, columns=["run", "item", "round", "who", "says"])
    columns = {"item": "item", "worker": "who", "verdict": "says", "run": "run", "round": "round"}
    runs = vp.from_votes(table, **columns, mode="adversarial", max_rounds=2)
    rosters = [json.dumps(rng.permutation(names).tolist()) for _ in range(n_runs)]
    return replace(runs, runs=runs.runs.assign(roster=rosters))


@pytest.mark.parametrize(
    "rules",
    [
        {"stop": {"margin": 1}},
        {"stop": {"margin": 2}, "refutes": "sticky"},
        {"stop": {"margin": 2}, "lost_votes": "last-vote", "pruning": "none"},
        {"stop": {"margin": 1}, "quorum": 2, "max_rounds": 3},
        {"stop": {"margin": 1}, "weights": {"a": 2}},
        {"stop": {"margin": 1}, "order": ["c", "a"]},
        {"stop": {"margin": 1}, "order": ["c", "a", "b", "e", "d"]},
    ],
    ids=str,
)
def test_runs_are_judged_together_as_each_by_itself(rules):
    runs = contradicting()
    together = vp.replay(runs, rules=rules)
    apart = pd.concat([vp.replay(runs.select([run]), rules=rules) for run in runs.runs["run_id"]], ignore_index=True)
    pd.testing.assert_frame_equal(together, apart, check_categorical=False)

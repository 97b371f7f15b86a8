"""Runs whose rosters contradict each other are judged each in its own order, together as apart."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.longer import LONG
from verifyplan.analysis.treatments.rule_costs import RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import rule_outcomes
from verifyplan.frames.runset import concat
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.protocol.voting_rules import VotingRules


@cache
def contradicting(n_runs: int) -> vp.RunSet:
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
    runs = contradicting(6 if LONG else 3)
    together = vp.replay(runs, rules=rules)
    apart = pd.concat([vp.replay(runs.select([run]), rules=rules) for run in runs.runs["run_id"]], ignore_index=True)
    pd.testing.assert_frame_equal(together, apart, check_categorical=False)


MANY_RULES = [
    {},
    {"stop": {"margin": 1}},
    {"stop": {"margin": 2}, "refutes": "sticky"},
    {"stop": {"margin": 1}, "lost_votes": "last-vote", "pruning": "none"},
    {"stop": {"margin": 2}, "aggregate": "dawid-skene"},
    {"stop": {"margin": 1}, "order": ["c", "a", "b", "e", "d"]},
    {"workers": ["a", "d"]},
]
NAMED = {"stop": {"margin": 1}, "workers": ["e", "a", "c"]}
"""Rules that stop and name workers, by which runs are judged roster by roster."""


@pytest.mark.parametrize("space", [MANY_RULES, [*MANY_RULES, NAMED]], ids=["at once", "roster by roster"])
@pytest.mark.parametrize("own", [None, {"stop": {"margin": 2}}], ids=["neutral", "stops"])
def test_many_rules_give_each_run_what_a_replay_and_the_run_by_itself_give(space, own):
    runs = contradicting(3)
    if own:
        runs = replace(runs, runs=runs.runs.assign(rules=VotingRules(**own).to_json()))
    rules = [VotingRules(**fields) for fields in space]
    outcomes = rule_outcomes(runs, rules)
    costs = RuleCosts(runs, outcomes)
    each_run = [rule_outcomes(runs.select([run]), rules) for run in runs.runs["run_id"]]
    for k, each in enumerate(rules):
        replayed = vp.replay(runs, rules=each)
        for name, found in {"classification": outcomes.classes, "low": outcomes.low, "high": outcomes.high}.items():
            assert [CLASSIFICATIONS[place] for place in found(k)] == replayed[name].astype(str).tolist()
        apart = [RuleCosts(runs, alone).of(alone.walks(k)).cost for alone in each_run]
        together = costs.of(outcomes.walks(k)).cost
        assert (together.votes, together.calls) == (sum(c.votes for c in apart), sum(c.calls for c in apart))


def test_prices_are_those_of_the_workers_whom_each_run_asks():
    """Three runs that ask in different orders, worker w costing 1, 10 or 100 dollars a call: a lead of one asks one."""
    price = {"a": 1, "b": 10, "c": 100}

    claim, backend = {"finding_id": "F1", "summary": "so"}, vp.agents.from_function(lambda *_: "agree")
    made = []
    for number, roster in enumerate((["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"])):
        run = vp.crossverify([claim], roster, backend=backend, log_dir=None, progress=False)
        tables = replace(run, run_id=f"r{number}").frames
        made.append(replace(tables, calls=tables.calls.assign(cost=tables.calls["worker"].map(price))))
    runs = concat(made)
    search = vp.search_rules(replace(runs, findings=runs.findings.assign(truth=True)), [{"stop": {"margin": 1}}])
    stopped = search.table[search.table["stop"].eq("margin 1")].iloc[0]
    assert (stopped["votes"], stopped["dollars"]) == (3, pytest.approx(111))

"""What many rules make of recorded votes equals a replay under each: classes, bounds, counts, orders of rounds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.longer import examples
from verifyplan.analysis.replay import replay
from verifyplan.analysis.treatments.round_outcomes import HAS_NO_VOTES
from verifyplan.analysis.treatments.rule_outcomes import NO_CLASS, rule_outcomes
from verifyplan.analysis.treatments.rule_space import default_space
from verifyplan.analysis.treatments.vote_patterns import distinct_columns
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.protocol.voting_rules import VotingRules

FIELDS = {
    "mode": ["collaborative", "adversarial"],
    "max_rounds": [1, 2, 3, 6],
    "majority": ["1/3", "2/3", 0],
    "refutes": ["sticky"],
    "lost_votes": ["last-vote", "as-disagree", "as-agree"],
    "quorum": [1, 2, 3, "1/2", "2/3", "1/1"],
    "missing_basis": ["counter-evidence", "burden-not-met"],
    "uncited": ["as-burden"],
    "caveats": ["as-agree"],
    "workers": [("a",), ("a", "b"), ("b", "c", "d"), ("a", "z"), ("d", "a")],
    "weights": [{"a": 2}, {"a": 0, "b": "1/2"}],
    "pruning": ["none"],
    "aggregate": ["majority", "unanimous", "any-refute", "first-round", "dawid-skene"],
    "stop": [{"margin": 1}, {"margin": 2}, {"accuracy": "4/5"}],
    "order": [["c"], ["d", "b"]],
}


def random_runs(random: np.random.Generator, n_findings: int = 40, workers: str = "abcd") -> RunSet:
    """Return votes of two modes, with gaps, lost votes, missing bases, discoverers, and rounds that were not held."""
    rows = [
        {
            "item": f"F{finding}",
            "run": f"r{finding % 5}",
            "round": number,
            "who": worker,
            "says": random.choice(["agree", "supplement", "disagree", "verification-error"], p=[0.4, 0.1, 0.4, 0.1]),
            "basis": random.choice(["counter-evidence", "burden-not-met", None]),
            "why": random.choice(["m.py:4 checks it", "no"]),
            "truth": bool(finding % 2),
            "mode": "adversarial" if finding % 5 < 2 else "collaborative",
            "found": "b" if finding % 4 == 0 else None,
        }
        for finding in range(n_findings)
        for number in range(1, int(random.integers(1, 4)) + 1)
        for worker in workers
        if worker == "a" or random.random() < 0.8
    ]
    return vp.from_votes(
        pd.DataFrame(rows), item="item", run="run", round="round", worker="who", verdict="says", basis="basis",
        explanation="why", truth="truth", mode="mode", discoverers="found", max_rounds=4,
    )  # fmt: skip


def random_rules(random: np.random.Generator) -> VotingRules:
    chosen = {name: values[random.integers(len(values))] for name, values in FIELDS.items() if random.random() < 0.35}
    return VotingRules(**chosen)


def assert_equal_to_replays(runs: RunSet, rules: list[VotingRules]) -> None:
    outcomes = rule_outcomes(runs, rules)
    for k, each in enumerate(rules):
        replayed = replay(runs, rules=each)
        assert outcomes.findings["finding_id"].tolist() == replayed["finding_id"].tolist()
        for name, ours in (
            ("classification", outcomes.classes(k)),
            ("low", outcomes.low(k)),
            ("high", outcomes.high(k)),
        ):
            assert np.array_equal(ours, replayed[name].cat.codes.to_numpy().astype(np.uint8)), (name, str(each))


@pytest.mark.parametrize("seed", range(6))
def test_any_rules_on_random_votes_give_what_a_replay_gives(seed):
    random = np.random.default_rng(seed)
    assert_equal_to_replays(random_runs(random), [random_rules(random) for _ in range(examples(32))])


def test_more_workers_than_fit_into_a_number_are_judged_as_a_replay_does():
    random = np.random.default_rng(0)
    runs = random_runs(random, 20, "abcdefghijklmnopqrst")
    assert_equal_to_replays(runs, [VotingRules(), *(random_rules(random) for _ in range(8))])


@pytest.mark.parametrize("name", ["stdlib-claims/adversarial", "contract", "live-example", "llmbar/plain"])
def test_the_default_space_of_bundled_runs_gives_what_replays_give(name):
    runs = vp.datasets.runs(name)
    space = default_space(runs)
    assert_equal_to_replays(runs, [space[0], *space[1 :: max(1, len(space) // examples(40))]])


def test_presets_give_what_replays_give():
    presets = [VotingRules.preset(name) for name in VotingRules.presets()]
    assert_equal_to_replays(vp.datasets.runs("live-example"), presets)


def test_findings_without_votes_keep_their_class():
    runs = vp.datasets.runs("contract")
    replayed = replay(runs, rules=VotingRules(max_rounds=1))
    assert replayed["rule"].eq("round-0").any()
    assert_equal_to_replays(runs, [VotingRules(max_rounds=1)])


def test_counts_are_those_of_the_classes_by_group_and_truth():
    runs = random_runs(np.random.default_rng(1))
    rules = [VotingRules(), VotingRules(mode="adversarial", max_rounds=4)]
    outcomes = rule_outcomes(runs, rules)
    groups = pd.factorize(outcomes.findings["run_id"])[0].astype(np.int64)
    counts = outcomes.counts(groups, 5)
    assert counts.shape == (2, 5, 3, 4)
    for k in range(2):
        classes = outcomes.classes(k)
        assert not (classes == NO_CLASS).any()
        for row, group in enumerate(groups):
            counts[k, group, outcomes.truth[row], classes[row]] -= 1
    assert not counts.any()


def test_outcomes_that_are_not_kept_are_computed_again(monkeypatch):
    monkeypatch.setattr("verifyplan.analysis.treatments.rule_outcomes.MAX_CACHE_BYTES", 0)
    runs = random_runs(np.random.default_rng(2))
    outcomes = rule_outcomes(runs, [VotingRules(), VotingRules(max_rounds=1)])
    assert np.array_equal(outcomes.classes(1), outcomes.take([1]).classes(0))


def test_columns_are_numbered_apart_also_where_their_code_does_not_fit():
    random = np.random.default_rng(3)
    cells = random.integers(0, 3, (2, 90, 40)).astype(np.int8)
    cells[:, :, 20:] = cells[:, :, :20]
    numbers, columns = distinct_columns(cells, 12)
    assert columns.shape[1] == len(np.unique(np.concatenate(list(cells), axis=1), axis=1).T)
    for number, votes in zip(numbers, cells, strict=True):
        assert np.array_equal(columns[:, number], votes)


def test_a_set_without_votes_has_no_outcomes():
    outcomes = rule_outcomes(RunSet(), [VotingRules()])
    assert len(outcomes.classes(0)) == 0
    assert outcomes.counts(np.zeros(0, dtype=np.int64), 1).sum() == 0


def test_the_order_of_rounds_is_that_of_the_rules():
    votes = pd.DataFrame(
        {
            "item": "F", "round": [1, 1, 2, 2], "who": ["a", "b"] * 2,
            "says": ["agree", "disagree", "agree", "agree"],
        }
    )  # fmt: skip
    runs = vp.from_votes(votes, item="item", round="round", worker="who", verdict="says", mode="collaborative")
    rules = [
        VotingRules(),
        VotingRules(aggregate="first-round"),
        VotingRules(pruning="none"),
        VotingRules(max_rounds=1),
    ]
    outcomes = rule_outcomes(runs, rules)
    given = [CLASSIFICATIONS[outcomes.classes(k)[0]] for k in range(4)]
    assert given == ["full-consensus", "contested", "full-consensus", "contested"]


def test_outcomes_can_be_taken_of_other_rules_also_of_more_rounds():
    runs = random_runs(np.random.default_rng(5))
    outcomes = rule_outcomes(runs, [VotingRules(max_rounds=1)])
    assert np.array_equal(outcomes.low(0), outcomes.high(0))
    more = replace(outcomes, rules=(VotingRules(max_rounds=6), VotingRules(max_rounds=1)))
    assert np.array_equal(more.low(0), rule_outcomes(runs, [VotingRules(max_rounds=6)]).low(0))
    assert np.array_equal(more.classes(1), outcomes.classes(0))


def test_a_walk_says_what_became_of_findings_round_by_round():
    votes = pd.DataFrame(
        {
            "item": ["F", "F", "G", "G"],
            "round": [1, 2, 1, 2],
            "who": "a",
            "says": ["agree", "agree", "verification-error", "agree"],
        }
    )
    runs = vp.from_votes(votes, item="item", round="round", worker="who", verdict="says", mode="collaborative")
    (walk,) = rule_outcomes(runs, [VotingRules()]).walks(0)
    assert [point.tolist() for point in walk.point] == [[1, HAS_NO_VOTES], [1, 1]]

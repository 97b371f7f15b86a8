"""Each field of voting rules against a naive reading of its sentence on random votes; neutral ones change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.naive_rules import Round, estimated, judged
from tests.longer import examples
from verifyplan.protocol.vote import MODES

ROSTER = ["a", "b", "c", "d", "e"]
FINDINGS = 125
"""So many random vote sets for each of the rules below and each mode: more than 10,000 altogether."""

RULES: list[dict[str, Any]] = [
    {},
    {"max_rounds": 1},
    {"max_rounds": 2},
    {"majority": 0},
    {"majority": "2/3"},
    {"majority": "3/4", "aggregate": "majority"},
    {"majority": "1/3", "aggregate": "majority"},
    {"refutes": "sticky"},
    {"refutes": "sticky", "aggregate": "majority"},
    {"refutes": "sticky", "lost_votes": "last-vote"},
    {"lost_votes": "last-vote"},
    {"lost_votes": "as-disagree"},
    {"lost_votes": "as-agree"},
    {"quorum": 2},
    {"quorum": "1/2"},
    {"quorum": 1.0},
    {"quorum": "2/3", "lost_votes": "last-vote"},
    {"missing_basis": "counter-evidence"},
    {"missing_basis": "burden-not-met"},
    {"missing_basis": "counter-evidence", "uncited": "as-burden"},
    {"uncited": "as-burden"},
    {"uncited": "as-burden", "refutes": "sticky"},
    {"caveats": "as-agree"},
    {"workers": ["a", "b", "c"]},
    {"workers": ["d"]},
    {"workers": ["b", "d", "e"], "refutes": "sticky", "quorum": 2},
    {"workers": ["b", "d", "e"], "quorum": "1/2"},
    {"weights": {"a": 3, "b": "1/2"}},
    {"weights": {"a": 0, "c": 0}, "aggregate": "majority"},
    {"pruning": "none"},
    {"pruning": "none", "refutes": "sticky"},
    {"aggregate": "majority"},
    {"aggregate": "unanimous"},
    {"aggregate": "any-refute"},
    {"aggregate": "first-round"},
    {"aggregate": "first-round", "quorum": 2},
    {"stop": {"margin": 1}},
    {"stop": {"margin": 2}},
    {"stop": {"accuracy": 0.8}},
    {"stop": {"accuracy": 0.9, "false_accept": 0.2, "false_reject": 0.01}},
    {"stop": {"margin": 2}, "refutes": "sticky", "lost_votes": "as-agree"},
    {"stop": {"margin": 1}, "order": ["d", "b"]},
    {"stop": {"margin": 2}, "order": ["e", "c", "a", "b", "d"], "refutes": "sticky"},
    {"stop": {"margin": 2}, "order": ["e", "nobody", "a"], "workers": ["a", "b", "e"]},
]


def random_votes(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return the votes of some findings as a table: up to three rounds, of which each asks some of five workers."""
    shape = (n, 3, len(ROSTER))
    rounds = rng.integers(1, 4, n)
    asked = rng.random(shape) < rng.choice([0.5, 0.9], (n, 1, 1))
    asked[np.arange(n)[:, None], np.arange(3), rng.integers(0, len(ROSTER), (n, 3))] = True  # no round without a row
    asked &= np.arange(3)[:, None] < rounds[:, None, None]
    finding, number, worker = np.nonzero(asked)
    lean = rng.dirichlet([1, 0.4, 1, 0.5], n)
    drawn = (lean.cumsum(axis=1)[finding] < rng.random((len(finding), 1))).sum(axis=1).clip(max=3)
    verdict = np.array(["agree", "supplement", "disagree", "verification-error"])[drawn]
    basis = rng.choice(np.array(["counter-evidence", "burden-not-met", None]), len(finding))
    cites = rng.random(len(finding)) < 0.5
    return pd.DataFrame(
        {
            "run_id": "r",
            "finding_id": [f"F{k}" for k in finding],
            "round": number + 1,
            "worker": np.array(ROSTER)[worker],
            "verdict": verdict,
            "disagree_basis": np.where(verdict == "disagree", basis, None),
            "explanation": np.where(cites, "m.py:4 checks it", "no proof"),
        }
    )


def by_finding(votes: pd.DataFrame) -> dict[str, list[Round]]:
    """Return the rounds of each finding, as the naive reading takes them."""
    out: dict[str, list[Round]] = {}
    for row in votes.itertuples(index=False):
        rounds = out.setdefault(row.finding_id, [])
        while len(rounds) < row.round:
            rounds.append({})
        basis = row.disagree_basis if isinstance(row.disagree_basis, str) else None
        rounds[row.round - 1][row.worker] = (row.verdict, basis, "m.py:4" in row.explanation)
    return out


def in_roster_order(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes with a first finding on which everybody votes, so that workers appear in roster order."""
    first = pd.DataFrame(
        {"run_id": "r", "finding_id": "F-first", "round": 1, "worker": ROSTER, "verdict": "agree",
         "disagree_basis": None, "explanation": ""}
    )  # fmt: skip
    return pd.concat([first, votes], ignore_index=True)


COUNTED = ["classification", "decided_round", "rule"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fields", RULES, ids=str)
def test_classes_are_those_of_a_naive_reading(fields, mode):
    rules = vp.VotingRules(mode=mode, **fields)
    votes = in_roster_order(random_votes(np.random.default_rng(len(str(fields))), FINDINGS))
    table = vp.classify(votes, rules=rules).set_index("finding_id")
    found = dict(zip(table.index, table[COUNTED].astype("object").itertuples(index=False, name=None), strict=True))
    for name, rounds in by_finding(votes).items():
        assert found[name] == judged(rounds, ROSTER, rules, mode, rules.max_rounds or 3), (name, rounds)


@pytest.fixture(scope="module")
def table_and_runs():
    """The same random votes as a table and as runs."""
    votes = in_roster_order(random_votes(np.random.default_rng(7), 25))
    columns = {"item": "finding_id", "verdict": "verdict", "basis": "disagree_basis", "explanation": "explanation"}
    return votes, vp.from_votes(votes, worker="worker", round="round", max_rounds=3, mode="adversarial", **columns)


@pytest.mark.parametrize("fields", RULES, ids=str)
def test_runs_are_judged_as_tables_are(fields, table_and_runs):
    votes, runs = table_and_runs
    columns = ["finding_id", "classification", "decided_round", "rule", "censored", "low", "high"]
    table = vp.classify(votes, mode="adversarial", rules=fields)
    got = vp.replay(runs, rules={"mode": "adversarial"} | fields)
    pd.testing.assert_frame_equal(got[columns], table[columns], check_dtype=False)


@pytest.mark.parametrize("fields", RULES, ids=str)
def test_workers_numbered_within_findings_give_the_same(fields, monkeypatch):
    votes = in_roster_order(random_votes(np.random.default_rng(11), 40))
    plain = vp.classify(votes, mode="adversarial", rules=fields)
    monkeypatch.setattr("verifyplan.analysis.judgement.MIN_FILLED", 2)  # always
    pd.testing.assert_frame_equal(vp.classify(votes, mode="adversarial", rules=fields), plain)


NEUTRAL = vp.VotingRules()


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.sampled_from(MODES), st.sampled_from(list(vp.VotingRules.model_fields)))
def test_a_field_at_its_neutral_value_changes_nothing(seed, mode, name):
    votes = random_votes(np.random.default_rng(seed), 12)
    plain = vp.classify(votes, mode=mode, max_rounds=2)
    rules = vp.VotingRules(
        **{"mode": mode, "max_rounds": 2} | ({} if name in ("mode", "max_rounds") else {name: getattr(NEUTRAL, name)})
    )
    pd.testing.assert_frame_equal(vp.classify(votes, rules=rules), plain)
    same_votes = {"weights": dict.fromkeys(ROSTER, 2), "workers": tuple(ROSTER), "quorum": 1,
                  "stop": {"margin": 9}, "order": ("e", "a")}  # fmt: skip
    if name in same_votes and votes["worker"].nunique() == len(ROSTER):
        like = vp.classify(votes, rules={"mode": mode, "max_rounds": 2, name: same_votes[name]})
        columns = ["classification", "rule", "decided_round", "filled_bases"]
        pd.testing.assert_frame_equal(like[columns], plain[columns])


def test_dawid_skene_is_that_of_a_naive_estimation_of_each_run():
    rng = np.random.default_rng(3)
    true = rng.random(60) < 0.5
    right = rng.random((60, 5)) < [0.9, 0.85, 0.8, 0.6, 0.7]
    table = pd.DataFrame(
        [
            {"run_id": f"r{k % 2}", "finding_id": f"F{k}", "round": 1, "worker": worker,
             "verdict": "agree" if true[k] == right[k, place] else "disagree", "disagree_basis": None}
            for k in range(60)
            for place, worker in enumerate(ROSTER)
        ]
    )  # fmt: skip
    got = vp.classify(table, mode="adversarial", rules="dawid-skene", max_rounds=1).set_index("finding_id")
    for run in ("r0", "r1"):
        own = table[table["run_id"].eq(run)]
        ids = list(own["finding_id"].unique())
        cast = [
            dict(zip(g["worker"], g["verdict"].eq("agree"), strict=True))
            for _, g in own.groupby("finding_id", sort=False)
        ]
        for name, votes, share in zip(ids, cast, estimated(cast), strict=True):
            if all(votes.values()):
                expected = "all-agree"
            else:
                assert abs(share - 0.5) > 1e-3
                expected = "estimated-true" if share > 0.5 else "estimated-false"
            assert got.loc[name, "rule"] == expected
    assert not got["censored"].any()
    later = vp.classify(table, mode="adversarial", rules="dawid-skene", max_rounds=2)
    assert later["censored"].all()
    assert set(later["low"]) == {"worker-unique"}
    assert set(later["high"]) == {"full-consensus"}

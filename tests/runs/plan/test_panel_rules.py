"""`panel_rules=`: a recorded plan run with its panel's votes counted by other voting rules (rules A9, R3, R4)."""

from __future__ import annotations

from typing import Any

import pytest

import verifyplan as vp
from tests.runs.plan.planning import AGREE, BURDEN, COUNTER, challenge, change, run_of
from verifyplan.errors import SettingsError

WORKERS = ("ann", "bob", "cy")
SAYS = {"ann": (AGREE, COUNTER), "bob": (AGREE, AGREE), "cy": (BURDEN, AGREE)}


def recorded(**more: Any) -> Any:
    """Return a run whose panel differs on two BLOCKING challenges, which the synthesizer then withdraws."""
    answers: dict[str, Any] = {
        f"i1/panel/r1/{who}": dict(zip(("C1", "C2"), votes, strict=True)) for who, votes in SAYS.items()
    }
    answers["i1/challenger"] = {"challenges": [challenge("locks", "BLOCKING"), challenge("rows", "BLOCKING")]}
    answers["i1/synthesizer"] = {"changes": [change("C1", "WITHDRAWN"), change("C2", "WITHDRAWN")]}
    return run_of(answers, silent=True, panel=WORKERS, max_iterations=1, **more)


@pytest.mark.parametrize(
    "rules", ["majority", "unanimous", "any-refute", "cited-refutes", {"workers": ["bob"]}, {"quorum": 4}]
)
def test_challenges_are_classed_as_a_replay_of_the_votes_classes_them(rules):
    run = recorded()
    again = vp.replay_run(run, panel_rules=rules)
    assert again.censored is None
    expected = vp.replay(run.frames, rules=rules).set_index("finding_id")["classification"].astype(str)
    found = again.run.frames.findings.set_index("finding_id")["classification"].astype(str)
    assert found.to_dict() == expected.to_dict()


def test_what_consensus_forbids_follows_the_rules_of_the_panel(tmp_path):
    run = recorded()
    verdicts = {}
    for name in ("unanimous", "majority", "any-refute"):
        path = vp.VotingRules.preset(name).save(tmp_path / f"{name}.json")
        verdicts[name] = vp.replay_run(run, panel_rules=path).run.verdict
    assert verdicts["any-refute"] == "PROCEED", "no challenge has consensus: both are withdrawn"
    assert verdicts["majority"] == "RETHINK", "consensus forbids the withdrawals"


def test_the_rules_that_the_panel_had_change_nothing():
    run = recorded()
    assert vp.replay_run(run, panel_rules={}).same
    assert vp.replay_run(run, panel_rules=vp.VotingRules(mode="adversarial", max_rounds=1)).same


def test_rounds_that_were_never_held_are_censored_and_runs_without_a_panel_refuse():
    again = vp.replay_run(recorded(), panel_rules={"max_rounds": 2, "pruning": "none"})
    assert again.censored.startswith("i1/panel/r2/")
    run = run_of({}, silent=True, panel=None, max_iterations=1)
    with pytest.raises(SettingsError, match=r"panel_rules: cannot be changed: this run had no panel\. Fix: leave"):
        vp.replay_run(run, panel_rules="majority")

"""rule B10: the items of a plan body, their one round, their gate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.crossing import AGREE, COUNTER, DISAGREE, SUPPLEMENT, Playing, finding, run_of, told
from verifyplan.analysis.replay import replay
from verifyplan.runs.cross.run import CrossRun as Run

PLAN = "implementation-planning"
ITEMS = [{"finding_id": "P-001", "summary": "one", "truth": True}, {"finding_id": "P-002", "summary": "two"}]


def planned(script: dict[Any, Any], found: list[dict[str, Any]] | None = None, **more: Any) -> Run:
    return run_of(script, found or [], **({"plan_items": ITEMS, "task_type": PLAN} | more))


def test_a_gate_that_only_advises():
    run = planned({1: both(ann=DISAGREE, bob=DISAGREE, cy=DISAGREE)}, gating=False)
    assert (run.gate_passed, run.gating) == (False, False)


def both(**votes: dict[str, Any]) -> dict[str, Any]:
    return {worker: {"P-001": AGREE, "P-002": vote} for worker, vote in votes.items()}


@pytest.mark.parametrize(
    ("votes", "classification", "passed"),
    [
        (both(ann=AGREE, bob=AGREE, cy=SUPPLEMENT), "full-consensus", True),
        (both(ann=AGREE, bob=AGREE, cy=DISAGREE), "partial-consensus", True),
        (both(ann=AGREE, bob=DISAGREE, cy=DISAGREE), "contested", False),
        (both(ann=DISAGREE, bob=DISAGREE, cy=DISAGREE), "worker-unique", False),
        ({"ann": "timeout", "bob": "error", "cy": "timeout"}, "worker-unique", False),
    ],
)
def test_the_gate_fails_where_an_item_does_not_hold(votes, classification, passed):
    run = planned({1: votes})
    assert (run.gate_passed, run.gating) == (passed, True)
    table = run.frames.findings.set_index("finding_id")
    assert table.loc["P-002", "classification"] == classification
    assert list(table["category"]) == ["plan-body"] * 2


def test_all_analysers_vote_for_one_round_collaboratively_in_an_adversarial_run_too():
    backend = Playing()
    planned({}, [finding()], backend=backend, settings={"adversarial": True, "maxRounds": 3})
    asked = {r.call_id: (r.mode, r.verification_mode, len(r.items)) for r in backend.requests}
    adversarial, plan = ("adversarial", "full-reanalysis", 1), ("collaborative", "full-reanalysis", 2)
    assert asked == {
        "r1/bob": adversarial,
        "r1/cy": adversarial,
        "p1/ann": plan,
        "p1/bob": plan,
        "p1/cy": plan,
    }
    assert "truth" not in "".join(r.model_dump_json() for r in backend.requests)


def test_items_stand_in_the_tables_and_not_in_the_artifact():
    votes = both(ann=AGREE, bob=AGREE, cy=COUNTER)
    votes["bob"]["F-1"] = votes["cy"]["F-1"] = AGREE
    run = planned({1: votes}, [finding()])
    assert [f.findingId for f in run.artifact.findings] == ["F-1"]
    assert run.artifact.finalClassificationCounts.fullConsensus == 1
    assert run.artifact.totalRounds == 1
    assert "P-00" not in str(run.artifact.to_json())
    findings = run.frames.findings.set_index("finding_id")
    assert list(findings.index) == ["F-1", "P-001", "P-002"]
    assert findings.loc["P-001", "truth"]
    assert findings.loc["P-001", "discoverers"] == []
    assert len(run.frames.votes) == 2 + 6
    assert run.frames.votes["disagree_basis"].isna().all()
    assert list(replay(run.frames, "recorded")["finding_id"]) == ["F-1"]


def test_findings_decide_the_state_of_the_run_and_items_the_gate():
    run = planned({1: both(ann=DISAGREE, bob=DISAGREE, cy=DISAGREE)})
    assert (run.status, run.artifact.totalRounds, run.gate_passed) == ("converged", 0, False)
    assert [e.part for e in told(run, "round-closed")] == ["plan-body"]


@pytest.mark.parametrize("roster", ["ann", ""])
def test_with_fewer_than_two_analysers_the_gate_advises(roster):
    run = planned({1: both(ann=AGREE)}, roster=roster)
    assert (run.gate_passed, run.gating) == (False, False)


def test_one_analyser_s_item_is_no_consensus_and_nobody_is_called():
    run = planned({1: both(ann=AGREE)}, roster="ann")
    assert run.frames.findings["classification"].tolist() == ["worker-unique"] * 2
    assert not told(run, "call-requested")


def test_gating_may_be_switched_off():
    off = {"planBodyVerification": {"gating": False}}
    run = planned({1: both(ann=DISAGREE, bob=DISAGREE, cy=DISAGREE)}, settings=off)
    assert (run.gate_passed, run.gating) == (False, False)


def test_a_plan_body_may_be_switched_off():
    backend = Playing()
    run = planned({}, settings={"planBodyVerification": {"enabled": False}}, backend=backend)
    assert (run.gate_passed, run.gating, backend.requests) == (None, None, [])
    assert run.frames.findings.empty


def test_without_items_there_is_no_gate():
    for items in (None, []):
        run = planned({}, plan_items=items)
        assert (run.gate_passed, run.gating) == (None, None)


def test_convergence_off_leaves_the_plan_body_on():
    run = planned({1: both(ann=AGREE, bob=AGREE, cy=AGREE)}, [finding()], settings={"enabled": False})
    assert run.gate_passed is True
    assert [e.call_id for e in told(run, "call-requested")] == ["p1/ann", "p1/bob", "p1/cy"]


def test_the_gate_follows_the_last_of_several_rounds():
    rounds = {1: both(ann=AGREE, bob=DISAGREE, cy=DISAGREE), 2: both(ann=AGREE, bob=AGREE, cy=AGREE)}
    run = planned(rounds, settings={"planBodyVerification": {"maxRounds": 2}})
    assert run.gate_passed is True

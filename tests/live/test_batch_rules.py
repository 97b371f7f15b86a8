"""Runs in batches under rules, and those of listed calls, come to what they come to one by one (rules R1, R5, G3)."""

from __future__ import annotations

import pytest

from tests.live.batch_served import QUICK, Posted, items
from tests.live.live_runs import Played, derived, speaking_to
from tests.live.scripted_server import ScriptedServer
from tests.live.test_batch_runs import FOUND, VOTES
from tests.runs.plan.planning import PLAN, REPO, scores, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.frames.load import load
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify

ANSWERS = script() | {"i2/score": scores(7), "i2/audit": scores(7)}
LISTED = [
    {"finding_id": "F-1", "round": 1, "worker": "bob", "run_id": "first"},
    {"finding_id": "F-3", "round": 1, "worker": "bob", "run_id": "first"},
    {"finding_id": "F-5", "round": 2, "worker": "cy", "run_id": "first"},
]


@pytest.mark.parametrize(
    ("given", "n_calls"),
    [
        ({"rules": {"workers": ["bob", "cy"], "refutes": "sticky"}}, 4),
        ({"rules": "no-pruning"}, 6),
        ({"rules": {"stop": {"margin": 1}}}, 2),
        ({"only": LISTED}, 2),
    ],
    ids=["workers", "no-pruning", "stop", "only"],
)
def test_findings_under_rules_and_listed_calls_come_to_what_they_come_to_one_by_one(tmp_path, given, n_calls):
    given |= {"matcher": None, "repo": REPO, "mode": "adversarial", "max_rounds": 2}
    roster = ["ann", "bob", "cy"]
    alone = crossverify(FOUND, roster, backend=ScriptedBackend(VOTES), log_dir=None, progress=False, **given)
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        again = {"backend": speaking_to(server), "log_dir": tmp_path, **given, **QUICK}
        [run] = batch_crossverify(FOUND, roster, **again)
        sent_turns = sorted(turn for _, turn in items(server, tmp_path))  # those of a round in any order
        assert sent_turns == sorted(f"{name}/t1" for name in run.frames.calls["call_id"])
        sent = len(server.batches)
        [same] = batch_crossverify(FOUND, roster, **again)
        assert len(server.batches) == sent, "the same call again sends nothing"
    assert derived(run) == derived(alone) == derived(same)
    assert len(run.frames.calls) == n_calls
    columns = ["rules", "rules_digest", "supplementary", "supplements"]
    loaded, expected = load(run.log_path).runs[columns], alone.frames.runs[columns]
    assert loaded.astype("object").equals(expected.astype("object"))


def test_plans_under_rules_come_to_what_they_come_to_one_by_one(tmp_path):
    plan = tmp_path / "one.md"
    plan.write_text(PLAN)
    given = {"rules": {"max_iterations": 2, "consensus_forbids": []}, "panel": {"rules": "unanimous"}}
    alone = verify(plan, REPO, backend=ScriptedBackend(dict(ANSWERS)), log_dir=None, progress=False, **given)
    with ScriptedServer(Posted(Played(dict(ANSWERS)), tmp_path)) as server:
        [run] = batch_verify([plan], REPO, backend=speaking_to(server), log_dir=tmp_path / "runs", **given, **QUICK)
    assert run.started.plan.settings.rules == alone.started.plan.settings.rules
    assert (run.verdict, run.state.iteration) == (alone.verdict, alone.state.iteration)
    assert run.frames.runs["plan_rules_digest"].tolist() == alone.frames.runs["plan_rules_digest"].tolist()
    assert run.frames.runs["rules"].tolist() == ['{"aggregate": "unanimous"}']

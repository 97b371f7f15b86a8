"""`--rules` of the commands that make runs: a preset or a file, recorded in the log (rules R1-R3, H2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import verifyplan as vp
from tests.runs.plan.planning import PLAN
from verifyplan.protocol.rules_value import read_rules

MODEL = "claude-haiku-4-5"
VOTING = vp.VotingRules(mode="adversarial", max_rounds=1, workers=("window", "search"), aggregate="unanimous")
OF_PLAN = vp.PlanRules(max_iterations=2, consensus_forbids=[])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text("def f(a, b=1):\n    raise ValueError(a)\n")
    row = {"finding_id": "F-1", "summary": "`f` has a parameter `b`.", "evidence": "m.py:1", "worker": "syntax-tree"}
    (tmp_path / "findings.json").write_text(json.dumps([row]))
    (tmp_path / "plan.md").write_text(PLAN)
    VOTING.save(tmp_path / "voting.json")
    OF_PLAN.save(tmp_path / "plan-rules.json")
    return tmp_path


def test_rules_are_read_from_json_text(cli):
    done = cli("replay", "stdlib-claims/adversarial", "--rules", '{"workers": ["search"], "max_rounds": 1}')
    assert (done.code, done.err) == (0, "")
    done = cli("replay", "stdlib-claims/adversarial", "--rules", '{"workers"')
    assert (done.code, "rules: is not JSON" in done.err) == (2, True)
    assert vp.VotingRules(quorum=2) == read_rules(vp.VotingRules, '{"quorum": 2}')


def test_a_cross_run_is_decided_by_a_preset_or_a_file(cli, folder):
    done = cli("crossverify", "findings.json", "--rules", "sticky-refutes", "--log-dir", "a", cwd=folder)
    assert (done.code, "refutes=sticky" in done.out) == (0, True)
    assert json.loads(vp.load(folder / "a").runs["rules"][0]) == {"refutes": "sticky"}
    done = cli("crossverify", "findings.json", "--rules", "voting.json", "--log-dir", "b", cwd=folder)
    assert done.code == 0
    runs = vp.load(folder / "b")
    assert runs.runs["rules_digest"].tolist() == [VOTING.digest]
    assert sorted(runs.calls["worker"]) == ["search", "window"]
    done = cli(
        "crossverify", "findings.json", "--rules", "voting.json", "--max-rounds", 2, "--log-dir", "c", cwd=folder
    )
    assert (done.code, "max_rounds: is 2, but the rules have 1. Fix: say it once." in done.err) == (2, True)
    assert not (folder / "c").exists()


def test_a_plan_run_is_decided_by_a_preset_or_a_file(cli, folder):
    assert cli("verify", "plan.md", "--rules", "one-pass", "--log-dir", "a", cwd=folder).code == 0
    runs = vp.load(folder / "a").runs
    assert (runs["plan_rules"].tolist(), runs["n_iterations"].tolist()) == (['{"max_iterations": 1}'], [1])
    assert cli("verify", "plan.md", "--rules", "plan-rules.json", "--log-dir", "b", cwd=folder).code == 0
    assert vp.load(folder / "b").runs["plan_rules_digest"].tolist() == [OF_PLAN.digest]
    [log] = (folder / "b").rglob("*.jsonl")
    replayed = cli("replay", log, "--rules", "lenient").out.splitlines()[0]
    assert replayed == f"replayed under the rules lenient (digest {vp.PlanRules.preset('lenient').digest})"
    done = cli("verify", "plan.md", "--rules", "one-pass", "--max-iterations", 2, "--log-dir", "c", cwd=folder)
    assert (done.code, "max_iterations: is 2, and the rules say 1. Fix: state it once." in done.err) == (2, True)


def test_estimates_of_plans_and_of_findings_take_rules(cli, folder):
    def calls(*words: str) -> list[int]:
        done = cli("estimate", *words, "--model", MODEL, "--json", "--repo", ".", cwd=folder)
        assert done.code == 0, done.err
        return [json.loads(done.out)[case]["calls"] for case in ("low", "expected", "high")]

    neutral, once = calls("plan.md"), calls("plan.md", "--rules", "one-pass")
    assert once[0] == neutral[0]
    assert once[2] < neutral[2]
    findings = ("findings.json", "--workers", "ann,bob,cy,syntax-tree")
    assert calls(*findings)[0] == 3
    assert calls(*findings, "--rules", "margin-2")[0] == 2


def test_the_shell_names_the_field_that_decides(cli):
    done = cli("explain", "stdlib-claims/adversarial", "F-0025", "--rules", "unanimous")
    assert "aggregate=unanimous decides: with aggregate=rules it would be partial-consensus." in done.out

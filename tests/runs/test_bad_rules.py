"""Rules that cannot be are refused in the same words wherever they are stated, all problems at once (rules R1, H3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.runs.crossing import finding, run_of
from tests.runs.plan.planning import PLAN, REPO
from verifyplan.errors import InputError, SettingsError

FIELDS = {"quorm": 2, "majority": 2, "refutes": "sticy"}
PLAN_FIELDS = {"max_active": -1, "polcy": "protocol", "trivial": 3}
SCRIPTED: dict[str, Any] = {"backend": vp.agents.ScriptedBackend({}, silent=True), "log_dir": None}
MODEL = "claude-haiku-4-5"


@cache
def cross() -> vp.results.CrossRun:
    return run_of({}, mode="adversarial", max_rounds=1)


@cache
def plan_run() -> vp.results.PlanRun:
    return vp.verify(vp.plans.parse_plan(PLAN), REPO, **SCRIPTED)


def batched(rules: Any, **more: Any) -> Any:
    backend = vp.agents.Anthropic.keyless(model=MODEL)
    return vp.batch_crossverify([[finding()]], ["ann", "bob"], backend=backend, rules=rules, **more)


VOTING: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "crossverify": ("rules", lambda rules: run_of({}, rules=rules)),
    "replay": ("rules", lambda rules: vp.replay(cross().frames, rules=rules)),
    "classify": ("rules", lambda rules: vp.classify(cross().frames.votes, rules=rules)),
    "compare": ("rules['b']", lambda rules: vp.compare(cross().frames, rules={"a": "majority", "b": rules})),
    "compare a list": ("rules[1]", lambda rules: vp.compare(cross().frames, rules=["majority", rules])),
    "explain": ("rules", lambda rules: vp.explain(cross().frames, "F-1", rules=rules)),
    "search_rules": ("space[1]", lambda rules: vp.search_rules(cross().frames, ["majority", rules])),
    "estimate": ("rules", lambda rules: vp.estimate([finding()], workers=["ann", "bob"], model=MODEL, rules=rules)),
    "batch_crossverify": ("rules", batched),
    "replay_run": ("panel_rules", lambda rules: vp.replay_run(plan_run(), panel_rules=rules)),
    "verify": ("panel.rules", lambda rules: vp.verify(PLAN, panel={"rules": rules}, **SCRIPTED)),
}
PLANS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "verify": ("rules", lambda rules: vp.verify(vp.plans.parse_plan(PLAN), REPO, rules=rules, **SCRIPTED)),
    "replay_run": ("rules", lambda rules: vp.replay_run(plan_run(), rules=rules)),
    "compare_rules": ("rules['b']", lambda rules: vp.compare_rules(plan_run(), {"a": None, "b": rules})),
    "batch_verify": (
        "rules",
        lambda rules: vp.batch_verify(
            [vp.plans.parse_plan(PLAN)], REPO, backend=vp.agents.Anthropic.keyless(model=MODEL), rules=rules
        ),
    ),
    "estimate": ("rules", lambda rules: vp.estimate(vp.plans.parse_plan(PLAN), REPO, model=MODEL, rules=rules)),
}


def refused(call: Callable[[Any], Any], rules: Any) -> str:
    """Return the words of the error, without those on other arguments."""
    with pytest.raises(InputError) as raised:
        call(rules)
    assert "Value error" not in str(raised.value)
    assert all(len(problem.message) < 150 for problem in raised.value.problems)
    return "\n".join(line for line in str(raised.value).split("\n") if not line.startswith("mode: is missing"))


@pytest.fixture(params=VOTING)
def stated(request: pytest.FixtureRequest) -> tuple[str, Callable[[Any], Any]]:
    return VOTING[request.param]


@pytest.fixture(params=PLANS)
def stated_plan(request: pytest.FixtureRequest) -> tuple[str, Callable[[Any], Any]]:
    return PLANS[request.param]


def test_every_bad_field_of_voting_rules_is_named_with_its_argument(stated):
    place, call = stated
    words = refused(call, FIELDS)
    near = "is not a field of these rules (did you mean 'quorum'?). Fix: use 'mode', 'max_rounds'"
    assert f"{place}.quorm: {near}" in words
    assert f"{place}.majority: must be below 1, got 2. Fix: change it, or leave it out for the neutral value." in words
    assert f"{place}.refutes: must be 'round' or 'sticky', got 'sticy'." in words


def test_a_bad_preset_and_what_is_no_rules_are_named_with_their_argument(stated):
    place, call = stated
    preset = f"{place}: 'stiky-refutes' is neither rules nor the name of a preset (did you mean 'sticky-refutes'?)"
    assert f"{preset}. Fix: give a VotingRules, a JSON file, or one of 'as-recorded'" in refused(call, "stiky-refutes")
    assert f"{place}: 3 is neither rules nor the name of a preset. Fix: give a VotingRules" in refused(call, 3)
    assert f"{place}: must be a VotingRules, got a PlanRules. Fix: give a VotingRules, or" in refused(
        call, vp.PlanRules()
    )


def test_a_bad_file_is_named_with_every_field(stated, tmp_path):
    _, call = stated
    path = tmp_path / "rules.json"
    assert f"{path}: cannot be read (No such file or directory). Fix: name a JSON file" in refused(call, path)
    path.write_text('{"quorm": 2, "majority": 2}')
    words = refused(call, str(path))
    assert f"{path}: quorm: is not a field of these rules" in words
    assert f"{path}: majority: must be below 1, got 2." in words


def test_every_bad_field_of_plan_rules_is_named_with_its_argument(stated_plan, tmp_path):
    place, call = stated_plan
    words = refused(call, PLAN_FIELDS)
    assert f"{place}.polcy: is not a field of these rules (did you mean 'policy'?). Fix: use 'policy'" in words
    assert f"{place}.max_active: must be an integer of at least 0, got -1. Fix: change it, or leave it out" in words
    assert f"{place}.trivial: must be 'skip' or 'never', got 3." in words
    assert f"{place}: 'lenent' is neither rules nor the name of a preset (did you mean 'lenient'?)" in refused(
        call, "lenent"
    )
    mistaken = rf"^{re.escape(place)}: must be (a PlanRules|rules of plan runs), got a VotingRules"
    assert re.search(mistaken, refused(call, vp.VotingRules()), re.MULTILINE)
    path = tmp_path / "rules.json"
    path.write_text('{"max_active": -1}')
    assert f"{path}: max_active: must be an integer of at least 0, got -1." in refused(call, path)


def test_problems_of_several_arguments_are_said_at_once():
    with pytest.raises(SettingsError) as raised:
        vp.replay_run(plan_run(), rules={"max_active": -1}, panel_rules="unanimos")
    assert [problem.place for problem in raised.value.problems] == ["rules.max_active", "panel_rules"]
    with pytest.raises(SettingsError) as raised:
        vp.verify(
            PLAN, rules={"polcy": 1}, policy="x", panel={"mode": "kind", "rules": {"quorm": 2}}, team="b", **SCRIPTED
        )
    places = [problem.place for problem in raised.value.problems]
    assert places[:5] == ["panel.rules.quorm", "panel.mode", "rules.polcy", "policy", "team"]
    with pytest.raises(SettingsError) as raised:
        vp.replay(cross().frames, "adverserial", rules={"quorm": 2})
    assert [problem.place for problem in raised.value.problems] == ["mode", "rules.quorm"]
    with pytest.raises(InputError) as raised:
        vp.compare(cross().frames, rules={"a": "no.json", "b": {"quorm": 2}})
    assert [problem.place for problem in raised.value.problems] == ["no.json", "rules['b'].quorm"]


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        (
            {"rules": {"workers": ["cy"]}},
            "rules.workers: 'cy' is not a worker of this panel. Fix: name workers of the pan",
        ),
        ({"rules": {"weights": {"cy": 2}}}, "rules.weights: 'cy' is not a worker of this panel. Fix: name workers of "),
        ({"rules": {"missing_basis": "raise"}}, "rules.missing_basis: a run cannot refuse votes without a basis, got "),
        ({"max_rounds": 4}, "max_rounds: must be an integer of at most 3, got 4. Fix: change it, or leave it out."),
        ({"round": 1}, "round: is not a field of a panel's settings. Fix: use 'workers', 'mode', 'max_rounds'"),
        (
            {"mode": "adversarial", "rules": "collaborative"},
            "mode: is 'adversarial', but the rules have 'collaborative'. Fix: say it once.",
        ),
    ],
)
def test_a_panel_that_cannot_be_says_why_as_a_value_and_as_a_mapping(panel, message):
    with pytest.raises(SettingsError) as raised:
        vp.PanelSettings(**panel)
    assert str(raised.value).startswith(message)
    with pytest.raises(InputError) as of_run:
        vp.verify(vp.plans.parse_plan(PLAN), REPO, panel=panel, **SCRIPTED)
    assert str(of_run.value).startswith(f"panel.{message}")


def test_the_rules_of_a_panel_may_be_a_file(tmp_path):
    path = vp.VotingRules(quorum=2).save(tmp_path / "rules.json")
    run = vp.verify(vp.plans.parse_plan(PLAN), REPO, panel={"rules": path}, **SCRIPTED)
    assert run.frames.runs["rules"].tolist() == ['{"quorum": 2}']


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "contract"),
        ("explain", "contract", "F-1"),
        ("crossverify", "findings.csv"),
        ("batch", "findings", "findings.csv", "--workers", "ann,bob", "--model", MODEL),
        ("estimate", "findings.csv", "--workers", "ann,bob", "--model", MODEL),
        ("verify", "plan.md"),
        ("batch", "plans", "plan.md", "--model", MODEL),
    ],
    ids=" ".join,
)
def test_the_shell_says_the_same(cli, monkeypatch, tmp_path, words):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    (tmp_path / "findings.csv").write_text("finding_id,summary,worker\nF-1,f has no check,window\n")
    (tmp_path / "plan.md").write_text(PLAN)
    (tmp_path / "rules.json").write_text('{"quorm": 2, "polcy": 1}')
    done = cli(*words, "--rules", "majorty-rule", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "rules: 'majorty-rule' is neither rules nor the name of a preset" in done.err
    done = cli(*words, "--rules", Path("rules.json"), cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "rules.json: quorm: is not a field of these rules" in done.err
    assert "rules.json: polcy: is not a field of these rules" in done.err

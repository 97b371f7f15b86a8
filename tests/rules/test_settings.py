"""rule B1: what a task type implies, what an override changes, what is refused."""

from __future__ import annotations

import pytest

from verifyplan.errors import SettingsError
from verifyplan.rules.settings import convergence_block, cross_settings


@pytest.mark.parametrize(
    ("task_type", "adversarial", "rounds"),
    [
        ("requirements-discovery", True, 1),
        ("error-analysis", True, 2),
        ("implementation", False, 2),
        ("", False, 2),
    ],
)
def test_defaults_by_task_type(task_type, adversarial, rounds):
    block = convergence_block(task_type)
    assert block["adversarial"] is adversarial
    assert block["maxRounds"] == block["effectiveMaxRounds"] == rounds
    assert block["verificationMode"] == ("full-reanalysis" if adversarial else "lightweight")
    assert block["planBodyVerification"] == {"enabled": True, "maxRounds": 1, "gating": True}


def test_an_override_of_the_mode_resets_how_evidence_is_read():
    assert convergence_block("error-analysis", overrides={"adversarial": False})["verificationMode"] == "lightweight"
    assert convergence_block("", overrides={"adversarial": True})["verificationMode"] == "full-reanalysis"


def test_plan_body_keys_are_overridden_one_by_one():
    block = convergence_block("", " FALSE ", {"planBodyVerification": {"gating": False}})
    assert block["planBodyVerification"] == {"enabled": False, "maxRounds": 1, "gating": False}


def test_a_whole_block_is_an_override_of_itself():
    block = convergence_block("error-analysis", overrides={"maxRounds": 3})
    assert convergence_block("error-analysis", overrides=block) == block


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"maxRounds": 0}, "maxRounds: 0 is out of range. Fix: give a whole number from 1 to 3"),
        ({"maxRounds": True}, "maxRounds: True is out of range"),
        ({"maxRounds": 2.0}, "maxRounds: 2.0 is out of range"),
        ({"effectiveMaxRounds": 3}, "effectiveMaxRounds: 3 is not maxRounds, which is 2"),
        ({"adversarial": True, "verificationMode": "lightweight"}, "verificationMode: 'lightweight' cannot serve"),
        ({"verificationMode": "thorough"}, "'thorough' is unknown. Fix: use 'lightweight', 'full-reanalysis'"),
        ({"enabled": "yes"}, "enabled: 'yes' is neither true nor false"),
        ({"rounds": 2}, "rounds: is not a setting (did you mean 'maxRounds'?). Fix: use some of 'enabled'"),
        ({"planBodyVerification": {"gate": True}}, "planBodyVerification.gate: is not a setting"),
        ({"planBodyVerification": {"maxRounds": 9}}, "planBodyVerification.maxRounds: 9 is out of range"),
        ({"planBodyVerification": True}, "planBodyVerification: True is not a mapping"),
    ],
)
def test_what_is_refused_says_where_what_and_how_to_mend_it(overrides, message):
    with pytest.raises(SettingsError) as raised:
        convergence_block("", overrides=overrides)
    assert message in str(raised.value)


def test_all_problems_are_told_at_once():
    with pytest.raises(SettingsError) as raised:
        convergence_block("", overrides={"maxRounds": 7, "enabled": 1, "colour": "red"})
    assert {problem.place for problem in raised.value.problems} == {"maxRounds", "enabled", "colour"}


@pytest.mark.parametrize(
    ("task_type", "parameters", "overrides"),
    [
        ("", {"mode": "adversarial", "max_rounds": 1}, {"adversarial": True, "maxRounds": 1}),
        ("error-analysis", {"mode": "collaborative"}, {"adversarial": False}),
        ("", {"verification": "full-reanalysis"}, {"verificationMode": "full-reanalysis"}),
        ("implementation-planning", {"gating": False}, {"planBodyVerification": {"gating": False}}),
        ("requirements-discovery", {}, {}),
    ],
)
def test_plain_parameters_say_what_the_keys_of_an_artifact_say(task_type, parameters, overrides):
    block = convergence_block(task_type, overrides=overrides)
    assert cross_settings(task_type, **parameters) == cross_settings(task_type, overrides) == block
    assert cross_settings(task_type, overrides, **parameters) == block, "saying it twice is fine"


def test_one_of_each_is_enough():
    both = cross_settings("", {"planBodyVerification": {"maxRounds": 2}}, gating=False, max_rounds=3)
    assert both["planBodyVerification"] == {"enabled": True, "maxRounds": 2, "gating": False}
    assert both["maxRounds"] == both["effectiveMaxRounds"] == 3


def test_parameters_and_settings_that_disagree_are_all_listed():
    settings = {
        "adversarial": True,
        "maxRounds": 2,
        "verificationMode": "full-reanalysis",
        "planBodyVerification": {"gating": True},
    }
    with pytest.raises(SettingsError, match="Fix: say it once") as raised:
        cross_settings("", settings, mode="collaborative", max_rounds=1, verification="lightweight", gating=False)
    assert [f"{problem.place} {problem.message}" for problem in raised.value.problems] == [
        "mode is 'collaborative', but settings has 'adversarial': True",
        "max_rounds is 1, but settings has 'maxRounds': 2",
        "verification is 'lightweight', but settings has 'verificationMode': 'full-reanalysis'",
        "gating is False, but settings has 'gating': True",
    ]
    assert settings["planBodyVerification"] == {"gating": True}, "the caller's settings stay as they are"


def test_bad_parameters_are_all_listed_with_what_was_meant():
    with pytest.raises(SettingsError, match="what the task type implies") as raised:
        cross_settings("", {"max_rounds": 2}, mode="advesarial", max_rounds=0, verification="full", gating="yes")
    assert [f"{problem.place} {problem.message}" for problem in raised.value.problems] == [
        "max_rounds is not a setting (did you mean 'maxRounds'?)",
        "mode must be one of 'collaborative', 'adversarial', got 'advesarial' (did you mean 'adversarial'?)",
        "verification must be one of 'lightweight', 'full-reanalysis', got 'full'",
        "max_rounds must be an integer from 1 to 3, got 0",
        "gating must be True or False, got 'yes'",
    ]


@pytest.mark.parametrize("parameters", [{"mode": "adversarial"}, {"task_type": "error-analysis"}])
def test_an_adversarial_run_is_never_lightweight(parameters):
    with pytest.raises(SettingsError, match=r"verification: 'lightweight' cannot serve.*Fix: use 'full-reanalysis'"):
        cross_settings(verification="lightweight", **parameters)


def test_settings_that_are_no_mapping_are_refused():
    with pytest.raises(SettingsError, match="settings: must be a mapping, got a str"):
        cross_settings("", "adversarial")

"""rule B1: what a task type implies, what an override changes, what is refused."""

from __future__ import annotations

import pytest

from verifyplan.errors import SettingsError
from verifyplan.rules.settings import convergence_block


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
        ({"enabled": "yes"}, "enabled: 'yes' is no yes or no"),
        ({"rounds": 2}, "rounds: is no setting. Fix: use some of 'enabled'"),
        ({"planBodyVerification": {"gate": True}}, "planBodyVerification.gate: is no setting"),
        ({"planBodyVerification": {"maxRounds": 9}}, "planBodyVerification.maxRounds: 9 is out of range"),
        ({"planBodyVerification": True}, "planBodyVerification: True is no mapping"),
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

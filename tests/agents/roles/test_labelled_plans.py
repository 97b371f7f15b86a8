"""The labelled plans: what is raised against the sound ones, and how many of the seeded defects are found."""

import asyncio
import json
from pathlib import Path

import pytest

from verifyplan.agents.static import StaticBackend
from verifyplan.protocol.plan_call import ChallengerAnswer

DATA = Path(__file__).resolve().parents[3] / "data" / "plans"


@pytest.fixture(scope="module")
def answers(role_request_of):
    backend = StaticBackend(DATA / "repository")
    found = {}
    for label in json.loads((DATA / "labels.json").read_text(encoding="utf-8"))["plans"]:
        text = (DATA / "plans" / f"{label['name']}.md").read_text(encoding="utf-8")
        reply = asyncio.run(backend.answer(role_request_of("challenger", text)))
        found[label["name"]] = (label, ChallengerAnswer.model_validate(reply.value).challenges)
    return found


def test_no_sound_plan_is_blocked_and_hardly_any_is_doubted(answers):
    sound = [raised for label, raised in answers.values() if label["kind"] == "sound"]
    assert len(sound) >= 8
    assert not [one.claim for raised in sound for one in raised if one.severity == "BLOCKING"]
    assert sum(any(one.severity == "SIGNIFICANT" for one in raised) for raised in sound) <= 2


def test_most_plans_with_a_defect_that_rules_were_tuned_on_are_challenged(answers):
    wrong = [raised for label, raised in answers.values() if label["defects"] and not label["held_out"]]
    assert sum(any(one.severity != "MINOR" for one in raised) for raised in wrong) >= 0.8 * len(wrong)

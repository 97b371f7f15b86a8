"""The labelled plans: what is raised against the sound ones, and how many of the seeded defects are found."""

import asyncio
from pathlib import Path

import pytest

from verifyplan.agents.static import StaticBackend
from verifyplan.datasets.plans import labelled_plans
from verifyplan.protocol.role_call import ChallengerAnswer

REPOSITORY = Path(__file__).resolve().parents[4] / "data" / "plans" / "repository"


@pytest.fixture(scope="module")
def answers(static_bench, role_request_of):
    """Each plan with what the challenger raises against it, who is asked here where no run asks: trivial plans."""
    said, name = {}, ""
    for event in static_bench[1]:
        if event.type == "run-started":
            name = Path(event.plan.plan_path).stem
        elif event.type == "call-replied" and event.call_id == "i1/challenger":
            said[name] = event.value
    backend = StaticBackend(REPOSITORY)
    for plan in labelled_plans():
        if plan.name not in said:
            said[plan.name] = asyncio.run(backend.answer(role_request_of("challenger", plan.path.read_text()))).value
    return [(plan, ChallengerAnswer.model_validate(said[plan.name]).challenges) for plan in labelled_plans()]


def test_only_a_plan_that_edits_a_missing_file_is_blocked_and_no_sound_one_is_doubted(answers):
    sound = [raised for plan, raised in answers if plan.kind == "sound"]
    assert len(sound) >= 8
    assert not [one.claim for raised in sound for one in raised]
    assert {plan.kind for plan, raised in answers for one in raised if one.severity == "BLOCKING"} == {"missing-file"}


def test_what_a_look_up_can_find_is_found(answers):
    found = {plan.name for plan, raised in answers if plan.defects and not plan.held_out and raised}
    assert {"excel-export", "statement-timeout", "parcel-weight", "poller-heartbeat"} <= found

"""State is a fold over events, of whole runs and of runs that are cut off."""

from __future__ import annotations

import pytest

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.runlog.cross_state import CrossState, artifact_of, fold_cross
from verifyplan.runs.cross.crossverify import crossverify

AGREE = {"verdict": "agree"}


@pytest.fixture(scope="module")
def run():
    return crossverify(
        [{"finding_id": "F-1", "summary": "s", "worker": "ann", "truth": False}],
        ["ann", "bob", "cy"],
        task_type="implementation-planning",
        plan_items=[{"finding_id": "P-1", "summary": "p"}],
        backend=ScriptedBackend(
            {1: {"ann": {"P-1": AGREE}, "bob": {"P-1": AGREE, "F-1": AGREE}, "cy": {"F-1": AGREE, "P-1": AGREE}}}
        ),
        log_dir=None,
    )


def test_events_add_up_one_by_one_as_all_at_once(run):
    state = CrossState()
    for event in run.events:
        state.add(event)
    assert state == fold_cross(run.events) == fold_cross(iter(run.events))
    assert artifact_of(state) == run.artifact


def test_a_run_that_was_cut_off_folds_but_has_no_artifact(run):
    for length in range(len(run.events)):
        state = fold_cross(run.events[:length])
        assert state.ended is None
        with pytest.raises(ValueError, match="the run has not ended"):
            artifact_of(state)


def test_events_without_their_start_have_no_artifact(run):
    with pytest.raises(ValueError, match="no run-started"):
        artifact_of(fold_cross(run.events[1:]))


def test_truth_is_in_the_events_and_never_in_the_artifact(run):
    assert run.state.groups["findings"]["F-1"].truth is False
    assert "truth" not in str(run.artifact.to_json())


def test_the_two_parts_of_a_run_are_kept_apart(run):
    assert [f.findingId for f in run.artifact.findings] == ["F-1"]
    plan = artifact_of(run.state, "plan-body")
    assert [(f.findingId, f.originWorker, f.consensusWorkers) for f in plan.findings] == [
        ("P-1", None, ("ann", "bob", "cy"))
    ]
    assert [r.inputQueueSize for r in plan.roundHistory or ()] == [1]

"""rule B8: a class that rests on fewer votes than were asked for, and a refutation whose author failed, are seen."""

from __future__ import annotations

import pytest

import verifyplan as vp
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.runset import assemble

AGREE = {"verdict": "agree"}
COUNTER = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "m.py:4 has it"}
BURDEN = {"verdict": "disagree", "disagree_basis": "burden-not-met"}
ROSTER = ["ann", "bob", "cy", "dan"]


def run_of(script, *, adversarial=True, max_rounds=2):
    return vp.crossverify(
        [{"finding_id": "F-1", "summary": "claim", "worker": "ann"}],
        ROSTER,
        settings={"adversarial": adversarial, "maxRounds": max_rounds},
        backend=vp.agents.ScriptedBackend(script),
        log_dir=None,
        progress=False,
    )


def votes(bob, cy, dan):
    return {name: vote if isinstance(vote, str) else {"F-1": vote} for name, vote in
            (("bob", bob), ("cy", cy), ("dan", dan))}  # fmt: skip


SAME = {"basis": "disagree_basis", "round": "round", "explanation": "explanation"}
CASES = {
    "the author of a counter-evidence times out": (votes("timeout", AGREE, AGREE), (1, 1), "full-consensus"),
    "and is left out": (votes({}, AGREE, AGREE), (1, 1), "full-consensus"),
    "it is taken back": (votes(AGREE, AGREE, AGREE), (0, 0), "full-consensus"),
    "it is said again": (votes(COUNTER, AGREE, AGREE), (0, 0), "contested"),
    "another fails": (votes(COUNTER, "error", AGREE), (1, 0), "contested"),
    "its author and another fail": (votes("error", "error", AGREE), (2, 1), "full-consensus"),
}


@pytest.mark.parametrize(("second", "lost", "classification"), CASES.values(), ids=CASES)
def test_what_a_class_does_without_is_told_of_logs_artifacts_and_votes_alike(second, lost, classification):
    run = run_of({1: votes(COUNTER, AGREE, AGREE), 2: second})
    given = run.frames.votes.astype({"disagree_basis": "str", "verdict": "str"})
    imported = vp.from_votes(given, item="finding_id", worker="worker", verdict="verdict", **SAME)
    for tables in (run.frames, assemble([artifact_columns(run.artifact, "r")]), imported):
        [row] = tables.findings[["lost_votes", "lost_refutes"]].to_numpy().tolist()
        assert tuple(row) == lost
    assert run.artifact.findings[0].classification == classification


@pytest.mark.parametrize(
    ("first", "second", "adversarial"),
    [
        (votes(BURDEN, AGREE, COUNTER), votes("error", AGREE, COUNTER), True),
        (votes(COUNTER, BURDEN, AGREE), votes("error", BURDEN, AGREE), False),
    ],
    ids=["a doubt", "no bases"],
)
def test_a_burden_not_met_is_no_counter_evidence_and_collaborative_votes_have_none(first, second, adversarial):
    found = run_of({1: first, 2: second}, adversarial=adversarial).frames.findings
    assert (found["lost_votes"].tolist(), found["lost_refutes"].tolist()) == ([1], [0])


def test_a_finding_that_nobody_was_asked_about_has_lost_nothing():
    found = run_of({}, max_rounds=1).frames.findings
    assert found[["lost_votes", "lost_refutes"]].to_numpy().tolist() == [[3, 0]]
    alone = vp.crossverify([{"finding_id": "F-1", "summary": "claim", "worker": "ann"}], ["ann"],
                           backend=vp.agents.ScriptedBackend({}), log_dir=None, progress=False)  # fmt: skip
    assert alone.frames.findings[["lost_votes", "lost_refutes"]].to_numpy().tolist() == [[0, 0]]

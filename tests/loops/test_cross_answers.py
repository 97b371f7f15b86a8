"""SPEC B4: answers outside their schema, prompt labels, bases, votes that nobody asked for."""

from __future__ import annotations

import math
from typing import Any

import pytest
from crossing import AGREE, BURDEN, COUNTER, DISAGREE, class_of, finding, run_of, told

from verifyplan.rules.ballots import NO_BASIS

OUTSIDE: dict[str, Any] = {
    "nothing": None,
    "a list": [AGREE],
    "a text": "agree",
    "a number": 7,
    "no votes": {},
    "votes in a list": {"votes": [AGREE]},
    "a vote that is text": {"votes": {"F-1": "agree"}},
    "an unknown verdict": {"votes": {"F-1": {"verdict": "maybe"}}},
    "an error as verdict": {"votes": {"F-1": {"verdict": "verification-error"}}},
    "a verdict of another type": {"votes": {"F-1": {"verdict": True}}},
    "an unknown basis": {"votes": {"F-1": {"verdict": "disagree", "disagree_basis": "gut feeling"}}},
    "an extra key in a vote": {"votes": {"F-1": AGREE | {"confidence": 1}}},
    "an extra key beside the votes": {"votes": {"F-1": AGREE}, "notes": "x"},
    "a null explanation": {"votes": {"F-1": AGREE | {"explanation": None}}},
    "one good and one bad vote": {"votes": {"F-1": AGREE, "F-2": {}}},
    "something huge": {"votes": {"x" * 1_000_000: {"y": ["z" * 1_000_000]}}},
}


@pytest.mark.parametrize("value", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_an_answer_outside_its_schema_is_a_failed_dispatch_and_stays_on_record(value):
    good = {"F-1": AGREE}
    run = run_of({1: {"bob": {"raw": value}, "cy": good}})
    assert class_of(run) == "full-consensus"  # by cy's vote alone
    replied = [e.value for e in told(run, "call-replied") if e.call_id == "r1/bob"]
    assert replied == [value]
    [closed] = [e for e in told(run, "dispatch-closed") if e.worker == "bob"]
    assert (closed.status, closed.skipped) == ("error", "error")
    assert "outside its schema" in closed.reason
    assert len(closed.reason) < 500
    types = [e.type for e in run.events]
    assert types.index("call-replied") < types.index("dispatch-closed")
    [vote] = [e for e in told(run, "vote-cast") if e.worker == "bob"]
    assert (vote.verdict, vote.disagree_basis) == ("verification-error", None)
    assert [(s.worker, s.reason) for s in run.artifact.roundHistory[0].skippedWorkers[1:]] == [("bob", "error")]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


NO_JSON: dict[str, Any] = {
    "half a surrogate pair": {"votes": {"F-1": AGREE | {"explanation": "\ud83d"}}},
    "an object": object(),
    "not a number": {"votes": {"F-1": AGREE}, "score": math.nan},
    "nested without end": nested(5000),
}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON.keys())
def test_a_reply_that_no_log_could_hold_is_a_failed_call(value):
    run = run_of({1: {"bob": {"raw": value}, "cy": {"F-1": AGREE}}})
    [failed] = told(run, "call-failed")
    assert (failed.call_id, failed.status) == ("r1/bob", "error")
    assert run.status == "converged"


@pytest.mark.parametrize("write", [str.upper, str.lower, str.title, lambda s: f"  {s}\n"])
def test_prompt_labels_are_verdicts_in_any_case(write):
    labels = {"SURVIVES": "agree", "SURVIVES-WITH-CAVEAT": "supplement", "REFUTED": "disagree"}
    found = [finding(label) for label in labels]
    votes = {label: {"verdict": write(label), "disagree_basis": "counter-evidence"} for label in labels}
    run = run_of({1: {"bob": votes, "cy": votes}}, found, settings={"adversarial": True})
    assert {v.finding_id: v.verdict for v in told(run, "vote-cast")} == labels
    bases = {v.finding_id: v.disagree_basis for v in told(run, "vote-cast")}
    assert bases == {"SURVIVES": None, "SURVIVES-WITH-CAVEAT": None, "REFUTED": "counter-evidence"}


def test_an_adversarial_disagree_without_basis_is_an_error_that_says_so():
    script = {1: {"bob": {"F-1": DISAGREE | {"explanation": "no!"}}, "cy": {"F-1": AGREE}}}
    run = run_of(script, settings={"adversarial": True})
    [one] = run.artifact.findings
    vote = one.rounds[0].votes["bob"]
    assert (vote.verdict, vote.disagreeBasis) == ("verification-error", None)
    assert vote.explanation == f"{NO_BASIS} (it said: no!)"
    assert (one.classification, one.dissentingWorkers) == ("full-consensus", ())


def test_a_collaborative_run_records_no_basis():
    run = run_of({1: {"bob": {"F-1": COUNTER}, "cy": {"F-1": BURDEN}}})
    assert [(v.verdict, v.disagree_basis) for v in told(run, "vote-cast")] == [("disagree", None)] * 2


def test_votes_on_findings_not_asked_about_are_refused_and_never_counted():
    stray = {"raw": {"votes": {"F-1": AGREE, "F-2": DISAGREE, "F-9": DISAGREE}}}
    run = run_of({1: {"ann": {"F-2": AGREE}, "bob": stray, "cy": {"F-1": AGREE, "F-2": AGREE}}},
                 [finding(), finding("F-2", "bob")])  # fmt: skip
    refused = [(r.finding_id, r.worker, r.round) for r in told(run, "vote-refused")]
    assert refused == [("F-2", "bob", 1), ("F-9", "bob", 1)]
    assert class_of(run, "F-2") == "full-consensus"
    assert len(run.frames.votes) == 4

"""rule B4: answers outside their schema, prompt labels, bases, votes that nobody asked for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.runs.crossing import AGREE, BURDEN, COUNTER, DISAGREE, class_of, finding, run_of, told
from verifyplan.errors import SettingsError

OUTSIDE: dict[str, Any] = {
    "nothing": None,
    "a list": [AGREE],
    "a text": "agree",
    "a number": 7,
    "no votes": {},
    "votes in a list": {"votes": [AGREE]},
    "an unknown verdict": {"votes": {"F-1": {"verdict": "maybe"}}},
    "an error as verdict": {"votes": {"F-1": {"verdict": "verification-error"}}},
    "a verdict of another type": {"votes": {"F-1": {"verdict": True}}},
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


READABLE: dict[str, Any] = {
    "a vote that is text": {"votes": {"F-1": "disagree"}},
    "an unknown basis": {"votes": {"F-1": DISAGREE | {"disagree_basis": "gut feeling"}}},
    "an extra key in a vote": {"votes": {"F-1": DISAGREE | {"confidence": 1}}},
    "an extra key beside the votes": {"votes": {"F-1": DISAGREE}, "notes": "x"},
    "a null explanation": {"votes": {"F-1": DISAGREE | {"explanation": None}}},
    "a bad vote beside it": {"votes": {"F-1": DISAGREE, "F-2": {}}},
    "a basis under its other key": {"votes": {"F-1": {"Verdict": "Refuted", "disagreeBasis": "Burden not met"}}},
}


@pytest.mark.parametrize("value", READABLE.values(), ids=READABLE.keys())
def test_a_refutation_is_never_dropped_for_its_form(value):
    found = [finding(), finding("F-2")]
    good = {"F-1": AGREE, "F-2": AGREE}
    run = run_of({1: {"bob": {"raw": value}, "cy": good}}, found, settings={"adversarial": True, "maxRounds": 1})
    votes = {v.finding_id: v.verdict for v in told(run, "vote-cast") if v.worker == "bob"}
    assert votes == {"F-1": "disagree", "F-2": "verification-error"}
    assert [d.status for d in told(run, "dispatch-closed")][1:] == ["completed", "completed"]


def test_one_entry_that_cannot_be_read_is_told_and_costs_the_others_nothing():
    refuted = {"F-1": COUNTER, "F-2": {"verdict": "refutted"}, "F-3": COUNTER}
    found = [finding(name) for name in refuted]
    run = run_of({1: {"bob": refuted, "cy": dict.fromkeys(refuted, AGREE)}}, found, settings={"adversarial": True})
    assert [class_of(run, name) for name in refuted] == ["contested", "full-consensus", "contested"]
    closed = next(d for d in told(run, "dispatch-closed") if d.worker == "bob")
    assert closed.reason == "1 of 3 votes cannot be read; F-2: its verdict 'refutted' is no verdict"
    calls = run.frames.calls.set_index("call_id")
    assert calls.loc["r1/bob", "reason"] == closed.reason
    assert calls["reason"].isna()["r1/cy"]


@pytest.mark.parametrize(
    ("missing_basis", "basis", "classification"),
    [
        ("infer", "counter-evidence", "contested"),
        ("counter-evidence", "counter-evidence", "contested"),
        ("burden-not-met", "burden-not-met", "partial-consensus"),
    ],
)
def test_a_disagree_without_basis_counts_with_the_one_of_the_setting_and_is_marked(
    missing_basis, basis, classification
):
    script = {"bob": {"F-1": DISAGREE | {"explanation": "m.py:4 has it"}}, "cy": {"F-1": AGREE}, "dan": {"F-1": AGREE}}
    run = run_of({1: script, 2: script}, roster="ann bob cy dan", settings={"adversarial": True},
                 missing_basis=missing_basis)  # fmt: skip
    [one] = run.artifact.findings
    vote = one.rounds[0].votes["bob"]
    assert (vote.verdict, vote.disagreeBasis, vote.explanation) == ("disagree", basis, "m.py:4 has it")
    assert (one.classification, one.dissentingWorkers) == (classification, ("bob",))
    table = run.frames.votes.set_index(["round", "worker"])["basis_filled"]
    assert table[1].to_dict() == {"bob": True, "cy": False, "dan": False}
    assert run.started.cross.missing_basis == missing_basis


def test_a_run_that_could_only_raise_at_a_missing_basis_is_refused_before_any_call():
    with pytest.raises(
        SettingsError, match="missing_basis: must be one of 'infer', 'counter-evidence', 'burden-not-met', got 'raise'"
    ):
        run_of({}, missing_basis="raise")


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

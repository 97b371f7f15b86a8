"""rule A10 in a run: six dimensions with evidence, a weighted sum, one audit that never wins."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.runs.plan.acting import USAGE, Acting
from tests.runs.plan.planning import challenge, run_of, scores, told
from verifyplan.protocol.call import Reply
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.rules.scoring import final_score


def run(own, audit=None, **settings):
    script = {"i1/score": own} | ({"i1/audit": audit} if audit else {})
    return run_of(script, silent=True, **{"panel": None, "team": "base"} | settings)


def test_the_final_score_is_the_weighted_sum_of_the_six():
    ended = run(scores(7, approach_soundness=10, risk_coverage=3))
    assert ended.score == final_score(dict.fromkeys(DIMENSIONS, 7) | {"approach_soundness": 10, "risk_coverage": 3})
    assert ended.score == 7
    assert ended.state.iterations[-1].quality_score == 7


def test_a_half_is_rounded_up():
    assert run(scores(7, constraint_alignment=2)).score == 7  # 6.5
    assert run(scores(7, constraint_alignment=1)).score == 6  # 6.4


def test_weights_are_a_setting():
    weights = dict.fromkeys(DIMENSIONS, Decimal(0)) | {"risk_coverage": Decimal(1)}
    assert run(scores(7, risk_coverage=3), weights=weights).score == 3


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"score": 7, "evidence": ""}, "it comes without evidence"),
        ({"score": 7, "evidence": " \n"}, "it comes without evidence"),
        ({"score": 7}, "it comes without evidence"),
        ({"score": 7, "evidence": None}, "it comes without evidence"),
        ({"score": 0, "evidence": "C1"}, "the score is no whole number from 1 to 10"),
        ({"score": 11, "evidence": "C1"}, "the score is no whole number from 1 to 10"),
        ({"score": 7.0, "evidence": "C1"}, "the score is no whole number from 1 to 10"),
        ({"score": "7", "evidence": "C1"}, "the score is no whole number from 1 to 10"),
        ({"score": True, "evidence": "C1"}, "the score is no whole number from 1 to 10"),
        ({"score": 10**30, "evidence": 3}, "it comes without evidence; the score is no whole number from 1 to 10"),
        (None, "is missing"),
    ],
)
def test_a_score_that_does_not_count_is_refused_and_the_final_is_null(given, reason):
    own = scores(7, risk_coverage=None)
    if given is not None:
        own["scores"]["risk_coverage"] = given
    ended = run(own)
    refused = [one for one in told(ended, "score-refused") if one.by == "synthesizer"]
    assert [(one.dimension, one.reason) for one in refused] == [("risk_coverage", reason)]
    assert (ended.score, ended.verdict) == (None, "PROCEED")
    assert len([one for one in told(ended, "score-given") if one.by == "synthesizer"]) == 5


def test_a_dimension_that_does_not_exist_is_refused_and_takes_nothing_away():
    own = scores(7)
    own["scores"]["style"] = {"score": 1, "evidence": "C1"}
    ended = run(own)
    assert [(one.dimension, one.reason) for one in told(ended, "score-refused") if one.by == "synthesizer"] == [
        ("style", "is no dimension")
    ]
    assert ended.score == 7


def test_differences_of_two_or_more_are_disputed_and_neither_wins():
    ended = run(scores(7), scores(7, risk_coverage=5, unknowns_coverage=8, constraint_alignment=9))
    assert [(one.dimension, one.synthesizer, one.challenger) for one in ended.state.disputes] == [
        ("risk_coverage", 7, 5), ("constraint_alignment", 7, 9)
    ]  # fmt: skip
    assert ended.score == 7
    reasons = {(one.by, one.dimension): one.evidence for one in ended.state.scores}
    assert reasons["synthesizer", "risk_coverage"] == reasons["challenger", "risk_coverage"] == "C1"


def test_an_audit_of_some_dimensions_disputes_those():
    ended = run(scores(7), {"scores": {"risk_coverage": {"score": 2, "evidence": "P1"}}})
    assert [one.dimension for one in ended.state.disputes] == ["risk_coverage"]


def test_a_difference_is_reported_where_there_is_no_final_score():
    ended = run(scores(7, approach_soundness=None), scores(7, risk_coverage=4))
    assert ended.score is None
    assert [one.dimension for one in ended.state.disputes] == ["risk_coverage"]


def test_scores_are_computed_once_on_the_final_iteration():
    script = {"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}
    script |= {f"i{n}/{role}": scores(n) for n in (1, 2, 3) for role in ("score", "audit")}
    ended = run_of(script, silent=True, panel=None)
    assert [e.call_id for e in told(ended, "call-requested") if e.call_id[3:] in ("score", "audit")] == [
        "i3/score", "i3/audit"
    ]  # fmt: skip
    assert (ended.score, ended.verdict) == (3, "RETHINK")


@pytest.mark.parametrize("ends", [{"on_blocked": "pause"}, {"on_blocked": lambda _: "abort"}, {"max_tokens": 1}])
def test_runs_that_pause_abort_or_fail_have_no_score(ends):
    raised = {"challenges": [challenge(severity="BLOCKING")]}
    backend = Acting(lambda request: Reply(value=raised if request.role == "challenger" else {}, usage=USAGE))
    ended = run_of({}, backend=backend, panel=None, **ends)
    assert (ended.score, ended.state.scores) == (None, [])


def test_the_auditor_does_not_see_the_scores():
    told_to = {}
    own = {name: {"score": 7, "evidence": "plugh"} for name in DIMENSIONS}

    def play(request):
        told_to[request.role] = request.model_dump_json()
        return (
            {"scores": own} if request.role == "score" else {"challenges": []} if request.role == "challenger" else {}
        )

    assert run_of({}, backend=Acting(play), panel=None).score == 7
    assert "plugh" not in told_to["audit"]

"""rules A1, A2, A5, A6, A8, A10 and A12: records, changes of status, caps, teams, scores, budgets."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.records import (
    DIMENSIONS,
    PROBABILITIES,
    SEVERITIES,
    STATUSES,
    IterationState,
    ProbedRisk,
    Unknown,
)
from verifyplan.rules.budgets import LIMITS, OTHERS, Budget, refusal, web_refusal
from verifyplan.rules.guards import MAX_ACTIVE, OVERFLOW_TAG, Arrival, admit, cap, degraded
from verifyplan.rules.lifecycle import NEXT, rests_on_evidence, transition_refusal
from verifyplan.rules.scoring import WEIGHTS, audit, check_weights, final_score
from verifyplan.rules.sizing import Signs, complexity, team

RISK = {"id": "P1", "risk": "r", "trigger": "", "cascade": "", "probability": "LOW", "severity": "MINOR"}


@pytest.mark.parametrize("reference", [None, "null"])
def test_no_reference_is_read_in_both_forms_and_written_as_null(reference):
    assert ProbedRisk(**RISK, generates_challenge=reference).model_dump()["generates_challenge"] is None
    assert ProbedRisk(**RISK, generates_challenge="C12").generates_challenge == "C12"


@pytest.mark.parametrize(
    ("changes", "place"),
    [({"id": "P0"}, "id"), ({"id": "P1\n"}, "id"), ({"generates_challenge": "P3"}, "generates_challenge"),
     ({"probability": "HIGH"}, "probability"), ({"rank": 1}, "rank"), ({"risk": None}, "risk")],
)  # fmt: skip
def test_records_are_closed(changes, place):
    with pytest.raises(ValidationError) as raised:
        ProbedRisk(**(RISK | changes))
    assert raised.value.errors()[0]["loc"][0] == place


def test_an_unknown_has_no_answer_until_it_is_given():
    asked = Unknown(id="U1", description="", type="FILE_MISSING", affects_challenge="C1", suggested_query="")
    assert (asked.resolution, asked.finding) == (None, None)


def test_an_iteration_state_has_the_fields_of_document_000():
    state = IterationState(
        iteration=1, plan_path="/p.md", plan_quality="RICH", team_mode="base",
        convergence={"blocking_open": 0, "significant_open": 0, "status": "CONVERGED"},
    )  # fmt: skip
    assert list(state.model_dump()) == [
        "iteration", "plan_path", "plan_quality", "team_mode", "challenges", "unknowns", "surfaced_contexts",
        "probed_risks", "convergence", "user_responses", "synthesizer_directives", "quality_score",
    ]  # fmt: skip


@given(*(st.sampled_from(values) for values in (SEVERITIES, STATUSES, STATUSES)), st.sampled_from(["", " ", "a.py:3"]))
def test_a_change_is_legal_or_says_why_not(severity, old, new, resolution):
    legal = new in NEXT[old] and not (new == "DEFERRED" and severity != "MINOR") and bool(resolution.strip())
    assert bool(transition_refusal(severity, old, new, resolution)) is not legal


@pytest.mark.parametrize(
    ("resolution", "evidence"),
    [("[VERIFIED: a.py | has it | none]", True), ("as U3 says", True), ("as u3 says", True), ("see lib/x.go:12", True),
     ("User decision: go on", False), ("it is fine", False), ("[VERIFIED]", False), ("C0", False), ("C1", False),
     ("as U4 says", False)],
)  # fmt: skip
def test_evidence_is_a_place_a_finding_or_an_id_of_something_else(resolution, evidence):
    assert rests_on_evidence(resolution, "C1", {"C1", "U3"}) is evidence


arrivals = st.lists(
    st.builds(Arrival, st.sampled_from(SEVERITIES), st.sampled_from([*PROBABILITIES, None])), max_size=9
)


@given(arrivals, st.integers(0, 12), st.integers(0, 5))
def test_admission_fills_the_room_with_the_worst_and_loses_nothing(new, active, limit):
    kept, overflow = admit(new, active, limit)
    assert sorted(kept + overflow) == list(range(len(new)))
    assert len(kept) == min(len(new), limit, max(0, MAX_ACTIVE - active))
    if kept and overflow:
        worst_left = min(SEVERITIES.index(new[i].severity) for i in overflow)
        assert max(SEVERITIES.index(new[i].severity) for i in kept) <= worst_left


def test_caps_by_source_iteration_and_degradation():
    assert [cap("challenger", n) for n in (1, 2, 3)] == [5, 3, 3]
    assert [cap(o, 2) for o in ("surfaced", "probed", "domain-expert", "devils-advocate")] == [2, 2, 3, 2]
    assert [cap(o, 2, tightened=True) for o in ("challenger", "surfaced", "probed")] == [1, 0, 0]
    assert all(tag.startswith("DEFERRED_") for tag in OVERFLOW_TAG.values())
    assert [degraded(1, 9, 0), degraded(2, 1, 1), degraded(3, 2, 1)] == [False, False, True]


scores = st.fixed_dictionaries({name: st.integers(1, 10) for name in DIMENSIONS})


@given(scores)
def test_the_final_score_is_the_exact_sum_rounded_half_up(given_scores):
    exact = sum(Fraction(WEIGHTS[name]) * given_scores[name] for name in DIMENSIONS)
    assert final_score(given_scores) == int(exact + Fraction(1, 2))  # floor, as it is positive


@given(scores, scores)
def test_an_audit_is_symmetric_and_reports_differences_of_two(own, other):
    assert audit(own, other) == audit(other, own) == [n for n in DIMENSIONS if abs(own[n] - other[n]) >= 2]


def test_weights_are_exact_and_checked_as_a_whole():
    thirds = dict.fromkeys(DIMENSIONS, "0") | {"risk_coverage": "0.5", "assumption_validity": Decimal("0.5")}
    assert sum(check_weights(thirds).values()) == 1
    with pytest.raises(SettingsError) as raised:
        check_weights({"risk_coverage": 0.5, "beauty": "-1"})
    places = [problem.place for problem in raised.value.problems]
    assert places[:2] == ["weights.beauty", "weights.approach_soundness"]
    assert "weights.risk_coverage" in places
    with pytest.raises(SettingsError, match=r"weights: sum to 0\.9"):
        check_weights(dict.fromkeys(DIMENSIONS, "0.15"))


@pytest.mark.parametrize("bad", [0, 11, 7.0, True, "7"])
def test_scores_are_whole_numbers_from_1_to_10(bad):
    with pytest.raises(InputError, match=r"scores\.risk_coverage: .* is not a score"):
        final_score(dict.fromkeys(DIMENSIONS, 7) | {"risk_coverage": bad})


LARGE = Signs(steps=9, domains=9, integrations=9, compliance=True, unknown_signals=9, referenced_files=99)
NOTHING = Signs(0, 0, 0, False, 0, 0)


def test_each_factor_has_its_ceiling():
    assert (complexity(NOTHING), complexity(LARGE)) == (0, 16)
    ceilings = {"steps": 3, "domains": 3, "integrations": 4, "unknown_signals": 3, "referenced_files": 1}
    assert {name: complexity(NOTHING._replace(**{name: 99})) for name in ceilings} == ceilings


def test_who_wins_over_whom_in_sizing_a_team():
    assert team(LARGE, "RICH", trivial=True) is None
    assert team(NOTHING, "THIN", trivial=True, team="base") == "base"
    assert team(LARGE, "THIN") == "base"
    assert team(LARGE, "THIN", team="scaled") == "scaled"
    assert team(NOTHING._replace(unknown_signals=4), "RICH") == "scaled"
    assert team(NOTHING._replace(unknown_signals=3), "RICH") == "base"
    assert [team(NOTHING._replace(steps=3), "RICH", threshold=n) for n in (3, 4)] == ["scaled", "base"]
    with pytest.raises(SettingsError, match="team: 'huge' is unknown"):
        team(LARGE, "RICH", team="huge")


@pytest.mark.parametrize(("mode", "totals"), [("resolve", 21), ("surface", 11), ("probe", 10)])
def test_the_ceilings_of_document_000(mode, totals):
    assert sum(LIMITS[mode].values()) == totals


TOTALS = {"Read": 14, "Grep": 13, "memory_search": 8, "WebSearch": 4, "WebFetch": 2}


def test_the_ceilings_of_all_modes_together():
    """Document 000 §9, combined totals; git log stands in mode 2 alone."""
    together = {tool: sum(limits.get(tool, 0) for limits in LIMITS.values()) for tool in TOOLS}
    assert together == TOTALS | {"git_log": 1}


@given(st.sampled_from(list(LIMITS)), st.booleans(), st.lists(st.sampled_from(TOOLS), max_size=60))
def test_no_order_of_calls_gets_more_than_the_budget(mode, memory, calls):
    budget, used = Budget(LIMITS[mode], memory), dict.fromkeys(TOOLS, 0)
    for tool in calls:
        if not refusal(tool, used, budget):
            used[tool] += 1
    assert sum(used.values()) <= sum(LIMITS[mode].values())
    assert used["memory_search"] <= (LIMITS[mode]["memory_search"] if memory else 0)
    assert all(used[tool] <= LIMITS[mode].get(tool, 0) for tool in TOOLS)


def test_a_grant_adds_calls_and_a_tool_that_is_not_given_says_so():
    granted = Budget(OTHERS, memory=True, granted={"Grep": 2})
    assert refusal("Grep", {"Grep": 6}, granted) == ""
    assert refusal("Grep", {"Grep": 7}, granted) == "Grep is used up: 7 of 7 calls in this iteration"
    assert refusal("WebFetch", {}, granted) == "WebFetch is not among this agent's tools"
    assert "no memory is configured" in refusal("memory_search", {}, Budget(LIMITS["probe"]))


@pytest.mark.parametrize(
    ("mode", "serves", "unknown", "temporal", "allowed"),
    [("resolve", "U1", "API_BEHAVIOR", False, True), ("resolve", "U1", "PRIOR_DECISION", False, False),
     ("probe", "P1", None, True, True), ("probe", "P1", None, False, False),
     ("surface", "S1", None, True, False), ("resolve", " ", "API_BEHAVIOR", False, False)],
)  # fmt: skip
def test_what_may_be_asked_of_the_web(mode, serves, unknown, temporal, allowed):
    assert (web_refusal(mode, serves, unknown, temporal) == "") is allowed


@pytest.mark.parametrize("text", ["1e10000000", "1E-10000000", "0." + "1" * 500, Decimal("1e999999")])
def test_a_weight_that_would_take_ages_to_expand_is_refused(text):
    with pytest.raises(SettingsError, match="is not an exact decimal"):
        check_weights(dict(WEIGHTS) | {"risk_coverage": text})

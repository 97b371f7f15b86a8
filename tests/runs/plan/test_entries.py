"""rule A11: a list is read entry by entry; a bad entry is refused and recorded, and costs the others nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.plan.planning import WORDS, answer, challenge, change, context, risk, run_of, told, unknown
from verifyplan.protocol.role_call import ChallengerAnswer
from verifyplan.rules.answers import read_entries

BAD = challenge("clock", "CRITICAL")
FIVE = [challenge(word, "BLOCKING") for word in WORDS[:5]]


def run(script, **settings):
    return run_of(script, silent=True, **{"panel": None, "team": "base", "max_iterations": 1} | settings)


def test_one_bad_entry_among_five_blocking_ones_loses_itself_alone():
    ended = run({"i1/challenger": {"challenges": [*FIVE[:2], BAD, *FIVE[2:4]]}})
    [refused] = told(ended, "entry-refused")
    assert (refused.call_id, refused.agent, refused.field, refused.position) == (
        "i1/challenger", "challenger", "challenges", 3
    )  # fmt: skip
    assert refused.reason == "severity: Input should be 'BLOCKING', 'SIGNIFICANT' or 'MINOR', got 'CRITICAL'"
    assert [one.claim for one in ended.state.pool] == [one["claim"] for one in FIVE[:4]]
    assert (ended.verdict, ended.state.failures) == ("RETHINK", [])


def test_a_severity_is_read_in_any_case():
    spelt = challenge("clock", "BLOCKING") | {"severity": " Blocking", "confidence": "high"}
    ended = run({"i1/challenger": {"challenges": [spelt, challenge("store", "MINOR")]}})
    assert next((one.severity, one.confidence) for one in ended.state.pool) == ("BLOCKING", "HIGH")
    assert (ended.verdict, told(ended, "entry-refused")) == ("RETHINK", [])


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("i1/challenger", {"challenges": [BAD, {"claim": "x"}]}),
        ("i1/challenger", {"challenges": [BAD], "unknowns": [unknown("store")]}),
        ("i1/challenger", {"challenges": [], "unknowns": [{"type": "?"}]}),
        ("i1/surface", {"contexts": [None]}),
        ("i1/synthesizer", {"changes": [{"challenge": "C1", "status": "DONE"}], "promotions": ["C6"]}),
    ],
)
def test_an_answer_with_entries_of_which_none_can_be_used_is_a_failure(call, value):
    ended = run({"i1/challenger": {"challenges": FIVE}, call: value})
    assert [one.call_id for one in ended.state.failures] == [call]
    assert told(ended, "entry-refused") == []


def test_an_answer_without_entries_is_none_refused():
    ended = run({"i1/challenger": {"challenges": [], "unknowns": []}})
    assert (ended.state.failures, ended.verdict) == ([], "PROCEED")


def test_numbered_references_mean_the_entries_as_they_were_written():
    listed = [unknown("store", "#3"), unknown("table", "#2")]
    ended = run({"i1/challenger": {"challenges": [FIVE[0], BAD, FIVE[1]], "unknowns": listed}})
    assert [one.affects_challenge for one in ended.state.unknowns.values()] == ["C2", None]


def test_a_bad_challenge_within_a_context_or_risk_is_refused_alone_and_still_owed():
    found = context("clock", "contradicts_plan", challenge=BAD)
    probed = risk("quota", "BLOCKING", challenge={"claim": 3})
    ended = run({"i1/surface": {"contexts": [found]}, "i1/probe": {"risks": [probed, {"risk": 1}]}})
    assert [(one.field, one.position, one.part) for one in told(ended, "entry-refused")] == [
        ("contexts", 1, "challenge"), ("risks", 1, "challenge"), ("risks", 2, "")
    ]  # fmt: skip
    raised = told(ended, "challenge-raised")
    assert [(one.raised_by, one.owed) for one in raised] == [("S1", True), ("P1", True)]


@pytest.mark.parametrize(
    ("call", "value", "counts"),
    [
        ("i1/resolver", {"answers": [answer("U1", "MAYBE"), answer("U2", "CONFIRMED")]},
         lambda s: s.unknowns["U2"].resolution == "CONFIRMED" and s.unknowns["U1"].resolution == "UNRESOLVABLE"),
        ("i1/synthesizer", {"changes": [change("C1", "DONE"), change("C2", "RESOLVED")]},
         lambda s: [s.challenges[name].status for name in ("C1", "C2")] == ["OPEN", "RESOLVED"]),
        ("i1/synthesizer", {"changes": [{"challenge": 3, "status": "RESOLVED"}, change("C2", "RESOLVED")]},
         lambda s: [s.challenges[name].status for name in ("C1", "C2")] == ["OPEN", "RESOLVED"]),
        ("i1/synthesizer", {"changes": [], "directives": [{"kind": "SING"}, {"kind": "FOCUS", "note": "x"}]},
         lambda s: len(s.directives[1]) == 1),
        ("i1/challenger", {"challenges": FIVE[:2], "unknowns": [{"type": "?"}, unknown("store")]},
         lambda s: list(s.unknowns) == ["U1"] and len(s.pool) == 2),
    ],
)  # fmt: skip
def test_every_list_is_read_so(call, value, counts):
    script = {"i1/challenger": {"challenges": FIVE[:2], "unknowns": [unknown("store"), unknown("table")]}}
    ended = run(script | {call: value}, max_iterations=2)
    assert counts(ended.state)
    assert len(told(ended, "entry-refused")) == 1
    assert ended.state.failures == []


def test_the_table_of_calls_says_what_was_refused():
    calls = run({"i1/challenger": {"challenges": [FIVE[0], BAD]}}).frames.calls.set_index("call_id")
    assert calls.loc["i1/challenger", "reason"].startswith("1 of its entries refused, the first at challenges/2: ")


@given(st.lists(st.sampled_from([None, 3, "x", [], {}, BAD, {"claim": "x"}]), max_size=8), st.data())
def test_bad_entries_never_change_what_the_good_ones_say(bad, data):
    mixed = data.draw(st.permutations([*FIVE, *bad]))
    read = read_entries(ChallengerAnswer, {"challenges": mixed})
    alone = read_entries(ChallengerAnswer, {"challenges": [one for one in mixed if one in FIVE]})
    assert read.answer == alone.answer
    assert [one.position for one in read.refused] == [n for n, one in enumerate(mixed, 1) if one not in FIVE]

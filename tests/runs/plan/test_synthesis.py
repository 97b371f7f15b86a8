"""rules A2 and A7 in a run: what the synthesizer may change, and which of its directives are carried out."""

from __future__ import annotations

import pytest

from tests.runs.plan.planning import answer, challenge, change, context, run_of, told, unknown
from verifyplan.runs.plan.pauses import Answer

BLOCKING = challenge("locks", "BLOCKING")


def settled(*changes, severity="SIGNIFICANT", second=(), **settings):
    """A run with C1 of this severity and C2, which blocks; what the synthesizer changes in iterations 1 and 2."""
    script = {
        "i1/challenger": {"challenges": [challenge("rows", severity), BLOCKING]},
        "i1/synthesizer": {"changes": list(changes)},
        "i2/synthesizer": {"changes": list(second)},
    }
    return run_of(script, silent=True, **{"panel": None, "team": "base", "max_iterations": 2} | settings)


@pytest.mark.parametrize(
    ("severity", "status", "legal"),
    [
        ("SIGNIFICANT", "RESOLVED", True), ("SIGNIFICANT", "UNRESOLVED", True), ("SIGNIFICANT", "WITHDRAWN", True),
        ("SIGNIFICANT", "DEFERRED", False), ("BLOCKING", "DEFERRED", False), ("MINOR", "DEFERRED", True),
        ("MINOR", "OPEN", False),
    ],
)  # fmt: skip
def test_what_open_may_become(severity, status, legal):
    run = settled(change("C1", status), severity=severity)
    assert run.state.challenges["C1"].status == (status if legal else "OPEN")
    assert len(told(run, "status-refused")) == (not legal)


@pytest.mark.parametrize(
    ("first", "second", "legal"),
    [
        ("UNRESOLVED", "RESOLVED", True), ("UNRESOLVED", "WITHDRAWN", True), ("UNRESOLVED", "DEFERRED", True),
        ("UNRESOLVED", "OPEN", False), ("UNRESOLVED", "UNRESOLVED", False), ("RESOLVED", "UNRESOLVED", False),
        ("RESOLVED", "WITHDRAWN", False), ("WITHDRAWN", "RESOLVED", False), ("DEFERRED", "RESOLVED", False),
        ("DEFERRED", "OPEN", False),
    ],
)  # fmt: skip
def test_three_statuses_are_final_and_unresolved_is_not(first, second, legal):
    run = settled(change("C1", first), severity="MINOR", second=[change("C1", second, "see b.py:1")])
    assert run.state.challenges["C1"].status == (second if legal else first)
    assert [(one.id, one.new) for one in told(run, "status-refused")] == ([] if legal else [("C1", second)])


def test_changes_of_one_answer_are_made_in_order():
    run = settled(change("C1", "UNRESOLVED"), change("C1", "RESOLVED", "see c.py:9"), change("C1", "WITHDRAWN"))
    assert [(one.old, one.new) for one in run.state.moves] == [("OPEN", "UNRESOLVED"), ("UNRESOLVED", "RESOLVED")]
    assert run.state.challenges["C1"].resolution == "see c.py:9"
    [refused] = told(run, "status-refused")
    assert refused.reason == "RESOLVED can become nothing: it is final; not WITHDRAWN"


@pytest.mark.parametrize("resolution", ["", "  ", "\n\t"])
def test_a_change_without_a_resolution_is_refused(resolution):
    run = settled(change("C1", "RESOLVED", resolution))
    assert [one.reason for one in told(run, "status-refused")] == ["a change needs a resolution, and this one is blank"]
    assert run.state.challenges["C1"].status == "OPEN"


@pytest.mark.parametrize(
    ("resolution", "uncited"),
    [
        ("trust me", True),
        ("as C2 says", False),
        ("b.py:3", False),
        ("[VERIFIED: b.py | it locks | none]", False),
        ("[VERIFIED: ]", True),
        ("C1 is no risk", True),
        ("U99 settles it", True),
    ],
)
def test_a_resolution_that_cites_nothing_is_kept_and_flagged(resolution, uncited):
    [move] = settled(change("C1", "RESOLVED", resolution)).state.moves
    assert (move.resolution, move.uncited, move.by) == (resolution, uncited, "synthesizer")


@pytest.mark.parametrize("name", ["C99", "", "c1", "U1", "C1 "])
def test_what_does_not_exist_cannot_change(name):
    run = settled(change(name, "RESOLVED"))
    assert [(one.id, one.reason) for one in told(run, "status-refused")] == [(name, "there is no such challenge")]


def test_what_is_in_overflow_cannot_change():
    raised = [challenge(word) for word in ("locks", "rows", "order", "retries", "backup", "index")]
    script = {"i1/challenger": {"challenges": raised}, "i1/synthesizer": {"changes": [change("C6", "RESOLVED")]}}
    run = run_of(script, silent=True, panel=None, max_iterations=1)
    assert [one.reason for one in told(run, "status-refused")] == ["it is in overflow"]
    assert run.state.challenges["C6"].status == "OPEN"


# ---- directives

CASCADE = {"kind": "RE-PROBE", "trigger": "unexplored-cascade", "items": ["C1"]}


def directed(*directives, iteration=1, script=None, **settings):
    """A run in which C1 is UNRESOLVED and C2 stays; what became of the directives of one iteration."""
    given = {
        "i1/challenger": {"challenges": [challenge("rows", "BLOCKING"), BLOCKING]},
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED")]},
    } | (script or {})
    given[f"i{iteration}/synthesizer"] = given.get(f"i{iteration}/synthesizer", {}) | {"directives": list(directives)}
    run = run_of(given, silent=True, **{"panel": None, "team": "base"} | settings)
    reasons = [event.reason for event in told(run, "directive-refused") if event.iteration == iteration]
    return run, reasons


def called(run, call):
    return call in [event.call_id for event in told(run, "call-requested")]


def test_a_re_probe_runs_mode_3_and_a_re_sweep_mode_2():
    run, reasons = directed(CASCADE)
    assert (reasons, called(run, "i2/probe"), called(run, "i2/surface")) == ([], True, False)
    script = {
        "i1/surface": {"contexts": [context("clock")]},
        "i2/challenger": {"challenges": [challenge("tiger", "BLOCKING")]},
    }
    sweep = {"kind": "RE-SWEEP", "trigger": "blocking-contradicts-context", "items": ["C3", "S1"]}
    run, reasons = directed(sweep, iteration=2, script=script)
    assert (reasons, called(run, "i3/surface"), called(run, "i3/probe")) == ([], True, False)


def test_a_context_that_came_up_in_the_same_iteration_was_not_surfaced_before():
    sweep = {"kind": "RE-SWEEP", "trigger": "blocking-contradicts-context", "items": ["C2", "S1"]}
    reasons = directed(sweep, script={"i1/surface": {"contexts": [context("clock")]}})[1]
    assert reasons == ["it names no context that was surfaced in an earlier iteration"]


def test_a_new_dependency_chain_rests_on_an_unknown_that_was_answered_now():
    chain = {"kind": "RE-PROBE", "trigger": "new-dependency-chain", "items": ["U1"]}
    first = {"challenges": [challenge("rows", "BLOCKING"), BLOCKING], "unknowns": [unknown("store")]}
    script = {"i1/challenger": first, "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]}}
    assert directed(chain, script=script)[1] == []
    told_now = "it names no unknown that was answered in this iteration"
    assert directed(chain, script=script, iteration=2)[1] == [told_now]
    assert directed(chain, script={"i1/challenger": first})[1] == [told_now]  # UNRESOLVABLE


def test_what_a_person_says_may_call_for_a_new_sweep():
    scope = {"kind": "RE-SWEEP", "trigger": "user-changed-scope"}
    assert directed(scope)[1] == ["no person gave context in this iteration"]
    said = iter([Answer("context", None, "the old store stays")])
    run, reasons = directed(scope, iteration=2, on_blocked=lambda _: next(said, "abort"))
    assert reasons == []
    assert run.outcome.ended_by == "user"


@pytest.mark.parametrize(
    "directive", [CASCADE, {"kind": "FOCUS", "note": "x"}, {"kind": "CONSULT", "role": "domain-expert"}]
)
def test_at_the_last_iteration_every_directive_is_refused(directive):
    run, reasons = directed(directive, max_iterations=1)
    assert reasons == ["no iteration follows: this is number 1 of 1"]
    assert run.state.iterations[0].synthesizer_directives == ()


def test_open_to_unresolved_is_no_progress_and_a_probe_may_follow():
    """rule A7: only what was RESOLVED, DEFERRED or WITHDRAWN makes research needless."""
    both = {"i1/synthesizer": {"changes": [change("C1", "UNRESOLVED"), change("C2", "UNRESOLVED")]}}
    run, reasons = directed(CASCADE, script=both)
    assert (reasons, called(run, "i2/probe")) == ([], True)


def test_where_only_minor_items_remain_nothing_is_swept_again():
    minor = {
        "i1/challenger": {"challenges": [challenge("rows", "MINOR"), challenge("index", "MINOR")]},
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED")]},
    }
    assert directed(CASCADE, script=minor)[1] == ["only MINOR items remain"]


def test_a_consultation_calls_who_is_named_once():
    run, reasons = directed({"kind": "CONSULT", "role": "devils-advocate"}, {"kind": "CONSULT", "role": "probe"})
    assert reasons == ["CONSULT names 'probe'; it can name domain-expert or devils-advocate"]
    assert [called(run, f"i{n}/devils-advocate") for n in (1, 2, 3)] == [False, True, False]
    assert not called(run, "i2/domain-expert")


def test_directives_that_are_issued_stand_in_the_iteration_state():
    run, _ = directed(CASCADE, {"kind": "GRANT", "role": "cook", "tools": {"Read": 1}})
    assert run.state.iterations[0].synthesizer_directives == ("RE-PROBE: unexplored-cascade: C1",)

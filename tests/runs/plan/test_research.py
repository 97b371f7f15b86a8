"""rules A1, A5, A7 in a run: unknowns, surfaced contexts, probed risks, and what is said twice."""

from __future__ import annotations

import pytest

from tests.runs.plan.planning import answer, challenge, change, context, risk, run_of, told, unknown
from verifyplan.runlog.plan_state import fold_plan

BLOCKING = challenge("locks", "BLOCKING")


def run(script, **settings):
    return run_of(script, silent=True, **{"panel": None, "team": "base"} | settings)


def called(given, role):
    return [event.call_id for event in told(given, "call-requested") if event.call_id.endswith(f"/{role}")]


def test_no_unknowns_no_call_of_the_resolver():
    assert called(run({"i1/challenger": {"challenges": [BLOCKING]}}), "resolver") == []


def test_the_resolver_is_called_as_long_as_something_is_not_settled():
    script = {
        "i1/challenger": {"challenges": [BLOCKING], "unknowns": [unknown("store"), unknown("table")]},
        "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "PARTIALLY_RESOLVED")]},
        "i2/resolver": {"answers": [answer("U2", "REFUTED")]},
    }
    assert called(run(script), "resolver") == ["i1/resolver", "i2/resolver"]


def test_an_unknown_that_the_resolver_leaves_out_is_unresolvable():
    given = run(
        {"i1/challenger": {"unknowns": [unknown("store")]}, "i1/resolver": {"answers": [answer("U7", "REFUTED")]}}
    )
    assert [(one.resolution, one.finding) for one in given.state.unknowns.values()] == [("UNRESOLVABLE", None)]


@pytest.mark.parametrize("finding", ["yes", "[VERIFIED]", "[VERIFIED: a.py | it is so]", "[VERIFIED: a|b|c] and more"])
def test_a_finding_has_the_form_of_document_000(finding):
    script = {"i1/challenger": {"unknowns": [unknown("store")]}}
    script["i1/resolver"] = {"answers": [answer("U1", "CONFIRMED", finding)]}
    assert [failure.agent for failure in run(script).state.failures] == ["resolver"]


def test_an_unknown_refers_to_a_challenge_of_its_own_answer_or_to_none():
    raised = [challenge("rows"), challenge("locks")]
    listed = [unknown(f"store{n}", to) for n, to in enumerate(["#2", "#9", "C1", "C7", None, ""])]
    given = run({"i1/challenger": {"challenges": raised, "unknowns": listed}}, max_iterations=1)
    assert [one.affects_challenge for one in given.state.unknowns.values()] == ["C2", None, "C1", None, None, None]


def test_an_unknown_that_is_asked_again_is_merged():
    listed = [unknown("store"), unknown("store"), unknown("table")]
    given = run({"i1/challenger": {"unknowns": listed}})
    assert list(given.state.unknowns) == ["U1", "U2"]
    assert [(one.what, one.into) for one in given.state.restated] == [("unknown", "U1")]


@pytest.mark.parametrize("impact", ["changes_needed", "confirms_approach", "contradicts_plan"])
def test_a_context_that_contradicts_the_plan_must_raise_a_challenge(impact):
    given = run({"i1/surface": {"contexts": [context("clock", impact)]}}, max_iterations=1)
    must = impact == "contradicts_plan"
    assert given.state.contexts["S1"].generates_challenge == ("C1" if must else None)
    assert [(one.challenge.origin, one.owed, one.raised_by) for one in given.state.raised.values()] == (
        [("surfaced", True, "S1")] if must else []
    )


@pytest.mark.parametrize("severity", ["BLOCKING", "SIGNIFICANT", "MINOR"])
def test_a_risk_of_significant_or_more_must_raise_a_challenge(severity):
    given = run({"i1/probe": {"risks": [risk("quota", severity)]}}, max_iterations=1)
    raised = [(one.challenge.severity, one.owed, one.probability) for one in given.state.raised.values()]
    assert raised == ([] if severity == "MINOR" else [(severity, True, "MED")])
    assert given.state.risks["P1"].generates_challenge == (None if severity == "MINOR" else "C1")


def test_the_agents_own_challenge_stands_where_it_gives_one():
    given = run({"i1/probe": {"risks": [risk("quota", "BLOCKING", challenge=challenge("quota", "MINOR"))]}})
    [raised] = given.state.raised.values()
    assert (raised.owed, raised.challenge.severity, raised.raised_by) == (False, "MINOR", "P1")


def test_what_must_be_raised_and_does_not_fit_goes_to_overflow():
    contexts = [context(word, "contradicts_plan") for word in ("clock", "quota", "cache")]
    given = run({"i1/surface": {"contexts": contexts}}, max_iterations=1)
    assert [one.generates_challenge for one in given.state.contexts.values()] == ["C1", "C2", "C3"]
    assert {name: one.tag for name, one in given.state.overflow.items()} == {"C3": "DEFERRED_SURFACED"}


# ---- what is said twice


def test_a_challenge_that_is_raised_again_is_merged_into_the_first():
    script = {
        "i1/challenger": {"challenges": [BLOCKING, BLOCKING]},
        "i2/challenger": {"challenges": [BLOCKING, challenge("locks", "MINOR"), challenge("rows")]},
    }
    given = run(script, max_iterations=2)
    assert list(given.state.challenges) == ["C1", "C2"]
    assert [(one.iteration, one.into) for one in given.state.restated] == [(1, "C1"), (2, "C1"), (2, "C1")]


def test_what_was_raised_as_something_milder_is_raised_anew():
    script = {
        "i1/challenger": {"challenges": [challenge("locks", "MINOR"), BLOCKING, BLOCKING]},
        "i1/surface": {"contexts": [context("clock", "contradicts_plan", challenge=challenge("locks"))]},
    }
    given = run(script, max_iterations=1)
    assert [(one.id, one.severity) for one in given.state.pool] == [("C1", "MINOR"), ("C2", "BLOCKING")]
    assert [one.into for one in given.state.restated] == ["C2", "C2"]
    assert given.state.contexts["S1"].generates_challenge == "C2"
    assert given.verdict == "RETHINK"


@pytest.mark.parametrize("status", ["RESOLVED", "WITHDRAWN"])
def test_what_was_settled_and_is_raised_again_stays_settled(status):
    script = {
        "i1/challenger": {"challenges": [BLOCKING, challenge("rows", "BLOCKING")]},
        "i1/synthesizer": {"changes": [change("C1", status)]},
        "i2/challenger": {"challenges": [BLOCKING]},
    }
    given = run(script, max_iterations=2)
    assert given.state.challenges["C1"].status == status
    assert list(given.state.challenges) == ["C1", "C2"]


def test_a_context_that_comes_to_contradict_the_plan_is_not_swallowed():
    contexts = [context("clock", impact) for impact in ("confirms_approach", "contradicts_plan") for _ in range(2)]
    given = run({"i1/surface": {"contexts": contexts}}, max_iterations=1)
    assert [(one.id, one.generates_challenge) for one in given.state.contexts.values()] == [("S1", None), ("S2", "C1")]
    assert [one.into for one in given.state.restated] == ["S1", "S1"]


def test_a_new_challenge_of_a_context_or_risk_that_is_told_again_is_not_lost():
    contexts = [context("clock", "contradicts_plan"), context("clock", challenge=BLOCKING)]
    risks = [risk("quota"), risk("quota", "BLOCKING"), risk("quota", "BLOCKING")]
    given = run({"i1/surface": {"contexts": contexts}, "i1/probe": {"risks": risks}}, max_iterations=1)
    assert [one.generates_challenge for one in given.state.contexts.values()] == ["C1", "C2"]
    assert [one.generates_challenge for one in given.state.risks.values()] == [None, "C3"]
    assert [one.raised_by for one in given.state.raised.values()] == ["S1", "S2", "P2"]


def test_what_is_told_again_owes_nothing_that_was_raised_already():
    script = {
        "i1/surface": {"contexts": [context("clock", challenge=BLOCKING), context("clock", "contradicts_plan")]},
        "i1/probe": {"risks": [risk("quota", challenge=challenge("rows")), risk("quota", "SIGNIFICANT")]},
    }
    given = run(script, max_iterations=1)
    assert [one.owed for one in given.state.raised.values()] == [False, False]
    assert [one.into for one in given.state.restated] == ["S1", "P1"]


def test_what_is_told_again_as_something_worse_owes_a_challenge():
    script = {
        "i1/surface": {
            "contexts": [context("clock", challenge=challenge("rows", "MINOR")), context("clock", "contradicts_plan")]
        },
        "i1/probe": {"risks": [risk("quota", challenge=challenge("locks", "MINOR")), risk("quota", "BLOCKING")]},
    }
    given = run(script, max_iterations=1)
    assert [(one.challenge.severity, one.owed) for one in given.state.raised.values()] == [
        ("MINOR", False), ("SIGNIFICANT", True), ("MINOR", False), ("BLOCKING", True)
    ]  # fmt: skip


def test_a_context_may_say_what_a_challenge_said_already():
    script = {
        "i1/challenger": {"challenges": [BLOCKING]},
        "i1/surface": {"contexts": [context("clock", "contradicts_plan", challenge=BLOCKING)]},
    }
    given = run(script, max_iterations=1)
    assert given.state.contexts["S1"].generates_challenge == "C1"
    assert list(given.state.challenges) == ["C1"]


def test_what_agents_stated_is_in_the_fold_so_that_a_resumed_run_knows_it():
    whole = run(
        {
            "i1/challenger": {"challenges": [challenge("locks")], "unknowns": [unknown("clock")]},
            "i1/surface": {"contexts": [context("rows")]},
            "i1/probe": {"risks": [risk("quota")]},
        }
    )
    stated = fold_plan(whole.events).statements
    locks = "`locks` stay as they are. `locks` change while the plan is under way."
    assert stated["challenge"].again(locks, "locks.py:5") == "C1"
    assert stated["unknown"].again("how does `clock` behave?") == "U1"
    assert stated["context"].again("`rows` is used twice", "rows.py:1") == "S1"
    assert stated["risk"].again("`quota` fails the quota is full", "quota.py:2") == "P1"

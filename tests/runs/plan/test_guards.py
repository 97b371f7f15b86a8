"""rules A5 and A6 in a run: caps by source, eight active, overflow, promotion, degradation."""

from __future__ import annotations

import pytest

from tests.runs.plan.acting import Acting
from tests.runs.plan.planning import WORDS, challenge, change, context, risk, run_of, told

BLOCKING = challenge("locks", "BLOCKING")
MORE = ("apple", "stone", "river", "cloud", "tiger", "ocean")


def many(count, severity="MINOR", words=(*WORDS, *MORE), **more):
    return [challenge(word, severity, **more) for word in words[:count]]


def run(script, **settings):
    return run_of(script, silent=True, **{"panel": None} | settings)


def admitted_in(given, iteration):
    return [name for name, came in given.state.admitted.items() if came == iteration]


@pytest.mark.parametrize(
    ("role", "key", "given", "cap"),
    [
        ("challenger", "challenges", many(7), 5),
        ("domain-expert", "challenges", many(5), 3),
        ("devils-advocate", "challenges", many(4, "SIGNIFICANT"), 2),
        ("surface", "contexts", [context(word, "contradicts_plan") for word in WORDS[:4]], 2),
        ("probe", "risks", [risk(word, "SIGNIFICANT") for word in WORDS[:4]], 2),
    ],
)
def test_each_source_has_its_cap_in_iteration_1(role, key, given, cap):
    ended = run({f"i1/{role}": {key: given}}, max_iterations=1)
    assert (len(ended.state.admitted), len(ended.state.overflow)) == (cap, len(given) - cap)


def test_research_modes_share_their_cap_and_are_ranked_together():
    answers = {
        "i1/surface": {"contexts": [context(word, "contradicts_plan") for word in WORDS[:2]]},
        "i1/probe": {"risks": [risk("tiger", "BLOCKING", probability="LOW"), risk("ocean", "SIGNIFICANT")]},
    }
    ended = run(answers, max_iterations=1)
    assert list(ended.state.admitted) == ["C3", "C4"]  # BLOCKING, then the one that has a probability
    assert {name: one.tag for name, one in ended.state.overflow.items()} == {
        "C1": "DEFERRED_SURFACED", "C2": "DEFERRED_SURFACED"
    }  # fmt: skip


def test_after_iteration_1_the_challenger_may_raise_three():
    ended = run({"i1/challenger": {"challenges": [BLOCKING]}, "i2/challenger": {"challenges": many(5, words=MORE)}})
    assert admitted_in(ended, 2) == ["C2", "C3", "C4"]
    assert [one.tag for one in ended.state.overflow.values()] == ["DEFERRED_CHALLENGED"] * 2


def test_the_worst_of_a_source_are_admitted_whatever_their_order():
    raised = [*many(4), challenge("tiger", "BLOCKING"), challenge("ocean"), challenge("river")]
    ended = run({"i1/challenger": {"challenges": raised}}, max_iterations=1)
    assert list(ended.state.admitted) == ["C1", "C2", "C5", "C6", "C7"]
    assert list(ended.state.overflow) == ["C3", "C4"]


FULL = {
    "i1/challenger": {"challenges": [BLOCKING, *many(5)[1:]]},
    "i1/domain-expert": {"challenges": many(3, words=MORE)},
}


def test_no_more_than_eight_are_active_and_the_worst_are_in():
    """rule A5: the MINOR ones of the first speakers do not shut out a BLOCKING one of a later one."""
    script = FULL | {"i1/devils-advocate": {"challenges": [challenge("cloud", "BLOCKING")]}}
    script |= {"i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    ended = run(script, max_iterations=1)
    assert ended.state.active == 8
    assert sorted(ended.state.admitted) == ["C1", "C10", "C2", "C3", "C4", "C5", "C6", "C9"]
    displaced = {one.id: one.displaced_by for one in told(ended, "challenge-overflowed")}
    assert displaced == {"C8": "C9", "C7": "C10"}  # of equals the last to arrive gives way
    assert ended.state.overflow["C8"].reason == "C9 is of higher severity and took its place"
    assert ended.state.overflow["C8"].tag == "DEFERRED_CHALLENGED"


def test_nobody_gives_way_to_an_equal():
    serious = [challenge(word) for word in MORE[:3]]
    script = FULL | {"i1/challenger": {"challenges": [BLOCKING, *many(5, "SIGNIFICANT")[1:]]}}
    script |= {"i1/domain-expert": {"challenges": serious}, "i1/probe": {"risks": [risk("quota", "SIGNIFICANT")]}}
    ended = run(script, max_iterations=1)
    assert list(ended.state.overflow) == ["C9"]
    assert told(ended, "challenge-overflowed")[0].displaced_by is None


def test_what_was_answered_already_does_not_give_way():
    listed = [{"description": f"how is {n}?", "type": "API_BEHAVIOR", "affects": f"#{n}"} for n in (2, 3, 4, 5)]
    found = "[VERIFIED: a.py:1 | it is so | none]"
    answers = [{"id": f"U{n}", "resolution": "CONFIRMED", "finding": found} for n in (1, 2, 3)]
    answers += [{"id": "U4", "resolution": "UNRESOLVABLE"}]
    script = {
        "i1/challenger": {"challenges": [BLOCKING, *many(5)[1:]], "unknowns": listed},
        "i1/domain-expert": {"challenges": [challenge(word, "BLOCKING") for word in MORE[:3]]},
        "i1/resolver": {"answers": answers},
        "i1/probe": {"risks": [risk("quota", "BLOCKING"), risk("ocean", "BLOCKING")]},
    }
    ended = run(script, max_iterations=1)
    assert {one.id: one.displaced_by for one in told(ended, "challenge-overflowed")} == {"C5": "C9", "C10": None}


def test_challenges_of_earlier_iterations_do_not_give_way():
    script = FULL | {"i2/challenger": {"challenges": [challenge("cloud", "BLOCKING")]}}
    ended = run(script, max_iterations=2)
    assert list(ended.state.overflow) == ["C9"]


def test_an_agent_is_told_of_the_room_that_milder_ones_would_make():
    heard = {}

    def play(request):
        heard[request.call_id] = getattr(request, "may_raise", None)
        return FULL.get(request.call_id, {})

    run_of({}, backend=Acting(play), panel=None, max_iterations=1)
    assert [heard[f"i1/{role}"] for role in ("challenger", "devils-advocate", "probe")] == [5, 2, 2]


@pytest.mark.parametrize(("status", "room"), [("WITHDRAWN", 1), ("DEFERRED", 1), ("RESOLVED", 0), ("UNRESOLVED", 0)])
def test_withdrawn_and_deferred_ones_make_room(status, room):
    script = FULL | {"i1/synthesizer": {"changes": [change("C2", status)]}}
    script |= {"i2/challenger": {"challenges": [challenge("cloud")]}}
    ended = run(script, max_iterations=2)
    assert len(admitted_in(ended, 2)) == room
    assert ended.state.active == 8


def test_what_overflows_keeps_its_id_and_says_why():
    ended = run({"i1/challenger": {"challenges": many(6)}}, max_iterations=1)
    [event] = told(ended, "challenge-overflowed")
    assert (event.id, event.reason) == ("C6", "5 of 6 fit: at most 5 new here, 0 of 8 active")
    assert ended.state.challenges["C6"].status == "OPEN"
    assert [one.id for one in ended.state.iterations[0].challenges][-1] == "C6"  # document 000: include all
    assert ended.state.iterations[0].convergence.blocking_open == 0


def promoting(names, script=None, **settings):
    raised = [BLOCKING, *many(7)[1:]]
    given = {"i1/challenger": {"challenges": raised}, "i2/synthesizer": {"promotions": names}} | (script or {})
    return run(given, **{"max_iterations": 2} | settings)


def test_what_overflowed_may_be_promoted_later():
    ended = promoting(["C6"])
    assert admitted_in(ended, 2) == ["C6"]
    assert list(ended.state.overflow) == ["C7"]
    assert [event.promoted for event in told(ended, "challenge-admitted")][-1] is True


@pytest.mark.parametrize(
    ("names", "script", "reason"),
    [
        (["C1"], {}, "there is no such challenge in overflow"),
        (["C99"], {}, "there is no such challenge in overflow"),
        ([""], {}, "there is no such challenge in overflow"),
        (["C11"], {"i2/challenger": {"challenges": many(4, words=MORE)}}, "it came into overflow in this iteration"),
        (["C6"], {"i2/challenger": {"challenges": many(3, words=MORE)}},
         "3 of at most 3 new challenges of its source are in already"),
        (["C6"], {"i1/domain-expert": {"challenges": many(3, words=MORE)}},
         "8 challenges are active, and no more may be"),
    ],
)  # fmt: skip
def test_a_promotion_that_the_rules_do_not_allow_is_refused(names, script, reason):
    ended = promoting(names, script)
    assert [event.reason for event in told(ended, "promotion-refused")] == [reason]
    assert not any(event.promoted for event in told(ended, "challenge-admitted"))


def test_a_promotion_in_the_iteration_of_the_overflow_is_refused():
    ended = promoting([], {"i1/synthesizer": {"promotions": ["C6"]}}, max_iterations=1)
    assert [event.reason for event in told(ended, "promotion-refused")] == ["it came into overflow in this iteration"]


def test_promotions_of_research_keep_to_its_joint_cap():
    script = {
        "i1/challenger": {"challenges": [BLOCKING]},
        "i1/surface": {"contexts": [context(word, "contradicts_plan") for word in MORE[:3]]},
        "i1/probe": {"risks": [risk(word, "SIGNIFICANT") for word in MORE[3:]]},
        "i2/synthesizer": {"promotions": ["C2", "C3", "C4", "C7", "C7"]},
    }
    ended = run(script, max_iterations=2)
    assert admitted_in(ended, 1) == ["C1", "C5", "C6"]
    assert admitted_in(ended, 2) == ["C2", "C3"]
    assert [event.id for event in told(ended, "promotion-refused")] == ["C4", "C7"]


def test_a_blocking_challenge_that_is_promoted_counts_at_once():
    script = {
        "i1/challenger": {"challenges": many(6, "BLOCKING")},
        "i1/synthesizer": {"changes": [change(f"C{n}", "WITHDRAWN") for n in range(2, 6)]},
        "i2/synthesizer": {"changes": [change("C1", "RESOLVED")], "promotions": ["C6"]},
    }
    ended = run(script, max_iterations=2)
    assert (ended.verdict, ended.state.iterations[-1].convergence.blocking_open) == ("RETHINK", 1)


def test_a_run_with_a_blocking_challenge_in_overflow_gets_at_best_revise():
    script = {
        "i1/challenger": {"challenges": many(6, "BLOCKING")},
        "i1/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in range(1, 6)]},
    }
    ended = run(script, max_iterations=1)
    assert told(ended, "convergence-evaluated")[-1].verdict == "PROCEED"
    assert (ended.verdict, ended.outcome.strong) == ("REVISE", False)
    assert ended.outcome.exit_reason == "REVISE, not PROCEED: BLOCKING in overflow: C6"
    script["i1/challenger"]["challenges"][5] = challenge("tiger", "SIGNIFICANT")
    assert run(script).verdict == "PROCEED"


def test_a_blocking_challenge_in_overflow_is_promoted_first_before_there_is_a_verdict():
    """rule A3: before the last iteration the run goes on, and looks at it."""
    script = {
        "i1/challenger": {"challenges": many(6, "BLOCKING")},
        "i1/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in range(1, 6)]},
        "i2/challenger": {"challenges": many(3, words=MORE)},
        "i2/synthesizer": {"changes": [change("C6", "RESOLVED")]},
    }
    ended = run(script)
    assert [event.status for event in told(ended, "convergence-evaluated")] == ["CONTINUE", "CONVERGED"]
    admitted = [(one.id, one.promoted, one.by_rule) for one in told(ended, "challenge-admitted") if one.iteration == 2]
    assert admitted == [("C6", True, True), ("C7", False, False), ("C8", False, False)]  # within the cap of three
    assert (ended.verdict, ended.state.iteration) == ("PROCEED", 2)
    history = ended.frames.challenge_history
    assert history[(history.event == "promoted")]["by"].tolist() == ["rule"]


def test_a_blocking_challenge_that_the_caps_keep_in_overflow_does_not_hold_the_run_for_ever():
    script = {
        "i1/challenger": {"challenges": many(6, "BLOCKING")},
        "i1/domain-expert": {"challenges": many(3, "BLOCKING", words=MORE)},
        "i1/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in (1, 2, 3, 4, 5, 7, 8, 9)]},
    }
    ended = run(script)  # RESOLVED ones are active: eight are
    assert ended.state.iteration == 3
    assert (ended.verdict, list(ended.state.overflow)) == ("REVISE", ["C6"])


@pytest.mark.parametrize("changes", [{"severity": "MINOR"}, {"confidence": "LOW"}])
def test_a_devils_advocate_raises_nothing_minor_and_nothing_of_low_confidence(changes):
    ended = run({"i1/devils-advocate": {"challenges": [challenge() | changes, challenge("rows")]}}, max_iterations=1)
    [refused] = told(ended, "challenge-refused")
    assert refused.reason.startswith("a devil's advocate raises nothing")
    assert list(ended.state.challenges) == ["C1"]  # what is refused gets no id


# ---- degradation

WORSE = {"i1/challenger": {"challenges": [BLOCKING]}, "i2/challenger": {"challenges": many(2, words=MORE)}}


def test_more_made_than_settled_tightens_the_next_iteration():
    cascade = {"kind": "RE-PROBE", "trigger": "unexplored-cascade", "items": ["C1"]}
    script = WORSE | {
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED")]},
        "i2/synthesizer": {"directives": [cascade]},
        "i3/challenger": {"challenges": many(3, words=MORE[2:])},
        "i3/probe": {"risks": [risk("quota", "BLOCKING")]},
        "i3/synthesizer": {"changes": [change("C2", "RESOLVED")]},
        "i4/challenger": {"challenges": many(3, words=WORDS[1:4])},
    }
    ended = run(script, max_iterations=4)
    assert [event.tightened for event in told(ended, "iteration-started")] == [False, False, True, False]
    assert [len(admitted_in(ended, n)) for n in (1, 2, 3, 4)] == [1, 2, 1, 4]
    assert [one.iteration for one in told(ended, "challenge-overflowed") if one.id == "C7"] == [3]
    assert admitted_in(ended, 4)[0] == "C7"  # research might raise none in iteration 3; BLOCKING, it comes first in 4
    events = [event for event in told(ended, "checkpoint") if event.kind == "degradation"]
    assert [(event.iteration, len(event.items)) for event in events] == [(2, 2), (4, 4)]


@pytest.mark.parametrize("settled", ["RESOLVED", "WITHDRAWN", "DEFERRED"])
def test_as_many_settled_as_made_is_no_degradation(settled):
    script = WORSE | {"i2/synthesizer": {"changes": [change("C2", settled), change("C3", settled)]}}
    assert [event.tightened for event in told(run(script), "iteration-started")] == [False, False, False]


def test_what_is_only_unresolved_is_not_settled():
    script = WORSE | {"i2/synthesizer": {"changes": [change("C2", "UNRESOLVED"), change("C3", "UNRESOLVED")]}}
    assert [event.tightened for event in told(run(script), "iteration-started")] == [False, False, True]


def test_the_first_iteration_is_never_degraded():
    ended = run({"i1/challenger": {"challenges": [BLOCKING, *many(4)[1:]]}})
    assert not any(event.tightened for event in told(ended, "iteration-started"))


def test_a_run_that_ends_degraded_promises_no_next_iteration():
    ended = run(WORSE, max_iterations=2)
    [event] = [event for event in told(ended, "checkpoint") if event.kind == "degradation"]
    assert event.message == "2 challenges came and 0 were settled"
    again = run(WORSE, max_iterations=3)
    assert "the next iteration is tightened" in told(again, "checkpoint")[2].message

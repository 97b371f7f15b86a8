"""SPEC A5 and A6 in a run: caps by source, eight active, overflow, promotion, degradation."""

from __future__ import annotations

import pytest
from planning import WORDS, challenge, change, context, risk, run_of, told

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


def test_no_more_than_eight_are_active_and_nobody_is_displaced():
    script = FULL | {"i1/devils-advocate": {"challenges": [challenge("cloud", "BLOCKING")]}}
    script |= {"i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    ended = run(script, max_iterations=1)
    assert ended.state.active == 8
    assert list(ended.state.admitted) == [f"C{n}" for n in range(1, 9)]
    assert {name: one.tag for name, one in ended.state.overflow.items()} == {
        "C9": "DEFERRED_CHALLENGED", "C10": "DEFERRED_PROBED"
    }  # fmt: skip


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
    assert "C6" not in [one.id for one in ended.state.iterations[0].challenges]


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
    ended = run(script)
    assert told(ended, "convergence-evaluated")[-1].verdict == "PROCEED"
    assert (ended.verdict, ended.outcome.strong) == ("REVISE", False)
    assert ended.outcome.exit_reason == "REVISE, not PROCEED: BLOCKING in overflow: C6"
    script["i1/challenger"]["challenges"][5] = challenge("tiger", "SIGNIFICANT")
    assert run(script).verdict == "PROCEED"


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
    assert [len(admitted_in(ended, n)) for n in (1, 2, 3, 4)] == [1, 2, 1, 3]
    assert "C7" in ended.state.overflow  # research may raise none
    events = [event for event in told(ended, "checkpoint") if event.kind == "degradation"]
    assert [(event.iteration, len(event.items)) for event in events] == [(2, 2), (4, 3)]


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

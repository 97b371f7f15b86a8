"""rules A1, A3, A7, A12: the course of a run, row by row, and what each agent is told on the way."""

from __future__ import annotations

import pytest

from tests.runs.plan.acting import THIN, TRIVIAL, USAGE, Acting
from tests.runs.plan.planning import (
    AGREE,
    answer,
    challenge,
    change,
    context,
    risk,
    run_of,
    scores,
    script,
    told,
    unknown,
)
from verifyplan.protocol.call import Reply
from verifyplan.protocol.role_call import RoleRequest

S = "SIGNIFICANT"


def significant(count: int, **more: str) -> list[dict[str, str]]:
    return [challenge(word, S, **more) for word in ("locks", "rows", "retries", "backup", "index")[:count]]


@pytest.mark.parametrize(
    ("raised", "changes", "last", "expected"),
    [
        ([challenge(severity="BLOCKING")], [], 3, ("BLOCKED", None, False)),
        ([challenge(severity="BLOCKING")], [], 1, ("FORCED_EXIT", "RETHINK", False)),
        ([challenge(severity="BLOCKING")], ["UNRESOLVED"], 1, ("FORCED_EXIT", "RETHINK", False)),
        ([challenge(severity="BLOCKING")], ["RESOLVED"], 3, ("CONVERGED", "PROCEED", False)),
        ([], [], 3, ("CONVERGED", "PROCEED", False)),
        ([challenge(severity="MINOR")], [], 3, ("CONVERGED", "PROCEED", False)),
        (significant(1), [], 3, ("CONVERGED", "REVISE", False)),
        (significant(2, alternative=" "), [], 3, ("CONVERGED", "REVISE", False)),
        (significant(3), ["UNRESOLVED"], 3, ("CONVERGED", "REVISE", True)),
        (significant(3, alternative=" "), [], 3, ("CONTINUE", None, False)),
        (significant(3, alternative=" "), [], 1, ("FORCED_EXIT", "REVISE", True)),
        (significant(3, alternative=""), ["WITHDRAWN"], 3, ("CONVERGED", "REVISE", False)),
    ],
)
def test_each_row_of_the_table(raised, changes, last, expected):
    answers = {
        "i1/challenger": {"challenges": raised},
        "i1/synthesizer": {"changes": [change(f"C{n}", status) for n, status in enumerate(changes, start=1)]},
    }
    run = run_of(answers, silent=True, panel=None, max_iterations=last)
    first = told(run, "convergence-evaluated")[0]
    assert (first.status, first.verdict, first.strong) == expected
    if expected[1] is not None:
        assert (run.status, run.verdict, run.outcome.strong) == expected


@pytest.mark.parametrize(
    ("severity", "status", "policy", "expected"),
    [
        (S, "OPEN", "protocol", "CONVERGED"),
        (S, "OPEN", "deliberate", "CONTINUE"),
        (S, "UNRESOLVED", "deliberate", "CONVERGED"),
        ("BLOCKING", "OPEN", "deliberate", "CONTINUE"),
        ("BLOCKING", "UNRESOLVED", "deliberate", "BLOCKED"),
        ("MINOR", "OPEN", "deliberate", "CONVERGED"),
    ],
)
def test_the_deliberate_policy_looks_on_while_evidence_is_pending(severity, status, policy, expected):
    changes = [change("C1", status)] if status != "OPEN" else []
    answers = {
        "i1/challenger": {"challenges": [challenge(severity=severity)]},
        "i1/synthesizer": {"changes": changes},
    }
    run = run_of(answers, silent=True, panel=None, policy=policy)
    assert told(run, "convergence-evaluated")[0].status == expected
    assert run.outcome is not None  # at the last iteration it is the protocol's table


def test_a_run_goes_on_to_the_last_iteration_and_no_further():
    answers = {"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}
    for last in (1, 2, 4):
        run = run_of(answers, silent=True, max_iterations=last, panel=None)
        assert [state.iteration for state in run.state.iterations] == list(range(1, last + 1))
        assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")


def test_the_synthesizers_own_word_is_recorded_and_decides_nothing():
    answers = {
        "i1/challenger": {"challenges": [challenge(severity="BLOCKING")]},
        "i1/synthesizer": {"status": "CONVERGED", "verdict": "PROCEED"},
    }
    run = run_of(answers, silent=True, max_iterations=1, panel=None)
    [ruling] = told(run, "convergence-evaluated")
    assert (ruling.verdict, ruling.stated_verdict, ruling.stated_status) == ("RETHINK", "PROCEED", "CONVERGED")
    assert ruling.differs
    assert not told(run_of({}, silent=True, panel=None), "convergence-evaluated")[0].differs


@pytest.mark.parametrize("value", [1, 10])
def test_the_verdict_does_not_depend_on_the_scores(value):
    answers = {"i1/challenger": {"challenges": significant(2)}, "i1/score": scores(value)}
    run = run_of(answers, silent=True, panel=None)
    assert (run.verdict, run.score) == ("REVISE", value)


def test_a_trivial_plan_needs_no_agent():
    backend = Acting(lambda _: 1 / 0)
    run = run_of({}, plan=TRIVIAL, backend=backend, team=None)
    assert (run.verdict, run.outcome.ended_by, run.state.iterations) == ("PROCEED", "sizing", [])
    assert run.outcome.exit_reason.startswith("trivial")
    assert run.frames.runs["trivial"].tolist() == [True]
    assert backend.requests == []


@pytest.mark.parametrize("team", ["base", "scaled"])
def test_a_team_that_is_asked_for_looks_at_a_trivial_plan_too(team):
    run = run_of({}, plan=TRIVIAL, silent=True, team=team)
    assert (run.outcome.ended_by, run.state.iteration, run.state.assessed.team) == ("ruling", 1, team)
    assert run.frames.runs["trivial"].tolist() == [False]


@pytest.mark.parametrize(("team", "scaled"), [(None, False), ("base", False), ("scaled", True)])
def test_expert_and_advocate_are_of_the_scaled_team(team, scaled):
    run = run_of({}, plan=THIN, silent=True, team=team, panel=None)
    called = [event.call_id for event in told(run, "call-requested")]
    expected = ["challenger", *(["domain-expert", "devils-advocate"] if scaled else []), "surface", "probe"]
    assert called == [f"i1/{role}" for role in (*expected, "synthesizer", "score", "audit")]
    assert run.state.iterations[0].team_mode == ("scaled" if scaled else "base")


GOES_ON = {"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}


def roles_of(run, iteration):
    return [e.call_id[3:] for e in told(run, "call-requested") if e.call_id.startswith(f"i{iteration}/")]


def test_later_iterations_call_only_who_is_due():
    run = run_of(GOES_ON, silent=True, panel=None, max_iterations=2)
    assert roles_of(run, 1) == ["challenger", "domain-expert", "devils-advocate", "surface", "probe", "synthesizer"]
    assert roles_of(run, 2) == ["challenger", "synthesizer", "score", "audit"]


def test_a_directive_holds_for_the_next_iteration_alone():
    directives = [
        {"kind": "CONSULT", "role": "domain-expert"},
        {"kind": "RE-PROBE", "trigger": "unexplored-cascade", "items": ["C1"]},
    ]
    rows = challenge("rows", "MINOR")
    answers = {
        "i1/challenger": {"challenges": [challenge(severity="BLOCKING"), rows, challenge("index")]},
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED")], "directives": directives},
    }
    run = run_of(answers, silent=True, panel=None, team="base")
    assert roles_of(run, 2) == ["challenger", "domain-expert", "probe", "synthesizer"]
    assert roles_of(run, 3) == ["challenger", "synthesizer", "score", "audit"]
    assert [len(state.synthesizer_directives) for state in run.state.iterations] == [2, 0, 0]


def test_ids_count_up_over_all_iterations():
    answers = {
        "i1/challenger": {
            "challenges": [challenge("locks", "BLOCKING"), challenge("rows")],
            "unknowns": [unknown("store")],
        },
        "i1/surface": {"contexts": [context("clock", "contradicts_plan")]},
        "i1/probe": {"risks": [risk("quota", "BLOCKING")]},
        "i2/challenger": {"challenges": [challenge("index")], "unknowns": [unknown("table")]},
    }
    run = run_of(answers, silent=True, panel=None)
    assert list(run.state.challenges) == ["C1", "C2", "C3", "C4", "C5"]
    assert [one.origin for one in run.state.pool] == ["challenger", "challenger", "surfaced", "probed", "challenger"]
    assert [one.iteration_introduced for one in run.state.pool] == [1, 1, 1, 1, 2]
    assert list(run.state.unknowns) == ["U1", "U2"]
    assert (run.state.contexts["S1"].generates_challenge, run.state.risks["P1"].generates_challenge) == ("C3", "C4")


def test_an_iteration_state_says_what_the_iteration_ended_with():
    run = run_of(script(), on_blocked=lambda pause: f"acknowledge:{pause.challenges[0].id}")
    first, *_ = run.state.iterations
    assert [(one.id, one.status) for one in first.challenges][:3] == [
        ("C1", "RESOLVED"), ("C2", "RESOLVED"), ("C3", "WITHDRAWN")
    ]  # fmt: skip
    assert [(one.id, one.resolution) for one in first.unknowns] == [("U1", "CONFIRMED"), ("U2", "UNRESOLVABLE")]
    assert first.user_responses == ("acknowledge: C2",)
    assert [state.quality_score for state in run.state.iterations[:-1]] == [None] * (len(run.state.iterations) - 1)


def test_an_iteration_state_lists_what_came_up_in_it():
    answers = {
        "i1/challenger": {"challenges": [challenge(severity="BLOCKING")], "unknowns": [unknown("store")]},
        "i1/surface": {"contexts": [context("clock")]},
        "i1/probe": {"risks": [risk("quota")]},
        "i2/resolver": {"answers": [answer("U1", "CONFIRMED")]},
    }
    listed = [
        [one.id for one in (*state.unknowns, *state.surfaced_contexts, *state.probed_risks)]
        for state in run_of(answers, silent=True, panel=None, team="base").state.iterations
    ]
    assert listed == [["U1", "S1", "P1"], ["U1"], []]


# ---- requests


def requests_of(answers, **more):
    """The run, and each request by its call id."""

    def play(request):
        given = answers.get(request.call_id)
        nothing = {"challenges": []} if getattr(request, "role", "") == "challenger" else {}
        if given in ("error", "timeout"):
            raise ValueError("fails") if given == "error" else TimeoutError
        return Reply(value={"votes": {}} if not isinstance(request, RoleRequest) else given or nothing, usage=USAGE)

    backend = Acting(play)
    run = run_of({}, backend=backend, **more)
    return run, {request.call_id: request for request in backend.requests}


FULL = {
    "i1/challenger": {
        "challenges": [challenge("rows", "BLOCKING"), challenge("locks")],
        "unknowns": [unknown("store", "#1")],
    },
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]},
    "i1/surface": {"contexts": [context("clock", "contradicts_plan")]},
    "i1/probe": {"risks": [risk("quota"), risk("disk", "BLOCKING", challenge=challenge("disk", "BLOCKING"))]},
    "i1/devils-advocate": {"challenges": [challenge(word) for word in ("cache", "index", "retries")]},
    "i1/synthesizer": {
        "changes": [change("C2", "RESOLVED", "U1 says so")],
        "directives": [{"kind": "FOCUS", "note": "look at the locks"}],
    },
}  # fmt: skip


def test_each_agent_sees_what_stands_when_it_is_called():
    _, asked = requests_of(FULL, panel=["ann"], max_iterations=2)
    seen = {call: [one.id for one in request.challenges] for call, request in asked.items() if "panel" not in call}
    assert seen["i1/challenger"] == []
    assert seen["i1/domain-expert"] == seen["i1/devils-advocate"] == ["C1", "C2"]
    assert seen["i1/surface"] == ["C1", "C2", "C3", "C4"]
    assert seen["i1/synthesizer"] == seen["i2/challenger"] == ["C1", "C2", "C3", "C4", "C6", "C7"]
    resolver = asked["i1/resolver"]
    assert [(one.id, one.affects_challenge, one.resolution) for one in resolver.unknowns] == [("U1", "C1", None)]
    synthesizer = asked["i1/synthesizer"]
    assert [one.id for one in synthesizer.overflow] == ["C5"]
    assert synthesizer.unknowns[0].resolution == "CONFIRMED"
    assert [one.id for one in (*synthesizer.contexts, *synthesizer.risks)] == ["S1", "P1", "P2"]
    assert [one.challenge for one in synthesizer.panel] == ["C1", "C2", "C3", "C4", "C6", "C7"]
    assert synthesizer.evidence["C1"] == "rows.py:4"


def test_a_later_agent_is_told_what_moved_and_what_was_asked():
    _, asked = requests_of(FULL, panel=None, max_iterations=2)
    later = asked["i2/challenger"]
    assert [(m.challenge, m.old, m.new, m.resolution) for m in later.moved] == [
        ("C2", "OPEN", "RESOLVED", "U1 says so")
    ]
    assert [directive.note for directive in later.directives] == ["look at the locks"]
    assert (later.panel, later.iteration, later.max_iterations) == ((), 2, 2)
    assert asked["i1/synthesizer"].directives == ()
    assert later.plan_text.startswith("# Move the orders")


def test_how_many_challenges_an_agent_may_raise_is_what_the_caps_leave():
    _, asked = requests_of(FULL, panel=None, max_iterations=2)
    may = {call: request.may_raise for call, request in asked.items()}
    assert may["i1/challenger"] == 5
    assert (may["i1/domain-expert"], may["i1/devils-advocate"], may["i1/surface"]) == (3, 2, 2)
    assert (may["i1/synthesizer"], may["i2/challenger"]) == (0, 2)  # six of eight are active


def test_requests_that_are_equal_have_equal_digests_and_others_have_not():
    one, two = (run_of(GOES_ON, silent=True, panel=None, max_iterations=2) for _ in range(2))
    digests = [[event.request_sha256 for event in told(run, "call-requested")] for run in (one, two)]
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == len(digests[0])


def test_no_agent_sees_another_agents_raw_reply():
    secret = "xyzzy-not-in-the-schema"
    answers = FULL | {"i1/resolver": {secret: secret}}
    run, asked = requests_of(answers, panel=["ann"], max_iterations=2)
    assert [failure.agent for failure in run.state.failures] == ["resolver"]
    assert not any(secret in request.model_dump_json() for request in asked.values())
    raw = {"votes": {"C1": AGREE | {"explanation": "seen"}}}
    assert "seen" not in asked["i1/panel/r1/ann"].model_dump_json()
    assert raw


# ---- budgets and grants


def test_each_role_has_the_tool_calls_of_its_mode():
    _, asked = requests_of(FULL, panel=None, max_iterations=2)
    tools = {call: request.tools for call, request in asked.items()}
    assert tools["i1/resolver"] == {"Read": 8, "Grep": 5, "WebSearch": 3, "WebFetch": 2}
    assert tools["i1/surface"] == {"Read": 3, "Grep": 4, "git_log": 1}
    assert tools["i1/probe"] == {"Read": 3, "Grep": 4, "WebSearch": 1}
    for role in ("challenger", "domain-expert", "devils-advocate", "synthesizer"):
        assert tools[f"i1/{role}"] == {"Read": 8, "Grep": 5}


def test_a_grant_adds_calls_in_the_next_iteration_only():
    grants = [
        {"kind": "GRANT", "role": "challenger", "tools": {"Grep": 2}},
        {"kind": "GRANT", "role": "challenger", "tools": {"WebSearch": 1}},
        {"kind": "GRANT", "role": "challenger", "tools": {"Grep": 6}},
        {"kind": "GRANT", "role": "challenger", "tools": {"Grep": 1}},
        {"kind": "GRANT", "role": "synthesizer", "tools": {"Read": 1}},
    ]
    run, asked = requests_of(GOES_ON | {"i1/synthesizer": {"directives": grants}}, panel=None)
    assert [refused.reason for refused in run.state.refusals if hasattr(refused, "directive")] == [
        "WebSearch is not among the tools of challenger",
        "a grant can at most double a role's calls: Grep +6 of 5",
    ]
    assert asked["i1/challenger"].tools == asked["i3/challenger"].tools == {"Read": 8, "Grep": 5}
    assert asked["i2/challenger"].tools == {"Read": 8, "Grep": 8}
    assert asked["i2/synthesizer"].tools == {"Read": 9, "Grep": 5}


@pytest.mark.parametrize(
    ("limit", "before", "iteration"),
    [(1, "domain-expert", 1), (30, "surface", 1), (40, "probe", 1), (50, "the panel", 1), (60, "synthesizer", 1),
     (61, "challenger", 2)],
)  # fmt: skip
def test_tokens_that_are_used_up_end_the_run_before_the_next_call(limit, before, iteration):
    run, _ = requests_of(GOES_ON, panel=["ann"], max_tokens=limit)
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "budget")
    assert run.outcome.exit_reason.startswith("max_tokens: ")
    assert run.outcome.exit_reason.endswith(f"were used before {before} was called")
    assert run.state.iteration == len(run.state.iterations) == iteration
    assert run.state.iterations[-1].convergence.blocking_open == 1
    assert run.state.iterations[-1].convergence.status == "FORCED_EXIT"


def test_tokens_are_asked_for_before_each_round_of_the_panel():
    panel = {"workers": ["ann"], "max_rounds": 3}
    run, asked = requests_of(GOES_ON, panel=panel, max_tokens=60, team="base")
    assert run.outcome.ended_by == "budget"
    assert [call for call in asked if "panel" in call] == ["i1/panel/r1/ann", "i1/panel/r2/ann", "i1/panel/r3/ann"]
    run, asked = requests_of(GOES_ON, panel=panel, max_tokens=40, team="base")
    assert [call for call in asked if "panel" in call] == ["i1/panel/r1/ann"]
    assert "before round 2 of the panel was called" in run.outcome.exit_reason


def test_what_was_surfaced_before_the_tokens_ran_out_is_not_lost():
    answers = {"i1/surface": {"contexts": [context("clock", "contradicts_plan")]}}
    run, _ = requests_of(answers, panel=None, team="base", max_tokens=20)
    assert "before probe was called" in run.outcome.exit_reason
    assert list(run.state.admitted) == ["C1"]
    assert [one.id for one in run.state.iterations[0].challenges] == ["C1"]


def test_a_verdict_stands_where_the_tokens_do_not_reach_for_the_scores():
    run, asked = requests_of({"i1/score": scores(7)}, panel=None, team="base", max_tokens=40)
    assert (run.verdict, run.score, run.outcome.ended_by) == ("PROCEED", None, "ruling")
    assert "i1/score" not in asked
    run, asked = requests_of({"i1/score": scores(7)}, panel=None, team="base", max_tokens=50)
    assert (run.score, "i1/score" in asked, "i1/audit" in asked) == (7, True, False)

"""rules A2-A11: no agent and no setting can break a plan run; all laws of `laws`, and a replay that is the same."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.plan.acting import Acting, person, playing, settings_of_runs
from tests.runs.plan.laws import Book
from tests.runs.plan.planning import run_of
from verifyplan.protocol.role_call import RoleRequest
from verifyplan.runlog.plan_state import PlanState
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.replay import replay_run


def check(run: PlanRun, backend: Acting) -> Book:
    """Hold every law, and that the state at every prefix is what the book says."""
    state, book = PlanState(), Book(run.started.plan.settings)
    requests = {request.call_id: request for request in backend.requests}
    for event in run.events:
        if event.type == "call-requested" and isinstance(requests.get(event.call_id), RoleRequest):
            check_request(requests[event.call_id], state)
        book.take(event)
        state.add(event)
        assert (state.iteration, state.active) == (book.iteration, book.active)
        assert {name: one.status for name, one in state.challenges.items()} == book.status
        assert [one.id for one in state.unsettled] == book.unsettled
        assert state.overflow.keys() == book.overflow.keys()
        assert state.usage.total == book.tokens
    assert state == run.state
    if book.ended is None:
        waits = run.events[-1]
        assert (waits.type, waits.kind, waits.pause_id) == ("checkpoint", "blocked", run.waiting.pause_id)
        assert len(book.closed) == book.iteration - 1
        assert (run.status, run.verdict) == ("BLOCKED", None)
    else:
        assert run.events[-1].type == "run-ended"
        assert run.waiting is None
        assert len(book.closed) == book.iteration
    return book


def check_request(request: RoleRequest, state: PlanState) -> None:
    """An agent is told all that stands, as it stands when it is called."""
    assert request.challenges == tuple(state.pool)
    assert [one.id for one in request.overflow] == list(state.overflow)
    assert request.unknowns == tuple(state.unknowns.values())
    assert request.contexts == tuple(state.contexts.values())
    assert request.risks == tuple(state.risks.values())
    assert [(m.challenge, m.new) for m in request.moved] == [(m.id, m.new) for m in state.moves]
    assert request.directives == tuple(state.directives.get(state.iteration - 1, ()))
    assert {p.challenge for p in request.panel} == {name for i, name in state.classes if i == state.iteration}
    assert len(request.user_context) == sum(a.answer == "context" for a in state.answers.values())


def wild(chosen: dict[str, Any], draw: Any) -> Book:
    """One run of wild agents under these settings, held to every law."""
    backend = playing(draw)
    chosen = chosen | ({"on_blocked": person(draw)} if chosen["on_blocked"] == "ask" else {})
    run = run_of({}, backend=backend, **chosen)
    book = check(run, backend)
    assert replay_run(run).same
    return book


@settings(max_examples=examples(150, 8), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(settings_of_runs, st.data())
def test_no_agent_and_no_setting_can_break_the_loop(chosen, data):
    wild(chosen, data.draw)

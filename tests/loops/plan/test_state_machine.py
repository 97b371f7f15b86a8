"""SPEC A2-A11: no agent and no setting can break a plan run; all laws of `laws`, and a replay that is the same."""

from __future__ import annotations

from typing import Any

from acting import person, playing, settings_of_runs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import Book, check
from planning import run_of

from verifyplan.loops.replay import replay_run


def wild(chosen: dict[str, Any], draw: Any) -> Book:
    """One run of wild agents under these settings, held to every law."""
    backend = playing(draw)
    chosen = chosen | ({"on_blocked": person(draw)} if chosen["on_blocked"] == "ask" else {})
    run = run_of({}, backend=backend, **chosen)
    book = check(run, backend)
    assert replay_run(run).same
    return book


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(settings_of_runs, st.data())
def test_no_agent_and_no_setting_can_break_the_loop(chosen, data):
    wild(chosen, data.draw)

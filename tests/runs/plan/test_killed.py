"""A run that is killed with SIGKILL, whenever, comes to the end that it would have come to (rule E2)."""

from __future__ import annotations

import os
import signal

import pytest

from tests.longer import LONG
from tests.processes import killed
from tests.runs.plan import killing

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_killed_after_any_event_a_run_comes_to_the_same_end(tmp_path, kind):
    found = killed(killing.__file__, tmp_path, "boundaries", kind)
    assert found["kills"] == found["deaths"] > 10
    assert found["events"] > 40


@pytest.mark.parametrize("kind", ["asked", "cross"])
def test_a_run_of_which_every_process_dies_after_a_few_new_events_comes_to_the_same_end(tmp_path, kind):
    found = killed(killing.__file__, tmp_path, "one-by-one", kind)
    assert found["kills"] >= (found["events"] - 1) // killing.NEW_EVENTS >= 38 // killing.NEW_EVENTS


@pytest.mark.parametrize(("kind", "runs"), [("plan", 20 if LONG else 4), ("cross", 10 if LONG else 8)])
def test_killed_at_any_instant_again_and_again_a_run_comes_to_the_same_end(tmp_path, kind, runs):
    found = killed(killing.__file__, tmp_path, "instants", kind, 2026, runs)
    assert found["kills"] >= 5 * runs
    assert found["torn"], "no kill came in the middle of a line, which this test is for"


def test_killed_while_its_artifact_is_written_a_run_writes_it_when_it_is_resumed(tmp_path):
    assert killed(killing.__file__, tmp_path, "artifact", "cross")["kills"] == 1

"""A command that is killed with SIGKILL, wherever it was, goes on when it is given again, and sends nothing twice."""

from __future__ import annotations

import os
import signal

import pytest

from tests.live import batch_killing
from tests.longer import LONG
from tests.processes import killed

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def test_at_each_request_to_the_endpoint(tmp_path):
    """Before and after an intent, a submit, a look, the results: the server counts what it was sent."""
    found = killed(batch_killing.__file__, tmp_path, "requests", "cross", 1)
    assert found["kills"] >= 8  # a busy machine looks at a batch more often in one run than in the next
    assert found["requests"] >= 10


def test_at_each_request_while_failed_entries_are_asked_again(tmp_path):
    found = killed(batch_killing.__file__, tmp_path, "requests", "retried", 1)
    assert found["kills"] >= 6


def test_at_requests_of_plan_runs(tmp_path):
    found = killed(batch_killing.__file__, tmp_path, "requests", "plans", 7)
    assert found["kills"] >= 8


@pytest.mark.parametrize(("kind", "every"), [("cross", 8), ("plans", 13)])
def test_after_events_some_replies_of_a_batch_being_on_disk(tmp_path, kind, every):
    found = killed(batch_killing.__file__, tmp_path, "events", kind, every)
    assert found["kills"] >= 6


@pytest.mark.parametrize("kind", ["cross", "plans"])
def test_at_any_moment_again_and_again(tmp_path, kind):
    found = killed(batch_killing.__file__, tmp_path, "instants", kind, 7, 2 if LONG else 1)
    assert found["kills"] >= 4

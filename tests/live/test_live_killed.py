"""A run of models that is killed with SIGKILL asks again for what was in flight, and for nothing else (rule E2)."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from tests.live import live_killing
from tests.processes import killed

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def test_a_plan_run_that_is_killed_anywhere_comes_to_the_same_end(tmp_path):
    """After an event, and with a request on its way: in tool loops, looks on the web, repairs, votes, scores."""
    deaths = ["i1/challenger/t3", "i1/resolver/t1/w1", "i1/resolver/t1/w3", "i1/resolver/t2", "i1/panel/r1/panel-2/t2"]
    deaths += ["i2/synthesizer/t2", "i3/score/t1"]
    found = killed(live_killing.__file__, tmp_path, "plan", "3,19,101,250", " ".join(deaths))
    assert found["kills"] == 4 + len(deaths)
    assert set(Counter(found["turns"]).values()) == {1}
    again = {turn: times - 1 for turn, times in found["last"].items() if times > 1}
    together = {turn for turn in again if "i1/panel" in turn}  # two calls were under way at once
    assert again.keys() - together | {deaths[4]} == set(deaths)
    assert len(together) <= 2
    assert set(again.values()) == {1}


def test_a_cross_run_of_which_every_process_is_killed_by_its_first_new_request_comes_to_the_same_end(tmp_path):
    found = killed(live_killing.__file__, tmp_path, "cross", "11,40", "*")
    assert found["kills"] >= 2 + len(found["turns"]) / 2  # two calls are under way at once
    assert set(Counter(found["turns"]).values()) == {1}
    assert set(found["last"]) == set(found["turns"])
    assert set(found["last"].values()) <= {2, 3}

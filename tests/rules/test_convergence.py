"""rule A3 as a table written again by hand, and what no order or policy may change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.errors import SettingsError
from verifyplan.protocol.plan_rules import POLICIES
from verifyplan.protocol.records import SEVERITIES, STATUSES, Challenge
from verifyplan.rules.convergence import evaluate


def challenge(severity="SIGNIFICANT", status="OPEN", alternative="use a queue", number=1) -> Challenge:
    return Challenge(
        id=f"C{number}", origin="challenger", claim="", concern="", failure_scenario="", alternative=alternative,
        severity=severity, confidence="HIGH", status=status, iteration_introduced=1,
    )  # fmt: skip


SIGNIFICANT, BARE, BLOCKING = challenge(), challenge(alternative=" \n"), challenge("BLOCKING")
STUCK = challenge("BLOCKING", "UNRESOLVED")


@pytest.mark.parametrize(
    ("challenges", "iteration", "policy", "status", "verdict", "strong"),
    [
        ([], 1, "protocol", "CONVERGED", "PROCEED", False),
        ([SIGNIFICANT] * 2, 1, "protocol", "CONVERGED", "REVISE", False),
        ([SIGNIFICANT] * 3, 1, "protocol", "CONVERGED", "REVISE", True),
        ([SIGNIFICANT, SIGNIFICANT, BARE], 1, "protocol", "CONTINUE", None, False),
        ([SIGNIFICANT, SIGNIFICANT, BARE], 3, "protocol", "FORCED_EXIT", "REVISE", True),
        ([BLOCKING], 2, "protocol", "BLOCKED", None, False),
        ([BLOCKING], 3, "protocol", "FORCED_EXIT", "RETHINK", False),
        ([BLOCKING], 2, "deliberate", "CONTINUE", None, False),
        ([BLOCKING, STUCK], 2, "deliberate", "BLOCKED", None, False),
        ([SIGNIFICANT], 1, "deliberate", "CONTINUE", None, False),
        ([challenge(status="UNRESOLVED")], 1, "deliberate", "CONVERGED", "REVISE", False),
        ([SIGNIFICANT], 3, "deliberate", "CONVERGED", "REVISE", False),
        ([challenge("MINOR")] * 9, 1, "deliberate", "CONVERGED", "PROCEED", False),
    ],
)
def test_the_table_of_spec_a3(challenges, iteration, policy, status, verdict, strong):
    ruling = evaluate(challenges, iteration, policy=policy)
    assert (ruling.status, ruling.verdict, ruling.strong) == (status, verdict, strong)
    assert ruling.record().status == status


pools = st.lists(
    st.builds(challenge, st.sampled_from(SEVERITIES), st.sampled_from(STATUSES), st.sampled_from(["", "do b"])),
    max_size=9,
)


@given(pools, st.integers(1, 4), st.integers(1, 4), st.sampled_from(POLICIES), st.randoms())
def test_order_says_nothing_and_the_last_iteration_always_decides(pool, iteration, most, policy, random):
    ruling = evaluate(pool, iteration, most, policy)
    random.shuffle(pool)
    assert evaluate(pool, iteration, most, policy) == ruling
    if iteration >= most:
        assert ruling.verdict is not None
        assert ruling == evaluate(pool, iteration, most, "protocol")
    assert (ruling.verdict == "PROCEED") <= (ruling.blocking_open == ruling.significant_open == 0)
    assert (ruling.verdict is None) == (ruling.status in ("BLOCKED", "CONTINUE"))


def test_settings_that_make_no_sense_are_all_told():
    with pytest.raises(SettingsError) as raised:
        evaluate([], 0, 0, "hasty")
    assert [problem.place for problem in raised.value.problems] == ["iteration", "max_iterations", "policy"]

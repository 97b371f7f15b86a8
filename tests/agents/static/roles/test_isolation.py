"""A check that raises is a failure of that check: it is named in the reply and costs the others nothing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.agents.static import StaticBackend
from verifyplan.agents.static.roles import challenger, panel
from verifyplan.agents.static.roles.issues import StaticIssue

TEXT = (
    "# A\n\n1. Change `shop/stock.py`.\n2. `make e2e`\n3. Rename `find_order`.\n4. Add `arrow`.\n\n"
    "```python\nimport pandas\nfrom shop.orders import find_user\n```\n\n```sql\nDROP TABLE orders;\n```\n"
)
ERRORS = [
    ValueError("x"),
    TypeError("'<' not supported"),
    KeyError("k"),
    RecursionError(),
    RuntimeError("y"),
    OSError(),
]


def broken(check, after, error):
    def raises(scene):
        for at, found in enumerate(check(scene)):
            if at >= after:
                raise error
            yield found
        raise error

    return raises


def test_each_check_finds_something_in_the_plan(ask):
    reply = ask("challenger", TEXT, reply=True, may_raise=20)
    starts = {(one["claim"].split("`")[0], one["claim"].endswith("?")) for one in reply.value["challenges"]}
    assert len(starts) == len(reply.value["challenges"]) == len(challenger.STATIC_PLAN_CHECKS)
    assert reply.partial_failures == ()


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(challenger.STATIC_PLAN_CHECKS)), after=st.integers(0, 3), error=st.sampled_from(ERRORS)
)
def test_a_check_that_raises_is_named_and_the_others_answer(ask, name, after, error):
    whole = ask("challenger", TEXT, reply=True).value["challenges"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(challenger.STATIC_PLAN_CHECKS, name, broken(challenger.STATIC_PLAN_CHECKS[name], after, error))
        reply = ask("challenger", TEXT, reply=True)
    assert len(reply.partial_failures) == 1
    assert reply.partial_failures[0].startswith(f"check {name} failed: {type(error).__name__}")
    kept = [one for one in reply.value["challenges"] if one in whole]
    assert len(kept) == len(reply.value["challenges"]) >= len(whole) - 1  # each check finds one thing in this plan


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worker=st.sampled_from(sorted(panel.JUDGES)), error=st.sampled_from(ERRORS))
def test_a_panel_worker_whose_look_raises_looked_at_nothing_and_is_named(vote, worker, error):
    def raises(_):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(panel.JUDGES, worker, raises)
        said = vote(worker, "The plan assumes that the file `shop/stock.py` exists.", "plan.md:3", TEXT)
    assert "nothing looked at: the look failed." in said["explanation"]


def test_each_run_runs_the_checks_once_and_names_the_check_that_failed_in_each_call(shop, monkeypatch):
    runs = []

    def raises(_):
        runs.append(1)
        raise ValueError("no such line")
        yield StaticIssue

    monkeypatch.setitem(challenger.STATIC_PLAN_CHECKS, "rules", raises)
    backend, plan = StaticBackend(shop), vp.plans.parse_plan(TEXT, "plan.md")
    for number in (1, 2):
        run = vp.verify(plan, shop, backend=backend, log_dir=None)
        assert len(runs) == number
    for role in ("challenger", "score", "audit"):
        [failures] = {f for call, f in run.state.partial_failures.items() if call.endswith(f"/{role}")}
        assert failures == ("check rules failed: ValueError: no such line",)
    assert any("`shop/stock.py`" in challenge.claim for challenge in run.state.pool)

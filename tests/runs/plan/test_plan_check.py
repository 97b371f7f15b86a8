"""A plan check within a plan run: its blockers are challenges of the first iteration (rules D5, A5)."""

# ruff: noqa: E501  (a case a line is read best)

from __future__ import annotations

import sys

import pytest

import verifyplan as vp
from tests.runs.plan.planning import REPO, challenge
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.cli.app import main
from verifyplan.documents.loading import load
from verifyplan.errors import InputError
from verifyplan.protocol.settings import PlanSettings
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.replay import replay_run

TASK = """<task type="auto">
<name>{name}</name>
<files>src/orders.py</files>
<action>
1. Read the orders of {name} from the new store.
2. Write them back.
</action>
<verify>{check}</verify>
<done>{name} are read from the new store</done>
</task>
"""
HEAD = '---\nphase: "02-store"\nplan: "02-01"\nwave: 1\ndepends_on: []\nmust_haves:\n  truths: ["Orders are read"]\n---\n\n# Store\n\n'


def plan_text(*checks: str) -> str:
    names = ("Invoices", "Refunds", "Baskets", "Parcels")
    return HEAD + "".join(TASK.format(name=name, check=check) for name, check in zip(names, checks, strict=False))


@pytest.fixture
def run(tmp_path):
    """Verifies a plan of tasks with these checks, by scripted agents that raise what is given."""

    def verified(*checks, raised=(), **settings):
        path = tmp_path / "02-01-PLAN.md"
        path.write_text(plan_text(*checks))
        answers = {"i1/challenger": {"challenges": list(raised)}}
        given = {"plan_check": True, "log_dir": tmp_path / "runs", "max_iterations": 1, "panel": None} | settings
        return verify(path, REPO, backend=ScriptedBackend(answers, silent=True), **given)

    return verified


def raised_by_check(state):
    return {name: one for name, one in state.raised.items() if one.raised_by == "the plan check"}


def test_blockers_are_challenges_of_the_first_iteration(run):
    told = run("tail -f a.log", "pytest -q")
    found = raised_by_check(told.state)
    assert list(found) == ["C1"]
    one = found["C1"]
    assert (one.raised_by, one.iteration, one.uncited) == ("the plan check", 1, False)
    assert (one.challenge.origin, one.challenge.severity, one.challenge.confidence) == (
        "challenger",
        "BLOCKING",
        "HIGH",
    )
    assert one.evidence == "02-01-PLAN.md:19\n> <verify>tail -f a.log</verify>"
    assert one.challenge.alternative == "Run it once, without watching."
    assert 'the check of task "1. Invoices" never ends' in one.challenge.concern
    assert "C1" in {challenge.id for challenge in told.state.pool}


def test_without_the_setting_nothing_is_raised_and_old_logs_read_as_before(run):
    told = run("tail -f a.log", plan_check=False)
    assert raised_by_check(told.state) == {}
    assert PlanSettings.model_validate({}).plan_check is False
    assert PlanSettings().model_dump()["plan_check"] is False


def test_a_plan_that_passes_raises_nothing(run):
    assert raised_by_check(run("pytest -q").state) == {}


def test_a_warning_is_no_challenge_as_the_plan_can_be_carried_out_with_it(run):
    assert raised_by_check(run("echo done", "npm run dev", "Look at the page").state) == {}


def test_they_share_the_challengers_cap_and_come_first(run):
    mine = [challenge(word) for word in ("locks", "rows", "order", "retries")]
    told = run("tail -f a.log", "npx vitest --watch", "uvicorn app:api", raised=mine)
    admitted = [event.id for event in told.events if event.type == "challenge-admitted"]
    overflowed = [event.id for event in told.events if event.type == "challenge-overflowed"]
    assert list(raised_by_check(told.state)) == ["C1", "C2", "C3"]
    assert (admitted, overflowed) == (["C1", "C2", "C3", "C4", "C5"], ["C6", "C7"])


def test_they_are_raised_where_the_challenger_fails():
    answers = {"i1/challenger": "error"}
    told = vp.verify(
        vp.plans.parse_plan(plan_text("tail -f a.log"), "PLAN-01.md"),
        REPO,
        backend=ScriptedBackend(answers, silent=True),
        plan_check=True,
        log_dir=None,
    )
    assert list(raised_by_check(told.state)) == ["C1"]


def test_such_a_run_is_driven_again_the_same(run):
    told = run("tail -f a.log", "pytest -q", max_iterations=2)
    again = replay_run(told.log_path)
    assert (again.same, again.censored, again.differences) == (True, None, ())
    assert [event.iteration for event in told.events if event.type == "challenge-raised"] == [1]


def test_a_plan_document_is_a_plan(tmp_path):
    path = tmp_path / "02-01-PLAN.md"
    path.write_text(plan_text("pytest -q"))
    told = verify(load(path), REPO, backend=ScriptedBackend({}, silent=True), log_dir=None)
    assert told.state.inputs.plan_text == path.read_text()
    assert told.state.inputs.plan_path == str(path)


@pytest.mark.parametrize(
    "text", ["# Fix\n\n1. Change `a.py`\n2. Test it\n", "# Fix\n\n### Task 1: Change it\n\nTest.\n"]
)
def test_a_plan_without_tasks_cannot_be_plan_checked(text):
    with pytest.raises(InputError, match=r"plan_check: 'plan.md' is not a PLAN document: it has no tasks"):
        verify(vp.plans.parse_plan(text), REPO, plan_check=True, log_dir=None)


def test_from_a_shell(tmp_path, monkeypatch, capsys):
    path = tmp_path / "02-01-PLAN.md"
    path.write_text(plan_text("tail -f a.log", "pytest -q"))
    words = ["verify", str(path), "--repo", str(REPO), "--plan-check", "--no-panel", "--max-iterations", "1"]
    monkeypatch.setattr(sys, "argv", ["verifyplan", *words, "--log-dir", str(tmp_path / "runs"), "--exit-code"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 20
    assert "02-01-PLAN.md:19: The plan's checks tell whether a task is done." in capsys.readouterr().out


def test_a_plan_of_one_task_is_not_skipped_as_trivial_where_its_check_was_asked_for(run):
    skipped = run("tail -f a.log", plan_check=False)
    assert skipped.state.assessed.trivial
    checked = run("tail -f a.log")
    assert not checked.state.assessed.trivial
    assert list(raised_by_check(checked.state)) == ["C1"]

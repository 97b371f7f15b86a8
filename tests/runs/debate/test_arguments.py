"""The arguments of a debate: all problems at once, nothing asked before (rules H1, H3)."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, ROOT, RUNS_OUT, Heard, debate_of, turn
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError
from verifyplan.runs.debate.debate import debate


def problems(**given):
    with pytest.raises(InputError) as caught:
        debate(**{"task": "greet", "architect": Heard({}), "log_dir": None} | given)
    return [f"{one.place}: {one.message}" for one in caught.value.problems]


def test_everything_that_is_wrong_is_told_at_once(tmp_path):
    (tmp_path / "file").touch()
    told = problems(
        task=" ",
        architect="statik",
        builder=3,
        max_turns=0,
        repo=tmp_path / "none",
        documents={"../up": "x", "ok.md": 3},
        challenges=[{"id": "C1"}],
        timeout=float("nan"),
        max_tokens=-1,
        max_cost="much",
        repetition=True,
        log_dir=tmp_path / "file",
    )
    places = [one.split(":")[0] for one in told]
    assert places[:3] == ["task", "documents", "documents['ok.md']"]
    assert {"challenges[0].claim", "repo", "architect", "builder", "max_turns", "repetition", "timeout"} < set(places)
    assert {"max_tokens", "max_cost", "log_dir"} < set(places)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"task": 3}, "task: is a int, not a text"),
        ({"task": "x" * 1_000_001}, "task: is longer than 1,000,000 characters"),
        ({"task": "\udcff"}, "task: holds halves of surrogate pairs, which cannot be written down"),
        ({"timeout": float("inf")}, "timeout: must be a finite number above 0, got inf"),
        ({"timeout": -1}, "timeout: must be a finite number above 0, got -1"),
        ({"documents": ["x"]}, "documents: must be a mapping, got a list"),
        ({"documents": {"/etc/passwd": "x"}}, "documents: '/etc/passwd' cannot be named in a diff"),
        ({"documents": {"a\nb": "x"}}, "documents: 'a\\nb' cannot be named in a diff"),
        ({"challenges": "C1"}, "challenges: must be a list, got a str"),
        ({"max_turns": 1.5}, "max_turns: must be an integer of at least 1, got 1.5"),
        ({"max_turns": None}, "max_turns: must be an integer of at least 1, got None"),
        ({"repetition": None}, "repetition: must be an integer of at least 1, got None"),
        ({"synthetic": "maybe"}, "synthetic: must be True or False, got 'maybe'"),
        ({"max_cost": 1}, "max_cost: cannot be kept: its calls have no price"),
        ({"architect": None}, "architect: must be a backend that can write, got none"),
        ({"architect": "static"}, "architect: static agents cannot play a role in a debate: they write nothing"),
        (
            {"architect": StaticBackend(".")},
            "architect: static agents cannot play a role in a debate: they write nothing",
        ),
        ({"builder": "static"}, "builder: static agents cannot play a role in a debate: they write nothing"),
        ({"builder": "claude"}, "builder: must be a backend that can write, got 'claude'"),
        ({"architect": StaticBackend}, f"architect: must be a backend that can write, got {StaticBackend!r}"),
        ({"repo": "a\0b"}, "repo: 'a\\x00b' is not a folder"),
    ],
)
def test_what_is_wrong_is_named(given, told):
    assert problems(**given) == [told]


def test_a_task_may_stand_in_a_file(tmp_path):
    path = tmp_path / "TASK.md"
    path.write_text("# Greet\n\nkindly\n")
    run = debate_of(CONVERGES, task=path)
    assert (run.started.debate.task, run.started.task_key) == ("# Greet\n\nkindly\n", "# Greet")
    path.write_bytes(b"\xff")
    assert problems(task=path)[0].endswith("byte 0xff is not UTF-8")
    assert "cannot be read" in problems(task=tmp_path)[0]


def test_the_log_says_what_was_given(tmp_path):
    given = {"documents": {"docs/PLAN.md": "text"}, "repetition": 2, "synthetic": True, "timeout": 5, "max_tokens": 9}
    run = vp.debate("greet", Heard(CONVERGES), repo=ROOT, log_dir=tmp_path, **given)
    inputs = run.started.debate
    assert (inputs.max_turns, inputs.timeout, inputs.limits.max_tokens) == (3, 5, 9)
    assert inputs.documents == {"docs/PLAN.md": "text"}
    assert inputs.repository["root"] == str(ROOT)
    assert inputs.repository["files"] >= 3
    assert (run.started.repetition, run.started.synthetic) == (2, True)
    assert run.log_path == tmp_path / "debate-001.jsonl"
    assert run.run_id == "debate-001"


def test_who_names_nobody_is_told_whom_to_name():
    with pytest.raises(InputError, match=r"Fix: give agents.Anthropic\(model\), a ScriptedBackend\(script\)"):
        debate("greet", log_dir=None)


def test_an_architect_alone_plays_both_roles():
    run = debate("greet", Heard(CONVERGES), repo=ROOT, log_dir=None)
    assert (run.status, run.started.backend) == ("CONVERGED", {"name": "scripted"})


def test_more_than_three_turns_only_for_who_asks():
    default = debate("greet", Heard(RUNS_OUT), repo=ROOT, log_dir=None)
    assert (default.reason, default.turns) == ("MAX_TURNS", 3)
    assert "more turns only if you ask for them: max_turns=" in str(default)
    longer = RUNS_OUT | turn(4, "And again.", "helloo", "Verified: it greets.")
    assert debate("greet", Heard(longer), repo=ROOT, log_dir=None).turns == 3
    assert debate("greet", Heard(longer), max_turns=4, repo=ROOT, log_dir=None).status == "CONVERGED"

"""Debates from a shell: exit codes, the diff, JSON, the log, and going on with one that was broken off (rule H2)."""

from __future__ import annotations

import json

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, RUNS_OUT, STAGNATES, debate_of, diff, says
from tests.runs.plan.breaking import StopError
from verifyplan.cli.exit_codes import exit_code_of


@pytest.fixture
def plays(monkeypatch, tmp_path):
    """Writes the script that the commands of a test name."""
    monkeypatch.chdir(tmp_path)

    def write(script):
        (tmp_path / "script.json").write_text(json.dumps(script))

    return write


@pytest.fixture
def debates(cli):
    """Runs `verifyplan debate` with that script."""
    return lambda *words: cli("debate", *words, "--script", "script.json")


def test_a_debate_that_converges(cli, debates, plays, tmp_path):
    plays(CONVERGES)
    done = debates("greet", "--diff", "out/change.diff", "--synthetic")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "CONVERGED (VERIFIED) in turn 2 of at most 3: greet"
    assert done.out.splitlines()[-2:] == ["log: runs/debate-001.jsonl", "diff: out/change.diff"]
    assert (tmp_path / "out/change.diff").read_text() == diff("hello")
    run = vp.read_run("runs/debate-001.jsonl")
    assert isinstance(run, vp.results.Debate)
    assert (run.started.synthetic, run.started.backend["name"]) == (True, "scripted")
    logged = cli("log", "runs/debate-001.jsonl")
    assert (logged.code, len(logged.out.splitlines())) == (0, len(run.records))
    checked = cli("replay", "runs/debate-001.jsonl", "--check")
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "the recorded replies give the recorded events again")


@pytest.mark.parametrize(
    ("script", "words", "code", "told"),
    [
        (STAGNATES, (), 1, "FAILED (NO_IMPROVEMENT) in turn 2"),
        (RUNS_OUT, ("--max-turns", 2), 1, "FAILED (MAX_TURNS) in turn 2 of at most 2"),
        (CONVERGES | {"t1/verify": "error"}, (), 3, "no outcome (AGENT_FAILED) in turn 1"),
        (CONVERGES | {"t2/implement": says("no diff")}, (), 3, "no outcome (AGENT_FAILED) in turn 2"),
    ],
)
def test_exit_codes_tell_how_a_debate_ended(cli, debates, plays, script, words, code, told):
    plays(script)
    done = debates("greet", *words)
    assert done.code == code
    assert done.out.startswith(told)
    assert cli("resume", "runs/debate-001.jsonl").code == code


def test_a_budget_has_an_exit_code_of_its_own():
    assert exit_code_of(debate_of(CONVERGES, tokens=10, max_tokens=30)) == 4


def test_json_tells_the_outcome_and_every_message(debates, plays):
    plays(CONVERGES)
    done = debates("greet", "--json", "--log-dir", "logs")
    told = json.loads(done.out)
    assert (told["status"], told["reason"], told["turns"], told["exitReason"]) == ("CONVERGED", "VERIFIED", 2, "")
    assert told["diff"] == diff("hello")
    types = ["propose", "implement", "verify", "critique", "implement", "verify"]
    assert [one["type"] for one in told["messages"]] == types
    assert "budgetTrace" not in told["messages"][0], "no model was called"
    assert told["log"] == "logs/debate-001.jsonl"


def test_a_task_may_stand_in_a_file_and_be_debated_again_and_again(debates, plays, tmp_path):
    (tmp_path / "TASK.md").write_text("# Greet\n")
    plays(STAGNATES)
    done = debates("TASK.md", "--repetitions", 2)
    assert done.code == 1
    assert done.out.count("repetition ") == 2
    runs = [vp.read_run(f"runs/debate-00{n}.jsonl") for n in (1, 2)]
    assert [run.started.repetition for run in runs] == [1, 2]
    assert {run.started.debate.task for run in runs} == {"# Greet\n"}


def test_where_there_is_no_diff_none_is_written(debates, plays, tmp_path):
    (tmp_path / "change.diff").write_text("of yesterday")
    plays({"t1/propose": "error"})
    done = debates("greet", "--diff", "change.diff")
    assert (done.code, done.out.splitlines()[-1]) == (3, "diff: there is none, so nothing was written")
    assert (tmp_path / "change.diff").read_text() == "of yesterday"


def test_a_debate_that_was_broken_off_is_resumed(cli, plays, tmp_path):
    plays(CONVERGES)
    left = [6]

    def stop(_):
        left[0] -= 1
        if not left[0]:
            raise StopError

    with pytest.raises(StopError):
        vp.debate("greet", vp.agents.ScriptedBackend("script.json"), sink=stop)
    path = tmp_path / "runs/debate-001.jsonl"
    assert "written with 'scripted', which cannot be made from its name" in cli("resume", path).err
    done = cli("resume", path, "--script", "script.json")
    assert done.code == 0
    assert done.out.startswith("CONVERGED (VERIFIED) in turn 2")
    assert cli("replay", path, "--check").code == 0
    refused = cli("resume", path, "--report", "x.md")
    assert (refused.code, "--report: is only for plan runs and cross runs" in refused.err) == (2, True)


def test_a_replay_with_fewer_turns(cli, debates, plays):
    plays(RUNS_OUT)
    debates("greet")
    done = cli("replay", "runs/debate-001.jsonl", "--max-turns", 2)
    assert done.code == 0
    assert done.out.startswith("FAILED (MAX_TURNS) in turn 2 of at most 2")
    assert "events of the log differ" in done.out
    assert cli("replay", "runs/debate-001.jsonl").out.endswith("the same events as recorded\n")
    assert cli("replay", "runs/debate-001.jsonl", "--policy", "deliberate").code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("greet", "--repo", "none"), "repo: 'none' is not a folder"),
        ((" ",), "task: is blank. Fix: give the change to agree on, or a file that says it.\n"),
        (("",), "task: is blank. Fix: give the change to agree on, or a file that says it.\n"),
        (("no/such.md",), "there is no file 'no/such.md'. Fix: give the task in words, or a file that exists."),
        (("greet", "--diff", "."), "--diff: '.' cannot be written"),
        (("greet", "--diff", "x", "--repetitions", 2), "--diff: is for one debate, got 2"),
        (("greet", "--max-cost", 1), "max_cost: cannot be kept"),
        (("greet", "--backend", "static"), "--script: does not go with --backend"),
        (("greet", "--model", "m"), "--script: does not go with --model"),
        (("greet", "--max-turns", 0), "--max-turns"),
        (("x" * 5000, "--log-dir", "TASK"), "log_dir: "),
    ],
)
def test_bad_arguments_are_told_before_anybody_is_asked(debates, plays, tmp_path, words, told):
    (tmp_path / "TASK").touch()
    plays({})
    done = debates(*words)
    assert done.code == 2
    assert told in done.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("words", [(), ("--backend", "static")])
@pytest.mark.parametrize("command", [("debate", "greet"), ("revise", "PLAN.md")])
def test_who_names_nobody_that_can_write_is_told_whom_to_name(cli, tmp_path, command, words):
    done = cli(*command, *words, cwd=tmp_path)
    assert done.code == 2
    assert done.err == (
        "Error: --model: static agents cannot play architect and builder. "
        "Fix: name a model (--model MODEL), or a file of answers (--script FILE).\n"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("{", "is not JSON"),
        ("[]", "holds a list, not an object"),
    ],
)
def test_a_script_that_is_none_is_refused(debates, monkeypatch, tmp_path, text, told):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "script.json").write_text(text)
    done = debates("greet")
    assert done.code == 2
    assert f"script.json: {told}" in done.err


def test_an_invalid_answer_is_told_as_programs_read_it(debates, plays):
    plays(CONVERGES | {"t1/verify": says("", mood="good")})
    done = debates("greet")
    error = '{"keyword":"additionalProperties","instancePath":"","params":{"additionalProperty":"mood"}}'
    assert done.code == 3
    assert f't1/verify: MESSAGE_SCHEMA_VALIDATION_FAILED::{{"errors":[{error},{{"keyword":"minLength",' in done.out
    assert error in vp.read_run("runs/debate-001.jsonl").outcome.exit_reason


def test_the_help_says_that_more_than_three_turns_must_be_asked_for(cli):
    for command in ("debate", "revise"):
        told = " ".join(cli(command, "--help").out.split())
        assert "more than 3 only if set here" in told


def test_the_command_has_help_with_an_example(cli):
    done = cli("debate", "--help")
    assert done.code == 0
    assert "\n  verifyplan debate " in done.out

"""`verifyplan revise`: from a plan or a log to a revised plan, a diff, and an exit code."""

from __future__ import annotations

import json

import pytest

import verifyplan as vp
from tests.runs.revising import Objecting, repository, settling
from verifyplan.diffs import diff_of

PLAN = """# Say who holds the lock

Goal: readers of the runbook know whom to ask.

1. Change `RUNBOOK.md`: add a section on the lock.
2. Name in it, badly, the person who holds the lock.
3. Tell the team about the section, and ask them to read it once.
"""
MENDED = PLAN.replace("in it, badly,", "in it")


@pytest.fixture
def work(monkeypatch, tmp_path):
    """A folder with the plan, a script that mends it, and the logs of runs that ended with each verdict."""
    monkeypatch.chdir(repository(tmp_path))
    (tmp_path / "lock.md").write_text(PLAN)
    script = settling(diff_of({"lock.md": (PLAN, MENDED)})).script
    (tmp_path / "script.json").write_text(json.dumps(script))
    for severity, name in (("SIGNIFICANT", "revise"), ("BLOCKING", "rethink"), ("MINOR", "proceed")):
        given = {"backend": Objecting(badly=severity), "panel": None, "max_iterations": 1, "log_dir": name}
        vp.verify("lock.md", tmp_path, progress=False, **given)
    return tmp_path


@pytest.fixture
def run(cli, work):  # noqa: ARG001  (it makes the files)
    return lambda *words: cli("revise", *words, "--script", "script.json", "--log-dir", "runs")


def test_a_plan_is_revised_and_written_beside_its_diff(run, work):
    done = run("revise/lock-001.jsonl", "--out", "new.md", "--diff", "new.diff", "--exit-code")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("lock.md: REVISE -> PROCEED; the revised plan may proceed\nround 1: debate CONVERGED")
    assert "  settled: C1 SIGNIFICANT " in done.out
    assert "caution: objecting verified the plan before, and static after" in done.out
    assert "plan: new.md\ndiff: new.diff\n" in done.out
    assert (work / "new.md").read_text() == MENDED
    assert (work / "new.diff").read_text().startswith("--- a/lock.md\n+++ b/lock.md\n@@ ")
    assert (work / "lock.md").read_text() == PLAN


def test_a_plan_is_verified_first_where_there_is_no_log(run):
    done = run("lock.md", "--repo", ".")
    assert done.code == 0
    assert done.out.startswith("lock.md: PROCEED: nothing was raised, so nothing was revised\n  ")
    assert "log: runs/lock-001.jsonl" in done.out


@pytest.mark.parametrize(("verdict", "code"), [("rethink", 20), ("proceed", 0)])
def test_the_verdict_is_the_exit_code_where_it_is_asked_for(run, verdict, code):
    assert run(f"{verdict}/lock-001.jsonl", "--exit-code").code == code
    done = run(f"{verdict}/lock-001.jsonl", "--diff", "x.diff")
    assert done.code == 0
    assert "diff: nothing was changed, so nothing was written" in done.out


def test_a_plan_that_is_still_to_revise_has_exit_code_10(run, work):
    (work / "script.json").write_text(json.dumps(settling("nonsense").script))
    done = run("revise/lock-001.jsonl", "--exit-code")
    assert done.code == 10
    assert "the debate changed nothing" in done.out


def test_a_file_is_not_written_over_where_nothing_was_revised(run, work):
    (work / "exists.md").write_text("mine\n")
    done = run("rethink/lock-001.jsonl", "--out", "exists.md")
    assert done.code == 0
    assert "plan: nothing was revised, so exists.md was not written" in done.out
    assert (work / "exists.md").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("missing.md",), "missing.md"),
        (("missing.jsonl",), "missing.jsonl"),
        (("x.md", "--out", "."), "--out: '.' cannot be written (is a folder)"),
        (("x.md", "--diff", "."), "--diff: '.' cannot be written (is a folder)"),
    ],
)
def test_what_cannot_be_used_is_told_in_words(run, words, told):
    done = run(*words)
    assert done.code == 2
    assert told in done.err

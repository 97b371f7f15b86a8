"""`verifyplan revise`: from a plan or a log to a revised plan, a diff, and an exit code."""

from __future__ import annotations

import sys

import pytest

from verifyplan.cli.app import main
from verifyplan.datasets.plans import plan_path
from verifyplan.datasets.plans_repository import sample_repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return sample_repository(tmp_path_factory.mktemp("sample") / "waybill")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["verifyplan", "revise", *map(str, words), "--log-dir", "runs"])
        code = 0
        try:
            main()
        except SystemExit as error:
            code = int(error.code or 0)
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_a_plan_is_verified_revised_and_written_beside_its_diff(run, tmp_path, repository):
    code, out, err = run(
        plan_path("readiness"), "--repo", repository, "--out", "new.md", "--diff", "new.diff", "--exit-code"
    )
    assert (code, err) == (0, "")
    assert out.startswith("readiness.md: REVISE -> PROCEED; the revised plan may proceed\nround 1: debate CONVERGED")
    assert "  settled: C1 SIGNIFICANT " in out
    assert "plan: new.md\ndiff: new.diff\n" in out
    assert "`scripts/deploy.sh rollback production`." in (tmp_path / "new.md").read_text()
    assert (tmp_path / "new.diff").read_text().startswith("--- a/readiness.md\n+++ b/readiness.md\n@@ ")
    code, out, _ = run("runs/readiness-001.jsonl", "--exit-code", "--max-rounds", 1, "--max-turns", 1)
    assert code == 0
    assert "REVISE -> PROCEED" in out


@pytest.mark.parametrize(("plan", "code"), [("poll-budget", 10), ("mail-job", 20), ("readme-dbmate", 0)])
def test_the_verdict_is_the_exit_code_where_it_is_asked_for(run, repository, plan, code):
    assert run(plan_path(plan), "--repo", repository, "--exit-code")[0] == code
    told = run("runs/" + f"{plan}-001.jsonl", "--diff", "x.diff")
    assert told[0] == 0
    assert "diff: none was written, as nothing was changed" in told[1]


def test_a_file_is_not_written_over_where_nothing_was_revised(run, repository, tmp_path):
    (tmp_path / "exists.md").write_text("mine\n")
    code, out, _ = run(plan_path("mail-job"), "--repo", repository, "--out", "exists.md")
    assert code == 0
    assert "plan: nothing was revised, so exists.md was not written" in out
    assert (tmp_path / "exists.md").read_text() == "mine\n"


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
    code, _, err = run(*words)
    assert code == 2
    assert told in err
    assert "Traceback" not in err

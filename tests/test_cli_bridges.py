"""`claims`, `verification` and `gap-plan` as a user meets them, one after the other."""

from __future__ import annotations

import csv
import json

import pytest

from tests.labels_project import ABSENT, HOLDS, PLAN, REFUTED, SUMMARY, UNREADABLE, labels_project
from verifyplan.documents import check, load

ROSTER = "search,syntax-tree,window"


@pytest.fixture(autouse=True)
def project(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return labels_project(tmp_path)


@pytest.fixture
def artifact(cli, project):
    """The artifact of a cross run over the claims of the summary."""
    assert cli("claims", SUMMARY, "--plan", PLAN, "--out", "findings.json").code == 0
    done = cli("crossverify", "findings.json", "--mode", "adversarial", "--workers", f"executor=search,{ROSTER}")
    assert done.code == 0, done.err
    return next(project.glob("runs/**/*.json"))


def test_claims_are_printed_as_json(cli):
    done = cli("claims", SUMMARY, "--plan", PLAN)
    rows = json.loads(done.out)
    assert (done.code, done.err, len(rows)) == (0, "", 8)
    assert rows[0] == {
        "finding_id": "01-01/claim-1",
        "summary": HOLDS,
        "evidence": "src/labels.py:1-200 tests/test_labels.py:1-200",
        "worker": "executor",
        "category": "must-have",
        "ticket_ids": ["01-01/must-have-1"],
    }


def test_claims_are_written_as_csv_and_read_by_crossverify(cli, project):
    done = cli("claims", SUMMARY, "--plan", PLAN, "--worker", "ann", "--out", "findings.csv")
    assert done.out == "8 findings: findings.csv\n"
    with (project / "findings.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["ticket_ids"] for row in rows[:2]] == ["01-01/must-have-1", "01-01/must-have-2"]
    run = cli("crossverify", "findings.csv", "--mode", "adversarial", "--workers", f"ann=search,{ROSTER}")
    assert (run.code, run.err) == (0, "")
    assert "8 findings, 4 workers, adversarial" in run.out


def test_the_must_haves_of_a_plan_are_findings_too(cli):
    rows = json.loads(cli("claims", PLAN).out)
    assert [row["finding_id"] for row in rows] == [f"01-01/must-have-{number}" for number in range(1, 7)]
    assert {row["worker"] for row in rows} == {"planner"}


def test_a_verification_with_gaps_exits_with_1_and_is_valid(cli, artifact):
    done = cli("verification", artifact, "--plan", PLAN, "--out", "VERIFICATION.md")
    assert (done.code, done.err) == (1, "")
    assert done.out == "gaps_found: 2 of 6 must-haves passed, 2 gaps, attempt 1: VERIFICATION.md\n"
    assert check("VERIFICATION.md").violations == ()


def test_the_log_of_a_run_serves_as_well_and_what_stands_there_is_the_attempt_before(cli, artifact):
    assert cli("verification", artifact.with_suffix(".jsonl"), "--plan", PLAN).code == 1
    again = cli("verification", artifact, "--plan", PLAN, "--override", REFUTED, "--override", "#3", "--override", "#5")
    assert "human_needed: 5 of 6 must-haves passed, 0 gaps, attempt 2: VERIFICATION.md" in again.out
    assert load("VERIFICATION.md").overrides == (REFUTED, UNREADABLE, ABSENT)
    elsewhere = cli("verification", artifact, "--plan", PLAN, "--before", "VERIFICATION.md", "--out", "third.md")
    assert "attempt 3: third.md" in elsewhere.out


def test_all_passed_exits_with_0(cli, artifact):
    given = [word for number in range(1, 7) for word in ("--override", f"#{number}")]
    done = cli("verification", artifact, "--plan", PLAN, *given)
    assert (done.code, done.out.split(":")[0]) == (0, "passed")


def test_the_gap_plan_is_written_beside_the_plan_and_over_nothing(cli, artifact, project):
    cli("verification", artifact, "--plan", PLAN)
    done = cli("gap-plan", "VERIFICATION.md", "--plan", PLAN)
    written = PLAN.replace("01", "02", 2).replace("phases/02", "phases/01")
    assert done.out == f"plan 01-02, 2 tasks, wave 2: {written}\n"
    assert check(project / ".planning").ok
    again = cli("gap-plan", "VERIFICATION.md", "--plan", PLAN)
    assert again.code == 2
    assert f"{written}: already exists. Fix: name another file with --out" in again.err


def test_what_cannot_be_read_is_told_in_words(cli, artifact, project):
    wrong = cli("claims", "nowhere.md")
    assert (wrong.code, wrong.out) == (2, "")
    assert "nowhere.md: cannot be read" in wrong.err
    assert "is a plan, not a verification" in cli("gap-plan", PLAN, "--plan", PLAN).err
    assert "is a summary, not a plan" in cli("verification", artifact, "--plan", SUMMARY).err
    (project / "plan.jsonl").write_text("no log\n")
    assert cli("verification", "plan.jsonl", "--plan", PLAN).code == 2
    assert not (project / "VERIFICATION.md").exists()


@pytest.mark.parametrize("text", ["# Plan\n", '[{"finding_id": "a"}]', '{"a": 1}'])
def test_a_file_that_is_no_run_is_told_as_such(cli, project, text):
    (project / "given.json").write_text(text)
    done = cli("verification", "given.json", "--plan", PLAN)
    assert done.code == 2
    assert "given.json: is neither the artifact nor the log of a run. Fix: name the artifact of a cross run" in done.err


def test_a_damaged_artifact_is_told_as_damaged(cli, artifact):
    artifact.write_text(artifact.read_text()[:-20])
    assert "is not JSON" in cli("verification", artifact, "--plan", PLAN).err


def test_claims_are_those_of_a_summary_or_a_plan(cli, artifact):
    cli("verification", artifact, "--plan", PLAN)
    told = cli("claims", "VERIFICATION.md").err
    assert "VERIFICATION.md: is a verification, not a summary or a plan. Fix: give a summary or a plan" in told
    assert ".planning: is a folder, not a summary or a plan" in cli("claims", ".planning").err


def test_a_summary_that_claims_nothing_says_so(cli, project):
    (project / "SUMMARY-01-09.md").write_text('---\nplan: "01-09"\nstatus: partial\n---\n')
    done = cli("claims", "SUMMARY-01-09.md")
    assert (done.code, json.loads(done.out)) == (0, [])
    assert "SUMMARY-01-09.md: makes no claims, so a run over it verifies nothing" in done.err

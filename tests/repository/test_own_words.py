"""A plan does not vouch for itself: its own file and run logs, which quote it, are no part of the repository."""

from __future__ import annotations

import pytest

import verifyplan as vp
from verifyplan.repository.repository import Repository

PLAN = "# Herd\n\nGoal: herd them.\n\n1. Change `zebra_crossing()` in `src/a.py`\n2. Test it\n3. Ship it\n"


@pytest.mark.parametrize("data", [PLAN.encode(), PLAN.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + PLAN.encode()])
def test_files_that_hold_the_plan_are_left_out_and_told(tmp_path, data):
    (tmp_path / "copy.md").write_bytes(data)
    (tmp_path / "other.md").write_text(PLAN.replace("herd", "hold"))
    repository = Repository.open(tmp_path, PLAN)
    assert list(repository.files) == ["other.md"]
    assert {one.path: one.reason for one in repository.skipped}["copy.md"] == "the plan itself, or a run log"
    assert "copy.md" in Repository.open(tmp_path).files


def test_run_logs_are_left_out(tmp_path):
    (tmp_path / "runs").mkdir()
    run = vp.verify(vp.plans.parse_plan(PLAN, str(tmp_path / "PLAN.md")), tmp_path, log_dir=tmp_path / "runs")
    assert run.log_path is not None
    assert run.log_path.is_relative_to(tmp_path)
    assert list(Repository.open(tmp_path).files) == []

"""A plan does not vouch for itself, neither as it is nor as it was before a revision."""

from __future__ import annotations

from verifyplan.agents.static.roles.context import open_repository

PLAN = "# Plan\n\n1. Call `old_helper`.\n2. Test it.\n3. Deploy it.\n4. Tell the shop.\n5. Rest.\n"


def test_the_plan_as_it_was_is_left_out_and_other_texts_stay(tmp_path):
    (tmp_path / "PLAN.md").write_text(PLAN)
    (tmp_path / "copy.md").write_text(PLAN.replace("old_helper", "new_helper"))
    (tmp_path / "notes.md").write_text(
        "# Notes\n\nCall `old_helper`, says somebody.\nIt is good.\n\nVery good, in fact, it is.\n"
    )
    opened = open_repository(tmp_path, PLAN.replace("old_helper", "new_helper"))
    assert list(opened.files) == ["notes.md"]
    assert [hit.path for hit in opened.grep("old_helper")] == ["notes.md"]
    assert "as it was" in next(one.reason for one in opened.skipped if one.path == "PLAN.md")


def test_without_such_texts_nothing_is_left_out(tmp_path):
    (tmp_path / "notes.md").write_text("# Notes\n")
    assert list(open_repository(tmp_path, "# Notes\n\nelse\n").files) == ["notes.md"]
    assert list(open_repository(tmp_path, "").files) == ["notes.md"]

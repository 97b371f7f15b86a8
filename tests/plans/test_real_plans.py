"""Plans that others wrote, read from ../shared: what is known of them by eye; skipped, with its reason, without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import Plan, read_plan


@pytest.fixture(scope="module")
def read(shared: Path):
    def by_name(ending: str) -> Plan:
        found = sorted(path for path in (shared / "data").rglob("*.md") if str(path).endswith(ending))
        assert len(found) == 1, ending
        return read_plan(found[0])

    return by_name


def test_every_plan_is_read_without_loss(shared: Path):
    paths = [*(shared / "data" / "plans").rglob("*.md"), *(shared / "data" / "planning").rglob("*PLAN*.md")]
    assert len(paths) > 60
    damaged = []
    for path in paths:
        plan = read_plan(path)
        damaged += [path.name for note in plan.notes if "frontmatter" in note]
        assert plan.title or path.name in damaged, path
        assert plan.references, path
        assert plan.steps or "architecture" in path.name, path
        assert not assess(plan).trivial, path
    assert damaged == ["02-01-PLAN.md"]  # it holds "\\." in double quotes, which is no YAML


def test_a_plan_of_tasks_and_steps(read):
    plan = read("visual-brainstorming.md")
    assert [step.label for step in plan.steps if step.level == 0] == [f"Task {n}" for n in range(1, 6)]
    assert plan.created >= {"lib/brainstorm-server/index.js", "skills/brainstorming/visual-companion.md"}
    assert "skills/brainstorming/SKILL.md" not in plan.created
    assert not any(section.title == "Pushing Screens" for section in plan.sections)  # it stands in a fence of Markdown
    assert [r.name for r in plan.references if r.kind == "package"] == ["ws"]


def test_a_plan_of_a_clean_up(read):
    plan = read("MAIN_TEST_CLEANUP_PLAN.md")
    intents = {(r.name, r.line): r.intent for r in plan.references}
    assert intents["MarkClean", 79] == "create"
    assert intents["clearAutoFlushState", 80] == "change"
    assert intents["isDirty", 89] == "delete"
    assert intents["cmd/bd/main_test.go", 135] == "change"
    assert [step.done for step in plan.steps if step.first in range(124, 132)] == [True] * 3 + [None] * 5


def test_a_plan_document(read):
    plan = read("08-error-surfacing/08-01-PLAN.md")
    assert [step.label for step in plan.steps] == ["Task 1", "Task 2"]
    symbols = {r.name: r.intent for r in plan.references if r.kind == "symbol" and r.line in range(80, 96)}
    assert {name for name, intent in symbols.items() if intent == "create"} == {
        "BuildError", "DeployError", "patch", "post_pr_comment", "find_merged_pr",
    }  # fmt: skip
    assert symbols["GitHubClient"] == "change"
    assert plan.creates(".planning/phases/08-error-surfacing/08-01-SUMMARY.md")

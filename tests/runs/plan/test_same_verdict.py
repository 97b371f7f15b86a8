"""How a plan is written down changes neither what static agents raise nor the verdict (rule A8)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import verifyplan as vp
from verifyplan.plans.plan import parse_plan

FOLDER = Path(__file__).parents[3] / "data" / "plans" / "plans"
CHALLENGED = ["excel-export", "overview-refresh", "parcel-weight", "poller-heartbeat", "statement-timeout"]
PLANS = sorted({*sorted(FOLDER.glob("*.md"))[::12], *(FOLDER / f"{name}.md" for name in CHALLENGED)})
"""Every twelfth plan of the project, and some that look-ups challenge: all of them take two minutes."""


def in_prose(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of lines that leaves fenced code alone."""

    def changed(text: str) -> str:
        plan = parse_plan(text)
        code = {number for block in plan.blocks for number in range(block.first, block.last + 1)}
        lines = enumerate(text.split("\n"), 1)
        return "\n".join(line if number in code else change(line) for number, line in lines)

    return changed


CHANGES = {
    "wrapped": in_prose(
        lambda line: re.sub(r"(?<=[a-z,]) (?=[a-z])", "\n  ", line) if line[:2] in ("- ", "1.") else line
    ),
    "numbered": in_prose(lambda line: re.sub(r"^- (?!\[)", "1. ", line)),
    "bulleted": in_prose(lambda line: re.sub(r"^\d+\. ", "-  ", line)),
    "an empty section": lambda text: f"{text.rstrip()}\n\n## Notes\n",
    "other headings": in_prose(lambda line: re.sub(r"^(##+) .*", r"\1 Part", line)),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return vp.datasets.sample_repository(tmp_path_factory.mktemp("code") / "waybill")


def outcome(text: str, path: Path, repository: Path) -> tuple[object, ...]:
    """The verdict of static agents, and what they raised, without the lines on which it stands."""
    run = vp.verify(
        parse_plan(text, path.name), repository, log_dir=None, progress=False, max_iterations=1, panel=None, team="base"
    )
    raised = sorted((challenge.severity, challenge.claim) for challenge in run.state.challenges.values())
    return run.verdict, run.status, raised


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_how_a_plan_is_written_down_changes_no_verdict(path, repository):
    text = path.read_text("utf-8")
    as_written = outcome(text, path, repository)
    for name, change in CHANGES.items():
        assert outcome(change(text), path, repository) == as_written, name


def test_some_of_these_plans_are_challenged_and_each_change_changes_some_text(repository):
    texts = [path.read_text("utf-8") for path in PLANS]
    assert any(outcome(text, path, repository)[2] for text, path in zip(texts, PLANS, strict=True))
    assert all(any(change(text) != text for text in texts) for change in CHANGES.values())

"""Texts that once took half a minute are read in a moment; a child that takes longer is ended, and fails."""

from __future__ import annotations

import pytest

from tests.processes import forked

RUN = "_" * 200_000
DEEP = "".join(f"{' ' * depth}a:\n" for depth in range(1_170))
HEAD = '---\nphase: "01-a"\nplan: "01-01"\nwave: 1\n---\n'
TASK = "<task>\n<name>{}.py</name>\n<files>{}</files>\n<action>{}(</action>\n<verify>{}</verify>\n</task>\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + TASK.format(RUN, "a.py", "x", "make"),
        HEAD + TASK.format("a", RUN, "x", "make"),
        HEAD + TASK.format("a", "a.py", RUN, RUN),
        f"---\n{DEEP}---\n",
        f"---\nphase: a\n{DEEP}",
        f"{HEAD}<task>\n<action>\n{DEEP}</action>\n</task>\n",
        f"{HEAD}<task>\n<action>\n{DEEP.replace('a:', '- a')}</action>\n</task>\n",
    ],
    ids=["name", "files", "action", "front", "open front", "yaml in a task", "list in a task"],
)
def test_a_hostile_plan_is_read_in_bounded_time(tmp_path, text):
    place = tmp_path / "PLAN-01.md"
    place.write_text(text)
    done = forked("everything", "tests.documents.bounded_reading", "read", place)
    assert done.returncode == 0, done.stderr

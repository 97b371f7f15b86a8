"""Sections, blocks of code, title and goal, with the lines on which they stand."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan
from verifyplan.plans.values import CodeBlock, Section

PLAN = """before

# Title `x`

text

## Part
more

```python
# no heading
```
Setext
======
end
"""


def test_sections_follow_one_another_and_end_before_the_next_heading():
    assert parse_plan(PLAN).sections == (
        Section("", 0, 1, 2),
        Section("Title `x`", 1, 3, 6),
        Section("Part", 2, 7, 12),
        Section("Setext", 1, 13, 15),
    )


def test_a_plan_that_begins_with_a_heading_has_no_nameless_section():
    assert parse_plan("# A\n").sections == (Section("A", 1, 1, 1),)


def test_an_empty_text_is_a_plan_without_anything():
    plan = parse_plan("")
    assert (plan.lines, plan.sections, plan.steps, plan.references, plan.notes) == ((), (), (), (), ())
    assert (plan.title, plan.goal, plan.line(1)) == ("", "", "")


def test_lines_are_found_by_number():
    plan = parse_plan(PLAN)
    assert plan.line(5) == "text"
    assert (plan.line(0), plan.line(16)) == ("", "")


@pytest.mark.parametrize("text", ["- # in a list\n", "> # quoted\n", "<!--\n# hidden\n-->\n", "    text\n"])
def test_what_is_no_heading_of_the_plan_opens_no_section(text):
    assert [section.level for section in parse_plan(text).sections] == [0]


def test_blocks_keep_their_language_lines_and_text():
    text = "a\n\n1. x\n\n   ```Python title=y\n   a = 1\n     b\n   ```\n\n~~~\n```\n~~~\n"
    assert parse_plan(text).blocks == (CodeBlock("python", 5, 8, "a = 1\n  b"), CodeBlock("", 10, 12, "```"))


def test_a_block_that_never_ends_reaches_to_the_end_and_is_noted():
    plan = parse_plan("a\n```\n# b\n")
    assert plan.blocks == (CodeBlock("", 2, 3, "# b"),)
    assert plan.notes == ("line 2: the code block never ends",)
    assert len(plan.sections) == 1


def test_a_fence_of_markdown_may_hold_whole_fences():
    text = "```markdown\n## In\n```sh\nmake in\n```\n## Still in\n```\n## Out\n"
    plan = parse_plan(text)
    assert plan.blocks == (CodeBlock("markdown", 1, 7, "## In\n```sh\nmake in\n```\n## Still in"),)
    assert [section.title for section in plan.sections] == ["", "Out"]
    assert plan.references == ()


def test_a_fence_of_markdown_that_holds_none_ends_at_the_first_mark():
    assert [(b.first, b.last) for b in parse_plan("```md\na\n```\nb\n```sh\nc\n```\n").blocks] == [(1, 3), (5, 7)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Small\n# Big\n# Bigger", "Big"),
        ("## Small", "Small"),
        ("---\ntitle: Told\n---\n## Small", "Told"),
        ("---\nphase: 02-auth\nplan: 3\n---\ntext", "02-auth 3"),
        ("<objective>\nx\n</objective>\n<context>\n# theirs\n</context>\n", ""),
        ("text", ""),
    ],
)
def test_the_title(text, title):
    assert parse_plan(text).title == title


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("**Goal:** Be fast.\n", "Be fast."),
        ("**Phase Goal:** Be fast.\n", "Be fast."),
        ("Goal: a\nand b\n\nc", "a\nand b"),
        ("# P\n## Goals\n\n- a\n- b\n\n## Other\nx", "- a\n- b"),
        ("## Summary\nlast\n## Problem Statement\nfirst\n", "first"),
        ("<objective>\nDo it.\n</objective>\n\n**Goal:** other", "Do it."),
        ("## Goal\n\n## Design\nx", ""),
        ("## Non-Goals\nx", ""),
        ("nothing", ""),
    ],
)
def test_the_goal(text, goal):
    assert parse_plan(text).goal == goal

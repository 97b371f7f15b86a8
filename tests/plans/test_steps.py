"""What counts as a step, where it begins and ends, and what does not count."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan


def steps(text):
    """Label, text, first and last line, mark and level of each step; numbers must count from 1."""
    found = parse_plan(text).steps
    assert [step.number for step in found] == list(range(1, len(found) + 1))
    return [(step.label, step.text, step.first, step.last, step.done, step.level) for step in found]


def test_items_of_a_numbered_list_but_not_those_below_them():
    text = "1. Add a\n   more\n   1. inner\n   - inner\n2. Add b\n"
    assert steps(text) == [("1", "Add a more", 1, 4, None, 0), ("2", "Add b", 5, 5, None, 0)]


def test_task_list_items_carry_their_marks():
    text = "- [ ] open\n- [x] done\n- [X] done, too\n- plain\n"
    assert [(text, done) for _, text, _, _, done, _ in steps(text)] == [
        ("open", False), ("done", True), ("done, too", True),
    ]  # fmt: skip


def test_a_tick_behind_a_step_marks_it_done():
    assert [done for *_, done, _ in steps("1. a ✓\n2. b\n3. c ✅\n")] == [True, None, True]


@pytest.mark.parametrize(
    ("heading", "label"),
    [("Step 3", "Step 3"), ("Task 2: Do it", "Task 2"), ("Phase 1 - go", "Phase 1"), ("1. Foo", "1"),
     ("2) Foo", "2"), ("Milestone 1.2: x", "Milestone 1.2"), ("Step A: x", "Step A")],
)  # fmt: skip
def test_headings_that_open_a_step(heading, label):
    assert steps(f"# Plan\n### {heading}\ntext\n#### below\n### Other\n") == [(label, heading, 2, 4, None, 0)]


@pytest.mark.parametrize("heading", ["Overview", "Stepwise 3", "Multitask 2", "Phases", "2024", "1.2 Foo", "Tasks"])
def test_headings_that_open_none(heading):
    assert steps(f"# Plan\n### {heading}\ntext\n") == []


def test_bold_labels_are_steps_within_their_task():
    text = "## Task 1: A\n\n**Step 1: Write**\n\ntext\n\n**Step 2: Run** it\n\n## Task 2: B\n"
    assert steps(text) == [
        ("Task 1", "Task 1: A", 1, 8, None, 0),
        ("Step 1", "Step 1: Write", 3, 6, None, 1),
        ("Step 2", "Step 2: Run it", 7, 8, None, 1),
        ("Task 2", "Task 2: B", 9, 9, None, 0),
    ]


def test_where_a_section_is_called_steps_other_numbered_lists_do_not_count():
    text = "# P\n1. a reason\n## Implementation Steps\n1. do\n### Detail\n2. do more\n## Rest\n1. no step\n"
    assert [entry[1] for entry in steps(text)] == ["do", "do more"]


@pytest.mark.parametrize("title", ["Background", "Alternatives Considered", "Open Questions", "Non-Goals", "Summary"])
def test_sections_that_hold_no_steps(title):
    text = f"# P\n## {title}\n1. a\n- [ ] b\n### 1. c\n## Work\n1. d\n"
    assert [entry[1] for entry in steps(text)] == ["d"]


def test_the_tasks_of_a_plan_document_are_its_steps():
    text = '# P\n<task id="1-T1">\n<name>Do a</name>\n<action>\n1. x\n2. y\n</action>\n</task>\n\n<task>\n</task>\n'
    assert steps(text) == [("1-T1", "Do a", 2, 8, None, 0), ("", "", 10, 11, None, 0)]


def test_a_task_that_is_named_by_number_has_that_label():
    assert steps("<task>\n  <name>Task 4: Go</name>\n</task>")[0][:2] == ("Task 4", "Task 4: Go")


def test_numbers_in_code_and_comments_are_no_steps():
    assert steps("```\n1. a\n```\n<!--\n1. b\n- [ ] c\n-->\n") == []

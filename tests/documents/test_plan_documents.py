"""PLAN documents: frontmatter, tasks as XML elements, their files and their checks."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan
from verifyplan.plans.prose import elements

PLAN = """---
phase: 02-auth
files_modified:
  - src/auth.js
  - src/new.js
must_haves:
  artifacts:
    - path: "src/auth.js"
    - "a dashboard"
---

<objective>
Let people in.
</objective>

<context>
@docs/auth.md
</context>

<task type="auto" id="02-T1">
  <name>Task 1: Create `src/new.js`</name>
  <files>
    src/new.js,
    src/more.js
  </files>
  <action>
1. Add `login()` to `src/auth.js`
  </action>
  <verify>
    <automated>npm test -- src/new.js</automated>
  </verify>
  <done>All `pass`</done>
</task>

<task>
<name>Add a route</name>
<files>src/auth.js, Makefile</files>
<verify>All 7 checks pass in src/auth.js</verify>
</task>
"""


def test_a_plan_document_is_read_as_a_whole():
    plan = parse_plan(PLAN)
    assert [(r.line, r.kind, r.name, r.intent) for r in plan.references] == [
        (4, "file", "src/auth.js", "change"),
        (5, "file", "src/new.js", "change"),
        (8, "file", "src/auth.js", "use"),
        (17, "file", "docs/auth.md", "use"),
        (21, "file", "src/new.js", "create"),
        (23, "file", "src/new.js", "create"),
        (24, "file", "src/more.js", "create"),
        (27, "symbol", "login", "create"),
        (27, "file", "src/auth.js", "change"),
        (30, "command", "npm test -- src/new.js", "use"),
        (37, "file", "src/auth.js", "change"),
        (37, "file", "Makefile", "change"),
        (38, "file", "src/auth.js", "use"),
    ]
    assert [(step.label, step.first, step.last) for step in plan.steps] == [("Task 1", 20, 33), ("", 35, 39)]
    assert (plan.goal, plan.body, plan.frontmatter["phase"]) == ("Let people in.", 11, "02-auth")
    assert plan.notes == ()


def test_commands_over_several_lines_in_a_check_are_one_and_name_no_files():
    text = "<task>\n<verify>\n<automated>cd app && python -c \"\nopen('src/a.py')\n\"</automated>\n</verify>\n</task>"
    assert [(r.kind, r.line, r.name) for r in parse_plan(text).references] == [
        ("command", 3, "cd app && python -c \"\nopen('src/a.py')\n\"")
    ]


def test_a_task_that_also_updates_does_not_create_all_its_files():
    text = "<task>\n<name>Create a and updated b</name>\n<files>a.py b.py</files>\n</task>"
    assert [r.intent for r in parse_plan(text).references] == ["change", "change"]


def test_tags_within_a_line_and_in_code_are_text():
    text = "<task>\n<name>x</name>\n```\n</task>\n```\nuse `</task>` and <name> here\n</task>\nend"
    assert [(step.first, step.last) for step in parse_plan(text).steps] == [(1, 7)]


def test_a_task_that_never_closes_reaches_to_the_end_and_is_noted():
    plan = parse_plan("<task>\n<name>a</name>\ntext\n")
    assert [(step.text, step.first, step.last) for step in plan.steps] == [("a", 1, 3)]
    assert plan.notes == ("line 1: <task> never closes",)


def test_an_element_that_closes_out_of_turn_is_noted():
    assert elements(["<task>", "<name>a", "</task>"])[1] == ["line 2: <name> never closes"]


def test_other_documents_have_no_elements():
    assert elements(["<name>a</name>"]) == ([], [])


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("a: [", "line 1: the frontmatter is not read: it is not YAML at line 2"),
        ("a: &x 1\nb: *x", "line 1: the frontmatter is not read: it holds an alias"),
        ("a: !!python/object:os.system x", "line 1: the frontmatter is not read: it is not YAML at line 2"),
        ("a: 2024-13-45", "line 1: the frontmatter is not read: it holds a value that is none (ValueError)"),
        ("a: " + "[" * 5000, "line 1: the frontmatter is not read: it "),
        ("- a: 1", "line 1: the frontmatter is not read: it is no list of names and values"),
        ("a: 1\n" + "b: 1\n" * 50_000, "line 1: the frontmatter is not read: it is longer than 100,000 characters"),
    ],
)
def test_damaged_frontmatter_is_empty_and_noted(head, problem):
    plan = parse_plan(f"---\n{head}\n---\n# T\n")
    assert plan.frontmatter == {}
    assert plan.notes[0].startswith(problem)
    assert plan.title == "T"


@pytest.mark.parametrize("text", ["---\n# T\n", "---\nJust a rule above.\n\n---\n", "text\n---\na: 1\n---\n"])
def test_rules_are_no_frontmatter(text):
    plan = parse_plan(text)
    assert (plan.frontmatter, plan.body, plan.notes) == ({}, 1, ())


def test_empty_frontmatter_and_keys_that_are_no_texts():
    assert parse_plan("---\n---\n# T").body == 3
    assert parse_plan("---\n1: a\n---\n").frontmatter == {"1": "a"}


def test_frontmatter_of_other_shapes_names_no_files():
    text = "---\nfiles_modified: {a: b}\nmust_haves: [x]\nname: n\n---\n"
    assert parse_plan(text).references == ()
    assert parse_plan("---\nfiles_modified: [1, null, not a path]\n---\n").references == ()

"""What real `.planning` trees got wrong of the plan check, each with a small document of its own (rule D4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifyplan.documents.dimensions.plan_check import plan_check

TASK = """<task type="auto">
<name>{name}</name>
<files>{files}</files>
<action>
1. Write the numbers of {files} down, exactly.
2. Add them up.
</action>
<verify>{check}</verify>
<done>Numbers of any size are added</done>
</task>
"""


def plan_text(
    plan: str = "01-01",
    front: str = "",
    *,
    files: str = "src/a.py",
    check: str = "pytest -q",
    tasks: int = 1,
    must_haves: str = 'must_haves:\n  truths: ["Numbers are added"]\n',
) -> str:
    """A plan in which nothing is wrong, but for what is given."""
    head = f'---\nplan: "{plan}"\n{must_haves}{front}---\n\n'
    return head + "".join(TASK.format(name=f"Add numbers {n}", files=files, check=check) for n in range(tasks))


@pytest.fixture
def tree(tmp_path):
    """Writes files below `.planning` and gives that folder."""

    def write(**files: str) -> Path:
        root = tmp_path / ".planning"
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return root

    return write


def told(check):
    return [(issue.plan_id, issue.rule) for issue in check.issues]


def judged(check, number: int) -> tuple[str, ...]:
    return next(dimension.judge for dimension in check.dimensions if dimension.number == number)


ROADMAPS = {
    "ROADMAP.md": "### Phase 1: Accounts\n\n**Requirements**: ACC-01\n",
    "REQUIREMENTS.md": "| Requirement | Phase |\n|---|---|\n| ACC-01 | Phase 1 |\n",
    "milestones/v1.0-ROADMAP.md": "### Phase 1: Numbers\n\n**Requirements**: NUM-01, NUM-02\n",
}
MILESTONES = {
    "phases/01-accounts/01-01-PLAN.md": plan_text(front='wave: 2\nrequirement_ids: ["ACC-01"]\n'),
    "milestones/v1.0-phases/01-numbers/01-01-PLAN.md": plan_text(front='requirement_ids: ["NUM-01", "NUM-02"]\n'),
}


def test_phases_of_one_number_in_two_milestones_are_two_phases(tree):
    assert told(plan_check(tree(**ROADMAPS, **MILESTONES))) == [("phases/01-01", "wave-too-late")]


def test_an_archived_milestone_is_held_against_its_own_requirements(tree):
    text = plan_text(front='requirement_ids: ["NUM-01"]\n')
    check = plan_check(tree(**ROADMAPS, **MILESTONES | {"milestones/v1.0-phases/01-numbers/01-01-PLAN.md": text}))
    (issue,) = (issue for issue in check.issues if issue.dimension == 1)
    assert (issue.rule, issue.severity, issue.plan_id) == ("requirement-uncovered", "warning", "01-numbers")
    assert issue.description == 'requirement "NUM-02" of the phase is named by none of its plans'


def test_a_dependency_is_looked_for_in_the_plans_own_milestone(tree):
    second = plan_text("01-02", 'wave: 2\ndepends_on: ["01-01"]\n')
    files = {
        "milestones/v1.0-phases/01-numbers/01-01-PLAN.md": plan_text(front="wave: 1\ndepends_on: []\n"),
        "milestones/v1.1-phases/01-accounts/01-01-PLAN.md": plan_text(front="wave: 1\ndepends_on: []\n"),
        "milestones/v1.1-phases/01-accounts/01-02-PLAN.md": second,
    }
    check = plan_check(tree(**files))
    assert told(check) == []
    assert [(edge.before, edge.after, edge.across) for edge in check.graph.edges] == [(1, 2, False)]


def test_folders_of_one_name_in_two_milestones_are_two_phases(tree):
    files = {
        f"milestones/{name}-phases/01-numbers/01-01-PLAN.md": plan_text(front="wave: 1\ndepends_on: []\n")
        for name in ("v1", "v2")
    }
    check = plan_check(tree(**files))
    assert told(check) == []
    assert [node.phase for node in check.graph.nodes] == ["v1-phases/01-numbers", "v2-phases/01-numbers"]


def test_a_quick_task_is_no_phase_and_has_requirements_of_its_own(tree):
    quick = {"quick/1-fix/1-PLAN.md": plan_text("1", 'requirement_ids: ["ACC-09"]\n')}
    assert told(plan_check(tree(**ROADMAPS, **quick))) == []
    phase = {"phases/01-accounts/1-PLAN.md": quick["quick/1-fix/1-PLAN.md"]}
    found = {rule for _, rule in told(plan_check(tree(**phase)))}
    assert found == {"requirement-uncovered", "requirement-unknown"}


def test_a_phase_whose_plans_have_no_field_for_requirements_is_left_to_a_judge(tree):
    check = plan_check(tree(**ROADMAPS, **{"phases/01-accounts/01-01-PLAN.md": plan_text()}))
    assert told(check) == []
    assert judged(check, 1) == ('01-accounts: whether its plans, which name no requirement, meet requirement "ACC-01"',)


def test_a_requirement_that_a_plan_names_in_its_text_is_named(tree):
    text = plan_text(front="requirement_ids: []\n") + "\n**Requirements:** ACC-01\n"
    assert told(plan_check(tree(**ROADMAPS, **{"phases/01-accounts/01-01-PLAN.md": text}))) == []


def test_requirements_that_moved_or_were_deferred_are_not_asked_for(tree):
    rows = "| Requirement | Phase | Status |\n|---|---|---|\n| ACC-02 | Phase 1 | Deferred |\n"
    files = ROADMAPS | {"REQUIREMENTS.md": rows}
    plan = {"phases/01-accounts/01-01-PLAN.md": plan_text(front='requirement_ids: ["ACC-01"]\n')}
    assert told(plan_check(tree(**files, **plan))) == []


def test_many_missing_requirements_are_told_once(tree):
    roadmap = {"ROADMAP.md": "### Phase 1: Accounts\n\n**Requirements**: ACC-01..ACC-04\n"}
    plan = {"phases/01-accounts/01-01-PLAN.md": plan_text(front='requirement_ids: ["ACC-01"]\n')}
    (issue,) = plan_check(tree(**roadmap, **plan)).issues
    assert 'requirements "ACC-02", "ACC-03", "ACC-04" of the phase are named' in issue.description


@pytest.mark.parametrize(
    "command",
    ["micromamba run -n env pytest -q", "uv run pytest -q", "npx vitest run", "pixi run test", "hatch run test"],
)
def test_runners_of_environments_are_commands(tree, command):
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": plan_text(check=command)}))) == []


def test_every_line_of_automated_is_a_command_but_a_sentence(tree):
    fine = plan_text(check="<automated>frobnicate --all src</automated>")
    prose = plan_text(check="<automated>MISSING: no test was written yet</automated>")
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": fine}))) == []
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": prose}))) == [("01-01", "check-no-command")]


def test_all_automated_checks_of_a_task_are_read(tree):
    check = "<automated>test -f b.md</automated>\n<automated>grep -c x b.md</automated>"
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": plan_text(check=check)}))) == []


@pytest.mark.parametrize(
    "check",
    ["\n````bash\n```\npytest -q\n```\n````\n", "\n```bash\npytest -q \\\n  -x\n```\n", "\n~~~sh\nmake it\n~~~\n"],
)
def test_fences_within_fences_hold_commands(tree, check):
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": plan_text(check=check)}))) == []


def test_a_task_with_nested_fences_is_one_task(tree):
    code = "````markdown\n# A\n```python\nprint('</task>')\n```\n<task>\n````\n"
    text = plan_text().replace("1. Write", f"{code}\n1. Write")
    check = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))
    assert (told(check), len(check.plans[0].tasks)) == ([], 1)


ARTIFACT = 'must_haves:\n  truths: ["Numbers are added"]\n  artifacts: ["{}: adds"]\n'


@pytest.mark.parametrize(
    ("artifact", "files", "found"),
    [
        ("pkg/add_test.go", "pkg/*_test.go", []),
        ("pkg/add_test.go", "pkg/**/*.{ts,go}", []),
        ("src/a/b.py", "src/**/*.py", []),
        ("pkg/test.go", "pkg/add_test.go", [("01-01", "artifact-without-task")]),
        ("pkg/add.py", "pkg/*_test.go", [("01-01", "artifact-without-task")]),
    ],
)
def test_globs_and_names_with_underscores_are_files_as_they_are_written(tree, artifact, files, found):
    text = plan_text(files=files, must_haves=ARTIFACT.format(artifact))
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))) == found


def test_plans_of_a_wave_whose_tasks_touch_one_file_collide_though_their_lists_do_not_say_so(tree):
    front = "wave: 1\ndepends_on: []\nfiles_modified: [{}]\n"
    files = {
        "phases/01-a/01-01-PLAN.md": plan_text("01-01", front.format("src/b.py"), files="src/a.py, src/c.py"),
        "phases/01-a/01-02-PLAN.md": plan_text("01-02", front.format("src/d.py"), files="./src/a.py, src/c.py"),
    }
    (issue,) = plan_check(tree(**files)).issues
    assert (issue.rule, issue.severity, issue.line) == ("wave-file-conflict", "warning", 12)
    assert issue.description == 'plans 01-01, 01-02 of wave 1 all modify "src/a.py", "src/c.py"'


@pytest.mark.parametrize("files", ["src/", "src/**/*.py"])
def test_folders_and_globs_collide_with_nothing(tree, files):
    plans = {
        f"phases/01-a/01-0{n}-PLAN.md": plan_text(f"01-0{n}", "wave: 1\ndepends_on: []\n", files=files) for n in (1, 2)
    }
    assert told(plan_check(tree(**plans))) == []


def test_plans_that_state_no_order_are_in_no_wave_together(tree):
    plans = {f"phases/01-a/01-0{n}-PLAN.md": plan_text(f"01-0{n}") for n in (1, 2)}
    assert told(plan_check(tree(**plans))) == []


def test_a_plan_in_markdown_without_frontmatter_is_left_to_a_judge(tree):
    text = "# Plan 1\n\n## Tasks\n\n### Task 1: Add numbers\n\n**File:** `src/a.py`\n\nAdd them.\n"
    check = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))
    assert (told(check), check.passed) == ([], True)
    assert judged(check, 2) == ("01-01: its tasks, which are no <task> elements",)
    assert judged(check, 6) == ("01-01: when it is done; it states no must-haves",)


def test_a_plan_that_says_nothing_to_do_is_blocked(tree):
    text = "---\nplan: 1\nwave: 1\n---\n\n# Plan\n\nBackground:\n\n- Numbers matter\n"
    assert [one.rule for one in plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})).blockers] == ["no-tasks"]


def test_blank_files_say_that_a_task_touches_none(tree):
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": plan_text(files="")}))) == []


def test_what_several_tasks_lack_is_told_once(tree):
    text = plan_text(tasks=4).replace("<done>Numbers of any size are added</done>\n", "")
    (issue,) = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})).issues
    assert (issue.rule, issue.severity) == ("element-missing", "warning")
    assert issue.description.endswith("has no `<done>`, and so it is with 3 other tasks")


def test_pipes_are_told_once_for_a_plan(tree):
    text = plan_text(check="pytest -q 2>&1 | tail -5", tasks=3)
    (issue,) = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})).issues
    assert (issue.rule, issue.severity) == ("check-piped", "info")
    assert "its exit status is that of `tail`, not of `pytest`, and so it is with 2 other tasks" in issue.description


def test_a_planning_folder_without_its_repository_is_said_once(tree):
    checks = {f"phases/01-a/01-0{n}-PLAN.md": plan_text(f"01-0{n}", check="pytest tests/test_x.py") for n in (1, 2)}
    root = tree(**checks)
    alone = plan_check(root, repo=root.parent)
    assert told(alone) == []
    assert judged(alone, 8) == (
        "whether the tests that checks run are there: the folder that was given holds .planning and no source files",
    )
    (root.parent / "setup.py").write_text("")
    assert told(plan_check(root, repo=root.parent)) == [
        ("01-01", "check-unknown-test"),
        ("01-02", "check-unknown-test"),
    ]


def test_artifacts_that_are_there_or_that_a_task_speaks_of_are_planned(tree):
    there = plan_text(must_haves=ARTIFACT.format("src/old.py"))
    spoken = plan_text(must_haves=ARTIFACT.format("out/metrics.json"), check="python a.py && cat out/metrics.json")
    root = tree(**{"phases/01-a/01-01-PLAN.md": there, "phases/01-a/01-02-PLAN.md": spoken.replace("01-01", "01-02")})
    assert told(plan_check(root)) == [("01-01", "artifact-without-task")]
    (root.parent / "src").mkdir()
    (root.parent / "src" / "old.py").write_text("")
    assert told(plan_check(root, repo=root.parent)) == []


def test_ideas_that_share_words_with_a_task_are_left_to_a_judge(tree):
    context = "## Deferred Ideas\n\n- Write the numbers of any size down, exactly, and add them to the ledger\n"
    root = tree(**{"phases/01-a/01-01-PLAN.md": plan_text(), "phases/01-a/01-CONTEXT.md": context})
    check = plan_check(root)
    assert told(check) == []
    assert judged(check, 7) == ("01-a: whether any of 1 deferred idea is planned in other words",)


def test_a_requirement_that_an_idea_only_mentions_is_not_deferred(tree):
    context = "## Deferred Ideas\n\n- **A new gate**, not done: ACC-01 says that criteria do not tighten\n"
    front = 'requirement_ids: ["ACC-01"]\n'
    files = {"phases/01-accounts/01-01-PLAN.md": plan_text(front=front), "phases/01-accounts/01-CONTEXT.md": context}
    assert told(plan_check(tree(**ROADMAPS, **files))) == []


def test_a_plan_that_writes_a_deferral_down_plans_nothing_deferred(tree):
    context = "## Deferred Ideas\n\n- **Export** - ACC-01 deferred to v1.2\n"
    text = plan_text(front='requirement_ids: ["ACC-01"]\n')
    files = {"phases/01-accounts/01-01-PLAN.md": text, "phases/01-accounts/01-CONTEXT.md": context}
    assert told(plan_check(tree(**ROADMAPS, **files))) == [("01-01", "deferred-planned")]
    files["phases/01-accounts/01-01-PLAN.md"] = text + "\nSay in CHANGELOG.md that ACC-01 is deferred.\n"
    assert told(plan_check(tree(**ROADMAPS, **files))) == []


@pytest.mark.parametrize(
    "check", ["grep -rn TODO src | wc -l", "git log --oneline | head -3", "pytest -q | tail -3 && ruff check"]
)
def test_what_is_counted_or_shown_hides_no_failure(tree, check):
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": plan_text(check=check)}))) == []


NESTED = "```markdown\n# A\n\n```yaml\na: 1\n```\n\n```\ntext\n```\n\n```yaml\nb: 2\n```\n```"


@pytest.mark.parametrize(
    "code", [NESTED, NESTED.replace("markdown", ""), "```\nopen", "       ```\n         ```\n       ```"]
)
def test_code_reaches_no_further_than_the_element_that_it_stands_in(tree, code):
    text = plan_text(tasks=3).replace("2. Add them up.", f"2. Add them up.\n\n{code}\n")
    check = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))
    assert told(check) == []
    names = ["name", "files", "action", "verify", "done"]
    assert [[element.name for element in task.elements] for task in check.plans[0].tasks] == [names] * 3


@pytest.mark.parametrize(
    ("name", "check", "found"),
    [
        ("Write the report", "test -f report.md && echo there", ["check-existence"]),
        ("Write the report", "ls docs/report.md", ["check-existence"]),
        ("Move the report", "test -f docs/report.md && ! test -f report.md", []),
        ("Remove the old agents", 'ls agents/old.md || echo "REMOVED"', []),
        ("Create the directories of the plugin", "test -d commands && ls commands", []),
        ("Lay the plugin out", "test -d commands && ls commands/ skills/", []),
        ("Write the report", "test -f report.md && grep -q Results report.md", []),
    ],
)
def test_that_files_are_there_shows_a_task_that_only_puts_them_there(tree, name, check, found):
    text = plan_text(check=check).replace("Add numbers 0", name)
    assert [rule for _, rule in told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})))] == found


def test_the_steps_of_a_plan_in_markdown_are_not_counted(tree):
    text = "# Plan\n\n" + "".join(f"### Task {n}: Add\n\n**Files:** `src/a{n}.py`\n\nAdd.\n\n" for n in range(1, 21))
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))) == []


@pytest.mark.parametrize("key", ["requirement: ACC-01", "requirement: [ACC-01]", "requirements: [ACC-01]"])
def test_requirements_are_read_by_whatever_name_they_have(tree, key):
    text = plan_text(front=f"{key}\n")
    check = plan_check(tree(**ROADMAPS, **{"phases/01-accounts/01-01-PLAN.md": text}))
    assert told(check) == []
    assert judged(check, 1) == ("whether the tasks meet the 1 requirement that their plans name",)


def test_must_haves_that_are_one_list_are_must_haves(tree):
    text = plan_text(must_haves='must_haves:\n  - "Numbers of any size are added"\n')
    check = plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))
    assert told(check) == []
    assert judged(check, 6) == ("01-01: whether the tasks make 1 truth come true",)


def test_ids_of_a_series_that_no_document_uses_are_kept_elsewhere(tree):
    text = plan_text(front='requirement_ids: ["ACC-01", "TICKET-4711"]\n')
    assert told(plan_check(tree(**ROADMAPS, **{"phases/01-accounts/01-01-PLAN.md": text}))) == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("frobnicate --all src", []), ("lake build && lake test", []), ("run the tests with -v", ["check-no-command"]),
        ("look at src/a.py - it should add", ["check-no-command"]), ("all numbers add up", ["check-no-command"]),
    ],
)  # fmt: skip
def test_programs_that_no_list_has_are_known_by_the_form_of_the_line(tree, command, found):
    text = plan_text(check=command)
    assert [rule for _, rule in told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})))] == found


@pytest.mark.parametrize("needed", ["1", "01", "Phase 1", "phase-01", "the login"])
def test_a_dependency_on_a_phase_or_in_words_is_left_to_a_judge(tree, needed):
    plans = {
        "phases/01-a/01-01-PLAN.md": plan_text(front="wave: 1\ndepends_on: []\n"),
        "phases/02-b/02-02-PLAN.md": plan_text("02-02", f"wave: 1\ndepends_on: ['{needed}']\n", files="src/b.py"),
    }
    check = plan_check(tree(**plans))
    assert told(check) == []
    assert judged(check, 3) == (f'02-02: whether "{needed}" is met, which names no plan',)


def test_ids_with_words_behind_their_numbers_are_found(tree):
    plans = {
        "phases/01-a/01-01-numbers-PLAN.md": plan_text(front="wave: 1\n").replace('plan: "01-01"\n', ""),
        "phases/01-a/01-02-sums-PLAN.md": plan_text("01-02", 'wave: 2\ndepends_on: ["01-01"]\n'),
        "phases/01-a/01-03-rest-PLAN.md": plan_text("01-03", 'wave: 3\ndepends_on: ["01-02-sums"]\n'),
    }
    check = plan_check(tree(**plans))
    assert told(check) == []
    assert [(edge.before, edge.after) for edge in check.graph.edges] == [(0, 1), (1, 2)]


@pytest.mark.parametrize("files", [".planning/STATE.md", "src/in_turn.py"])
def test_files_that_are_kept_or_modified_in_turn_collide_with_nothing(tree, files):
    front = 'wave: 1\ndepends_on: []\nsequential_files: ["src/in_turn.py"]\n'
    plans = {f"phases/01-a/01-0{n}-PLAN.md": plan_text(f"01-0{n}", front, files=files) for n in (1, 2)}
    assert told(plan_check(tree(**plans))) == []


def test_elements_by_other_names_and_attributes_are_what_they_say(tree):
    text = plan_text().replace("<action>", "<steps>").replace("</action>", "</steps>")
    text = text.replace("<done>", "<acceptance_criteria>").replace("</done>", "</acceptance_criteria>")
    text = text.replace("<name>Add numbers 0</name>\n", "").replace('type="auto"', 'type="auto" name="Add"')
    text = text.replace("<verify>", "<verification>").replace("</verify>", "</verification>")
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text}))) == []


def test_what_plans_of_other_phases_may_provide_is_left_to_a_judge(tree):
    root = tree(
        **{
            "phases/01-a/01-01-PLAN.md": plan_text(front="wave: 1\n"),
            "phases/02-b/02-01-PLAN.md": plan_text("02-01", 'wave: 1\nconsumes: ["sums"]\n', files="src/b.py"),
        }
    )
    phase = plan_check(root / "phases" / "02-b")
    assert told(phase) == []
    assert judged(phase, 9) == ("whether plans of other phases provide what no plan here does: they were not given",)
    assert told(plan_check(root)) == [("02-01", "consumed-unprovided")]


def test_a_server_that_another_task_starts_may_be_asked(tree):
    text = plan_text(check="curl -f localhost:3000/a", tasks=2)
    started = text.replace("2. Add them up.", "2. Start the dev server.", 1)
    assert [rule for _, rule in told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": text})))] == [
        "check-no-server"
    ] * 2
    assert told(plan_check(tree(**{"phases/01-a/01-01-PLAN.md": started}))) == []


def test_a_plan_that_cannot_be_read_is_told_of_and_not_passed_over(tree):
    root = tree(**{"phases/01-a/01-01-PLAN.md": plan_text(), "phases/01-a/01-02-PLAN.md": ""})
    (root / "phases" / "01-a" / "01-02-PLAN.md").write_bytes(b"---\n\xff\xfe\n")
    (issue,) = plan_check(root).issues
    assert (issue.plan_id, issue.rule, issue.severity) == ("01-02", "plan-unread", "warning")
    assert 'the plan "01-02-PLAN.md" was not read: it ' in issue.description

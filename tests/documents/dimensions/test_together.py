"""Rules of the plan check that no single change breaks alone, or that need what lies beside the plans (rule D4)."""

# ruff: noqa: E501  (a case a line is read best)

from __future__ import annotations

import pytest

from verifyplan.documents.dimensions.plan_check import plan_check


@pytest.fixture
def first(documents):
    """The rules that a changed pair of plans breaks, with the plan's id and the line."""

    def check(old: str, new: str, *more: tuple[str, str]):
        texts = [_first(), _second()]
        for before, after in ((old, new), *more):
            assert any(before in text for text in texts), before
            texts = [text.replace(before, after, 1) for text in texts]
        return {
            (issue.rule, issue.severity): (issue.plan_id, issue.line) for issue in plan_check(documents(*texts)).issues
        }

    return check


def _first() -> str:
    return FIRST_TASK.format(plan="02-01", wave=1, needs="[]", file="src/a.py")


def _second() -> str:
    return FIRST_TASK.format(plan="02-02", wave=2, needs='["02-01"]', file="src/b.py")


FIRST_TASK = """---
plan: "{plan}"
wave: {wave}
depends_on: {needs}
files_modified: ["{file}"]
must_haves:
  truths: ["Numbers are added exactly"]
  artifacts:
    - path: "{file}"
      exports: ["add", "sub"]
---
<task type="auto">
<name>Add numbers</name>
<files>{file}</files>
<action>
1. Write `add` in {file}, exactly.
2. Test it with numbers.
</action>
<verify>pytest -q</verify>
<done>Numbers of any size are added</done>
</task>
"""


def test_plans_in_which_nothing_is_wrong(first):
    assert first("exactly.", "exactly, always.") == {}


def test_a_wave_that_comes_with_what_it_depends_on(first):
    assert first("wave: 2", "wave: 1") == {("wave-too-early", "warning"): ("02-02", 3)}


def test_a_wave_that_comes_before_what_it_depends_on(first):
    found = first('plan: "02-01"\nwave: 1', 'plan: "02-01"\nwave: 3')
    assert found[("wave-too-early", "blocker")] == ("02-02", 3)


def test_two_plans_of_one_wave_that_modify_a_file(first):
    found = first(
        '["02-01"]',
        "[]",
        ("wave: 2", "wave: 1"),
        ('files_modified: ["src/b.py"]', 'files_modified: ["src/b.py", "src/a.py"]'),
    )
    assert found == {("wave-file-conflict", "warning"): ("02-02", 5)}


def test_two_plans_of_different_waves_may_modify_one_file_for_which_the_second_waits(first):
    shared = ('files_modified: ["src/b.py"]', 'files_modified: ["src/b.py", "src/a.py"]')
    assert first('["02-01"]', "[]", shared) == {}
    assert first('["02-01"]', "[]") == {("wave-too-late", "info"): ("02-02", 3)}


def test_one_file_with_two_shapes(first):
    found = first(
        'path: "src/b.py"\n      exports: ["add", "sub"]', 'path: "src/a.py"\n      exports: ["add", "mul"]',
        ("<files>src/b.py", "<files>src/b.py, src/a.py"),
    )  # fmt: skip
    assert found == {("shape-differs", "warning"): ("02-02", 9)}


def test_a_shape_that_only_says_more_is_no_conflict(first):
    more = ("<files>src/b.py", "<files>src/b.py, src/a.py")
    assert (
        first('path: "src/b.py"\n      exports: ["add", "sub"]', 'path: "src/a.py"\n      exports: ["add"]', more) == {}
    )


def test_a_plan_without_must_haves(first):
    found = first(
        'must_haves:\n  truths: ["Numbers are added exactly"]\n  artifacts:\n    - path: "src/b.py"\n      exports: ["add", "sub"]',
        "must_haves:",
    )
    assert found == {("no-must-haves", "warning"): ("02-02", 6)}


def test_an_artifact_that_the_plan_modifies_and_no_task_makes(first):
    found = first(
        'path: "src/b.py"',
        'path: "src/c.py"',
        ('files_modified: ["src/b.py"]', 'files_modified: ["src/b.py", "src/c.py"]'),
    )
    assert found == {("artifact-without-task", "warning"): ("02-02", 9)}


def test_dependencies_are_found_however_their_ids_are_written(documents):
    texts = [FIRST_TASK.format(plan=f"02-0{n}", wave=1, needs="[]", file=f"src/p{n}.py") for n in range(1, 5)]
    last = FIRST_TASK.format(plan="02-05", wave=2, needs='["1", "2", "02-03-PLAN.md", "02-04"]', file="src/p5.py")
    check = plan_check(documents(*texts, last))
    assert check.issues == ()
    assert check.graph.needs()[4] == {0, 1, 2, 3}


def test_frontmatter_that_is_damaged_is_told_of_once(first):
    found = first('["Numbers are added exactly"]', '["\\."]', ('plan: "02-02"', 'plan: "02-02"'))
    assert {rule for rule, _ in found} == {"frontmatter-damaged"}
    assert found["frontmatter-damaged", "warning"][1] == 7


def test_a_plan_that_names_requirements_and_has_no_tasks(documents):
    text = FIRST_TASK.format(plan="02-01", wave=1, needs="[]", file="a.py")
    text = text[: text.index("<task")].replace("wave: 1", "wave: 1\nrequirement_ids: [R-1]")
    check = plan_check(documents(text))
    assert {(i.rule, i.line) for i in check.blockers} == {("no-tasks", 1)}


def test_tests_that_nobody_makes_are_looked_for_where_the_repository_is_known(phase, tmp_path):
    repository = tmp_path / "repository"
    (repository / "tests").mkdir(parents=True)
    (repository / "tests" / "test_tokens.py").write_text("")
    folder = phase(
        **{
            "02_02_PLAN": (phase() / "02-02-PLAN.md")
            .read_text()
            .replace("tests/test_login.py</v", "tests/test_other.py</v")
        }
    )
    assert plan_check(folder).issues == ()
    (issue,) = plan_check(folder, repo=repository).issues
    assert (issue.rule, issue.line, issue.task) == ("check-unknown-test", 43, "02-02-T2 Test the login endpoint")
    (repository / "tests" / "test_other.py").write_text("")
    assert plan_check(folder, repo=repository).issues == ()


@pytest.mark.parametrize(
    "command",
    [
        "npx jest --watchAll=false", "cd app && npm test", "uvicorn app:app & curl -f localhost:8000/health",
        "set -o pipefail; pytest -q | tail -3", "grep -q 'a | tail' src/login.py", "python -c \"print('a;b')\nassert True\"",
        "\n```bash\nnpm run build\n```\n", "Run: `cd app && pytest -q`", "1. pytest -q\n2. ruff check", "! grep -r TODO src",
        "docker compose up -d && curl localhost:1", "vitest run", "micromamba run -n env pytest -q", "uv run pytest",
        "npx vitest run", "pixi run test", "pytest -q | grep -q 3", 'grep -q x a.py && echo OK || echo "FAIL"',
        'terraform fmt -check; echo "EXIT: $?"', "test -f b.md && ! test -f a.md", "npx jest -w 4 src", "gh run watch --watch",
        "for f in a b; do grep -q x $f || exit 1; done", "pytest -q || true\nruff check", "npm start -- --check",
        "python - <<'EOF'\nimport a | b\nEOF", "<automated>./check-all now</automated>",
        "<automated>test -f a</automated>\n<automated>grep -q x a</automated>",
    ],
)  # fmt: skip
def test_checks_that_are_fine(phase, command):
    text = (
        (phase() / "02-02-PLAN.md").read_text().replace("<verify>pytest -q tests/test_login.py<", f"<verify>{command}<")
    )
    assert [str(issue) for issue in plan_check(phase(**{"02_02_PLAN": text})).issues] == []

"""Each rule of the nine dimensions: plans that break it alone, at its line, and a phase that breaks none (SPEC D4)."""

# ruff: noqa: E501  (a case a line is read best)

from __future__ import annotations

import pytest

from verifyplan.documents.dimensions.check import plan_check

ONE, TWO = "02-01-PLAN", "02-02-PLAN"


def found(check):
    return {(f"D{issue.dimension}", issue.severity, issue.rule) for issue in check.issues}


def test_a_phase_in_which_nothing_is_wrong(phase):
    check = plan_check(phase())
    assert check.issues == ()
    assert check.passed
    states = {one.number: one.state for one in check.dimensions}
    assert states == {1: "needs-judgement", 6: "needs-judgement", 7: "needs-judgement"} | dict.fromkeys(
        (2, 3, 4, 5, 8, 9), "checked"
    )


LINK = '- "src/login.py imports src/tokens.py"'
DEFER = "- Refresh tokens that are rotated by a nightly background job"
ANOTHER = """# Login
<task type="auto">
<name>Limit the attempts</name>
<files>src/login.py</files>
<action>
1. Count wrong passwords by user.
2. Refuse the sixth within a minute.
</action>
<verify>pytest -q</verify>
<done>The sixth wrong password within a minute is refused</done>
</task>
"""
MANY = ", ".join(f'"src/part{n}.py"' for n in range(8))
MORE = ", ".join(f'"src/part{n}.py"' for n in range(13))

CASES = [
    # D1
    (TWO, '"AUTH-02"]', '"AUTH-02", "AUTH-99"]', "requirement_ids", ("D1", "blocker", "requirement-unknown")),
    (TWO, '["AUTH-02"]', "[]", "---", ("D1", "blocker", "requirement-uncovered")),
    # D2
    (ONE, "<done>An expired token raises ExpiredError in the test</done>\n", "", "<task", ("D2", "blocker", "element-missing")),
    (ONE, "An expired token raises ExpiredError in the test", "TBD", "<done>", ("D2", "blocker", "element-blank")),
    (ONE, "An expired token raises ExpiredError in the test", "It works correctly", "<done>", ("D2", "warning", "done-vague")),
    (TWO, "\ntests/test_login.py\n</files>", "\n</files>", "<files>\n", ("D2", "warning", "files-blank")),
    (TWO, "<action>\n1. Write tests for the right and the wrong password.\n2. Run them.", "<action>Do it.", "<action>Do", ("D2", "blocker", "action-too-short")),
    (TWO, "<action>\n1. Write tests for the right and the wrong password.\n2. Run them.", "<action>Write tests for the right and the wrong password", "<action>Write", ("D2", "warning", "action-one-step")),
    # D3
    (TWO, 'plan: "02-02"', 'plan: "02-01"', "plan:", ("D3", "blocker", "id-doubled")),
    (TWO, '["02-01"]', '["02-01", "02-07"]', "depends_on", ("D3", "blocker", "dependency-unknown")),
    (TWO, '["02-01"]', '["02-01", "01-07"]', "depends_on", ("D3", "warning", "dependency-elsewhere")),
    (TWO, '["02-01"]', '["02-01", "02"]', "depends_on", ("D3", "blocker", "dependency-circle")),
    (TWO, "wave: 2", "wave: 3", "wave:", ("D3", "warning", "wave-too-late")),
    # D4
    (TWO, LINK, LINK + '\n    - "src/login.py imports src/quota.py"', "imports src/quota", ("D4", "warning", "link-one-end")),
    (TWO, LINK, LINK + '\n    - "src/page.ts imports src/quota.py"', "src/page.ts", ("D4", "blocker", "link-unplanned")),
    (TWO, LINK, LINK + '\n    - "src/tokens.py imports tests/test_login.py"', "src/tokens.py imp", ("D4", "info", "link-apart")),
    # D5
    (TWO, "# Login\n", ANOTHER, '"02-02-T3"', ("D5", "warning", "many-tasks")),
    (TWO, "# Login\n", ANOTHER + ANOTHER, '"02-02-T2"', ("D5", "blocker", "many-tasks")),
    (TWO, '"tests/test_login.py"]', f'"tests/test_login.py", {MANY}]', "files_modified", ("D5", "warning", "many-files")),
    (TWO, '"tests/test_login.py"]', f'"tests/test_login.py", {MORE}]', "files_modified", ("D5", "blocker", "many-files")),
    (TWO, 'type="auto" tdd="false" complexity="simple">\n<name>Add', 'type="checkpoint:decision">\n<name>Add', '"02-02-T1"', ("D5", "info", "checkpoint-within")),
    # D6
    (TWO, "A user who gives the right password gets a token", "Everything works correctly", "Everything", ("D6", "warning", "truth-vague")),
    (TWO, "A user who gives the right password gets a token", "Invoices of March balance quarterly", "Invoices", ("D6", "warning", "truth-without-task")),
    (TWO, "A user who gives the right password gets a token", "The login endpoint is importable", "importable", ("D6", "info", "truth-inside")),
    (TWO, "src/login.py: the login endpoint", "The login endpoint", "- \"The login", ("D6", "warning", "artifact-without-path")),
    (TWO, "src/login.py: the login endpoint", "docs/login.md: how to log in", "docs/login.md", ("D6", "blocker", "artifact-unplanned")),
    # D7
    ("02-CONTEXT", "- The endpoint answers in JSON", "- Invoices of March balance quarterly everywhere", "", ("D7", "warning", "decision-unspoken")),
    ("02-CONTEXT", DEFER, "- Wrong password tests, run right", "", ("D7", "warning", "deferred-spoken")),
    ("02-CONTEXT", "SSO-01", "AUTH-02:", "", ("D7", "blocker", "deferred-planned")),
    # D8
    (TWO, "pytest -q tests/test_login.py<", "Look at the page<", "Look at", ("D8", "blocker", "check-no-command")),
    (TWO, "pytest -q tests/test_login.py<", 'cd src && echo "done"<', "echo", ("D8", "blocker", "check-silent")),
    (TWO, "pytest -q tests/test_login.py<", "npx jest --watch tests<", "--watch", ("D8", "blocker", "check-never-ends")),
    (TWO, "pytest -q tests/test_login.py<", "npm run dev<", "npm run", ("D8", "blocker", "check-never-ends")),
    (TWO, "pytest -q tests/test_login.py<", "sleep 20; sleep 10s && pytest -q<", "sleep", ("D8", "warning", "check-slow")),
    (TWO, "pytest -q tests/test_login.py<", "test -f src/login.py && ls src<", "test -f", ("D8", "warning", "check-existence")),
    (TWO, "pytest -q tests/test_login.py<", "pytest -q || true<", "|| true", ("D8", "warning", "check-cannot-fail")),
    (TWO, "pytest -q tests/test_login.py<", 'pytest -q; echo "EXIT: $?"<', "EXIT", ("D8", "warning", "check-cannot-fail")),
    (TWO, "pytest -q tests/test_login.py<", "pytest -q 2>&1 | tail -5<", "tail", ("D8", "info", "check-piped")),
    (TWO, "pytest -q tests/test_login.py<", "curl -f http://localhost:8000/login<", "curl", ("D8", "warning", "check-no-server")),
    # D9
    (TWO, 'consumes: ["signed tokens"]', 'consumes: ["a mail server"]', "consumes", ("D9", "warning", "consumed-unprovided")),
    (ONE, "consumes: []", 'consumes: ["login endpoint"]', "consumes", ("D9", "blocker", "consumed-too-early")),
    (TWO, '["login endpoint"]', '["Signed  `tokens`"]', "provides", ("D9", "warning", "provided-twice")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "rule"), CASES, ids=lambda value: value[2] if isinstance(value, tuple) else ""
)
def test_what_breaks_one_rule_alone_is_told_at_its_line(broken, name, old, new, line, rule):
    check, number = broken(name, old, new, line.strip())
    assert found(check) == {rule}
    (issue,) = check.issues
    if name != "02-CONTEXT" and rule[2] != "files-blank":
        assert (issue.path.rpartition("/")[2], issue.line) == (
            f"{name if rule[2] != 'requirement-uncovered' else ONE}.md",
            number,
        )
    assert issue.fix
    assert check.passed is (rule[1] != "blocker")


def test_what_is_to_be_said_of_a_link_that_no_task_realises_is_shown(broken):
    check, _ = broken(TWO, LINK, LINK + '\n    - "src/page.ts imports src/quota.py"')
    fixes = [issue.fix for issue in check.issues if issue.rule == "link-unplanned"]
    assert len(fixes) == 1
    assert "In src/a.py, `run` calls `load` of src/b.py" in fixes[0]

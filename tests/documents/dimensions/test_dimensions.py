"""Each rule of the nine dimensions: plans that break it alone, at its line, and a phase that breaks none (rule D4)."""

# ruff: noqa: E501  (a case a line is read best)

from __future__ import annotations

import pytest

from verifyplan.documents.dimensions.plan_check import plan_check

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
MORE = ", ".join(f'"src/part{n}.py"' for n in range(13))

CASES = [
    # D1
    (TWO, '"AUTH-02"]', '"AUTH-02", "AUTH-99"]', "requirement_ids", ("D1", "warning", "requirement-unknown")),
    (TWO, '["AUTH-02"]', "[]", "---", ("D1", "warning", "requirement-uncovered")),
    # D2
    (ONE, "<done>An expired token raises ExpiredError in the test</done>\n", "", "<task", ("D2", "warning", "element-missing")),
    (ONE, "An expired token raises ExpiredError in the test", "TBD", "<done>", ("D2", "warning", "element-blank")),
    (ONE, "<action>\n1. Write `issue` in src/tokens.py, which signs the user's id and an expiry.\n2. Write in tests/test_tokens.py a test that an expired token is refused.\n</action>\n", "", "<task", ("D2", "blocker", "element-missing")),
    (ONE, "An expired token raises ExpiredError in the test", "It works correctly", "<done>", ("D2", "warning", "done-vague")),
    (TWO, "<action>\n1. Write tests for the right and the wrong password.\n2. Run them.", "<action>Do it.", "<action>Do", ("D2", "warning", "action-too-short")),
    # D3
    (TWO, 'plan: "02-02"', 'plan: "02-01"', "plan:", ("D3", "warning", "id-doubled")),
    (TWO, '["02-01"]', '["02-01", "02-07"]', "depends_on", ("D3", "blocker", "dependency-unknown")),
    (TWO, '["02-01"]', '["02-01", "01-07"]', "depends_on", ("D3", "warning", "dependency-elsewhere")),
    (TWO, '["02-01"]', '["02-01", "02"]', "depends_on", ("D3", "blocker", "dependency-circle")),
    (TWO, "wave: 2", "wave: 3", "wave:", ("D3", "info", "wave-too-late")),
    # D4
    (TWO, LINK, LINK + '\n    - "src/page.ts imports src/quota.py"', "src/page.ts", ("D4", "warning", "link-unplanned")),
    # D5
    (TWO, "# Login\n", ANOTHER + ANOTHER, '"02-02-T3"', ("D5", "warning", "many-tasks")),
    (TWO, '"tests/test_login.py"]', f'"tests/test_login.py", {MORE}]', "files_modified", ("D5", "warning", "many-files")),
    # D6
    (TWO, "A user who gives the right password gets a token", "Everything works correctly", "Everything", ("D6", "warning", "truth-vague")),
    (TWO, "src/login.py: the login endpoint", "The login endpoint", "- \"The login", ("D6", "warning", "artifact-without-path")),
    (TWO, "src/login.py: the login endpoint", "docs/login.md: how to log in", "docs/login.md", ("D6", "warning", "artifact-without-task")),
    # D7
    ("02-CONTEXT", DEFER, "- The login test", "", ("D7", "warning", "deferred-spoken")),
    ("02-CONTEXT", "SSO-01", "AUTH-02:", "", ("D7", "warning", "deferred-planned")),
    ("02-CONTEXT", "SSO-01 single", "Singles: AUTH-02 is deferred, single", "", ("D7", "warning", "deferred-planned")),
    # D8
    (TWO, "pytest -q tests/test_login.py<", "Look at the page<", "Look at", ("D8", "warning", "check-no-command")),
    (TWO, "pytest -q tests/test_login.py<", 'cd src && echo "done"<', "echo", ("D8", "warning", "check-silent")),
    (TWO, "pytest -q tests/test_login.py<", "npx jest --watch tests<", "--watch", ("D8", "blocker", "check-never-ends")),
    (TWO, "pytest -q tests/test_login.py<", "npm run dev<", "npm run", ("D8", "warning", "check-may-not-end")),
    (TWO, "pytest -q tests/test_login.py<", "sleep 20; sleep 10s && pytest -q<", "sleep", ("D8", "warning", "check-slow")),
    (TWO, "pytest -q tests/test_login.py<", "test -f src/login.py && ls src<", "test -f", ("D8", "warning", "check-existence")),
    (TWO, "pytest -q tests/test_login.py<", "pytest -q || true<", "|| true", ("D8", "warning", "check-cannot-fail")),
    (TWO, "pytest -q tests/test_login.py<", 'pytest -q; echo "done"<', "echo", ("D8", "warning", "check-cannot-fail")),
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
    if name != "02-CONTEXT":
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

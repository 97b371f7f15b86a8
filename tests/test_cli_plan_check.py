"""`verifyplan plan-check` from a shell: the report, JSON, the graph, exit codes (rules D4, H2)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import pytest

from verifyplan.cli.app import main

PLAN = """---
phase: "02-auth"
plan: "02-0{n}"
wave: {n}
depends_on: {needs}
files_modified: ["src/p{n}.py"]
must_haves:
  truths: ["Numbers are added exactly"]
---
<task type="auto">
<name>Add numbers</name>
<files>src/p{n}.py</files>
<action>
1. Write `add` in src/p{n}.py, exactly.
2. Test it with numbers.
</action>
<verify>{check}</verify>
<done>Numbers of any size are added</done>
</task>
"""


@dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["verifyplan", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def phase(tmp_path):
    folder = tmp_path / "02-auth"
    folder.mkdir()
    for n, needs in ((1, "[]"), (2, '["02-01"]')):
        (folder / f"02-0{n}-PLAN.md").write_text(PLAN.format(n=n, needs=needs, check="pytest -q"))
    return folder


def test_plans_without_blockers(cli, phase):
    done = cli("plan-check", phase)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("VERIFICATION PASSED\nPlans: 2 | Tasks: 2 | Blockers: 0 | Warnings: 0 | Info: 0\n")
    assert "## Needs judgment" in done.out


def test_plans_with_a_blocker(cli, phase):
    (phase / "02-02-PLAN.md").write_text(PLAN.format(n=2, needs='["02-09"]', check="echo \x1b[2J"))
    done = cli("plan-check", phase)
    assert done.code == 1
    assert '- [02-02] D3 blocker: it depends on "02-09", and there is no such plan -> Fix: correct the id' in done.out
    assert "\x1b" not in done.out
    alone = cli("plan-check", phase / "02-01-PLAN.md")
    assert alone.code == 0
    assert alone.out.startswith("VERIFICATION PASSED\nPlans: 1 ")


def test_json_has_files_lines_and_the_graph(cli, phase, tmp_path):
    (phase / "02-02-PLAN.md").write_text(PLAN.format(n=2, needs='["02-01"]', check="tail -f a.log"))
    done = cli("plan-check", phase, "--format", "json", "--out", tmp_path / "check.json")
    assert (done.code, done.out) == (1, f"report: {tmp_path / 'check.json'}\n")
    told = json.loads((tmp_path / "check.json").read_text())
    (issue,) = told["issues"]
    assert (issue["rule"], issue["line"], issue["dimension"]) == ("check-never-ends", 17, "D8")
    assert issue["path"].endswith("02-02-PLAN.md")
    assert told["passed"] is False
    assert [one["state"] for one in told["dimensions"]][:2] == ["not-applicable", "checked"]
    assert told["graph"]["dependencies"] == [{"before": "02-01", "after": "02-02"}]


def test_the_graph_is_drawn(cli, phase, tmp_path):
    done = cli("plan-check", phase, "--graph", tmp_path / "new" / "waves.svg")
    assert done.code == 0
    assert done.err == f"graph: {tmp_path / 'new' / 'waves.svg'}\n"
    assert "wave 2" in (tmp_path / "new" / "waves.svg").read_text()


def test_context_and_repository_are_looked_at(cli, phase, tmp_path):
    (tmp_path / "CONTEXT.md").write_text("## Deferred\n- Add numbers\n")
    (phase / "02-02-PLAN.md").write_text(PLAN.format(n=2, needs='["02-01"]', check="pytest tests/test_b.py"))
    done = cli("plan-check", phase, "--context", tmp_path / "CONTEXT.md", "--repo", tmp_path)
    assert done.code == 0
    assert 'D7 warning: task "1. Add numbers" says the deferred idea "Add numbers"' in done.out
    assert 'runs "tests/test_b.py", which neither plans nor repository have' in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none",), "cannot be read"),
        ((".",), "holds no plans"),
        ((".", "--graph", "a.gif"), "must be a picture"),
        ((".", "--context", "none.md"), "holds no plans"),
        ((".", "--repo", "none"), "is not a folder"),
    ],
)
def test_bad_input_is_told_in_words(cli, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    done = cli("plan-check", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err

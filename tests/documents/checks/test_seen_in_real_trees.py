"""Defects that real trees showed in the check, each with a small document of its own: what was wrong stays right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sample_tree import PHASE, sample_tree
from verifyplan.documents import check, frame, load
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.checks.sarif import to_json, to_sarif
from verifyplan.documents.document_tables import tables_of
from verifyplan.documents.loading import kind_of, load_text
from verifyplan.documents.reading.phrases import is_imperative, is_prose
from verifyplan.documents.reading.source import read_source

OLDER = """\
---
phase: {phase}
plan: {plan}
wave: 1
depends_on: [{depends_on}]
files_modified: []
autonomous: true
requirement: LOGIN-01
must_haves:
  truths:
    - "Users can log in"
  artifacts:
    - path: "src/auth.py"
      provides: "checks tokens"
  key_links:
    - from: "src/app.py"
      to: "src/auth.py"
      via: "import"
---
<tasks>
<task type="auto">
  <name>Task 1: Write it</name>
  <files>src/auth.py</files>
  <action>Write it</action>
  <verify>pytest</verify>
  <done>It works</done>
</task>
</tasks>
"""
VERIFICATION = """\
---
phase: 01-auth
status: passed
score: 3/3 must-haves verified
---
## Goal Achievement

### Observable Truths

#### Plan 01

| # | Truth | Status | Evidence |
|---|---|---|---|
| 1 | Users can log in | VERIFIED | seen |

#### Plan 02

| # | Truth | Status | Evidence |
|---|---|---|---|
| 2 | Tokens expire | VERIFIED | seen |
| 3 | Logs are kept | VERIFIED | seen |

### Required Artifacts

| Artifact | Expected | Status | Details |
|---|---|---|---|
| `src/auth.py` | Token checks | VERIFIED | 40 lines |

### Key Link Verification

| From | To | Via | Status | Details |
|---|---|---|---|---|
| `src/app.py` | `src/auth.py` | import | NOT_WIRED | no import |
"""


def older(phase: str = "01-auth", plan: str = "01", depends_on: str = "") -> str:
    return OLDER.format(phase=phase, plan=plan, depends_on=depends_on)


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / ".planning" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder / ".planning"


def found(root: Path) -> list[tuple[str, str]]:
    return [(one.rule, Path(one.path).name) for one in check(root).violations if not one.rule.endswith("/form")]


def rules(text: str, path: str) -> list[str]:
    return [one.rule for one in check_document(load_text(text, path))]


def test_a_dependency_is_looked_for_in_its_own_milestone(tmp_path):
    files = {
        "milestones/v1.0-phases/01-base/01-01-PLAN.md": older("01-base"),
        "milestones/v1.0-phases/01-base/01-02-PLAN.md": older("01-base", "02", '"01-01"'),
        "phases/01-auth/01-01-PLAN.md": older(),
        "phases/01-auth/01-03-PLAN.md": older(plan="03", depends_on='"01-02"'),
    }
    assert found(tree(tmp_path, files)) == [("tree/dependency-unknown", "01-03-PLAN.md")]
    tables = frame(tmp_path / ".planning")
    assert tables.documents["milestone"].dropna().tolist() == ["v1.0", "v1.0"]
    milestones = load(tmp_path / ".planning").milestones
    assert {name: len(phases) for name, phases in milestones.items()} == {"v1.0": 1, "": 1}


def test_a_small_task_beside_the_phases_is_no_phase(tmp_path):
    files = {
        "REQUIREMENTS.md": "- LOGIN-02: log in",
        "quick/260415-nx9-fix-it/260415-nx9-PLAN.md": older("quick-260415-nx9"),
        "quick/260415-nx9-fix-it/260415-nx9-SUMMARY.md": "---\nphase: quick\nplan: 01\nmetrics: {}\n---\n# Done\n",
        "quick/260416-a-other/260416-a-SUMMARY.md": "---\nphase: quick\nplan: 260416-a\nmetrics: {}\n---\n# Done\n",
    }
    assert [one for one in found(tree(tmp_path, files)) if one[0] != "summary/file-name"] == []


def test_a_requirement_in_the_singular_is_read_and_looked_for(tmp_path):
    root = tree(tmp_path, {"REQUIREMENTS.md": "- LOGIN-02: log in", "phases/01-auth/01-01-PLAN.md": older()})
    assert load(root).documents[0].requirement_ids == ("LOGIN-01",)
    assert found(root) == [("tree/requirement-unknown", "01-01-PLAN.md")]
    (root / "ROADMAP.md").write_text("Phase 1: LOGIN-01")
    assert found(root) == []


def test_the_contract_may_call_its_requirements_implements(tmp_path):
    root = sample_tree(tmp_path)
    plan = root / PHASE / "PLAN-01.md"
    plan.write_text(plan.read_text().replace("requirement_ids:", "implements:"))
    assert load(plan).requirement_ids == ("AUTH-01",)
    assert check(plan).violations == ()


def test_a_known_form_is_not_held_to_what_it_never_has():
    text = older().replace("wave: 1", "wave: 0").replace("depends_on: []", "depends_on: [1]")
    text = text[: text.index("  key_links")] + text[text.index("---\n<tasks>") :]
    assert rules(text, "phases/01-auth/01-01-PLAN.md") == ["plan/form"]
    summary = "---\nphase: 01-auth\nplan: 01\nsubsystem: auth\nmetrics: {tasks: 1}\nprovides: [{a: b}]\n---\n# Done\n"
    assert rules(summary, "phases/01-auth/01-01-SUMMARY.md") == ["summary/form"]
    short = VERIFICATION.replace("score: 3/3 must-haves verified", "re_verification: true\nmust_haves_total: 3")
    assert rules(short, "phases/01-auth/01-VERIFICATION.md") == ["verification/form"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [("phases/01-a/01-01-SUMMARY.md", "summary"), ("phases/01-a/01-01-PLAN.md", "plan"), ("research/A.md", "note")],
)
def test_a_document_in_markdown_alone_is_a_named_form(path: str, kind: str):
    text = "# Work\n\n## What was done\n\nAll of it.\n"
    assert rules(text, path) == [f"{'research-note' if kind == 'note' else kind}/form"]
    assert f"{'research-note' if kind == 'note' else kind}/form" not in rules("", path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "codebase/CONVENTIONS.md",
            "# Conventions\n\n**Analysis Date:** 2026-01-02\n\n## Naming Patterns\n\n- kebab\n",
        ),
        ("codebase/STACK.md", "# Stack\n\n## Languages\n\n- Python\n"),
        (
            "debug/no-login.md",
            "---\nstatus: awaiting\ntrigger: none\nslug: x\ncreated: today\n---\n## Evidence\n\n- a\n",
        ),
        ("debug/knowledge-base.md", "# What was learnt\n\n- Clear the cache\n"),
    ],
)
def test_maps_and_debug_logs_of_other_tools_are_named_forms(path: str, text: str):
    document = load_text(text, path)
    assert rules(text, path) == [f"{document.kind}/form"]


@pytest.mark.parametrize("key", ["must_haves_verified: 5", "must_haves_passed: 0", "must_haves_total: 4"])
def test_a_verification_that_counts_and_tells_no_attempt_is_a_named_form(key: str):
    text = f"---\nstatus: passed\nphase: 1\n{key}\ngaps: []\n---\n# Verified\n\nAll hold.\n"
    assert rules(text, "phases/01-auth/VERIFICATION.md") == ["verification/form"]
    assert "verification/field-missing" in rules(text.replace("gaps: []", "overrides: []"), "VERIFICATION.md")


def test_a_must_have_said_in_fewer_of_its_words_is_that_must_have(tmp_path):
    root = sample_tree(tmp_path)
    plan, summary = root / PHASE / "PLAN-01.md", root / PHASE / "SUMMARY-01-01.md"
    old = load(plan).must_haves.truths[0].text
    whole = "Empty phase directories (created lazily by the planner) do not block executor spawns"
    for place, text in ((plan, whole), (summary, "Empty phase directories do not block executor spawns")):
        place.write_text(place.read_text().replace(old, text))
    assert not [one for one in check(summary).violations if one.rule.startswith("tree/must-have")]
    summary.write_text(summary.read_text().replace("do not block", "block"))
    assert {one.rule for one in check(summary).violations} >= {
        "tree/must-have-unknown",
        "tree/must-have-not-in-summary",
    }


def test_tasks_under_headings_are_read():
    text = (
        "# Plan\n\n## Tasks\n\n### Task 1: Add a model\n\n**File:** `src/a.py`, src/b.py\n\nWrite it.\n\n"
        "**Verification:** pytest -q\n\n### Task 2: Use it\n\n**Done when:** it is used\n"
    )
    first, second = load_text(text, "01-01-PLAN.md").tasks
    assert (first.name, first.files, first.text("verify")) == ("Add a model", ("src/a.py", "src/b.py"), "pytest -q")
    assert (second.name, second.text("done"), second.line) == ("Use it", "it is used", 13)


def test_tasks_under_headings_within_tags_are_tasks():
    text = older()
    text = text[: text.index("<task type")] + "## Task 1: Write it\n\n**Action:** Write it\n</tasks>\n"
    assert [task.name for task in load_text(text, "phases/01-auth/01-01-PLAN.md").tasks] == ["Write it"]
    assert rules(text, "phases/01-auth/01-01-PLAN.md") == ["plan/form"]
    assert rules(text.replace("## Task 1", "## Then"), "phases/01-auth/01-01-PLAN.md") == ["plan/form", "plan/no-tasks"]


def test_a_note_with_nothing_of_the_contract_but_its_confidence_is_a_named_form():
    note = "---\nphase: 35\nconfidence: high\n---\n# Audit\n\n## What it is\n\nA look at all.\n"
    assert rules(note, "phases/35-audit/35-RESEARCH.md") == ["research-note/form"]
    assert "research-note/field-missing" in rules(note + "\n- [S1] (high) It is so\n", "35-RESEARCH.md")


def test_code_that_its_author_lost_track_of_ends_with_its_element():
    text = older().replace(
        "<action>Write it</action>",
        "<action>\n```\nwrite:\n```yaml\na: 1\n```\nand\n```\nb\n```\n```\n  </action>",
    )
    (task,) = load_text(text, "phases/01-auth/01-01-PLAN.md").tasks
    assert (task.closed, task.text("verify")) == (True, "pytest")
    assert rules(text, "phases/01-auth/01-01-PLAN.md") == ["plan/form"]


def test_an_element_that_code_shows_whole_ends_nothing():
    shown = "<action>\n```xml\n<action>\nLook\n</action>\n```\nWrite it\n  </action>"
    (task,) = load_text(older().replace("<action>Write it</action>", shown), "01-01-PLAN.md").tasks
    assert "Write it" in task.text("action")


def test_a_flat_list_of_must_haves_is_read_as_truths():
    document = load_text("---\nwave: 1\nmust_haves:\n  - Users can log in\n  - Tokens expire\n---\n", "PLAN-01.md")
    assert [(one.text, one.kind, one.line) for one in document.must_haves.all()] == [
        ("Users can log in", "truth", 4),
        ("Tokens expire", "truth", 5),
    ]
    assert "plan/field-type" in rules(document.text, "PLAN-01.md")


def test_a_fault_of_a_table_is_told_once_with_its_lines(tmp_path):
    rows = "\n".join(f"| {number} | It works {number} | blue | seen |" for number in range(1, 151))
    text = (
        "---\nstatus: passed\nattempt: 1\nmust_haves_total: 150\nmust_haves_passed: 150\ngaps: []\noverrides: []\n"
        "---\n## Must-Have Verification\n\n| # | Must-Have | Status | Evidence |\n|---|---|---|---|\n"
        f"{rows}\n\n## Gaps\n\nNone\n"
    )
    report = check(tree(tmp_path, {"phases/01-auth/VERIFICATION.md": text}))
    (told,) = report.violations
    assert told.lines == tuple(range(13, 163))
    assert json.loads(to_json(report))["violations"][0]["lines"] == list(told.lines)
    assert len(json.loads(to_sarif(report))["runs"][0]["results"][0]["relatedLocations"]) == 149
    assert tables_of(report).violations["times"].tolist() == [150]
    assert (told.rule, told.line) == ("verification/result-status", 13)
    assert told.message.startswith("150 times in lines 13, 14, 15, 16, 17, 18, 19, 20, ...: the status 'blue'")


def test_few_faults_are_told_each(tmp_path):
    plan = older().replace("  <done>It works</done>\n", "")
    body = plan[plan.index("<task type") : plan.index("</tasks>")]
    root = tree(tmp_path, {"phases/01-auth/01-01-PLAN.md": plan.replace("</tasks>", f"{body * 2}</tasks>")})
    assert found(root) == [("plan/task-element-missing", "01-01-PLAN.md")] * 3


def test_every_table_of_observable_truths_is_read():
    document = load_text(VERIFICATION, "phases/01-auth/01-VERIFICATION.md")
    assert [result.text for result in document.results] == ["Users can log in", "Tokens expire", "Logs are kept"]
    assert rules(VERIFICATION, "01-VERIFICATION.md") == ["verification/form"]


def test_a_blank_cell_of_evidence_is_told_in_any_form():
    for blank in (" ", "-", "TBD", "n/a"):
        text = VERIFICATION.replace("| Tokens expire | VERIFIED | seen |", f"| Tokens expire | VERIFIED | {blank} |")
        assert rules(text, "01-VERIFICATION.md") == ["verification/form", "verification/evidence-missing"]


def test_artifacts_and_key_links_of_a_verification_reach_the_table_of_must_haves(tmp_path):
    files = {"phases/01-auth/01-01-PLAN.md": older(), "phases/01-auth/01-VERIFICATION.md": VERIFICATION}
    tables = frame(tree(tmp_path, files))
    assert list(tables.must_haves["kind"]) == ["truth", "artifact", "key_link"]
    assert list(tables.must_haves["outcome"]) == ["passed", "passed", "failed"]
    assert list(tables.must_haves["evidence"]) == ["seen", "40 lines", "no import"]


def test_a_table_of_links_without_their_ends_gives_no_rows():
    text = VERIFICATION.replace("| From | To |", "| Link | Target |")
    document = load_text(text, "01-VERIFICATION.md")
    assert (document.link_results, len(document.artifact_results)) == ((), 1)


def test_paths_in_tables_are_those_of_the_repository(tmp_path):
    root = sample_tree(tmp_path)
    for table in (frame(root), frame(tmp_path), frame(root / PHASE)):
        paths = {*table.documents["path"], *table.must_haves["path"], *table.must_haves["summary_path"].dropna()}
        assert all(path.startswith(".planning/") for path in paths)


@pytest.mark.parametrize("folder", ["research", "milestones/v1.0-research"])
def test_a_summary_in_a_folder_of_research_is_one_of_research(folder: str):
    path = f".planning/{folder}/SUMMARY.md"
    assert kind_of(path, read_source("", path)) == "research-summary"
    assert kind_of(".planning/phases/01-a/SUMMARY.md", read_source("", path)) == "summary"


def test_a_gap_that_is_resolved_is_no_gap(tmp_path):
    gaps = 'gaps:\n  - truth: "Tokens expire"\n    status: {}\n  - truth: "Logs are kept"\n    status: resolved\n'
    text = VERIFICATION.replace("score:", f"{gaps.format('resolved')}score:")
    assert rules(text, "01-VERIFICATION.md") == ["verification/form"]
    still = VERIFICATION.replace("score:", f"{gaps.format('failed')}score:")
    assert load_text(still, "01-VERIFICATION.md").gaps == ("Tokens expire",)
    assert "verification/passed-with-gaps" in rules(still, "01-VERIFICATION.md")
    root = tree(tmp_path, {"phases/01-auth/01-VERIFICATION.md": still})
    assert list(frame(root).gaps["text"]) == ["Tokens expire"]


def test_a_planning_folder_without_its_repository_says_so_once(tmp_path):
    text = "## Layout\n\n- `src/a.py` is the program\n- `src/b.py` is another\n"
    root = tree(tmp_path, {"codebase/STRUCTURE.md": text, "codebase/TESTING.md": text})
    assert found(root) == [("document/no-repository", "STRUCTURE.md")]
    (tmp_path / "src").mkdir()
    assert [rule for rule, _ in found(root)] == ["codebase-map/path-missing"] * 4


def test_a_file_is_checked_beside_its_plan(tmp_path):
    root = sample_tree(tmp_path)
    summary = root / PHASE / "SUMMARY-01-02.md"
    report = check(summary)
    assert report.violations == ()
    assert [document.path for document in report.documents] == [str(summary)]
    summary.write_text(summary.read_text().replace("must_haves:\n", 'must_haves:\n  - "Mail is sent: DONE"\n'))
    assert [one.rule for one in check(summary).violations] == ["tree/must-have-unknown"]
    (root / PHASE / "PLAN-02.md").unlink()
    assert [one.rule for one in check(summary).violations] == ["tree/summary-without-plan"]


def test_a_map_may_name_a_file_without_its_folder_and_one_of_another_tool_what_is_made_later(tmp_path):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "a.py").touch()
    own = "## Layout\n\n- `a.py` is the program\n- `gone.py` is another\n"
    assert [rule for rule, _ in found(tree(tmp_path, {"codebase/STRUCTURE.md": own}))] == ["codebase-map/path-missing"]
    other = (
        "# Structure\n\n**Analysis Date:** today\n\n- `a.py`, `gone.json`, `dist/a.js`, `~/.a.json`, `src/gone.py`\n"
    )
    (told,) = check(tree(tmp_path, {"codebase/STRUCTURE.md": other})).violations[1:]
    assert (told.rule, "src/gone.py" in told.message) == ("codebase-map/path-missing", True)


def test_globs_and_names_that_begin_with_a_star_or_an_underscore_stay_whole():
    text = "## Tests\n\n- `*_test.go`, **src/a.py**, `_private.py`, `src/**/*.py` and *docs/b.md*\n"
    document = load_text(text, "codebase/TESTING.md")
    assert [named.path for named in document.paths] == [
        "*_test.go", "src/a.py", "_private.py", "src/**/*.py", "docs/b.md",
    ]  # fmt: skip


def test_code_within_code_ends_nothing():
    text = (
        "# Work\n\n````markdown\n## Key Findings\n\n```sh\nmake\n```\n\n## Not a section\n````\n\n"
        "```markdown\n## Neither\n\n```sh\nmake\n```\n\n## Nor this\n```\n\n## Sources\n"
    )
    assert [part.title for part in read_source(text, "a.md").sections] == ["Work", "Sources"]


def test_a_plan_whose_frontmatter_is_damaged_is_told_that_alone():
    text = older().replace('"Users can log in"', '"a \\. b"')
    assert rules(text, "phases/01-auth/01-01-PLAN.md") == ["document/frontmatter"]
    summary = "---\nplan: `a`\n---\n# Done\n\n## Accomplishments\n\n- All\n"
    assert rules(summary, "01-01-SUMMARY.md") == ["document/frontmatter"]


@pytest.mark.parametrize(
    "check_text",
    [
        "pytest -q", "make all the-things", "npm test && npm run build", "uv run pytest", "micromamba run -n a pytest",
        "npx tsc", "cargo test", "test -s a.txt", "grep -q the src/a.py", "./check.sh every time", "go vet ./...",
        "mytool verify everything", "Rscript -e 'x'", "<automated>Check it</automated>", "python check.py is fine",
    ],
)  # fmt: skip
def test_what_may_be_a_command_is_no_prose(check_text: str):
    assert not is_prose(check_text)


@pytest.mark.parametrize(
    "text",
    ["All tests pass", "The page loads", "check that the login works", "Manual test", "make sure it is there"],
)
def test_what_no_shell_runs_is_prose(text: str):
    assert is_prose(text)


@pytest.mark.parametrize(
    "name",
    [
        "Add login", "Task 3: Embed fonts", "Bring it back", "[TDD] Write tests", "2. Seed the data", "Feed the cache",
        "Login page", "Set up CI", "Process incoming mail", "Add _is_cell + a dispatch",
        "Address review", "", "1234", "`src/a.py`: rename it",
    ],
)  # fmt: skip
def test_what_may_be_an_order_is_one(name: str):
    assert is_imperative(name)

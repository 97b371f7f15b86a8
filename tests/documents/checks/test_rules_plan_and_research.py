"""Each rule of plans, research notes, research summaries and codebase maps is broken alone, at the right line."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.loading import load_text

PLAN = """---
phase: "02-auth"
plan: "02-01"
wave: 1
depends_on: []
files_modified: ["src/auth.py"]
must_haves:
  truths: ["tokens are checked"]
  artifacts: ["src/auth.py: checks tokens"]
  key_links: ["routes call auth"]
provides: ["auth"]
consumes: []
requirement_ids: []
---

# Plan 02-01

<task id="02-01-T1" type="auto" tdd="false" complexity="simple">
<name>Check tokens</name>
<files>src/auth.py</files>
<action>
1. Write it
</action>
<verify>pytest -q</verify>
<done>Tests pass</done>
</task>

## Summary

- Plan 02-01: task 02-01-T1, key file src/auth.py
- Must-haves: 3; provides auth, consumes nothing
"""

NOTE = """---
confidence: high
sources_checked: 2
coverage: "complete"
---

# Tokens

## Key Findings

- [S1] (high) The library needs Python 3.12
- [S4] (medium) Most projects rotate keys

## Gaps

- Speed was not measured

## Sources

- [S1] Manual: what versions it needs
- [S4] Blog: how keys are rotated
"""

SUMMARY = """---
confidence: medium
sources: 2
conflicts: 0
---

## Resolved Decisions

| Topic | Decision | Confidence | Sources |
|-------|----------|------------|---------|
| Tokens | Use signed ones | high | tokens.md |

## Open Questions

- [NEEDS DECISION] How long do they live?

## Deferred Ideas

- Hardware keys
"""

MAP = """# Stack

## Tech Stack

| Category | Technology | Version | Config File |
|----------|------------|---------|-------------|
| Language | Python | 3.12 | pyproject.toml |

## Package Manager

- uv, locked in `uv.lock`
"""

OTHER_MAP = "# Structure\n\n## Layout\n\n- `src/auth.py` checks tokens\n"

PLAIN_PLAN = PLAN.replace('plan: "02-01"\n', 'plan: "02-01"\nautonomous: true\n')
LABELLED = "# Research\n\n**Researched:** today\n**Confidence:** HIGH\n\n## Summary\n\nAll is well.\n"

PATHS = {
    "plan": "02-01-PLAN.md",
    "research-note": "research/tokens.md",
    "research-summary": "research/SUMMARY.md",
    "codebase-map": "codebase/STACK.md",
}
VALID = {"plan": PLAN, "research-note": NOTE, "research-summary": SUMMARY, "codebase-map": MAP}


class Case(NamedTuple):
    """What of a valid document is replaced by what, and the line of the one violation of the rule."""

    rule: str
    old: str
    new: str
    line: int
    text: str = ""
    path: str = ""


TASK = PLAN[PLAN.index("<task") : PLAN.index("</task>") + 8]
NEWER = "<read_first>a.py</read_first>\n<acceptance_criteria>b</acceptance_criteria>\n"

CASES = [
    Case("plan/form", "", "", 1, PLAIN_PLAN),
    Case("plan/field-missing", 'provides: ["auth"]\n', "", 1),
    Case("plan/field-missing", PLAN[: PLAN.index("# Plan")], "", 1),
    Case("plan/field-type", "wave: 1", 'wave: "1"', 4),
    Case("plan/field-type", "wave: 1", "wave: true", 4),
    Case("plan/field-type", "depends_on: []", "depends_on:", 5),
    Case("plan/field-type", "depends_on: []", 'depends_on:\n  - "02-00"\n  - 3', 7),
    Case("plan/field-type", 'phase: "02-auth"', "phase: 2", 2),
    Case("plan/plan-id", 'phase: "02-auth"', 'phase: "03-auth"', 3),
    Case("plan/wave", "wave: 1", "wave: 0", 4),
    Case("plan/must-haves-missing", '  key_links: ["routes call auth"]\n', "", 7),
    Case("plan/must-haves-missing", '  key_links: ["routes call auth"]\n', "  key_links: yes\n", 10),
    Case("plan/must-have-form", '"src/auth.py: checks tokens"', '"auth works"', 9),
    Case("plan/must-have-form", '["tokens are checked"]', "\n    - a\n    - 3", 10),
    Case("plan/name-differs", "", "", 3, PLAN, "02-07-PLAN.md"),
    Case("plan/no-tasks", TASK, "", 1, PLAN.replace("task 02-01-T1, ", "")),
    Case("plan/task-unclosed", "</task>\n", "", 18),
    Case("plan/task-element-missing", "<done>Tests pass</done>\n", "", 18),
    Case("plan/task-element-empty", "<verify>pytest -q</verify>", "<verify>  </verify>", 24),
    Case("plan/seven-elements", "<files>", f"{NEWER}<files>", 18),
    Case("plan/task-id-missing", ' id="02-01-T1"', "", 18, PLAN.replace("02-01-T1,", "Check tokens,")),
    Case("plan/task-id", 'id="02-01-T1"', 'id="02-01-T2"', 18, PLAN.replace("task 02-01-T1,", "task 02-01-T2,")),
    Case("plan/task-id-repeated", TASK, TASK + TASK, 27),
    Case("plan/task-type-missing", ' type="auto"', "", 18),
    Case("plan/task-type", 'type="auto"', 'type="code"', 18),
    Case("plan/task-tdd", 'tdd="false"', 'tdd="maybe"', 18),
    Case("plan/task-tdd", 'type="auto"', 'type="tdd"', 18),
    Case("plan/task-verify", "pytest -q", "Check that the tests pass", 24),
    Case("plan/task-verify", "pytest -q", "Manual inspection", 24),
    Case("plan/task-name", "Check tokens", "Checking tokens", 19),
    Case("plan/task-name", "Check tokens", "The token check", 19),
    Case("plan/task-name", "Check tokens", "Tokens are checked", 19),
    Case("plan/task-undecided", "1. Write it", "1. Write it\n2. [NEEDS DECISION] where tokens are kept", 21),
    Case("plan/summary-content", "- Plan 02-01: task", "- Task", 28),
    Case("plan/task-complexity", 'complexity="simple"', 'complexity="easy"', 18),
    Case("plan/task-model", 'complexity="simple"', 'complexity="simple" model="opus"', 18),
    Case("plan/task-file-lines", "<files>src/auth.py", "<files>\nsrc/auth.py\nsrc/a.py, src/b.py", 22),
    Case("plan/task-steps", "1. Write it", "Write it", 21),
    Case("plan/summary-missing", "## Summary", "## End", 1),
    Case("plan/summary-last", "nothing\n", "nothing\n\n## Notes\n\nMore.\n", 28),
    Case("plan/summary-content", "- Must-haves: 3; provides", "- Provides", 28),
    Case("research-note/form", "", "", 1, LABELLED),
    Case("research-note/field-missing", "sources_checked: 2\n", "", 1),
    Case("research-note/field-missing", "**Confidence:** HIGH\n", "", 1, LABELLED),
    Case("research-note/field-type", "confidence: high", "confidence: HIGH", 2),
    Case("research-note/field-type", "sources_checked: 2", "sources_checked: two", 3),
    Case("research-note/field-type", '"complete"', '"whole"', 4),
    Case("research-note/section-missing", "## Gaps", "## Holes", 1),
    Case("research-note/no-findings", NOTE[NOTE.index("- [S1] (h") : NOTE.index("\n## Gaps")], "", 9),
    Case("research-note/source-level-missing", "- [S4] (medium)", "- (medium)", 12),
    Case("research-note/source-level", "- [S4] (medium)", "- [S4] [S8] (medium)", 12),
    Case("research-note/confidence-missing", "(medium) ", "", 12),
    Case("research-note/speculative", "[S4] (medium)", "[S4] [SPECULATIVE] (high)", 12),
    Case("research-note/version-source", "rotate keys", "use Express 5.1", 12),
    Case("research-note/source-unlisted", "- [S4] (medium)", "- [S3] (medium)", 12),
    Case("research-note/source-silent", "[S4] Blog: how keys are rotated", "[S4] Blog", 21),
    Case("research-note/sources-counted", "sources_checked: 2", "sources_checked: 1", 3),
    Case("research-summary/form", "", "", 1, LABELLED),
    Case("research-summary/field-missing", "conflicts: 0\n", "", 1),
    Case("research-summary/field-type", "conflicts: 0", "conflicts: none", 4),
    Case("research-summary/section-missing", "## Deferred Ideas", "## Later", 1),
    Case("research-summary/table-columns", "| Decision |", "| Choice |", 9),
    Case(
        "research-summary/table-columns", SUMMARY[SUMMARY.index("| Topic") : SUMMARY.index("\n## Open")], "Many.\n", 7
    ),
    Case("research-summary/decision-empty", "Use signed ones", " ", 11),
    Case("research-summary/decision-confidence", "| high |", "| sure |", 11),
    Case("research-summary/decision-speculative", "| Use signed", "| [SPECULATIVE] Use signed", 11),
    Case("research-summary/decision-sources", "| tokens.md |", "| |", 11),
    Case("research-summary/question-unmarked", "[NEEDS DECISION] ", "", 15),
    Case("codebase-map/focus", "", "", 1, OTHER_MAP, "codebase/THINGS.md"),
    Case("codebase-map/form", "", "", 1, "# Stack\n\n**Analysis Date:** today\n\n## Languages\n\n- Python\n"),
    Case("codebase-map/section-missing", "## Package Manager", "## Packages", 1),
    Case("codebase-map/section-missing", "## Layout\n\n", "", 1, OTHER_MAP, "codebase/STRUCTURE.md"),
    Case("codebase-map/table-columns", "| Config File |", "| Where |", 5),
    Case("codebase-map/claim-without-path", "pyproject.toml", "its file", 7),
    Case("codebase-map/claim-without-path", ", locked in `uv.lock`", "", 11),
    Case("codebase-map/path-missing", "uv.lock", "gone.lock", 11),
    Case("codebase-map/path-outside", "uv.lock", "../uv.lock", 11),
    Case("document/frontmatter", "conflicts: 0", "conflicts: 0\nconflicts: 1", 5, SUMMARY, "research/SUMMARY.md"),
]


@pytest.fixture
def root(tmp_path):
    for name in ("pyproject.toml", "uv.lock", "src/auth.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def found(text, path, root):
    return list(check_document(load_text(text, path), root))


@pytest.mark.parametrize("kind", VALID)
def test_a_valid_document_breaks_no_rule(kind, root):
    assert found(VALID[kind], PATHS[kind], root) == []


def test_a_map_without_a_stated_minimum_needs_one_section(root):
    assert found(OTHER_MAP, "codebase/STRUCTURE.md", root) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}:{case.line}")
def test_a_rule_is_broken_alone_and_at_its_line(case, root):
    kind = case.rule.partition("/")[0]
    before = case.text or VALID[kind]
    assert case.old in before
    text = before.replace(case.old, case.new, 1) if case.old else before
    violations = found(text, case.path or PATHS.get(kind, ""), root)
    told = [v for v in violations if v.rule == case.rule or not v.rule.endswith("/form")]
    assert [(v.rule, v.line) for v in told] == [(case.rule, case.line)]
    assert violations[-1].severity == RULES[case.rule].severity
    assert violations[-1].message
    assert violations[-1].fix


def test_a_violation_quotes_no_key():
    text = PLAN.replace('type="auto"', f'type="sk-ant-api03-{"a1B2" * 12}"')
    (told,) = found(text, PATHS["plan"], None)
    assert "a1B2a1B2" not in told.message
    assert "[redacted]" in told.message


def test_every_rule_of_these_kinds_has_a_case_that_breaks_it():
    kinds = ("plan", "research-note", "research-summary", "codebase-map")
    rules = {rule for rule in RULES if rule.partition("/")[0] in kinds}
    assert rules - {case.rule for case in CASES} == set()

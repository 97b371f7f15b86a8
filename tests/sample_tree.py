"""A small .planning tree in document 003's own form that breaks no rule, to be changed in one place by a test."""

from __future__ import annotations

from pathlib import Path

NOTE = """---
confidence: {confidence}
sources_checked: 1
coverage: complete
---
# Research

## Key Findings

- [S1] Tokens are signed by a key of the server. (high confidence)
- [S1] {finding}

## Gaps

- Load was not measured, for want of a server.

## Sources

- [S1] The documentation of the server: how tokens are signed.
"""

RESEARCH = """---
confidence: medium
sources: 2
conflicts: 1
---
# Research summary

## Resolved Decisions

| Topic | Decision | Confidence | Sources |
|---|---|---|---|
| Signing | Sign tokens with a key of the server | high | auth.md |
| Storage | Put them into the database | low | storage.md |

## Open Questions

- [NEEDS DECISION] Which retention period do expired sessions have?

## Contradictions

- storage.md says that sessions are kept for a day, auth.md for an hour.

## Deferred Ideas

- Single sign-on
"""

PLAN = """---
phase: "01-auth"
plan: "01-{number:02}"
wave: {number}
depends_on: {depends_on}
files_modified: ["src/auth_{number}.py"]
must_haves:
  truths: ["Users of part {number} can log in"]
  artifacts: ["src/auth_{number}.py: checks tokens"]
  key_links: ["src/app_{number}.py calls src/auth_{number}.py"]
provides: ["login {number}"]
consumes: {consumes}
requirement_ids: ["AUTH-0{number}"]
---
# Plan 01-{number:02}

<task id="01-{number:02}-T1" type="auto" tdd="false" complexity="simple">
<name>Write the check of tokens</name>
<files>src/auth_{number}.py</files>
<action>
1. Read the token from the header
2. Check its signature
</action>
<verify>pytest tests/test_auth_{number}.py</verify>
<done>A request with a wrong token is refused</done>
</task>

<task id="01-{number:02}-T2" type="checkpoint:decision" tdd="false" complexity="simple">
<name>Decide the retention period of expired sessions</name>
<files>src/auth_{number}.py</files>
<action>
1. Ask for the retention period that expired sessions have
</action>
<verify>grep -q RETENTION src/auth_{number}.py</verify>
<done>The period is written down</done>
</task>

## Summary

Plan 01-{number:02}: tasks 01-{number:02}-T1 and 01-{number:02}-T2.
Key files: src/auth_{number}.py.
Must-haves: users can log in; tokens are checked.
Provides: login {number}. Consumes: nothing.
"""

SUMMARY = """---
plan: "01-{number:02}"
status: complete
commits: ["abcdef{number}"]
provides: ["login {number}"]
must_haves:
  - "Users of part {number} can log in: DONE"
  - "src/auth_{number}.py: checks tokens: DONE"
  - "src/app_{number}.py calls src/auth_{number}.py: DONE"
---
# Summary 01-{number:02}

## Task Results

| Task | Status | Notes |
|---|---|---|
| 01-{number:02}-T1 | done | none |
| 01-{number:02}-T2 | done | a day |

## Deviations

None
"""

VERIFICATION = """---
status: passed
attempt: 1
must_haves_total: 6
must_haves_passed: 6
gaps: []
overrides: []
---
# Verification

## Must-Have Verification

| # | Must-Have | Status | Evidence |
|---|---|---|---|
| 1 | Users of part 1 can log in | VERIFIED | tests/test_auth_1.py:3 |
| 2 | src/auth_1.py: checks tokens | VERIFIED | src/auth_1.py:1 |
| 3 | src/app_1.py calls src/auth_1.py | VERIFIED | src/app_1.py:1 |
| 4 | **Users** of part 2 can log in. | VERIFIED | tests/test_auth_2.py:3 |
| 5 | `src/auth_2.py`: checks tokens | VERIFIED | src/auth_2.py:1 |
| 6 | `src/app_2.py` calls `src/auth_2.py` | VERIFIED | src/app_2.py:1 |

## Gaps

None
"""

REQUIREMENTS = "# Requirements\n\n- **AUTH-01**: users can log in\n- **AUTH-02**: tokens expire\n"

PHASE = "phases/01-auth"
FILES = {
    "REQUIREMENTS.md": REQUIREMENTS,
    "research/auth.md": NOTE.format(confidence="high", finding="Keys are rotated every year. (medium confidence)"),
    "research/storage.md": NOTE.format(
        confidence="medium", finding="[SPECULATIVE] Keep all sessions in one shared table. (low confidence)"
    ),
    "research/SUMMARY.md": RESEARCH,
    f"{PHASE}/PLAN-01.md": PLAN.format(number=1, depends_on="[]", consumes="[]"),
    f"{PHASE}/PLAN-02.md": PLAN.format(number=2, depends_on='["01-01"]', consumes='["login 1"]'),
    f"{PHASE}/SUMMARY-01-01.md": SUMMARY.format(number=1),
    f"{PHASE}/SUMMARY-01-02.md": SUMMARY.format(number=2),
    f"{PHASE}/VERIFICATION.md": VERIFICATION,
}


def sample_tree(folder: Path, files: dict[str, str | None] | None = None) -> Path:
    """The tree's `.planning`, with some files replaced or added; None leaves a file out."""
    root = folder / ".planning"
    for name, text in {**FILES, **(files or {})}.items():
        if text is not None:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return root


def line_of(text: str, piece: str) -> int:
    """The line on which a piece of a text first stands."""
    return text[: text.index(piece)].count("\n") + 1

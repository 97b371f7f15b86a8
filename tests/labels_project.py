"""A small project with a plan, its summary and its code: one must-have holds, one does not, others need a person."""

from __future__ import annotations

from pathlib import Path

from verifyplan import crossverify

WORKERS = {"executor": "search", "search": "search", "syntax-tree": "syntax-tree", "window": "window"}
"""The executor brings the claims and votes on none of them."""

PHASE = ".planning/phases/01-labels"
PLAN, SUMMARY = f"{PHASE}/PLAN-01.md", f"{PHASE}/SUMMARY-01-01.md"

CODE = {
    "src/labels.py": (
        'def render_label(parcel, size="a6"):\n    """One label."""\n    if size not in ("a5", "a6"):\n'
        '        raise ValueError(size)\n    return f"{parcel} {size}"\n'
    ),
    "src/spool.py": (
        "from collections import deque\n\n\nclass Spool:\n    def __init__(self):\n        self.items = deque()\n\n"
        "    def push(self, item):\n        self.items.append(item)\n"
    ),
}

HOLDS = "`render_label` raises `ValueError`"
REFUTED = "`Spool.push` raises `OverflowError`"
UNREADABLE = "A printed label can be read from one metre away"
DEFINED = "src/labels.py: `render_label` renders the label of a parcel"
ABSENT = "src/printer.py: `send` sends a label to the printer"
LINK = "src/spool.py -> src/labels.py: a spooled parcel is rendered"

PLAN_TEXT = f"""---
phase: 01-labels
plan: "01-01"
wave: 1
depends_on: []
files_modified: [src/labels.py, src/spool.py, src/printer.py]
must_haves:
  truths:
    - "{HOLDS}"
    - "{REFUTED}"
    - "{UNREADABLE}"
  artifacts:
    - "{DEFINED}"
    - "{ABSENT}"
  key_links:
    - "{LINK}"
provides: [render_label]
consumes: []
requirement_ids: [LBL-01]
---

# Plan 01-01

## Objective

Labels are rendered, spooled and printed.

## Tasks

<task id="01-01-T1" type="auto" tdd="true" complexity="simple">
<name>Render the label of a parcel</name>
<files>
src/labels.py
tests/test_labels.py
</files>
<action>
1. Write `render_label` in src/labels.py: it refuses sizes other than a5 and a6 with ValueError
2. Test both sizes and a wrong one in tests/test_labels.py
</action>
<verify>python -m pytest tests/test_labels.py</verify>
<done>`render_label` raises `ValueError` for an unknown size</done>
</task>

<task id="01-01-T2" type="auto" tdd="false" complexity="medium">
<name>Spool parcels and print their labels</name>
<files>
src/spool.py
src/printer.py
tests/test_spool.py
</files>
<action>
1. Write `Spool.push` in src/spool.py, which raises OverflowError once 100 parcels wait
2. Render spooled parcels with src/labels.py and send them from src/printer.py
3. Test a full spool in tests/test_spool.py
</action>
<verify>
python -m pytest tests/test_spool.py
python -m src.printer --dry-run
</verify>
<done>A full spool refuses parcels with OverflowError</done>
</task>

## Summary

- Plan 01-01 with tasks 01-01-T1 and 01-01-T2
- Key files: src/labels.py, src/spool.py, src/printer.py
- Must-haves: 3 truths, 2 artifacts, 1 key link
- Provides: render_label; consumes: nothing
"""

SUMMARY_TEXT = f"""---
plan: "01-01"
status: partial
commits: ["1c5991d"]
provides: [render_label]
must_haves:
  - "{HOLDS}: DONE"
  - "{REFUTED}: DONE"
  - "{UNREADABLE}: DONE"
  - "{DEFINED}: DONE"
  - "{ABSENT}: DONE"
  - "{LINK}: SKIPPED"
---

# Summary: 01-01

## Task Results

| Task | Status | Notes |
|---|---|---|
| 01-01-T1 | DONE | |
| 01-01-T2 | PARTIAL | printing is left |

## Deviations

None
"""


def labels_project(folder: Path, *, code: dict[str, str] | None = None, plan: str = PLAN_TEXT) -> Path:
    """The project in a folder, which is returned; `code` are files that differ or come on top."""
    for path, text in {**CODE, PLAN: plan, SUMMARY: SUMMARY_TEXT, **(code or {})}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def adversarially(findings, root, *, worker="executor", **more):
    """A cross run of static workers that open what is cited."""
    roster = {worker: "search", **{name: check for name, check in WORKERS.items() if name != "executor"}}
    return crossverify(findings, roster, repo=root, settings={"adversarial": True}, log_dir=None, **more)

"""The timeline of a run: its steps as marks, in groups, each with its calls (rules B3, A)."""

from __future__ import annotations

from typing import Any

from verifyplan.analysis.run_steps import RunSteps
from verifyplan.text import counted

_SHORT = {
    "challenges": "challenges",
    "research": "research",
    "synthesis": "settled",
    "ruling": "ruling",
    "found": "found",
    "end": "end",
    "sizing": "sizing",
}


def timeline(course: RunSteps) -> list[dict[str, Any]]:
    """Return the steps of a run as JSON values: group, mark, title, number of calls and of failed ones."""
    counts = course.call_counts
    steps = course.steps.assign(n=counts["n"].to_numpy(), failed=counts["failed"].to_numpy())
    return [
        {
            "group": f"iteration {row['iteration']}" if row["iteration"] else "",
            "mark": _mark(row["phase"], row["round"]),
            "title": _title(row),
            "calls": int(row["n"]),
            "failed": int(row["failed"]),
        }
        for row in steps.to_dict("records")
    ]


def _mark(phase: str, number: int) -> str:
    if phase in ("round", "turn", "panel"):
        return f"{phase} {number}"
    return _SHORT.get(phase, phase)


def _title(row: dict[Any, Any]) -> str:
    if not row["n"]:
        return str(row["title"])
    failed = f", {row['failed']} failed" if row["failed"] else ""
    return f"{row['title']}; {counted(row['n'], 'call')}{failed}"

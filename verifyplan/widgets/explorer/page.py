"""The viewer's page: what Python sends it as traits, and what it sends Python as messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from verifyplan.analysis.run_steps import RunSteps
from verifyplan.text import counted

_HERE = Path(__file__).parent
_SCRIPTS = [_HERE / name for name in ("list.js", "timeline.js", "viewer.js")]


LOOK = (_HERE / "viewer.css").read_text(encoding="utf-8")
"""The look of the viewer beside that of all widgets."""


class ViewerPage(anywidget.AnyWidget):
    """Two lists, a timeline and regions of HTML, drawn in the page; it never has more rows than a slice of a list.

    The page sends messages `{do, ...}`, which `RunExplorer` answers by setting traits. All texts in the HTML of traits
    are escaped.
    """

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in _SCRIPTS)
    _css = LOOK
    runs = traitlets.Dict().tag(sync=True)
    """The list of runs: a slice, and what it is filtered and sorted by."""
    items = traitlets.Dict().tag(sync=True)
    """The list of findings, challenges or messages."""
    scope = traitlets.Unicode("run").tag(sync=True)
    """Whether `items` are those of the chosen run, or of all runs (`all`)."""
    steps = traitlets.List(traitlets.Dict()).tag(sync=True)
    """The marks of the timeline."""
    step = traitlets.Int(0).tag(sync=True)
    rules = traitlets.List(traitlets.Dict()).tag(sync=True)
    """The controls of the rules to replay by."""
    head = traitlets.Unicode("").tag(sync=True)
    changed = traitlets.Unicode("").tag(sync=True)
    calls = traitlets.Unicode("").tag(sync=True)
    item = traitlets.Unicode("").tag(sync=True)
    replayed = traitlets.Unicode("").tag(sync=True)
    others = traitlets.Unicode("").tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    """What a screen reader says after each change."""


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
    return "settled" if phase == "synthesis" else phase


def _title(row: dict[Any, Any]) -> str:
    if not row["n"]:
        return str(row["title"])
    failed = f", {row['failed']} failed" if row["failed"] else ""
    return f"{row['title']}; {counted(row['n'], 'call')}{failed}"

"""The viewer's page: what Python tells it as traits, what it tells Python as messages."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

_HERE = Path(__file__).parent
_SCRIPTS = ("list.js", "timeline.js", "viewer.js")


def _joined(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


LOOK = _joined(_HERE / "viewer.css")
"""The look of the viewer beside that of all widgets."""


class ViewerPage(anywidget.AnyWidget):
    """Two lists, a timeline and regions of HTML, drawn in the page; it never has more rows than a slice of a list.

    The page sends messages `{do, ...}`, which `RunExplorer` answers by setting traits. All HTML in traits is made of
    escaped texts.
    """

    _esm = _joined(*(_HERE / name for name in _SCRIPTS))
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

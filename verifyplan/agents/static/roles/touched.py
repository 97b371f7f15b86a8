"""The files of the repository that a plan touches, for research on what stands near them."""

from __future__ import annotations

from verifyplan.agents.static.roles.scene import Scene

MOST = 20
"""Files that research looks at."""


def touched(scene: Scene) -> dict[str, int]:
    """The files that steps name and that exist, each with the first line that names it, in order of the lines."""
    found: dict[str, int] = {}
    for one in scene.reading.actions("file"):
        words = one.name.split()
        path = scene.known.file(words[0]) if words else None
        if path is not None:
            found.setdefault(path, one.line)
    return dict(list(found.items())[:MOST])


def changed(scene: Scene) -> dict[str, int]:
    """Those of the touched files that a step says it changes, moves or deletes."""
    intents = {one.line: one.intent for one in scene.reading.actions("file")}
    return {path: line for path, line in touched(scene).items() if intents.get(line) in ("change", "move", "delete")}

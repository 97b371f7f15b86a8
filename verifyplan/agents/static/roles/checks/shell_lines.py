"""Shell commands that the plan writes into a new script, and that another script of the repository runs already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rapidfuzz import fuzz

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene

ALIKE = 80.0
"""Likeness, of 100, from which on two command lines are the same."""

_SHELL = frozenset({"sh", "bash", "shell", "zsh"})
_SCRIPT = re.compile(r"`([\w./-]+\.sh)\b")
_SHORTEST = 30


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for the first command line of a new script that a script of the repository has, but for its arguments.

    Lines of under 30 characters are not compared, and nothing is where the plan changes that script itself.
    """
    for block in scene.plan.blocks:
        new = _new_script(scene, block.first)
        if block.language not in _SHELL or not new:
            continue
        for at, line in enumerate(block.text.split("\n"), block.first + 1):
            place = _same(scene, line.strip()) if len(line.strip()) >= _SHORTEST else None
            if place is not None:
                yield _issue(new, at, place)
                return


def _new_script(scene: Scene, line: int) -> str:
    """The script that the step of a block makes; empty if it makes none."""
    named = (match[1] for _, text in scene.reading.around(line) for match in _SCRIPT.finditer(text))
    return next((name for name in named if scene.known.file(name) is None and scene.reading.makes(name)), "")


def _same(scene: Scene, line: str) -> Place | None:
    words = sorted(re.findall(r"[a-z][a-z_]{5,}", line), key=lambda word: (-len(word), word))
    for word in words[:2]:
        for hit in scene.known.mentions(word):
            if hit.path.endswith(".sh") and fuzz.partial_ratio(line, hit.text.strip()) >= ALIKE:
                return Place(hit.path, hit.line)
    return None


def _issue(new: str, line: int, place: Place) -> Issue:
    return Issue(
        statement("similar-exists", new, place.path),
        line,
        f"{place.path}:{place.line} runs the same command already.",
        "SIGNIFICANT",
        "MED",
        scenario="Two scripts do the same and have to be kept in step.",
        alternative=f"Call `{place.path}` from it, or say why it does not fit.",
        beside=(place,),
    )

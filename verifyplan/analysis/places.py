"""Whether a challenge looks where a label says: places compared whatever folder they are written from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath, PurePosixPath

from verifyplan.rules.citations import Place, places

NEAR_LINES = 3
"""A challenge that cites a line so near to a defect's, or nearer, looks at it."""

PLAN = "plan"
"""How a label may name the plan itself."""

_LABELLED = re.compile(r"(.+):(\d+)(?:-(\d+))?")


def near(evidence: str, labelled: Sequence[str], plan: PurePath) -> bool:
    """Return whether the evidence of a challenge cites a line within 3 of a place that a label names.

    Places are `file.md:26` or `file.md:26-30`, relative or absolute; the plan is `plan`, its file's name or its path.
    An absolute path is that of a relative one if it ends with it.

    >>> near("see /repo/src/db.py:30-40", ["src/db.py:42"], PurePath("plans/move.md"))
    True
    >>> near("move.md:5", ["plan:26"], PurePath("plans/move.md"))
    False
    """
    wanted = [_place(text) for text in labelled]
    return any(
        cited.first - NEAR_LINES <= place.last and place.first <= cited.last + NEAR_LINES
        for cited in places(evidence)
        for place in wanted
        if _same_file(cited.path, place.path, plan)
    )


def _place(text: str) -> Place:
    found = _LABELLED.fullmatch(text)
    if found is None:  # labels are checked where they are read
        raise ValueError(f"{text!r} is no place")
    first, last = sorted((int(found[2]), int(found[3] or found[2])))
    return Place(found[1], first, last)


def _same_file(cited: str, labelled: str, plan: PurePath) -> bool:
    if labelled == PLAN or _is_plan(labelled, plan):
        return _is_plan(cited, plan)
    one, other = _parts(cited), _parts(labelled)
    if cited.startswith("/") == labelled.startswith("/"):
        return one == other
    return _ends_with(one, other) if cited.startswith("/") else _ends_with(other, one)


def _is_plan(path: str, plan: PurePath) -> bool:
    """Whether a path names the plan: its name, or its path as far as both are written out."""
    return _ends_with(*sorted((_parts(path), _parts(plan.as_posix())), key=len, reverse=True))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in ("/", "."))


def _ends_with(path: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return bool(end) and path[-len(end) :] == end

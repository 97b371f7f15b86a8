"""Which plan is meant: `01-02`, `2`, `PLAN-02` and `01-02-PLAN.md` may all name one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.plan_ids import id_in_name, plan_key
from verifyplan.documents.walk import PLANNING

_TWO = re.compile(r"\d{1,6}(?:\.\d{1,6})?-\d{1,6}[a-z]?(?=-)")

PHASES = "phases"
"""The end of the name of a folder of phases: `phases`, and `v1.1-phases` of a milestone that is archived."""


def phase_of(plan: PlanDocument) -> str:
    """The phase that a plan belongs to: the folder that it lies in, else the phase that it states."""
    return _path(plan).parent.name or plan.phase or ""


def phases_of(plans: Sequence[PlanDocument]) -> tuple[str, ...]:
    """The phase of each plan; folders of one name in two milestones are told apart by the folder above them.

    >>> from verifyplan.documents.loading import load_text
    >>> phases_of([load_text("", f"{folder}/01-a/PLAN-01.md") for folder in ("v1-phases", "v2-phases", "v2-phases")])
    ('v1-phases/01-a', 'v2-phases/01-a', 'v2-phases/01-a')
    """
    folders: dict[str, set[str]] = defaultdict(set)
    for plan in plans:
        folders[phase_of(plan)].add(phases_folder(plan))
    return tuple(
        f"{PurePosixPath(phases_folder(plan)).name}/{name}" if len(folders[name := phase_of(plan)]) > 1 else name
        for plan in plans
    )


def folder_of(plan: PlanDocument) -> str:
    """The folder that a plan lies in."""
    return str(_path(plan).parent)


def phases_folder(plan: PlanDocument) -> str:
    """The folder of phases in which a plan's own lies; phases of two milestones may have one number."""
    return str(_path(plan).parent.parent)


def in_a_phase(plan: PlanDocument) -> bool:
    """Whether a plan belongs to a phase; one of `.planning/quick` and the like belongs to none.

    >>> from verifyplan.documents.loading import load_text
    >>> [in_a_phase(load_text("", f"{folder}/PLAN-01.md")) for folder in (".planning/quick/9-fix", "v1-phases/01-a")]
    [False, True]
    """
    above = _path(plan).parent.parent
    return PLANNING not in above.parts or above.name == PLANNING or above.name.endswith(PHASES)


def name_of(plan: PlanDocument) -> str:
    """A plan's id, else what its file's name says of it."""
    return plan.plan or id_in_name(_path(plan).name) or _path(plan).name or "plan"


class PlanNames:
    """Finds the plan that a name means: one of the asker's phase, else of its milestone, else of any."""

    def __init__(self, plans: Sequence[PlanDocument]) -> None:
        self._found: dict[tuple[str, str, str], int] = {}
        for position, plan in enumerate(plans):
            phase, milestone = phase_of(plan), phases_folder(plan)
            if key := plan_key(name_of(plan), phase):
                for scope in ((milestone, phase), (milestone, ""), ("", "")):
                    self._found.setdefault((*scope, key), position)
                for short in (key.rpartition("-")[2], *_numbers(key)):
                    self._found.setdefault((milestone, phase, short), position)

    def position(self, name: str, asker: PlanDocument) -> int | None:
        """Where the plan stands that `asker` means by a name; None if there is no such plan.

        A number alone means a plan of the asker's own phase. Of plans with the same id the first is meant.
        """
        phase, milestone = phase_of(asker), phases_folder(asker)
        bare = id_in_name(name if name.endswith(".md") else f"{name}.md")
        key, alone = plan_key(bare, phase), plan_key(bare)
        near = [(milestone, phase, one) for one in (key, alone, *_numbers(key))]
        wanted = (*near, (milestone, "", key), ("", "", key))
        return next((self._found[one] for one in wanted if one in self._found), None)


def _numbers(key: str) -> list[str]:
    """The two numbers that a plan's id begins with, where words follow them, as in `01-02-add-login`."""
    found = _TWO.match(key)
    return [found[0]] if found else []


def _path(plan: PlanDocument) -> PurePosixPath:
    return PurePosixPath(plan.path.replace("\\", "/"))

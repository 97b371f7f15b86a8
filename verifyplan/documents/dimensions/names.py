"""Which plan is meant: `01-02`, `2`, `PLAN-02` and `01-02-PLAN.md` may all name one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from verifyplan.documents.contracts.plan import PlanDocument
from verifyplan.documents.contracts.plan_ids import id_in_name, plan_key


def phase_of(plan: PlanDocument) -> str:
    """The phase that a plan belongs to: the folder that it lies in, else the phase that it states."""
    return _path(plan).parent.name or plan.phase or ""


def name_of(plan: PlanDocument) -> str:
    """A plan's id, else what its file's name says of it."""
    return plan.plan or id_in_name(_path(plan).name) or _path(plan).name or "plan"


class PlanNames:
    """Finds the plan that a name means."""

    def __init__(self, plans: Sequence[PlanDocument]) -> None:
        self._anywhere: dict[str, int] = {}
        self._within: dict[tuple[str, str], int] = {}
        for position, plan in enumerate(plans):
            phase = phase_of(plan)
            if key := plan_key(name_of(plan), phase):
                self._anywhere.setdefault(key, position)
                self._within.setdefault((phase, key.rpartition("-")[2]), position)

    def position(self, name: str, asker: PlanDocument) -> int | None:
        """Where the plan stands that `asker` means by a name; None if there is no such plan.

        A number alone means a plan of the asker's own phase. Of plans with the same id the first is meant.
        """
        bare = id_in_name(name if name.endswith(".md") else f"{name}.md")
        found = self._anywhere.get(plan_key(bare, phase_of(asker)))
        return self._within.get((phase_of(asker), plan_key(bare))) if found is None else found


def _path(plan: PlanDocument) -> PurePosixPath:
    return PurePosixPath(plan.path.replace("\\", "/"))

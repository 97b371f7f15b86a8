"""Plans with labelled defects: the truth by which plan verification is scored."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import pandas as pd
from pydantic import Field, StrictBool, StrictStr, model_validator

from verifyplan.datasets.bundled import plans_folder, read_data
from verifyplan.datasets.labels import SOUND, VERDICTS, LabelledDefect, Line, PlanLabel, Text, label_table
from verifyplan.errors import InputError, Problem
from verifyplan.protocol.base import Model
from verifyplan.text import did_you_mean

DefectKind = Literal[
    "missing-file", "wrong-symbol", "rule-conflict", "unstated-dependency", "no-rollback", "stale-claim", "duplicate",
    "contradictory-steps", "missing-check", "missing-timeout-or-retry", "wrong-command", "data-without-backfill",
    "missing-access-control",
]  # fmt: skip


class Defect(LabelledDefect):
    """A defect seeded into a bundled plan: every field is filled in."""

    kind: DefectKind
    line: Line
    quote: Text
    finding: Text
    why: Text


class LabelledPlan(PlanLabel):
    """A bundled plan, the verdict it deserves, and its seeded defects: none in a sound plan, else exactly one."""

    name: Annotated[StrictStr, Field(pattern=r"^[\w-]+$")]
    kind: DefectKind | Literal["sound"]
    verdict: Literal["PROCEED", "REVISE", "RETHINK"]
    held_out: StrictBool = Field(description="Kept for judging: nothing may be tuned on it.")
    domain: Text
    creates: tuple[Text, ...]
    absent: tuple[Text, ...]
    defects: Annotated[tuple[Defect, ...], Field(max_length=1)]

    @property
    def path(self) -> Path:
        """The plan's Markdown file."""
        return plans_folder() / "plans" / f"{self.name}.md"

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        kinds: list[str] = [defect.kind for defect in self.defects] or [SOUND]
        verdicts = [VERDICTS[defect.severity] for defect in self.defects] or ["PROCEED"]
        if [self.kind] != kinds or [self.verdict] != verdicts:
            raise ValueError(f"{self.kind} and {self.verdict} do not follow from the defects: {kinds}, {verdicts}")
        return self


class _Labels(Model):
    plans: tuple[LabelledPlan, ...]


@cache
def _labels() -> _Labels:
    return read_data(_Labels, plans_folder() / "labels.json")


def labelled_plans(held_out: bool | None = None) -> list[LabelledPlan]:
    """Return all labelled plans in the order of `labels.json`, or only those (not) held out, as `held_out` says.

    The labels were made by reading, not by any checker. InputError if the bundled labels are damaged.

    >>> {plan.verdict for plan in labelled_plans() if plan.kind == "sound"}
    {'PROCEED'}
    >>> labelled_plans(held_out=False)[0].name
    'shop-reference'
    """
    return [plan for plan in _labels().plans if held_out is None or plan.held_out == held_out]


def plan_path(name: str) -> Path:
    """Return the Markdown file of a labelled plan; InputError for an unknown name.

    >>> plan_path("readme-dbmate").name
    'readme-dbmate.md'
    """
    paths = {plan.name: plan.path for plan in _labels().plans}
    if name not in paths:
        raise InputError(
            Problem("plan", f"{name!r} is not labelled{did_you_mean(name, paths)}", "use a name of `labelled_plans()`")
        )
    return paths[name]


def plan_labels(held_out: bool | None = None) -> pd.DataFrame:
    """Return the labels as a table: a row per defect, and one per sound plan, whose severity, line and lists are empty.

    Columns: `plan, kind, verdict, held_out, severity, line, needles, places`.

    >>> labels = plan_labels()
    >>> int((labels["kind"] == "sound").sum()), labels["plan"].nunique()
    (19, 74)
    """
    return label_table(labelled_plans(held_out))

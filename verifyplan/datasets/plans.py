"""Plans with labelled defects: the truth by which plan verification is scored."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

import pandas as pd
from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from verifyplan.datasets.plans_data import plans_folder, read_data
from verifyplan.errors import InputError, Problem
from verifyplan.protocol.base import Model
from verifyplan.protocol.challenge import Severity
from verifyplan.words import did_you_mean

DefectKind = Literal[
    "missing-file", "wrong-symbol", "rule-conflict", "unstated-dependency", "no-rollback", "stale-claim", "duplicate",
    "contradictory-steps", "missing-check", "missing-timeout-or-retry", "wrong-command", "data-without-backfill",
    "missing-access-control",
]  # fmt: skip
DEFECT_KINDS: tuple[DefectKind, ...] = get_args(DefectKind)
_VERDICTS = {"BLOCKING": "RETHINK", "SIGNIFICANT": "REVISE", "MINOR": "PROCEED"}

Text = Annotated[StrictStr, Field(min_length=1)]
Line = Annotated[StrictInt, Field(ge=1)]


class Evidence(Model):
    """A line that speaks about a defect, in the plan or in the repository, and words that stand in it."""

    place: StrictStr = Field(pattern=r"^[\w./-]+:[1-9][0-9]*$", description="`plan:12`, or `waybill/db.py:34`.")
    quote: Text


class Defect(Model):
    """What is wrong with a plan, where a good finding would look, and how it would be recognised."""

    kind: DefectKind
    line: Line = Field(description="The line of the plan that is wrong.")
    quote: Text = Field(description="Words of that line.")
    finding: Text = Field(description="The defect in one sentence.")
    evidence: tuple[Evidence, ...] = Field(description="Other lines that a good finding would cite.")
    severity: Severity
    needles: tuple[Text, ...] = Field(min_length=1, description="A finding about the defect mentions at least one.")
    why: Text = Field(description="The consequence from which the severity follows.")

    @property
    def places(self) -> tuple[str, ...]:
        """The places that a good finding would cite: the defect's own line first."""
        return (f"plan:{self.line}", *(one.place for one in self.evidence))


class LabelledPlan(Model):
    """A plan, the verdict it deserves, and its seeded defects: none in a sound plan, else exactly one."""

    name: Annotated[StrictStr, Field(pattern=r"^[\w-]+$")]
    kind: DefectKind | Literal["sound"]
    verdict: Literal["PROCEED", "REVISE", "RETHINK"]
    held_out: StrictBool = Field(description="Kept for judging: nothing may be tuned on it.")
    domain: Text
    creates: tuple[Text, ...] = Field(description="Files that the plan makes, and that the repository lacks.")
    absent: tuple[Text, ...] = Field(description="Files that the plan names as not there, rightly.")
    defects: Annotated[tuple[Defect, ...], Field(max_length=1)]

    @property
    def path(self) -> Path:
        """The plan's Markdown file."""
        return plans_folder() / "plans" / f"{self.name}.md"

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        kinds: list[str] = [one.kind for one in self.defects] or ["sound"]
        verdicts = [_VERDICTS[one.severity] for one in self.defects] or ["PROCEED"]
        if [self.kind] != kinds or [self.verdict] != verdicts:
            raise ValueError(f"{self.kind} and {self.verdict} do not follow from the defects: {kinds}, {verdicts}")
        return self


class _Labels(Model):
    plans: tuple[LabelledPlan, ...]


def labelled_plans(held_out: bool | None = None) -> list[LabelledPlan]:
    """All labelled plans in the order of `labels.json`; only those held out, or only the others, where `held_out` says.

    The labels were made by reading, not by any checker. InputError if the bundled labels are damaged.

    >>> {plan.verdict for plan in labelled_plans() if plan.kind == "sound"}
    {'PROCEED'}
    >>> labelled_plans(held_out=False)[0].name
    'shop-reference'
    """
    return [one for one in _labels().plans if held_out is None or one.held_out == held_out]


def plan_path(name: str) -> Path:
    """The Markdown file of a labelled plan; InputError for a name that there is none of.

    >>> plan_path("readme-dbmate").name
    'readme-dbmate.md'
    """
    names = [one.name for one in _labels().plans]
    if name not in names:
        raise InputError(
            Problem("plan", f"{name!r} is not labelled{did_you_mean(name, names)}", "use a name of `labelled_plans()`")
        )
    return plans_folder() / "plans" / f"{name}.md"


@cache
def _labels() -> _Labels:
    return read_data(_Labels, "labels.json")


def plan_labels(held_out: bool | None = None) -> pd.DataFrame:
    """The labels as a table: a row per defect, and one per sound plan, whose severity, line and lists are empty.

    Columns: `plan, kind, verdict, held_out, severity, line, needles, places`.

    >>> labels = plan_labels()
    >>> int((labels["kind"] == "sound").sum()), labels["plan"].nunique()
    (19, 74)
    """
    rows = []
    for plan in labelled_plans(held_out):
        common = {"plan": plan.name, "verdict": plan.verdict, "held_out": plan.held_out}
        if not plan.defects:
            rows.append({**common, "kind": "sound", "severity": None, "line": None, "needles": (), "places": ()})
        rows += [
            {
                **common,
                "kind": defect.kind,
                "severity": defect.severity,
                "line": defect.line,
                "needles": defect.needles,
                "places": defect.places,
            }
            for defect in plan.defects
        ]
    return pd.DataFrame(rows)

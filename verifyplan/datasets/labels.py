"""Labels of plans: the verdict a plan deserves, what is wrong with it, and where a good finding would look."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from verifyplan.protocol.base import Model
from verifyplan.protocol.records import Severity

SOUND = "sound"
"""The kind of a plan with which nothing is wrong."""

VERDICTS = {"BLOCKING": "RETHINK", "SIGNIFICANT": "REVISE", "MINOR": "PROCEED"}
"""The verdict that a plan deserves by its worst defect."""

_SUFFIXES = (".md", ".markdown")


def _no_lone_text(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(f"must be a list of texts, got the text {value!r}")
    return value


Text = Annotated[StrictStr, Field(min_length=1)]
Line = Annotated[StrictInt, Field(ge=1)]
Place = Annotated[StrictStr, Field(pattern=r"^[^:\s][^:]*:[1-9][0-9]*(-[1-9][0-9]*)?$")]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_no_lone_text)]
Places = Annotated[tuple[Place, ...], BeforeValidator(_no_lone_text)]


class Evidence(Model):
    """A line that speaks about a defect, in the plan or in the repository, and words that stand in it."""

    place: Place = Field(description="`plan:12`, the plan's file (`PLAN.md:12`), or `waybill/db.py:34-40`.")
    quote: StrictStr = ""


class LabelledDefect(Model):
    """What is wrong with a plan, where a good finding would look, and how it would be recognised."""

    severity: Severity
    needles: Texts = Field(min_length=1, description="A finding about the defect mentions at least one.")
    kind: Text = Field(default="defect", description="What sort of defect it is, in a word of yours.")
    line: Line | None = Field(default=None, description="The line of the plan that is wrong.")
    places: Places = Field(default=(), description="Places that a good finding would cite.")
    evidence: tuple[Evidence, ...] = Field(default=(), description="The same, each with words that stand there.")
    quote: StrictStr = Field(default="", description="Words of that line.")
    finding: StrictStr = Field(default="", description="The defect in one sentence.")
    why: StrictStr = Field(default="", description="The consequence from which the severity follows.")

    @property
    def cited(self) -> tuple[str, ...]:
        """Every place that a good finding would cite: the defect's own line first."""
        own = () if self.line is None else (f"plan:{self.line}",)
        return (*own, *self.places, *(one.place for one in self.evidence))

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if not self.cited:
            raise ValueError("must have a line, places or evidence: a finding is known by where it looks")
        return self


class PlanLabel(Model):
    """A plan by its name, the verdict it deserves, and its defects: none in a sound plan."""

    name: Text = Field(description="The name of the plan's file, with or without .md.")
    kind: Text | None = Field(default=None, description="`sound`, or that of a defect; follows from the defects.")
    verdict: Literal["PROCEED", "REVISE", "RETHINK"] | None = Field(
        default=None, description="By default that of the worst defect: BLOCKING gives RETHINK, SIGNIFICANT REVISE."
    )
    held_out: StrictBool = Field(default=False, description="Kept for judging: nothing may be tuned on it.")
    domain: StrictStr = ""
    creates: Texts = Field(default=(), description="Files that the plan makes, and that the repository lacks.")
    absent: Texts = Field(default=(), description="Files that the plan names as not there, rightly.")
    defects: tuple[LabelledDefect, ...] = ()

    @property
    def plan(self) -> str:
        """The name of the plan's file, without its suffix."""
        return plan_name(self.name)

    @property
    def expected(self) -> str:
        """The verdict that the plan deserves."""
        worst = next((one for one in VERDICTS if any(one == defect.severity for defect in self.defects)), "MINOR")
        return self.verdict or VERDICTS[worst]

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        kinds = [one.kind for one in self.defects] or [SOUND]
        if self.kind is not None and self.kind not in kinds:
            raise ValueError(f"the kind {self.kind!r} is not that of a defect: {', '.join(kinds)}")
        return self


def plan_name(path: str | PurePath) -> str:
    """Return the name by which a plan's file is labelled: without folder and suffix.

    >>> plan_name("plans/v1.2-move.md"), plan_name("v1.2-move")
    ('v1.2-move', 'v1.2-move')
    """
    name = PurePath(path).name
    return PurePath(name).stem if name.lower().endswith(_SUFFIXES) else name

"""What a worker brings to a cross run: a finding, its evidence, and who found it (rule B2)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool

from verifyplan.protocol.base import Model

Name = Annotated[str, Field(min_length=1, strict=True, pattern=r"\S")]


class Finding(Model):
    """One claim by one worker, as it enters a run; `truth` is for the analysis and no worker sees it."""

    finding_id: Name = Field(description="Id, unique in the run; workers that share an id share the finding.")
    summary: Name = Field(description="The claim, in one or two sentences.")
    evidence: str = Field(default="", strict=True, description="Cited places (path:line) and quoted text.")
    worker: Name | None = Field(
        default=None, description="Who brought it, one of the run's analysers; None in a run where everybody votes."
    )
    category: str | None = Field(default=None, description="Kind of finding; free text.")
    truth: StrictBool | None = Field(default=None, description="Whether it is true, where that is known.")
    ticket_ids: tuple[str, ...] = Field(default=(), description="Tickets the finding belongs to.")


class PlanItem(Model):
    """One item of a plan body, which all analysers vote on (rule B10)."""

    finding_id: Name = Field(description="Id such as P-001.")
    summary: Name = Field(description="What the plan states.")
    evidence: str = Field(default="", strict=True, description="The place of the item, or what it rests on.")
    truth: StrictBool | None = Field(default=None, description="Whether it is right, where that is known.")

"""Findings and votes: the words of cross-verification (rules B2, B4)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictBool

from verifyplan.protocol.base import Model

Mode = Literal["collaborative", "adversarial"]
VerificationMode = Literal["lightweight", "full-reanalysis"]
Verdict = Literal["agree", "supplement", "disagree", "verification-error"]
Basis = Literal["counter-evidence", "burden-not-met"]
Classification = Literal["full-consensus", "partial-consensus", "contested", "worker-unique"]
MissingBasis = Literal["infer", "counter-evidence", "burden-not-met", "raise"]

MODES: tuple[Mode, ...] = get_args(Mode)
VERIFICATION_MODES: tuple[VerificationMode, ...] = get_args(VerificationMode)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
BASES: tuple[Basis, ...] = get_args(Basis)
CLASSIFICATIONS: tuple[Classification, ...] = get_args(Classification)
MISSING_BASES: tuple[MissingBasis, ...] = get_args(MissingBasis)

VERIFICATION_MODE_OF: dict[Mode, VerificationMode] = {
    "collaborative": "lightweight",
    "adversarial": "full-reanalysis",
}
"""Adversarial workers open the evidence; collaborative ones see what is quoted, unless the settings differ (B1)."""

HELD: tuple[Classification, ...] = ("full-consensus", "partial-consensus")
"""The classes that count as "the finding held" (rule F1)."""

VERDICT_OF_LABEL: dict[str, Verdict] = {
    "agree": "agree",
    "supplement": "supplement",
    "disagree": "disagree",
    "survives": "agree",
    "survives-with-caveat": "supplement",
    "refuted": "disagree",
}
"""The labels that a worker may answer, in small letters, and the verdict of each (rule B4)."""

NOTHING_LOOKED_AT = "nothing looked at"
"""The words by which a vote says that its worker found nothing that it could look at (rule G2)."""

NO_LOOK_BEGINNINGS = (NOTHING_LOOKED_AT, f"Undecided: {NOTHING_LOOKED_AT}")
"""How such an explanation begins, of workers in cross runs and of those in the panel of a plan run."""

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

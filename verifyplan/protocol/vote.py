"""The words of a vote and of its outcome: verdict, basis, class, mode (SPEC B4, B6)."""

from __future__ import annotations

from typing import Literal, get_args

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

HELD: tuple[Classification, ...] = ("full-consensus", "partial-consensus")
"""The classes that count as "the finding held" (SPEC F1)."""

VERDICT_OF_LABEL: dict[str, Verdict] = {
    "agree": "agree",
    "supplement": "supplement",
    "disagree": "disagree",
    "survives": "agree",
    "survives-with-caveat": "supplement",
    "refuted": "disagree",
}
"""What a worker may answer, in small letters, and the verdict that is persisted (SPEC B4)."""

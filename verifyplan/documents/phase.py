"""The documents of one phase: its plans, what was said to be done, and what was verified (rule D3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.plan_ids import id_in_name, plan_key
from verifyplan.documents.walk import PLANNING

if TYPE_CHECKING:  # a phase is made of documents of whatever models there are
    from verifyplan.documents.kinds.execution_summary import ExecutionSummary
    from verifyplan.documents.kinds.integration_report import IntegrationReport
    from verifyplan.documents.kinds.plan import PlanDocument
    from verifyplan.documents.kinds.research_note import ResearchNote
    from verifyplan.documents.kinds.verification import VerificationDocument


@dataclass(frozen=True)
class Phase:
    """The documents that lie in one phase's folder, each kind in the order of the files' names.

    `verifications` go from the first attempt to the last, those without a number first; as a rule there is one,
    rewritten with every attempt.
    """

    folder: str
    plans: tuple[PlanDocument, ...] = ()
    summaries: tuple[ExecutionSummary, ...] = ()
    verifications: tuple[VerificationDocument, ...] = ()
    integrations: tuple[IntegrationReport, ...] = ()
    research: tuple[ResearchNote, ...] = ()

    @property
    def name(self) -> str:
        """The name of the folder, as a rule the phase's number and slug."""
        return PurePath(self.folder).name

    @property
    def quick(self) -> bool:
        """Whether this is the folder of a small task beside the phases, under `quick/`."""
        return "quick" in PurePath(self.folder).parts

    @property
    def milestone(self) -> str:
        """The milestone that the phase belongs to; empty for the phases at hand, and for small tasks."""
        return milestone_of(self.folder)

    @cached_property
    def series(self) -> tuple[tuple[VerificationDocument, ...], ...]:
        """The verifications of one thing, from the first attempt to the last; files that begin alike verify the same.

        As a rule there is one series; `01-01-VERIFICATION.md` and `01-02-VERIFICATION.md` are two, of a plan each.
        """
        found: dict[str, list[VerificationDocument]] = {}
        for one in self.verifications:
            found.setdefault(PurePath(one.path).stem.upper().partition("VERIFICATION")[0], []).append(one)
        return tuple(map(tuple, found.values()))

    @property
    def latest(self) -> tuple[VerificationDocument, ...]:
        """The last verification of each series; empty where nothing was verified."""
        return tuple(series[-1] for series in self.series)

    def key_of(self, document: PlanDocument | ExecutionSummary) -> str:
        """The id that joins a plan and its summary: that of its `plan` field, else that in its file's name."""
        return plan_key(document.plan or id_in_name(document.path), self.name)

    def plan_of(self, summary: ExecutionSummary) -> PlanDocument | None:
        """The plan that a summary reports on; the first of several, None where the folder has none of its id."""
        return self._plans.get(self.key_of(summary))

    def summary_of(self, plan: PlanDocument) -> ExecutionSummary | None:
        """The summary of a plan; the first of several, None where there is none."""
        return self._summaries.get(self.key_of(plan))

    @cached_property
    def _plans(self) -> dict[str, PlanDocument]:
        return {self.key_of(plan): plan for plan in reversed(self.plans)}

    @cached_property
    def _summaries(self) -> dict[str, ExecutionSummary]:
        return {self.key_of(summary): summary for summary in reversed(self.summaries)}


def milestone_of(folder: str) -> str:
    """The milestone of a phase's folder, or of the folder of its phases: `v1.1-phases`, or what `milestones/` holds.

    >>> milestone_of(".planning/milestones/v1.0-phases/01-setup"), milestone_of(".planning/phases/01-setup")
    ('v1.0', '')
    """
    place = PurePath(folder)
    for part in (place, *place.parents):
        if part.name.endswith("-phases") or part.parent.name == "milestones":
            return part.name.removesuffix("-phases")
        if part.name == PLANNING:
            break
    return ""


def _by_attempt(verification: VerificationDocument) -> tuple[int, str]:
    return verification.attempt or 0, PurePath(verification.path).stem


def phase_of(folder: str, documents: Iterable[Document]) -> Phase:
    """The phase that the documents of a folder make, whatever their files are called."""
    there: dict[Kind, list[Any]] = {}
    for document in documents:
        there.setdefault(document.kind, []).append(document)
    return Phase(
        folder,
        plans=tuple(there.get("plan", ())),
        summaries=tuple(there.get("summary", ())),
        verifications=tuple(sorted(there.get("verification", ()), key=_by_attempt)),
        integrations=tuple(there.get("integration", ())),
        research=tuple(there.get("research-note", ())),
    )

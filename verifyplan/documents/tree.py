"""Group the documents of a `.planning` folder by phase and milestone, and find which belong together (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TypeVar

from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.kinds.integration_report import IntegrationReport
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.kinds.research_summary import ResearchSummary
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.document import Document
from verifyplan.documents.walk import PLANNING, is_folder
from verifyplan.documents.walk import Unread as Unread
from verifyplan.field_docs import with_field_docs

D = TypeVar("D", bound=Document)


@dataclass(frozen=True)
class Phase:
    """The documents in one phase's folder, each kind in the order of the files' names.

    `verifications` go from the first attempt to the last, those without a number first; usually there is one,
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
        """The name of the folder, usually the phase's number and slug."""
        return PurePath(self.folder).name

    @property
    def quick(self) -> bool:
        """Whether this is the folder of a small task beside the phases, under `quick/`."""
        return "quick" in PurePath(self.folder).parts

    @property
    def milestone(self) -> str:
        """The milestone that the phase belongs to; empty for current phases, and for small tasks."""
        return milestone_of(self.folder)

    @cached_property
    def series(self) -> tuple[tuple[VerificationDocument, ...], ...]:
        """The verifications of the same thing, from the first attempt to the last; their files' names begin alike.

        Usually there is one series; `01-01-VERIFICATION.md` and `01-02-VERIFICATION.md` are two, of a plan each.
        """
        series: dict[str, list[VerificationDocument]] = {}
        for verification in self.verifications:
            prefix = PurePath(verification.path).stem.upper().partition("VERIFICATION")[0]
            series.setdefault(prefix, []).append(verification)
        return tuple(map(tuple, series.values()))

    @property
    def latest(self) -> tuple[VerificationDocument, ...]:
        """The last verification of each series; empty where nothing was verified."""
        return tuple(series[-1] for series in self.series)

    def key_of(self, document: PlanDocument | ExecutionSummary) -> str:
        """Return the id that joins a plan and its summary: that of its `plan` field, else that in its file's name."""
        return plan_key(document.plan or id_in_name(document.path), self.name)

    def plan_of(self, summary: ExecutionSummary) -> PlanDocument | None:
        """Return the plan that a summary reports on, the first of several; None without any in the folder."""
        return self._plans.get(self.key_of(summary))

    def summary_of(self, plan: PlanDocument) -> ExecutionSummary | None:
        """Return the summary of a plan, the first of several; None without any."""
        return self._summaries.get(self.key_of(plan))

    @cached_property
    def _plans(self) -> dict[str, PlanDocument]:
        return {self.key_of(plan): plan for plan in reversed(self.plans)}

    @cached_property
    def _summaries(self) -> dict[str, ExecutionSummary]:
        return {self.key_of(summary): summary for summary in reversed(self.summaries)}


@with_field_docs
@dataclass(frozen=True)
class Tree:
    """The documents of a folder, in the order of their paths, which are relative to the working directory or absolute.

    `others` are Markdown files of none of the nine kinds (ROADMAP, STATE, CONTEXT ...); `unread` lists what could not
    or must not be read, with the reason.
    """

    path: str
    """The folder."""
    documents: tuple[Document, ...]
    """The documents, in the order of their paths."""
    others: tuple[str, ...] = ()
    """Markdown files of none of the nine kinds (ROADMAP, STATE, CONTEXT ...)."""
    unread: tuple[Unread, ...] = ()
    """Files that were not or could not be read, each with the reason."""

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def of(self, model: type[D]) -> tuple[D, ...]:
        """Return the documents of one kind, by its model."""
        return _of(self.documents, model)

    @property
    def repository(self) -> Path | None:
        """The folder that holds `.planning`, to which paths in documents are relative; None outside of one."""
        return repository_root(self.path)

    @property
    def folder(self) -> Path:
        """The folder that was read: the `.planning` in `path`, if it has one."""
        return planning_folder(Path(self.path))

    @property
    def whole(self) -> bool:
        """Whether this is all of a `.planning` folder, so that what is missing here exists nowhere."""
        place = Path(self.path).absolute()
        return place.name == PLANNING or (place / PLANNING).is_dir()

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The folders that hold plans, summaries or verifications, each a phase, in the order of their paths."""
        folders: dict[str, list[Document]] = {}
        for document in self.documents:
            folders.setdefault(str(PurePath(document.path).parent), []).append(document)
        phases = (_phase(folder, documents) for folder, documents in folders.items())
        return tuple(phase for phase in phases if phase.plans or phase.summaries or phase.verifications)

    @property
    def milestones(self) -> dict[str, tuple[Phase, ...]]:
        """The phases of each milestone, since milestones count their phases from 1; small tasks are on their own."""
        milestones: dict[str, list[Phase]] = {}
        for phase in self.phases:
            milestones.setdefault(phase.folder if phase.quick else phase.milestone, []).append(phase)
        return {name: tuple(phases) for name, phases in milestones.items()}

    @property
    def research(self) -> tuple[tuple[ResearchSummary, tuple[ResearchNote, ...]], ...]:
        """Each research summary with its inputs: the research notes in its folder and below."""
        notes = self.of(ResearchNote)
        folders = [(summary, PurePath(summary.path).parent) for summary in self.of(ResearchSummary)]
        return tuple(
            (summary, tuple(note for note in notes if PurePath(note.path).is_relative_to(folder)))
            for summary, folder in folders
        )


def _of(documents: Sequence[Document], model: type[D]) -> tuple[D, ...]:
    return tuple(document for document in documents if isinstance(document, model))


def _phase(folder: str, documents: Sequence[Document]) -> Phase:
    verifications = _of(documents, VerificationDocument)
    return Phase(
        folder,
        plans=_of(documents, PlanDocument),
        summaries=_of(documents, ExecutionSummary),
        verifications=tuple(sorted(verifications, key=lambda v: (v.attempt or 0, PurePath(v.path).stem))),
        integrations=_of(documents, IntegrationReport),
        research=_of(documents, ResearchNote),
    )


def milestone_of(folder: str) -> str:
    """Return the milestone of a phase's folder, or of the folder of its phases; empty for current phases.

    It is the part of the path before "-phases", or the one in `milestones/`.

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


def repository_root(path: str | Path) -> Path | None:
    """Return the folder that holds the `.planning` around or in a path; None without one.

    >>> repository_root("project/.planning/phases/01-setup/PLAN-01.md").name
    'project'
    """
    place = Path(path).absolute()
    within = next((parent.parent for parent in (place, *place.parents) if parent.name == PLANNING), None)
    return within or (place if (place / PLANNING).is_dir() else None)


def planning_folder(place: Path) -> Path:
    """Return the `.planning` in a folder, if it has one; else the folder itself."""
    inner = place / PLANNING
    return inner if is_folder(inner) else place

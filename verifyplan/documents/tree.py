"""All documents of a `.planning` folder or of one phase, and which of them belong together (rule D3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar, cast

from verifyplan.documents.phase import Phase, phase_of
from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.walk import PLANNING, is_folder
from verifyplan.documents.walk import Unread as Unread

if TYPE_CHECKING:  # trees are made of documents of whatever models there are
    from verifyplan.documents.kinds.research_note import ResearchNote
    from verifyplan.documents.kinds.research_summary import ResearchSummary

D = TypeVar("D", bound=Document)

_OF_A_PHASE: frozenset[Kind] = frozenset({"plan", "summary", "verification"})


@dataclass(frozen=True)
class Tree:
    """The documents of a folder, in the order of their paths, which are relative to where the process stands or full.

    `others` are Markdown files of none of the nine kinds (ROADMAP, STATE, CONTEXT ...); `unread` is what could not or
    was not to be read, with the reason.
    """

    path: str
    documents: tuple[Document, ...]
    others: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def of(self, model: type[D]) -> tuple[D, ...]:
        """The documents of one kind, by its model."""
        return tuple(document for document in self.documents if isinstance(document, model))

    @property
    def repository(self) -> Path | None:
        """The folder that holds `.planning`, to which paths in documents are relative; None outside of one."""
        return repository_root(self.path)

    @property
    def folder(self) -> Path:
        """The folder that was read: the `.planning` in the one that was named, if it has one."""
        return planning_folder(Path(self.path))

    @property
    def whole(self) -> bool:
        """Whether this is all of a `.planning` folder, so that what is missing here exists nowhere."""
        place = Path(self.path).absolute()
        return place.name == PLANNING or (place / PLANNING).is_dir()

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The folders that hold plans, summaries or verifications, each a phase, in the order of their paths."""
        return tuple(
            phase_of(folder, documents)
            for folder, documents in self._folders.items()
            if any(document.kind in _OF_A_PHASE for document in documents)
        )

    @property
    def milestones(self) -> dict[str, tuple[Phase, ...]]:
        """The phases of each milestone, since milestones count their phases from 1; small tasks stand each alone."""
        found: dict[str, list[Phase]] = {}
        for phase in self.phases:
            found.setdefault(phase.folder if phase.quick else phase.milestone, []).append(phase)
        return {name: tuple(phases) for name, phases in found.items()}

    @property
    def research(self) -> tuple[tuple[ResearchSummary, tuple[ResearchNote, ...]], ...]:
        """Each research summary with its inputs: the research notes in its folder and below."""
        summaries = [cast("ResearchSummary", d) for d in self if d.kind == "research-summary"]
        notes = [cast("ResearchNote", d) for d in self if d.kind == "research-note"]
        return tuple((summary, tuple(_inputs(summary, notes))) for summary in summaries)

    @cached_property
    def _folders(self) -> dict[str, list[Document]]:
        folders: dict[str, list[Document]] = {}
        for document in self.documents:
            folders.setdefault(str(PurePath(document.path).parent), []).append(document)
        return folders


def repository_root(path: str | Path) -> Path | None:
    """The folder that holds the `.planning` in which a path lies, or that the path is; None if there is none.

    >>> repository_root("project/.planning/phases/01-setup/PLAN-01.md").name
    'project'
    """
    place = Path(path).absolute()
    within = next((parent.parent for parent in (place, *place.parents) if parent.name == PLANNING), None)
    return within or (place if (place / PLANNING).is_dir() else None)


def planning_folder(place: Path) -> Path:
    """The `.planning` in a folder, if it has one; else the folder itself."""
    inner = place / PLANNING
    return inner if is_folder(inner) else place


def _inputs(summary: ResearchSummary, notes: Iterable[ResearchNote]) -> Iterator[ResearchNote]:
    folder = PurePath(summary.path).parent
    return (note for note in notes if PurePath(note.path).is_relative_to(folder))

"""Documents as a caller gives them: the document itself, or the path of its file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import load
from verifyplan.documents.reading.base import Document
from verifyplan.errors import InputError, Problem

D = TypeVar("D", bound=Document)

Plans = PlanDocument | str | Path | Iterable[PlanDocument]
"""A plan, its file, or all plans of a phase."""


def document_of(given: Document | str | Path, model: type[D]) -> D:
    """A document of the wanted kind, loaded where it is a path; InputError where it is of another kind."""
    loaded = load(given) if isinstance(given, str | Path) else given
    if isinstance(loaded, model):
        return loaded
    wanted = str(model.model_fields["kind"].default)
    found = f"is a {loaded.kind}" if isinstance(loaded, Document) else "is a folder"
    raise InputError(Problem(getattr(loaded, "path", str(given)), f"{found}, not a {wanted}", f"give a {wanted}"))


def plans_of(given: Plans) -> tuple[PlanDocument, ...]:
    """The plans that are given, each once; InputError for none."""
    several = [given] if isinstance(given, PlanDocument | str | Path) else list(given)
    plans = tuple({plan.path: plan for plan in (document_of(one, PlanDocument) for one in several)}.values())
    if not plans:
        raise InputError(Problem("plan", "no plan is given", "give the plan whose must-haves are verified"))
    return plans


def expect_readable(document: Document) -> None:
    """InputError for a document whose frontmatter cannot be read: what it states would count as nothing."""
    front = document.source.front
    if front.problems and not front.values:
        line, problem = front.problems[0]
        message = f"the frontmatter cannot be read: {problem}"
        raise InputError(Problem(f"{document.path}:{line}", message, "write it as plain YAML"))

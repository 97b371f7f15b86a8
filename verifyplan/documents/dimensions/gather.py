"""What a plan check is about, read from disk: plans, and CONTEXT.md, ROADMAP.md, REQUIREMENTS.md beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from verifyplan.documents.dimensions.context import PhaseContext, read_context
from verifyplan.documents.dimensions.names import folder_of, in_a_phase
from verifyplan.documents.dimensions.roadmaps import required_of
from verifyplan.documents.dimensions.scene import PlanCheckContext
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import is_folder, load, read_text
from verifyplan.documents.reading.plan_ids import id_in_name, plan_key
from verifyplan.documents.tree import Tree
from verifyplan.documents.walk import PLANNING, walk
from verifyplan.errors import InputError, Problem


def gather(
    plans: str | Path | PlanDocument | Sequence[PlanDocument],
    context: str | Path | None = None,
    root: str | Path | None = None,
) -> PlanCheckContext:
    """Read what a plan check is about; InputError where nothing can be read, or there is no plan."""
    repository = {} if root is None else _repository(root)
    return replace(_gathered(plans, context), **repository)


def _gathered(
    plans: str | Path | PlanDocument | Sequence[PlanDocument], context: str | Path | None
) -> PlanCheckContext:
    if isinstance(plans, PlanDocument):
        return PlanCheckContext((plans,), phases_whole=False, contexts=_given((plans,), context))
    if not isinstance(plans, str | Path):
        documents = _documents(plans)
        return PlanCheckContext(documents, contexts=_given(documents, context))
    place = Path(plans)
    if is_folder(place):
        return _folder(place, context)
    document = load(place)
    if not isinstance(document, PlanDocument):
        raise InputError(Problem(str(plans), "is no plan", "name a PLAN document, a phase's folder or a tree"))
    beside = [one for one in _beside(place) if Path(one.path).name != place.name]
    ordered = tuple(sorted((document, *beside), key=lambda plan: Path(plan.path).name))
    return replace(_beside_plans(ordered, place.parent, context), about=document.path)


def _documents(plans: object) -> tuple[PlanDocument, ...]:
    given = tuple(plans) if isinstance(plans, Iterable) else ()
    if not given or not all(isinstance(plan, PlanDocument) for plan in given):
        fix = "give a path, a PlanDocument, or several of one phase"
        raise InputError(Problem("plans", "are no plan documents", fix))
    return given


def _folder(place: Path, context: str | Path | None) -> PlanCheckContext:
    tree = load(place)
    documents = tree.documents if isinstance(tree, Tree) else ()
    plans = tuple(document for document in documents if isinstance(document, PlanDocument))
    if not plans:
        raise InputError(Problem(str(place), "holds no plans", "name a phase's folder, or a tree of phases"))
    unread = tuple(one for one in tree.unread if _is_plan(one.path)) if isinstance(tree, Tree) else ()
    return replace(_beside_plans(plans, place, context), unread=unread)


def _is_plan(path: str) -> bool:
    """Whether a file that could not be read has the name of a plan."""
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return name.endswith(".md") and "plan" in name


def _beside_plans(plans: tuple[PlanDocument, ...], folder: Path, context: str | Path | None) -> PlanCheckContext:
    """The scene of plans that lie on disk, with what lies beside them."""
    folders = {folder_of(plan): Path(plan.path).parent for plan in plans}
    contexts = {name: found for name, place in folders.items() if (found := _context_in(place))}
    required, known = required_of({folder_of(plan): Path(plan.path).parent for plan in plans if in_a_phase(plan)})
    return PlanCheckContext(
        plans,
        all_phases=folder.name == PLANNING or (folder / PLANNING).is_dir(),
        elsewhere=frozenset(_other_plans(list(folders.values()))),
        contexts=contexts | _given(plans, context),
        required=required,
        known=known,
    )


def _given(plans: Sequence[PlanDocument], context: str | Path | None) -> dict[str, PhaseContext]:
    if context is None:
        return {}
    read = read_context(read_text(Path(context)), str(context))
    return {folder_of(plan): read for plan in plans}


def _beside(place: Path) -> Iterator[PlanDocument]:
    """The plans in the folder of a plan; files that cannot be read are left out."""
    for file in sorted(place.parent.glob("*.md")):
        if "plan" not in file.name.lower() or file.is_symlink() or not file.is_file():
            continue
        try:
            document = load(file)
        except InputError:
            continue
        if isinstance(document, PlanDocument):
            yield document


def _context_in(folder: Path) -> PhaseContext | None:
    for file in sorted((*folder.glob("CONTEXT.md"), *folder.glob("*-CONTEXT.md"))):
        if file.is_file() and not file.is_symlink():
            return read_context(read_text(file), str(file))
    return None


def _other_plans(folders: Sequence[Path]) -> Iterator[str]:
    """The keys of all plans that lie in the phases beside some folders, by the names of their files."""
    for phases in dict.fromkeys(folder.absolute().parent for folder in folders):
        for file in sorted(phases.glob("*/*.md")):
            if "plan" in file.name.lower():
                yield plan_key(id_in_name(file.name), file.parent.name)


def _repository(root: str | Path) -> dict[str, Any]:
    """The files of a repository, by their paths within it; a `.planning` that lies without one has none."""
    if not is_folder(Path(root)):
        raise InputError(Problem("root", f"{str(root)!r} is no folder", "name the repository of the plans"))
    found = frozenset(file.relative_to(root).as_posix() for file in walk(Path(root)).files)
    inside = {file for file in found if file.startswith(f"{PLANNING}/")}
    if inside and all(PurePosixPath(file).suffix in ("", ".md", ".txt") for file in found - inside):
        return {"no_files": f"the folder that was given holds {PLANNING} and no source files"}
    return {"files": found}

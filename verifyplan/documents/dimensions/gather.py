"""What a plan check is about, read from disk: plans, and CONTEXT.md, ROADMAP.md, REQUIREMENTS.md beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from verifyplan.documents.contracts.load import is_folder, load, read_text
from verifyplan.documents.contracts.plan import PlanDocument
from verifyplan.documents.contracts.plan_ids import id_in_name, plan_key
from verifyplan.documents.contracts.source import read_source
from verifyplan.documents.contracts.tree import Tree
from verifyplan.documents.contracts.walk import walk
from verifyplan.documents.dimensions.context import Context, read_context
from verifyplan.documents.dimensions.names import phase_of
from verifyplan.documents.dimensions.requirements import read_requirements
from verifyplan.documents.dimensions.scene import Scene
from verifyplan.errors import InputError, Problem

PLANNING = ".planning"
_STATED_IN = ("ROADMAP.md", "REQUIREMENTS.md")


def gather(
    plans: str | Path | PlanDocument | Sequence[PlanDocument],
    context: str | Path | None = None,
    root: str | Path | None = None,
) -> Scene:
    """Read what a plan check is about; InputError where nothing can be read, or there is no plan."""
    files = None if root is None else _repository(root)
    if isinstance(plans, PlanDocument):
        return _scene((plans,), context, files, whole=False)
    if not isinstance(plans, str | Path):
        return _scene(_documents(plans), context, files, whole=True)
    place = Path(plans)
    if is_folder(place):
        return _folder(place, context, files)
    document = load(place)
    if not isinstance(document, PlanDocument):
        raise InputError(Problem(str(plans), "is no plan", "name a PLAN document, a phase's folder or a tree"))
    beside = [one for one in _beside(place) if Path(one.path).name != place.name]
    ordered = tuple(sorted((document, *beside), key=lambda plan: Path(plan.path).name))
    return replace(_beside_plans(ordered, place.parent, context, files), about=document.path)


def _documents(plans: object) -> tuple[PlanDocument, ...]:
    given = tuple(plans) if isinstance(plans, Iterable) else ()
    if not given or not all(isinstance(plan, PlanDocument) for plan in given):
        fix = "give a path, a PlanDocument, or several of one phase"
        raise InputError(Problem("plans", "are no plan documents", fix))
    return given


def _folder(place: Path, context: str | Path | None, files: frozenset[str] | None) -> Scene:
    tree = load(place)
    documents = tree.documents if isinstance(tree, Tree) else ()
    plans = tuple(document for document in documents if isinstance(document, PlanDocument))
    if not plans:
        raise InputError(Problem(str(place), "holds no plans", "name a phase's folder, or a tree of phases"))
    return _beside_plans(plans, place, context, files)


def _beside_plans(
    plans: tuple[PlanDocument, ...], folder: Path, context: str | Path | None, files: frozenset[str] | None
) -> Scene:
    """The scene of plans that lie on disk, with what lies beside them."""
    folders = list(dict.fromkeys(Path(plan.path).parent for plan in plans))
    contexts = {phase_of(plan): found for plan in plans if (found := _context_in(Path(plan.path).parent))}
    sources = [read_source(read_text(file), str(file)) for file in _stating(folders)]
    return Scene(
        plans,
        all_phases=folder.name == PLANNING or (folder / PLANNING).is_dir(),
        elsewhere=frozenset(_other_plans(folders)),
        contexts=contexts | _given(plans, context),
        requirements=read_requirements(sources) if sources else None,
        files=files,
    )


def _scene(
    plans: tuple[PlanDocument, ...], context: str | Path | None, files: frozenset[str] | None, *, whole: bool
) -> Scene:
    return Scene(plans, phases_whole=whole, contexts=_given(plans, context), files=files)


def _given(plans: Sequence[PlanDocument], context: str | Path | None) -> dict[str, Context]:
    if context is None:
        return {}
    read = read_context(read_text(Path(context)), str(context))
    return {phase_of(plan): read for plan in plans}


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


def _context_in(folder: Path) -> Context | None:
    for file in sorted((*folder.glob("CONTEXT.md"), *folder.glob("*-CONTEXT.md"))):
        if file.is_file() and not file.is_symlink():
            return read_context(read_text(file), str(file))
    return None


def _stating(folders: Sequence[Path]) -> list[Path]:
    """The roadmaps and lists of requirements of the planning folders that hold some folders, milestones' included."""
    found: dict[Path, None] = {}
    for top in dict.fromkeys(_planning(folder) for folder in folders):
        for place in (top, *sorted(path for path in top.glob("milestones") if path.is_dir())):
            for name in _STATED_IN:
                found.update(dict.fromkeys(sorted((*place.glob(name), *place.glob(f"*-{name}")))))
    return [file for file in found if file.is_file() and not file.is_symlink()]


def _planning(folder: Path) -> Path:
    """The `.planning` folder that holds a phase, else the folder two above it."""
    above = folder.absolute().parents
    named = next((one for one in (folder.absolute(), *above) if one.name == PLANNING), None)
    return named or (above[1] if len(above) > 1 else folder.absolute())


def _other_plans(folders: Sequence[Path]) -> Iterator[str]:
    """The keys of all plans that lie in the phases beside some folders, by the names of their files."""
    for phases in dict.fromkeys(folder.absolute().parent for folder in folders):
        for file in sorted(phases.glob("*/*.md")):
            if "plan" in file.name.lower():
                yield plan_key(id_in_name(file.name), file.parent.name)


def _repository(root: str | Path) -> frozenset[str]:
    """The files of a repository, by their paths within it."""
    if not is_folder(Path(root)):
        raise InputError(Problem("root", f"{str(root)!r} is no folder", "name the repository of the plans"))
    return frozenset(file.relative_to(root).as_posix() for file in walk(Path(root)).files)

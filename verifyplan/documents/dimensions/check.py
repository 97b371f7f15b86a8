"""`plan_check`: may these plans be executed? Nine dimensions, their issues, and what is left to judge (rule D4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from verifyplan.documents.dimensions.check_context import Dimension, Issue, PlanCheckContext
from verifyplan.documents.dimensions.d1_d7_phase_documents import context_compliance, requirement_coverage
from verifyplan.documents.dimensions.d2_d5_tasks import scope, task_completeness
from verifyplan.documents.dimensions.d3_d9_between_plans import contracts_across_plans, dependency_correctness
from verifyplan.documents.dimensions.d4_d6_must_haves import links_planned, must_haves_derived
from verifyplan.documents.dimensions.d8_checks import verifiability
from verifyplan.documents.dimensions.phase_documents import PhaseContext, read_context, required_of
from verifyplan.documents.dimensions.plan_graph import PlanGraph, folder_of, in_a_phase
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.plan_check_report import write_plan_check
from verifyplan.documents.loading import is_folder, load, read_text
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.writing import flat
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


def report(dimensions: Sequence[Dimension], plans: int, tasks: int) -> str:
    """The heading, the counts, what they rest on, the issues by severity, and under `## Needs judgment` what is left.

    The heading says whether look-ups found a blocker; the line below the counts says that they are look-ups, and which
    dimensions nobody has judged. A dimension that does not apply is named at the end with the reason, so that nobody
    takes it for checked. Source: rule D4; document 003, "Planner -> Plan-Checker".
    """
    issues = [issue.in_report() for dimension in dimensions for issue in dimension.issues]
    told = write_plan_check(issues, plans=plans, tasks=tasks, notes=[rests_on(dimensions)])
    left = [f"- {flat(line)}" for dimension in dimensions for line in _left(dimension)]
    return "\n".join([told, "## Needs judgment", "", *left, ""]) if left else told


def rests_on(dimensions: Sequence[Dimension]) -> str:
    """Return what a plan check's heading rests on, and the dimensions that are not judged."""
    groups = {
        state: ", ".join(f"D{one.number} {one.name}" for one in dimensions if one.state == state)
        for state in ("needs-judgement", "not-applicable")
    }
    told = ["Looked up in the plans' text, without a judge; a plan without issues is not thereby verified."]
    told += [f"Not judged: {groups['needs-judgement']}."] if groups["needs-judgement"] else []
    told += [f"Not applicable: {groups['not-applicable']}."] if groups["not-applicable"] else []
    return " ".join(told)


def _left(dimension: Dimension) -> Iterator[str]:
    name = f"D{dimension.number} {dimension.name}"
    if dimension.state == "not-applicable":
        yield f"{name}: not applicable ({dimension.why_not})"
    yield from (f"{name}: {what}" for what in dimension.judge)


DIMENSIONS: tuple[Callable[[PlanCheckContext], Dimension], ...] = (
    requirement_coverage,
    task_completeness,
    dependency_correctness,
    links_planned,
    scope,
    must_haves_derived,
    context_compliance,
    verifiability,
    contracts_across_plans,
)
"""The nine dimensions of document 003, in their order."""


@dataclass(frozen=True)
class PlanCheck:
    """What a plan check found: the nine dimensions, the plans' graph, and the plans.

    `.passed` is whether there is no blocker; that is not the word of a judge: `.judge` lists what is left to one.
    """

    dimensions: tuple[Dimension, ...]
    graph: PlanGraph
    plans: tuple[PlanDocument, ...]

    @property
    def issues(self) -> tuple[Issue, ...]:
        """All issues, by dimension, then as the plans and their lines come."""
        return tuple(issue for dimension in self.dimensions for issue in dimension.issues)

    @property
    def blockers(self) -> tuple[Issue, ...]:
        """What must be fixed before execution."""
        return tuple(issue for issue in self.issues if issue.severity == "blocker")

    @property
    def passed(self) -> bool:
        """Whether there is no blocker."""
        return not self.blockers

    @property
    def judge(self) -> tuple[str, ...]:
        """What a person or a model must judge, each with its dimension."""
        return tuple(f"D{one.number} {one.name}: {told}" for one in self.dimensions for told in one.judge)

    @property
    def tally(self) -> dict[str, int]:
        """How often each rule was broken, the most frequent first."""
        counted = Counter(f"D{issue.dimension} {issue.severity} {issue.rule}" for issue in self.issues)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def report(self) -> str:
        """The report in document 003's format, with a section on what is left to judge."""
        return report(self.dimensions, len(self.plans), sum(len(plan.tasks) for plan in self.plans))

    def __str__(self) -> str:
        """The report."""
        return self.report()


def plan_check(
    plans: str | Path | PlanDocument | Sequence[PlanDocument],
    *,
    context: str | Path | None = None,
    root: str | Path | None = None,
) -> PlanCheck:
    r"""Check plans over the nine dimensions of document 003; deterministic, and without a model.

    Args:
        plans: a plan's file (checked among the plans beside it, what is about it is told), a phase's folder, a whole
            tree, or documents: several are taken to be all plans of their phases, of one the others are unknown.
        context: the CONTEXT.md of the phase, as a path; by default the one that lies beside the plans.
        root: the repository that the plans are about; with it, the tests that checks run are looked for.

    Returns:
        A `PlanCheck`: `.passed`, `.issues`, `.dimensions`, `.judge`, `.graph`, `.report()`.

    Raises:
        InputError: where nothing can be read, or there is no plan.

    >>> from verifyplan.documents.loading import load_text
    >>> plan = load_text("---\nplan: \"01-01\"\nwave: 1\n---\n", "PLAN-01.md")
    >>> check = plan_check(plan)
    >>> check.passed, [str(issue) for issue in check.blockers][0]
    (False, '[01-01] D2 blocker: the plan has no tasks -> Fix: write the work down as <task> elements')
    """
    return checked(gather(plans, context, root))


def checked(scene: PlanCheckContext) -> PlanCheck:
    """The nine dimensions of a scene; where one plan is asked about, only its issues are kept."""
    found = tuple(_of_asked(dimension(scene), scene) for dimension in DIMENSIONS)
    return PlanCheck(found, scene.graph, tuple(scene.plans[at] for at in scene.asked))


def _of_asked(dimension: Dimension, scene: PlanCheckContext) -> Dimension:
    kept = [issue for issue in dimension.issues if scene.about in (None, issue.path)]
    return dimension._replace(issues=tuple(sorted(kept, key=lambda issue: (issue.path, issue.line, issue.rule))))

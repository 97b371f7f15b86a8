"""`plan_check`: may these plans be executed? Nine dimensions, their issues, and what is left to judge (rule D4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from verifyplan.documents.dimensions.check_context import DimensionResult, Issue, PlanCheckContext
from verifyplan.documents.dimensions.d1_d7_phase_documents import context_compliance, requirement_coverage
from verifyplan.documents.dimensions.d2_d5_tasks import scope, task_completeness
from verifyplan.documents.dimensions.d3_d9_between_plans import contracts_across_plans, dependency_correctness
from verifyplan.documents.dimensions.d4_d6_must_haves import links_planned, must_haves_derived
from verifyplan.documents.dimensions.d8_checks import verifiability
from verifyplan.documents.dimensions.phase_documents import PhaseContext, read_context, required_of
from verifyplan.documents.dimensions.plan_graph import PlanGraph, folder_of, in_a_phase
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.plan_check_report import write_plan_check
from verifyplan.documents.loading import is_folder, load, load_beside, read_text
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.writing import flat
from verifyplan.documents.tree import Tree
from verifyplan.documents.walk import PLANNING, walk
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs

DIMENSIONS: tuple[Callable[[PlanCheckContext], DimensionResult], ...] = (
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
"""The nine dimensions, in the order of their numbers."""

_PLAN_FILE = re.compile(r"plan[^/\\]*\.md\Z", re.IGNORECASE)


@with_field_docs
@dataclass(frozen=True)
class PlanCheck:
    """The result of a plan check: the nine dimensions, the plans' graph, and the plans.

    `.passed` says that there is no blocker, not that the plans are sound: `.judge` lists what must be judged.
    """

    dimensions: tuple[DimensionResult, ...]
    """The result of each of the nine dimensions: its status and its issues."""
    graph: PlanGraph
    """The plans, their waves and what depends on what, as `charts.plan_graph` draws them."""
    plans: tuple[PlanDocument, ...]
    """The plans that were checked."""

    @property
    def issues(self) -> tuple[Issue, ...]:
        """All issues, by dimension, then as the plans and their lines come."""
        return tuple(issue for dimension in self.dimensions for issue in dimension.issues)

    @property
    def blockers(self) -> tuple[Issue, ...]:
        """The issues that must be fixed before execution."""
        return tuple(issue for issue in self.issues if issue.severity == "blocker")

    @property
    def passed(self) -> bool:
        """Whether there is no blocker."""
        return not self.blockers

    @property
    def judge(self) -> tuple[str, ...]:
        """The questions that a person or a model must judge, each with its dimension."""
        return tuple(f"D{each.number} {each.name}: {left}" for each in self.dimensions for left in each.judge)

    @property
    def tally(self) -> dict[str, int]:
        """How often each rule was broken, the most frequent first."""
        counted = Counter(f"D{issue.dimension} {issue.severity} {issue.rule}" for issue in self.issues)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def report(self) -> str:
        """Return the report as an agent writes it, with a section on what is left to judge.

        The heading says whether look-ups found a blocker; the line below the counts says that they are look-ups, and
        which dimensions nobody has judged. A dimension that does not apply is named at the end with the reason, so that
        nobody takes it for checked. Source: rule D4.
        """
        issues = [issue.in_report() for issue in self.issues]
        tasks = sum(len(plan.tasks) for plan in self.plans)
        notes = ["Looked up in the plans' text, without a judge; a plan without issues is not thereby verified."]
        for state, title in (("needs-judgement", "Not judged"), ("not-applicable", "Not applicable")):
            names = [f"D{each.number} {each.name}" for each in self.dimensions if each.state == state]
            notes += [f"{title}: {', '.join(names)}."] if names else []
        head = write_plan_check(issues, plans=len(self.plans), tasks=tasks, notes=[" ".join(notes)])
        left = []
        for each in self.dimensions:
            name = f"D{each.number} {each.name}"
            left += [f"{name}: not applicable ({each.why_not})"] if each.state == "not-applicable" else []
            left += [f"{name}: {question}" for question in each.judge]
        left = [f"- {flat(line)}" for line in left]
        return "\n".join([head, "## Needs judgment", "", *left, ""]) if left else head

    def __str__(self) -> str:
        """Return the report."""
        return self.report()


def plan_check(
    plans: str | Path | PlanDocument | Sequence[PlanDocument],
    *,
    context: str | Path | None = None,
    repo: str | Path | None = None,
) -> PlanCheck:
    r"""Check plans over nine dimensions; deterministic, and without a model.

    Args:
        plans: a plan's file (checked among the plans beside it, reported on alone), a phase's folder, a whole
            tree, or documents: several are taken to be all plans of their phases, of one the others are unknown.
        context: the CONTEXT.md of the phase, as a path; by default the one beside the plans.
        repo: the repository that the plans are about; with it, the tests that checks run are looked for.

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
    repository = {} if repo is None else _repository(repo)
    gathered = replace(_gather(plans, context), **repository)
    dimensions = []
    for dimension in (check(gathered) for check in DIMENSIONS):
        issues = (issue for issue in dimension.issues if gathered.only in (None, issue.path))
        ordered = sorted(issues, key=lambda issue: (issue.path, issue.line, issue.rule))
        dimensions.append(dimension._replace(issues=tuple(ordered)))
    return PlanCheck(tuple(dimensions), gathered.graph, tuple(gathered.plans[at] for at in gathered.reported))


def _gather(plans: str | Path | PlanDocument | Sequence[PlanDocument], context: str | Path | None) -> PlanCheckContext:
    if isinstance(plans, PlanDocument):
        return PlanCheckContext((plans,), phases_whole=False, contexts=_context_for((plans,), context))
    if not isinstance(plans, str | Path):
        documents = tuple(plans) if isinstance(plans, Iterable) else ()
        if not documents or not all(isinstance(plan, PlanDocument) for plan in documents):
            fix = "give a path, a PlanDocument, or several of one phase"
            raise InputError(Problem("plans", "must be plan documents", fix))
        return PlanCheckContext(documents, contexts=_context_for(documents, context))
    place = Path(plans)
    if is_folder(place):
        tree = load(place)
        all_documents, unread = (tree.documents, tree.unread) if isinstance(tree, Tree) else ((), ())
        in_folder = tuple(document for document in all_documents if isinstance(document, PlanDocument))
        if not in_folder:
            raise InputError(Problem(str(place), "holds no plans", "name a phase's folder, or a tree of phases"))
        unread_plans = tuple(file for file in unread if _PLAN_FILE.search(file.path))
        return replace(_on_disk(in_folder, place, context), unread=unread_plans)
    document = load(place)
    if not isinstance(document, PlanDocument):
        raise InputError(Problem(str(plans), "is not a plan", "name a PLAN document, a phase's folder or a tree"))
    named = (other for other in load_beside(place) if "plan" in Path(other.path).name.lower())
    beside = (other for other in named if isinstance(other, PlanDocument))
    ordered = tuple(sorted((document, *beside), key=lambda plan: Path(plan.path).name))
    return replace(_on_disk(ordered, place.parent, context), only=document.path)


def _on_disk(plans: tuple[PlanDocument, ...], folder: Path, context: str | Path | None) -> PlanCheckContext:
    """The context of plans that are on disk, from the files beside them."""
    folders = {folder_of(plan): Path(plan.path).parent for plan in plans}
    contexts: dict[str, PhaseContext] = {}
    for name, place in folders.items():
        for file in sorted((*place.glob("CONTEXT.md"), *place.glob("*-CONTEXT.md"))):
            if name not in contexts and file.is_file() and not file.is_symlink():
                contexts[name] = read_context(read_text(file), str(file))
    required, known = required_of({name: folders[name] for name in map(folder_of, filter(in_a_phase, plans))})
    return PlanCheckContext(
        plans,
        all_phases=folder.name == PLANNING or (folder / PLANNING).is_dir(),
        other_plans=frozenset(_plan_keys_around(folders.values())),
        contexts=contexts | _context_for(plans, context),
        required=required,
        known=known,
    )


def _context_for(plans: Sequence[PlanDocument], context: str | Path | None) -> dict[str, PhaseContext]:
    if context is None:
        return {}
    read = read_context(read_text(Path(context)), str(context))
    return {folder_of(plan): read for plan in plans}


def _plan_keys_around(folders: Iterable[Path]) -> Iterator[str]:
    """The keys of all plans in the phases beside some folders, by the names of their files."""
    for phases in dict.fromkeys(folder.absolute().parent for folder in folders):
        for file in sorted(phases.glob("*/*.md")):
            if "plan" in file.name.lower():
                yield plan_key(id_in_name(file.name), file.parent.name)


def _repository(repo: str | Path) -> dict[str, Any]:
    """The files of a repository, by their paths within it; a `.planning` folder without source files has none."""
    if not is_folder(Path(repo)):
        raise InputError(Problem("repo", f"{str(repo)!r} is not a folder", "name the repository of the plans"))
    files = frozenset(file.relative_to(repo).as_posix() for file in walk(Path(repo)).files)
    planning = {file for file in files if file.startswith(f"{PLANNING}/")}
    if planning and all(PurePosixPath(file).suffix in ("", ".md", ".txt") for file in files - planning):
        return {"no_files": f"the folder that was given holds {PLANNING} and no source files"}
    return {"files": files}

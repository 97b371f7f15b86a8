"""`plan_check`: may these plans be executed? Nine dimensions, their issues, and what is left to judge (rule D4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from verifyplan.documents.dimensions.d1_requirements import requirement_coverage
from verifyplan.documents.dimensions.d2_tasks import task_completeness
from verifyplan.documents.dimensions.d3_dependencies import dependency_correctness
from verifyplan.documents.dimensions.d4_links import links_planned
from verifyplan.documents.dimensions.d5_scope import scope
from verifyplan.documents.dimensions.d6_must_haves import must_haves_derived
from verifyplan.documents.dimensions.d7_context import context_compliance
from verifyplan.documents.dimensions.d8_checks import verifiability
from verifyplan.documents.dimensions.d9_contracts import contracts_across_plans
from verifyplan.documents.dimensions.gather import gather
from verifyplan.documents.dimensions.graph import PlanGraph
from verifyplan.documents.dimensions.issue import Dimension, Issue
from verifyplan.documents.dimensions.report import report
from verifyplan.documents.dimensions.scene import PlanCheckContext
from verifyplan.documents.kinds.plan import PlanDocument

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

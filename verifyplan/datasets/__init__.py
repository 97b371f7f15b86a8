"""The bundled fixture sets by name, claims made from real code, labelled plans, made-up scores, a tree of documents."""

from verifyplan.datasets.bundled import claims, names, path, runs
from verifyplan.datasets.planning import sample_planning
from verifyplan.datasets.plans import labelled_plans, plan_labels, plan_path
from verifyplan.datasets.plans_repository import sample_repository
from verifyplan.datasets.scores import example_scores
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root

__all__ = [
    "claims",
    "example_scores",
    "labelled_plans",
    "names",
    "path",
    "plan_labels",
    "plan_path",
    "runs",
    "sample_planning",
    "sample_repository",
    "stdlib_claims",
    "stdlib_root",
]

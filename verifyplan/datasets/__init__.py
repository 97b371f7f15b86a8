"""The bundled fixture sets by name; claims, labelled plans, scripted debates, made-up scores, a tree of documents."""

from verifyplan.datasets.bundled import claims, names, path, runs
from verifyplan.datasets.debates import debate_script
from verifyplan.datasets.labels import LabelledDefect, PlanLabel
from verifyplan.datasets.labels_read import label_table, read_labels
from verifyplan.datasets.planning import sample_planning
from verifyplan.datasets.plans import labelled_plans, plan_labels, plan_path
from verifyplan.datasets.plans_repository import sample_repository
from verifyplan.datasets.scores import example_scores
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root

__all__ = [
    "LabelledDefect",
    "PlanLabel",
    "claims",
    "debate_script",
    "example_scores",
    "label_table",
    "labelled_plans",
    "names",
    "path",
    "plan_labels",
    "plan_path",
    "read_labels",
    "runs",
    "sample_planning",
    "sample_repository",
    "stdlib_claims",
    "stdlib_root",
]

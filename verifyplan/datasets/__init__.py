"""The bundled fixture sets by name; claims, labelled plans, scripted debates, made-up scores, a tree of documents."""

from verifyplan.datasets.bundled import debate_script, example_scores, runs
from verifyplan.datasets.labels import LabelledDefect, PlanLabel, label_table, read_labels
from verifyplan.datasets.plans import labelled_plans, plan_labels, plan_path
from verifyplan.datasets.sample import sample_planning, sample_repository
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root
from verifyplan.frames.bundled import claims, names, path
from verifyplan.text import only_names

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

__dir__, __getattr__ = only_names(__name__, __all__, "set, label or function")

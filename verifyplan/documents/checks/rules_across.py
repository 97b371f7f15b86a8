"""The rules that hold across the documents of a tree: what one says must agree with what the others say (rule D3)."""

from __future__ import annotations

from verifyplan.documents.checks.violation import Rule

RULES_ACROSS = (
    Rule(
        "tree/confidence-upgraded",
        "error",
        "D3",
        "A research summary, and each of its decisions, is no more confident than the best of the notes it rests on.",
    ),
    Rule(
        "tree/speculation-upgraded",
        "error",
        "D2",
        "What a research note marks as [SPECULATIVE] is decided with low confidence, or not at all.",
    ),
    Rule("tree/sources-count", "error", "D3", "`sources` of a research summary is the number of its input documents."),
    Rule(
        "tree/conflicts-count",
        "error",
        "D3",
        "`conflicts` of a research summary is the number of contradictions that its body documents.",
    ),
    Rule(
        "tree/conflict-dropped",
        "error",
        "D3",
        "A contradiction that a research note documents is documented by the summary of the notes, too.",
    ),
    Rule(
        "tree/decision-unmet",
        "error",
        "D2",
        "An item marked [NEEDS DECISION] is met by a checkpoint:decision task or by a decision that a plan states;"
        " asked only once there are plans.",
    ),
    Rule("tree/plan-id-repeated", "error", "D3", "No two plans of a phase have the same id."),
    Rule("tree/dependency-unknown", "error", "D3", "What a plan depends on is a plan, or a phase, of its milestone."),
    Rule(
        "tree/consumed-unprovided",
        "warning",
        "D3",
        "What a plan consumes is provided by a plan of the tree; what was there before is not known to the check.",
    ),
    Rule(
        "tree/requirement-unknown",
        "warning",
        "D3",
        "A plan's requirement ids stand in a REQUIREMENTS file or another overview of the tree, if it has the former.",
    ),
    Rule("tree/summary-without-plan", "error", "D3", "A summary reports on a plan that lies beside it."),
    Rule("tree/summary-repeated", "error", "D3", "A plan has one summary."),
    Rule(
        "tree/task-unknown",
        "warning",
        "D3",
        "A task whose result a summary tells is one of its plan's, by id, name or number.",
    ),
    Rule("tree/task-untold", "error", "D3", "The summary of a complete plan tells what became of each of its tasks."),
    Rule(
        "tree/provides-dropped",
        "warning",
        "D3",
        "The summary of a plan that is complete provides all that the plan provides.",
    ),
    Rule(
        "tree/must-have-not-in-summary",
        "error",
        "D3",
        "Each must-have of a plan is in its summary's `must_haves`, with what became of it.",
    ),
    Rule(
        "tree/must-have-not-verified",
        "error",
        "D3",
        "Each must-have of a phase's executed plans is in the phase's verification; a form that verifies goals in words"
        " of its own is not asked.",
    ),
    Rule("tree/must-have-unknown", "error", "D3", "Must-haves are the plan's: summary and verification add none."),
    Rule(
        "tree/must-haves-count",
        "error",
        "D3",
        "`must_haves_total` of a verification is the number of must-haves of the phase's executed plans.",
    ),
)

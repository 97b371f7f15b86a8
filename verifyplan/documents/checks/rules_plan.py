"""The rules of plans, as data (document 003, Planner -> Executor; rule D2)."""

from __future__ import annotations

from verifyplan.documents.checks.violation import Rule

RULES_PLAN = (
    Rule("plan/form", "info", "D2", "A plan that has another form than the contract is named once."),
    Rule("plan/seven-elements", "info", "D2", "Tasks of the newer form, of seven elements, are named once."),
    Rule("plan/field-missing", "error", "D2", "Frontmatter has every key of the contract."),
    Rule("plan/field-type", "error", "D2", "Keys hold what the contract asks: texts, lists of texts, whole numbers."),
    Rule("plan/plan-id", "error", "D2", "The plan's id is the phase's number and the plan's own, as 02-01."),
    Rule("plan/wave", "error", "D2", "Waves are counted from 1."),
    Rule("plan/must-haves-missing", "error", "D2", "must_haves has truths, artifacts and key_links, each a list."),
    Rule("plan/must-have-form", "error", "D2", "A must-have is a text; an artifact begins with its file and a colon."),
    Rule("plan/name-differs", "warning", "D2", "The file's name has the number that the plan's id ends with."),
    Rule("plan/no-tasks", "error", "D2", "A plan has at least one <task>."),
    Rule("plan/task-unclosed", "error", "D2", "Every <task> is closed."),
    Rule("plan/task-element-missing", "error", "D2", "A task has name, files, action, verify and done."),
    Rule("plan/task-element-empty", "error", "D2", "The five elements of a task say something."),
    Rule("plan/task-id-missing", "error", "D2", "Every task has an id."),
    Rule("plan/task-id", "error", "D2", "A task's id is the plan's, -T, and the number of the task from 1."),
    Rule("plan/task-id-repeated", "error", "D2", "No two tasks of a plan have one id."),
    Rule("plan/task-type-missing", "error", "D2", "Every task states its type."),
    Rule("plan/task-type", "error", "D2", "A task's type is one of the five."),
    Rule("plan/task-tdd", "error", "D2", "Every task states tdd as true or false; one of type tdd states true."),
    Rule("plan/task-complexity", "error", "D2", "Every task states its complexity: simple, medium or complex."),
    Rule("plan/task-model", "error", "D2", "A model that a task names is the one its complexity implies."),
    Rule("plan/task-file-lines", "warning", "D2", "<files> has one path a line."),
    Rule("plan/task-verify", "error", "D2", "<verify> is a command that a shell can run, but in checkpoints."),
    Rule("plan/task-name", "warning", "D2", "A task's name is an order: it begins with a verb."),
    Rule("plan/task-undecided", "error", "D2", "A task that repeats [NEEDS DECISION] is a checkpoint:decision task."),
    Rule("plan/task-steps", "warning", "D2", "<action> is numbered steps."),
    Rule("plan/summary-missing", "error", "D2", "A plan has a section ## Summary."),
    Rule("plan/summary-last", "error", "D2", "The section ## Summary closes the plan."),
    Rule(
        "plan/summary-content",
        "warning",
        "D2",
        "The closing summary names the plan's id, its tasks, key files, must-haves, and what it provides and consumes.",
    ),
)

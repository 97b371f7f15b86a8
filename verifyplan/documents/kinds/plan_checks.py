"""Check a plan: its frontmatter, its must-haves, its tasks and its closing summary (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import RequiredField, check_layout, held_to_contract
from verifyplan.documents.kinds.plan import (
    IMPLIED_MODEL,
    MUST_HAVES,
    NEWER_ELEMENTS,
    TASK_ELEMENTS,
    TASK_TYPES,
    PlanDocument,
    Task,
    implied_model,
    is_artifact,
    is_plan_id,
)
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.front import text_of, value_of
from verifyplan.documents.reading.phrases import is_imperative, is_prose
from verifyplan.errors import one_of
from verifyplan.text import did_you_mean

FIELDS = (
    RequiredField("phase", "text"),
    RequiredField("plan", "text"),
    RequiredField("wave", "number"),
    RequiredField("depends_on", "texts", shape='[], or the ids of plans: ["01-01"]'),
    RequiredField("files_modified", "texts"),
    RequiredField("must_haves", "table", shape="truths, artifacts and key_links, indented, each a list"),
    RequiredField("provides", "texts"),
    RequiredField("consumes", "texts"),
    RequiredField("requirement_ids", "texts"),
)

_MUST_HAVES = re.compile(r"must[- _]?haves?", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]{0,300}`")
_STEP = re.compile(r"[ \t]*(?:[-*] +)?(?:\*\*)?(?:Step +)?\d{1,3}[.):]", re.IGNORECASE)


def check_plan(document: PlanDocument) -> Iterator[Violation]:
    """Yield the violations of one plan (rule D2); other checks concern several plans, or a plan's quality."""
    yield from check_layout(document, FIELDS)
    yield from _check_plan_id(document)
    held = held_to_contract(document)
    if held:
        yield from _check_must_haves(document)
    yield from check_tasks(document)
    if held:
        yield from _check_summary(document)


def _check_plan_id(document: PlanDocument) -> Iterator[Violation]:
    front, phase, held = document.source.front, document.phase or "", held_to_contract(document)
    if document.wave == 0 and held:
        yield violation("plan/wave", document.path, front.line("wave"), "the wave is 0", "count waves from 1")
    plan, in_name = text_of(front, "plan") or "", id_in_name(document.path)
    if plan and held and not is_plan_id(plan, phase):
        message = f"the plan's id {plan!r} is not its phase's number and its own"
        yield violation("plan/plan-id", document.path, front.line("plan"), message, 'write it as in "02-01"')
    if plan and in_name and document.form != "quick":
        key = plan_key(plan, phase)
        if plan_key(in_name, phase) != key and plan_key(in_name) != key.rpartition("-")[2]:
            message = f"the file's name says plan {in_name!r}, the plan's id is {document.plan!r}"
            yield violation("plan/name-differs", document.path, front.line("plan"), message, "rename one of the two")


def _check_must_haves(document: PlanDocument) -> Iterator[Violation]:
    front = document.source.front
    for group in MUST_HAVES if isinstance(front.values.get("must_haves"), dict) else ():
        items = value_of(front, "must_haves", group)
        if not isinstance(items, list):
            message, line = f"must_haves has no list {group}", front.line("must_haves", group)
            yield violation("plan/must-haves-missing", document.path, line, message, f'write {group}: ["..."]')
            continue
        for at, item in enumerate(items):
            if not isinstance(item, str) or not item.strip():
                message = f"an item of {group} is no text"
            elif group == "artifacts" and not is_artifact(item):
                message = f"the artifact {item[:80]!r} does not begin with a file and a colon"
            else:
                continue
            line = front.line("must_haves", group, at)
            shape = '"path: what it holds"' if group == "artifacts" else '"..."'
            yield violation("plan/must-have-form", document.path, line, message, f"write it as {shape}")


def _check_summary(document: PlanDocument) -> Iterator[Violation]:
    section = document.summary
    if section is None:
        message = "the closing section ## Summary is missing"
        fix = "end with ## Summary: id, tasks, key files, must-haves, provides and consumes"
        yield violation("plan/summary-missing", document.path, 1, message, fix)
        return
    last = max((task.last for task in document.tasks if task.closed), default=0)
    later = [other for other in document.source.sections if other.first > section.last]
    if later or last > section.first:
        what = f"## {later[0].title} (line {later[0].first})" if later else f"the task that ends in line {last}"
        message = f"the section ## Summary does not close the plan: {what} comes after it"
        yield violation("plan/summary-last", document.path, section.first, message, "move ## Summary to the end")
    missing = ", ".join(_not_in_summary(document, " ".join(line for _, line in document.source.lines_of(section))))
    if missing:
        message, fix = f"the closing summary does not name {missing}", f"name {missing} in it"
        yield violation("plan/summary-content", document.path, section.first, message, fix)


def _not_in_summary(document: PlanDocument, text: str) -> Iterator[str]:
    """Yield what the closing summary leaves out."""
    folded = text.casefold()
    plan = text_of(document.source.front, "plan")
    if plan and not any(_names_plan(name, folded) for name in (plan, document.plan or plan)):
        yield f"the plan's id {plan}"
    unnamed = [
        task.id or task.name
        for task in document.tasks
        if not any(name and name.casefold() in folded for name in (task.id, task.name))
    ]
    if unnamed:
        listed = ", ".join(name[:40] for name in unnamed[:5])
        yield f"the {'tasks' if len(unnamed) > 1 else 'task'} {listed}"
    if document.files_modified and not any(path.casefold() in folded for path in document.files_modified):
        yield "key files"
    if not _MUST_HAVES.search(text):
        yield "must-haves"
    yield from (f"what it {word}" for word in ("provides", "consumes") if word not in folded)


def _names_plan(plan: str, folded: str) -> bool:
    """Whether a text names a plan's id by itself, and not only within the id of a task."""
    return re.search(rf"(?<![\w.])(?<!\d-){re.escape(plan.casefold())}(?![\w-])(?!\.\d)", folded) is not None


def check_tasks(document: PlanDocument) -> Iterator[Violation]:
    """Yield the violations of the tasks of a plan, task by task; tags in code are no tags."""
    tags, held = {element.name for element in document.source.elements}, held_to_contract(document)
    if not document.tasks and (held or "tasks" in tags):
        message, fix = "the plan has no <task>", "write each task as <task> with name, files, action, verify and done"
        yield violation("plan/no-tasks", document.path, 1, message, fix)
    newer = next((task for task in document.tasks if all(task.get(name) for name in NEWER_ELEMENTS)), None)
    if newer:
        message = f"a known newer form: tasks have {' and '.join(NEWER_ELEMENTS)} besides the five elements"
        yield violation("plan/seven-elements", document.path, newer.line, message, "nothing, if that is meant")
    seen: dict[str, int] = {}
    for number, task in enumerate(document.tasks, 1):
        yield from _check_undecided(document, task)
        if "task" in tags:
            yield from _check_elements(document, task)
            yield from _check_task_id(document, task, number, seen)
            yield from _check_attributes(document, task)
        if held:
            yield from _check_complexity(document, task)
            yield from _check_texts(document, task)


def _check_elements(document: PlanDocument, task: Task) -> Iterator[Violation]:
    held = held_to_contract(document)
    if not task.closed:
        message = f"the task {_task_name(task)} never closes"
        yield violation("plan/task-unclosed", document.path, task.line, message, "add </task> at its end")
    if (task.type or "").startswith("checkpoint:") and not held:
        return
    for name in TASK_ELEMENTS:
        element = task.get(name)
        if element is None:
            message = f"the task {_task_name(task)} has no <{name}>"
            yield violation("plan/task-element-missing", document.path, task.line, message, f"add <{name}>")
        elif not element.text.strip() and (name != "files" or held):
            message = f"<{name}> of the task {_task_name(task)} is empty"
            yield violation("plan/task-element-empty", document.path, element.line, message, f"say it in <{name}>")


def _check_task_id(document: PlanDocument, task: Task, number: int, seen: dict[str, int]) -> Iterator[Violation]:
    held = held_to_contract(document)
    if task.id is None:
        if held:
            fix = f'write id="{document.plan or "{plan}"}-T{number}"'
            yield violation("plan/task-id-missing", document.path, task.line, f"task {number} has no id", fix)
        return
    if task.id in seen:
        message = f"the id {task.id!r} is that of the task in line {seen[task.id]}"
        yield violation("plan/task-id-repeated", document.path, task.line, message, "give each task an id of its own")
        return
    seen[task.id] = task.line
    plans = [plan for plan in (text_of(document.source.front, "plan"), document.plan) if plan]
    if plans and held and task.id not in [f"{plan}-T{number}" for plan in plans]:
        message = f"the id {task.id!r} is not the plan's with -T{number}"
        yield violation("plan/task-id", document.path, task.line, message, f'write id="{plans[0]}-T{number}"')


def _check_attributes(document: PlanDocument, task: Task) -> Iterator[Violation]:
    held, name = held_to_contract(document), _task_name(task)
    if task.type is None:
        if held:
            message, fix = f"the task {name} states no type", f"write type= with one of {one_of(TASK_TYPES)}"
            yield violation("plan/task-type-missing", document.path, task.line, message, fix)
    elif task.type not in TASK_TYPES:
        message = f"{task.type!r} is no type of task{did_you_mean(task.type, TASK_TYPES)}"
        yield violation("plan/task-type", document.path, task.line, message, f"write one of {one_of(TASK_TYPES)}")
    if task.tdd is None and ("tdd" in task.attributes or held):
        message = f"the task {name} does not state tdd as true or false"
        yield violation("plan/task-tdd", document.path, task.line, message, 'write tdd="true" or tdd="false"')
    if task.type == "tdd" and task.tdd is False:
        message = f'the task {name} is of type tdd and states tdd="false"'
        yield violation("plan/task-tdd", document.path, task.line, message, 'write tdd="true", or another type')


def _check_complexity(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if task.complexity not in IMPLIED_MODEL:
        stated = f"{task.complexity!r} is no complexity" if task.complexity else "no complexity is stated"
        message, fix = f"task {_task_name(task)}: {stated}", f"write complexity= with one of {one_of(IMPLIED_MODEL)}"
        yield violation("plan/task-complexity", document.path, task.line, message, fix)
        return
    model, implied = task.attributes.get("model"), implied_model(task)
    if model is not None and model != implied:
        message = f"the task {_task_name(task)} is {task.complexity} and names the model {model!r}"
        fix = f"write {implied!r}, which {task.complexity!r} implies, or leave it out"
        yield violation("plan/task-model", document.path, task.line, message, fix)


def _check_texts(document: PlanDocument, task: Task) -> Iterator[Violation]:
    """Check one file a line, numbered steps, a command where nobody is to look, and a name that says what to do."""
    files, action, verify, name = map(task.get, ("files", "action", "verify", "name"))
    lines = enumerate(files.text.split("\n"), files.line) if files else ()
    crowded = next((number for number, line in lines if "," in line or len(line.split()) > 1), None)
    if crowded is not None:
        message = f"<files> of the task {_task_name(task)} has several paths in one line"
        yield violation("plan/task-file-lines", document.path, crowded, message, "write one path a line")
    if action and action.text.strip() and not any(_STEP.match(line) for line in action.text.split("\n")):
        message = f"<action> of the task {_task_name(task)} is not in numbered steps"
        yield violation("plan/task-steps", document.path, action.line, message, "number the steps: 1. ... 2. ...")
    if verify and not (task.type or "").startswith("checkpoint:") and is_prose(verify.text):
        message = f"<verify> of the task {_task_name(task)} is prose, not a command: {verify.text.strip()[:80]!r}"
        fix = "write the shell command that checks it, or make it a checkpoint:human-verify task"
        yield violation("plan/task-verify", document.path, verify.line, message, fix)
    if name and not is_imperative(task.name):
        message = f"the name {task.name[:80]!r} does not say what to do"
        yield violation("plan/task-name", document.path, name.line, message, "begin it with a verb: Add ..., Write ...")


def _check_undecided(document: PlanDocument, task: Task) -> Iterator[Violation]:
    """Check that a task that nobody is to decide does not repeat an open question's tag, but as code."""
    if (task.type or "auto").startswith("checkpoint:"):
        return
    for element in task.elements:
        if NEEDS_DECISION in _CODE.sub("", element.text).upper():
            message = f"the task {_task_name(task)} repeats {NEEDS_DECISION}, and is no checkpoint:decision"
            fix = "decide it and say so, or make it a checkpoint:decision task"
            yield violation("plan/task-undecided", document.path, element.line, message, fix)
            return


def _task_name(task: Task) -> str:
    return repr((task.id or task.name or f"in line {task.line}")[:60])

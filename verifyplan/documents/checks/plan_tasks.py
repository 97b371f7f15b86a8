"""The check of a plan's tasks: elements, ids, types, complexity and the model it implies (document 003; rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import held_to_contract
from verifyplan.documents.checks.phrasing import is_imperative, is_prose
from verifyplan.documents.kinds.plan import (
    IMPLIED_MODEL,
    NEWER_ELEMENTS,
    TASK_ELEMENTS,
    TASK_TYPES,
    PlanDocument,
    implied_model,
)
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION
from verifyplan.documents.reading.tasks import Task
from verifyplan.documents.reading.typed import text_of
from verifyplan.errors import one_of
from verifyplan.text import did_you_mean

_CODE = re.compile(r"`[^`\n]{0,300}`")
_STEP = re.compile(r"[ \t]*(?:[-*] +)?(?:\*\*)?(?:Step +)?\d{1,3}[.):]", re.IGNORECASE)


def check_tasks(document: PlanDocument) -> Iterator[Violation]:
    """The violations of the tasks of a plan, task by task; tags count where elements are found, not within code."""
    names = {element.name for element in document.source.elements}
    if not document.tasks and (held_to_contract(document) or "tasks" in names):
        message, fix = "the plan has no <task>", "write each task as <task> with name, files, action, verify and done"
        yield violation("plan/no-tasks", document.path, 1, message, fix)
    seven = next((task for task in document.tasks if all(task.get(name) for name in NEWER_ELEMENTS)), None)
    if seven:
        message = f"a known newer form: tasks have {' and '.join(NEWER_ELEMENTS)} besides the five elements"
        yield violation("plan/seven-elements", document.path, seven.line, message, "nothing, if that is meant")
    seen: dict[str, int] = {}
    for number, task in enumerate(document.tasks, 1):
        checks = [_check_decided(document, task)]
        if "task" in names:
            checks += [
                _check_closed(document, task),
                _check_elements(document, task),
                _check_task_id(document, task, number, seen),
            ]
            checks += [_check_attributes(document, task)]
        if held_to_contract(document):
            checks += [_check_complexity(document, task), _check_texts(document, task), _check_phrasing(document, task)]
        yield from chain.from_iterable(checks)


def _check_closed(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if not task.closed:
        message = f"the task {_called(task)} never closes"
        yield violation("plan/task-unclosed", document.path, task.line, message, "add </task> at its end")


def _check_elements(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if (task.type or "").startswith("checkpoint:") and not held_to_contract(document):
        return
    for name in TASK_ELEMENTS:
        element = task.get(name)
        if element is None:
            message = f"the task {_called(task)} has no <{name}>"
            yield violation("plan/task-element-missing", document.path, task.line, message, f"add <{name}>")
        elif not element.text.strip() and (name != "files" or held_to_contract(document)):
            message = f"<{name}> of the task {_called(task)} is empty"
            yield violation("plan/task-element-empty", document.path, element.line, message, f"say it in <{name}>")


def _check_task_id(document: PlanDocument, task: Task, number: int, seen: dict[str, int]) -> Iterator[Violation]:
    if task.id is None:
        if held_to_contract(document):
            fix = f'write id="{document.plan or "{plan}"}-T{number}"'
            yield violation("plan/task-id-missing", document.path, task.line, f"task {number} has no id", fix)
        return
    if task.id in seen:
        message = f"the id {task.id!r} is that of the task in line {seen[task.id]}"
        yield violation("plan/task-id-repeated", document.path, task.line, message, "give each task an id of its own")
        return
    seen[task.id] = task.line
    plans = [plan for plan in (text_of(document.source.front, "plan"), document.plan) if plan]
    if plans and held_to_contract(document) and task.id not in [f"{plan}-T{number}" for plan in plans]:
        message = f"the id {task.id!r} is not the plan's with -T{number}"
        yield violation("plan/task-id", document.path, task.line, message, f'write id="{plans[0]}-T{number}"')


def _check_attributes(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if task.type is None:
        if held_to_contract(document):
            message, fix = f"the task {_called(task)} states no type", f"write type= with one of {one_of(TASK_TYPES)}"
            yield violation("plan/task-type-missing", document.path, task.line, message, fix)
    elif task.type not in TASK_TYPES:
        message = f"{task.type!r} is no type of task{did_you_mean(task.type, TASK_TYPES)}"
        yield violation("plan/task-type", document.path, task.line, message, f"write one of {one_of(TASK_TYPES)}")
    if task.tdd is None and ("tdd" in task.attributes or held_to_contract(document)):
        message = f"the task {_called(task)} does not state tdd as true or false"
        yield violation("plan/task-tdd", document.path, task.line, message, 'write tdd="true" or tdd="false"')
    if task.type == "tdd" and task.tdd is False:
        message = f'the task {_called(task)} is of type tdd and states tdd="false"'
        yield violation("plan/task-tdd", document.path, task.line, message, 'write tdd="true", or another type')


def _check_complexity(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if task.complexity not in IMPLIED_MODEL:
        stated = f"{task.complexity!r} is no complexity" if task.complexity else "no complexity is stated"
        fix = f"write complexity= with one of {one_of(IMPLIED_MODEL)}"
        yield violation("plan/task-complexity", document.path, task.line, f"task {_called(task)}: {stated}", fix)
        return
    model, implied = task.attributes.get("model"), implied_model(task)
    if model is not None and model != implied:
        message = f"the task {_called(task)} is {task.complexity} and names the model {model!r}"
        fix = f"write {implied!r}, which {task.complexity!r} implies, or leave it out"
        yield violation("plan/task-model", document.path, task.line, message, fix)


def _check_texts(document: PlanDocument, task: Task) -> Iterator[Violation]:
    files, action = task.get("files"), task.get("action")
    if files:
        lines = enumerate(files.text.split("\n"), files.line)
        crowded = next((number for number, line in lines if "," in line or len(line.split()) > 1), None)
        if crowded is not None:
            message = f"<files> of the task {_called(task)} has several paths in one line"
            yield violation("plan/task-file-lines", document.path, crowded, message, "write one path a line")
    if action and action.text.strip() and not any(_STEP.match(line) for line in action.text.split("\n")):
        message = f"<action> of the task {_called(task)} is not in numbered steps"
        yield violation("plan/task-steps", document.path, action.line, message, "number the steps: 1. ... 2. ...")


def _check_phrasing(document: PlanDocument, task: Task) -> Iterator[Violation]:
    """A check that no shell could run, where no person is asked to look; and a name that orders nothing."""
    verify, name = task.get("verify"), task.get("name")
    if verify and not (task.type or "").startswith("checkpoint:") and is_prose(verify.text):
        message = f"<verify> of the task {_called(task)} is prose, not a command: {verify.text.strip()[:80]!r}"
        fix = "write the shell command that checks it, or make it a checkpoint:human-verify task"
        yield violation("plan/task-verify", document.path, verify.line, message, fix)
    if name and not is_imperative(task.name):
        message = f"the name {task.name[:80]!r} does not say what to do"
        yield violation("plan/task-name", document.path, name.line, message, "begin it with a verb: Add ..., Write ...")


def _check_decided(document: PlanDocument, task: Task) -> Iterator[Violation]:
    """A task that nobody is to decide and that repeats the mark of an open question; in inline code it is quoted."""
    if (task.type or "auto").startswith("checkpoint:"):
        return
    for element in task.elements:
        if NEEDS_DECISION in _CODE.sub("", element.text).upper():
            message = f"the task {_called(task)} repeats {NEEDS_DECISION}, and is no checkpoint:decision"
            fix = "decide it and say so, or make it a checkpoint:decision task"
            yield violation("plan/task-undecided", document.path, element.line, message, fix)
            return


def _called(task: Task) -> str:
    """What a task is called in a message."""
    return repr((task.id or task.name or f"in line {task.line}")[:60])

"""The check of a plan's tasks: elements, ids, types, complexity and the model it implies (document 003; SPEC D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from verifyplan.documents.checking.asked import lacks
from verifyplan.documents.checking.catalogue import violation
from verifyplan.documents.checking.violation import Violation
from verifyplan.documents.contracts.plan import (
    IMPLIED_MODEL,
    NEWER_ELEMENTS,
    TASK_ELEMENTS,
    TASK_TYPES,
    PlanDocument,
    implied_model,
)
from verifyplan.documents.contracts.tasks import Task
from verifyplan.documents.contracts.typed import text_of
from verifyplan.errors import one_of
from verifyplan.words import did_you_mean

_STEP = re.compile(r"[ \t]*(?:[-*] +)?(?:\*\*)?(?:Step +)?\d{1,3}[.):]", re.IGNORECASE)


def check_tasks(document: PlanDocument) -> Iterator[Violation]:
    """The violations of the tasks of a plan, task by task; tags count where elements are found, not within code."""
    if not document.tasks and not lacks(document, "task:all"):
        message, fix = "the plan has no <task>", "write each task as <task> with name, files, action, verify and done"
        yield violation("plan/no-tasks", document.path, 1, message, fix)
    seven = next((task for task in document.tasks if all(task.get(name) for name in NEWER_ELEMENTS)), None)
    if seven:
        message = f"a known newer form: tasks have {' and '.join(NEWER_ELEMENTS)} besides the five elements"
        yield violation("plan/seven-elements", document.path, seven.line, message, "nothing, if that is meant")
    seen: dict[str, int] = {}
    for number, task in enumerate(document.tasks, 1):
        yield from chain(
            _closed(document, task),
            _elements(document, task),
            _identity(document, task, number, seen),
            _attributes(document, task),
            _texts(document, task),
        )


def _closed(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if not task.closed:
        message = f"the task {_called(task)} never closes"
        yield violation("plan/task-unclosed", document.path, task.line, message, "add </task> at its end")


def _elements(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if (task.type or "").startswith("checkpoint:") and lacks(document, "task:checkpoint-elements"):
        return
    for name in TASK_ELEMENTS:
        element = task.get(name)
        if element is None:
            message = f"the task {_called(task)} has no <{name}>"
            yield violation("plan/task-element-missing", document.path, task.line, message, f"add <{name}>")
        elif not element.text.strip():
            message = f"<{name}> of the task {_called(task)} is empty"
            yield violation("plan/task-element-empty", document.path, element.line, message, f"say it in <{name}>")
    newer = [element for name in NEWER_ELEMENTS if (element := task.get(name))]
    if len(newer) == 1:
        other = next(name for name in NEWER_ELEMENTS if name != newer[0].name)
        message = f"the task {_called(task)} has <{newer[0].name}> of the newer form, but no <{other}>"
        yield violation("plan/task-newer-element", document.path, newer[0].line, message, f"add <{other}>")


def _identity(document: PlanDocument, task: Task, number: int, seen: dict[str, int]) -> Iterator[Violation]:
    if task.id is None:
        if not lacks(document, "task:id"):
            fix = f'write id="{document.plan or "{plan}"}-T{number}"'
            yield violation("plan/task-id-missing", document.path, task.line, f"task {number} has no id", fix)
        return
    if task.id in seen:
        message = f"the id {task.id!r} is that of the task in line {seen[task.id]}"
        yield violation("plan/task-id-repeated", document.path, task.line, message, "give each task an id of its own")
        return
    seen[task.id] = task.line
    plans = [plan for plan in (text_of(document.source.front, "plan"), document.plan) if plan]
    if plans and task.id not in [f"{plan}-T{number}" for plan in plans]:
        message = f"the id {task.id!r} is not the plan's with -T{number}"
        yield violation("plan/task-id", document.path, task.line, message, f'write id="{plans[0]}-T{number}"')


def _attributes(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if task.type is None:
        if not lacks(document, "task:type"):
            message, fix = f"the task {_called(task)} states no type", f"write type= with one of {one_of(TASK_TYPES)}"
            yield violation("plan/task-type-missing", document.path, task.line, message, fix)
    elif task.type not in TASK_TYPES:
        message = f"{task.type!r} is no type of task{did_you_mean(task.type, TASK_TYPES)}"
        yield violation("plan/task-type", document.path, task.line, message, f"write one of {one_of(TASK_TYPES)}")
    if task.tdd is None and not ("tdd" not in task.attributes and lacks(document, "task:tdd")):
        message = f"the task {_called(task)} does not state tdd as true or false"
        yield violation("plan/task-tdd", document.path, task.line, message, 'write tdd="true" or tdd="false"')
    yield from _complexity(document, task)


def _complexity(document: PlanDocument, task: Task) -> Iterator[Violation]:
    if task.complexity not in IMPLIED_MODEL:
        if task.complexity is None and lacks(document, "task:complexity"):
            return
        stated = f"{task.complexity!r} is no complexity" if task.complexity else "no complexity is stated"
        fix = f"write complexity= with one of {one_of(IMPLIED_MODEL)}"
        yield violation("plan/task-complexity", document.path, task.line, f"task {_called(task)}: {stated}", fix)
        return
    model, implied = task.attributes.get("model"), implied_model(task)
    if model is not None and model != implied:
        message = f"the task {_called(task)} is {task.complexity} and names the model {model!r}"
        fix = f"write {implied!r}, which {task.complexity!r} implies, or leave it out"
        yield violation("plan/task-model", document.path, task.line, message, fix)


def _texts(document: PlanDocument, task: Task) -> Iterator[Violation]:
    files, action = task.get("files"), task.get("action")
    if files and not lacks(document, "task:file-lines"):
        lines = enumerate(files.text.split("\n"), files.line)
        crowded = next((number for number, line in lines if "," in line or len(line.split()) > 1), None)
        if crowded is not None:
            message = f"<files> of the task {_called(task)} has several paths in one line"
            yield violation("plan/task-file-lines", document.path, crowded, message, "write one path a line")
    told = action is not None and action.text.strip() and not lacks(document, "task:steps")
    if action and told and not any(_STEP.match(line) for line in action.text.split("\n")):
        message = f"<action> of the task {_called(task)} is not in numbered steps"
        yield violation("plan/task-steps", document.path, action.line, message, "number the steps: 1. ... 2. ...")


def _called(task: Task) -> str:
    """What a task is called in a message."""
    return repr((task.id or task.name or f"in line {task.line}")[:60])

"""Check a plan: its frontmatter, its must-haves, its tasks and its closing summary (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.kinds.plan import (
    IMPLIED_MODEL,
    MUST_HAVES,
    NEWER_ELEMENTS,
    TASK_ELEMENTS,
    TASK_TYPES,
    PlanDocument,
    Task,
    is_artifact,
    is_plan_id,
)
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.front import text_of, value_of
from verifyplan.documents.reading.phrases import is_imperative, is_prose
from verifyplan.errors import one_of
from verifyplan.text import did_you_mean

_MUST_HAVES = re.compile(r"must[- _]?haves?", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]{0,300}`")
_STEP = re.compile(r"[ \t]*(?:[-*] +)?(?:\*\*)?(?:Step +)?\d{1,3}[.):]", re.IGNORECASE)


def check_plan(document: PlanDocument) -> Iterator[Violation]:
    """Yield the violations of one plan (rule D2); other checks concern several plans, or a plan's quality."""
    yield from check_layout(document)
    yield from _check_plan_id(document)
    if document.held_to_contract:
        yield from _check_must_haves(document)
    yield from check_tasks(document)
    if document.held_to_contract:
        yield from _check_summary(document)


def _check_plan_id(document: PlanDocument) -> Iterator[Violation]:
    front, phase, held = document.source.front, document.phase or "", document.held_to_contract
    if document.wave == 0 and held:
        yield violation("plan/wave", document.path, front.line("wave"))
    plan, in_name, line = text_of(front, "plan") or "", id_in_name(document.path), front.line("plan")
    if plan and held and not is_plan_id(plan, phase):
        yield violation("plan/plan-id", document.path, line, plan=plan)
    if plan and in_name and document.form != "quick":
        key = plan_key(plan, phase)
        if plan_key(in_name, phase) != key and plan_key(in_name) != key.rpartition("-")[2]:
            yield violation("plan/name-differs", document.path, line, in_name=in_name, plan=document.plan)


def _check_must_haves(document: PlanDocument) -> Iterator[Violation]:
    front = document.source.front
    for group in MUST_HAVES if isinstance(front.values.get("must_haves"), dict) else ():
        items = value_of(front, "must_haves", group)
        if not isinstance(items, list):
            yield violation("plan/must-haves-missing", document.path, front.line("must_haves", group), group=group)
            continue
        shape = '"path: what it holds"' if group == "artifacts" else '"..."'
        for at, item in enumerate(items):
            if not isinstance(item, str) or not item.strip():
                message = f"an item of {group} is not a text"
            elif group == "artifacts" and not is_artifact(item):
                message = f"the artifact {item[:80]!r} does not begin with a file and a colon"
            else:
                continue
            line = front.line("must_haves", group, at)
            yield violation("plan/must-have-form", document.path, line, message=message, shape=shape)


def _check_summary(document: PlanDocument) -> Iterator[Violation]:
    section = document.summary
    if section is None:
        yield violation("plan/summary-missing", document.path, 1)
        return
    last = max((task.last for task in document.tasks if task.closed), default=0)
    later = [other for other in document.source.sections if other.first > section.last]
    if later or last > section.first:
        what = f"## {later[0].title} (line {later[0].first})" if later else f"the task that ends in line {last}"
        yield violation("plan/summary-last", document.path, section.first, what=what)
    missing = ", ".join(_not_in_summary(document, " ".join(line for _, line in document.source.lines_of(section))))
    if missing:
        yield violation("plan/summary-content", document.path, section.first, missing=missing)


def _not_in_summary(document: PlanDocument, text: str) -> Iterator[str]:
    """Yield what the closing summary leaves out; a plan's id counts by itself, not within the id of a task."""
    folded = text.casefold()
    plan = text_of(document.source.front, "plan") or ""
    ids = "|".join(re.escape(name.casefold()) for name in (plan, document.plan or plan))
    if plan and not re.search(rf"(?<![\w.])(?<!\d-)(?:{ids})(?![\w-])(?!\.\d)", folded):
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


def check_tasks(document: PlanDocument) -> Iterator[Violation]:
    """Yield the violations of the tasks of a plan, task by task; tags in code do not count."""
    tags, held = {element.name for element in document.source.elements}, document.held_to_contract
    if not document.tasks and (held or "tasks" in tags):
        yield violation("plan/no-tasks", document.path, 1)
    newer = next((task for task in document.tasks if all(task.get(name) for name in NEWER_ELEMENTS)), None)
    if newer:
        yield violation("plan/seven-elements", document.path, newer.line, elements=" and ".join(NEWER_ELEMENTS))
    seen: dict[str, int] = {}
    for number, task in enumerate(document.tasks, 1):
        name = repr((task.id or task.name or f"in line {task.line}")[:60])
        if not (task.type or "auto").startswith("checkpoint:"):
            texts = ((element.line, _CODE.sub("", element.text).upper()) for element in task.elements)
            for line in [line for line, text in texts if NEEDS_DECISION in text][:1]:
                yield violation("plan/task-undecided", document.path, line, task=name)
        if "task" in tags:
            yield from _check_elements(document, task, name)
            yield from _check_task_id(document, task, number, seen)
            yield from _check_attributes(document, task, name)
        if held:
            yield from _check_complexity(document, task, name)
            yield from _check_texts(document, task, name)


def _check_elements(document: PlanDocument, task: Task, task_name: str) -> Iterator[Violation]:
    held = document.held_to_contract
    if not task.closed:
        yield violation("plan/task-unclosed", document.path, task.line, task=task_name)
    if (task.type or "").startswith("checkpoint:") and not held:
        return
    for name in TASK_ELEMENTS:
        element = task.get(name)
        if element is None:
            yield violation("plan/task-element-missing", document.path, task.line, task=task_name, element=name)
        elif not element.text.strip() and (name != "files" or held):
            yield violation("plan/task-element-empty", document.path, element.line, task=task_name, element=name)


def _check_task_id(document: PlanDocument, task: Task, number: int, seen: dict[str, int]) -> Iterator[Violation]:
    if task.id is None:
        if document.held_to_contract:
            plan = document.plan or "{plan}"
            yield violation("plan/task-id-missing", document.path, task.line, number=number, plan=plan)
        return
    if task.id in seen:
        yield violation("plan/task-id-repeated", document.path, task.line, id=task.id, first=seen[task.id])
        return
    seen[task.id] = task.line
    plans = [plan for plan in (text_of(document.source.front, "plan"), document.plan) if plan]
    if plans and document.held_to_contract and task.id not in [f"{plan}-T{number}" for plan in plans]:
        yield violation("plan/task-id", document.path, task.line, id=task.id, number=number, plan=plans[0])


def _check_attributes(document: PlanDocument, task: Task, name: str) -> Iterator[Violation]:
    held, allowed = document.held_to_contract, one_of(TASK_TYPES)
    if task.type is None:
        if held:
            yield violation("plan/task-type-missing", document.path, task.line, task=name, allowed=allowed)
    elif task.type not in TASK_TYPES:
        nearest = did_you_mean(task.type, TASK_TYPES)
        yield violation("plan/task-type", document.path, task.line, type=task.type, nearest=nearest, allowed=allowed)
    if task.tdd is None and ("tdd" in task.attributes or held):
        yield violation("plan/task-tdd", document.path, task.line, task=name)
    if task.type == "tdd" and task.tdd is False:
        message = f'the task {name} is of type tdd and states tdd="false"'
        fix = 'write tdd="true", or another type'
        yield violation("plan/task-tdd", document.path, task.line, message=message, fix=fix)


def _check_complexity(document: PlanDocument, task: Task, name: str) -> Iterator[Violation]:
    stated, model, implied = task.complexity, task.attributes.get("model"), task.implied_model
    if implied is None:
        problem, allowed = (
            f"{stated!r} is not a complexity" if stated else "no complexity is stated",
            one_of(IMPLIED_MODEL),
        )
        yield violation("plan/task-complexity", document.path, task.line, task=name, stated=problem, allowed=allowed)
    elif model not in (None, implied):
        values = {"task": name, "complexity": stated, "model": model, "implied": implied}
        yield violation("plan/task-model", document.path, task.line, **values)


def _check_texts(document: PlanDocument, task: Task, task_name: str) -> Iterator[Violation]:
    """Check one file a line, numbered steps, a command where nobody is to look, and a name that says what to do."""
    files, action, verify, name = map(task.get, ("files", "action", "verify", "name"))
    lines = enumerate(files.text.split("\n"), files.line) if files else ()
    crowded = next((number for number, line in lines if "," in line or len(line.split()) > 1), None)
    if crowded is not None:
        yield violation("plan/task-file-lines", document.path, crowded, task=task_name)
    if action and action.text.strip() and not any(_STEP.match(line) for line in action.text.split("\n")):
        yield violation("plan/task-steps", document.path, action.line, task=task_name)
    if verify and not (task.type or "").startswith("checkpoint:") and is_prose(verify.text):
        yield violation("plan/task-verify", document.path, verify.line, task=task_name, verify=verify.text.strip())
    if name and not is_imperative(task.name):
        yield violation("plan/task-name", document.path, name.line, name=task.name)

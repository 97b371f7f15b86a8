"""The check of a plan's frontmatter, must-haves and closing summary (document 003; rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import RequiredField, check_fields, check_form, held_to_contract
from verifyplan.documents.checks.plan_tasks import check_tasks
from verifyplan.documents.kinds.plan import (
    MUST_HAVES,
    PlanDocument,
    is_artifact,
    is_plan_id,
)
from verifyplan.documents.reading.plan_ids import id_in_name, plan_key
from verifyplan.documents.reading.tasks import Task
from verifyplan.documents.reading.typed import text_of, value_of

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


def check_plan(document: PlanDocument, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of one plan; what concerns several plans, and its quality, are checked elsewhere.

    Source: document 003, Planner -> Executor; rule D2.
    """
    return chain(
        check_form(document),
        check_fields(document, FIELDS),
        _check_plan_id(document),
        _check_must_haves(document),
        check_tasks(document),
        _check_summary(document),
    )


def _check_plan_id(document: PlanDocument) -> Iterator[Violation]:
    front = document.source.front
    if document.wave == 0 and held_to_contract(document):
        yield violation("plan/wave", document.path, front.line("wave"), "the wave is 0", "count waves from 1")
    plan = text_of(front, "plan") or ""
    if plan and held_to_contract(document) and not is_plan_id(plan, document.phase or ""):
        message = f"the plan's id {plan!r} is not its phase's number and its own"
        yield violation("plan/plan-id", document.path, front.line("plan"), message, 'write it as in "02-01"')
    named = id_in_name(document.path)
    if plan and named and document.form != "quick" and not _same(named, plan, document.phase or ""):
        message = f"the file's name says plan {named!r}, the plan's id is {document.plan!r}"
        yield violation("plan/name-differs", document.path, front.line("plan"), message, "rename one of the two")


def _same(named: str, plan: str, phase: str) -> bool:
    """Whether two ids mean one plan; the name of a file may leave out the phase."""
    own = plan_key(plan, phase)
    return plan_key(named, phase) == own or plan_key(named) == own.rpartition("-")[2]


def _check_must_haves(document: PlanDocument) -> Iterator[Violation]:
    """How must-haves are written; the older forms write them in ways of their own."""
    front = document.source.front
    if not isinstance(front.values.get("must_haves"), dict) or not held_to_contract(document):
        return
    for group in MUST_HAVES:
        items = value_of(front, "must_haves", group)
        line = front.line("must_haves", group)
        if not isinstance(items, list):
            message = f"must_haves has no list {group}"
            yield violation("plan/must-haves-missing", document.path, line, message, f'write {group}: ["..."]')
            continue
        for at, item in enumerate(items):
            problem = _wrong(group, item)
            if problem:
                place = front.line("must_haves", group, at)
                shape = '"path: what it holds"' if group == "artifacts" else '"..."'
                yield violation("plan/must-have-form", document.path, place, problem, f"write it as {shape}")


def _wrong(group: str, item: object) -> str:
    """What is wrong with the form of a must-have; empty where nothing is."""
    if not isinstance(item, str) or not item.strip():
        return f"an item of {group} is no text"
    if group == "artifacts" and not is_artifact(item):
        return f"the artifact {item[:80]!r} does not begin with a file and a colon"
    return ""


def _check_summary(document: PlanDocument) -> Iterator[Violation]:
    if not held_to_contract(document):
        return
    if document.summary is None:
        fix = "end with ## Summary: id, tasks, key files, must-haves, provides and consumes"
        yield violation("plan/summary-missing", document.path, 1, "the closing section ## Summary is missing", fix)
        return
    part = document.summary
    last = max((task.last for task in document.tasks if task.closed), default=0)
    later = [other for other in document.source.parts if other.first > part.last]
    if later or last > part.first:
        what = f"## {later[0].title} (line {later[0].first})" if later else f"the task that ends in line {last}"
        message = f"the section ## Summary does not close the plan: {what} comes after it"
        yield violation("plan/summary-last", document.path, part.first, message, "move ## Summary to the end")
    missing = list(_unsaid(document, " ".join(line for _, line in document.source.lines_of(part))))
    if missing:
        message = f"the closing summary does not name {', '.join(missing)}"
        yield violation("plan/summary-content", document.path, part.first, message, f"name {', '.join(missing)} in it")


def _unsaid(document: PlanDocument, text: str) -> Iterator[str]:
    """What the closing summary leaves out."""
    folded = text.casefold()
    plan = text_of(document.source.front, "plan")
    if plan and not any(_stands(name, folded) for name in (plan, document.plan or plan)):
        yield f"the plan's id {plan}"
    unnamed = [task for task in document.tasks if not _names(folded, task.id, task.name)]
    if unnamed:
        yield f"the {'tasks' if len(unnamed) > 1 else 'task'} {', '.join((task.id or task.name)[:40] for task in unnamed[:5])}"
    if document.files_modified and not any(path.casefold() in folded for path in document.files_modified):
        yield "key files"
    if not _MUST_HAVES.search(text):
        yield "must-haves"
    yield from (f"what it {word}" for word in ("provides", "consumes") if word not in folded)


def _stands(plan: str, folded: str) -> bool:
    """Whether a plan's id stands in a text by itself, and not only within the id of a task."""
    return re.search(rf"(?<![\w.])(?<!\d-){re.escape(plan.casefold())}(?![\w-])(?!\.\d)", folded) is not None


def _names(folded: str, *names: str | None) -> bool:
    return any(name and name.casefold() in folded for name in names)

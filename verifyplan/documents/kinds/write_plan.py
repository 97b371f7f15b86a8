"""Write a new plan that passes its own check, for example where gaps become the next plan (rules D1, D5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from verifyplan.documents.kinds.plan import IMPLIED_MODEL, MUST_HAVES, is_artifact, is_plan_id
from verifyplan.documents.reading.source import read_source
from verifyplan.documents.reading.writing import flat, front_lines
from verifyplan.errors import InputError, Problem, expect_lists, one_of
from verifyplan.text import counted

_TAG = re.compile(r"<(?=[/a-z!])")
_FENCE = re.compile(r"`{3,}|~{3,}")
_NOUNS = {"truths": "truth", "artifacts": "artifact", "key_links": "key link"}
_MARKDOWN_BEGINNINGS = "#>-*+|=`~ "


class PlannedTask(NamedTuple):
    """A task to be written: `action` are its steps, `verify` is a shell command, `done` what can be seen then."""

    name: str
    files: tuple[str, ...]
    action: tuple[str, ...]
    verify: str
    done: str
    tdd: bool = False
    complexity: str = "medium"


def write_plan(
    *,
    phase: str,
    plan: str,
    objective: str,
    tasks: Sequence[PlannedTask],
    must_haves: Mapping[str, Sequence[str]],
    wave: int = 1,
    depends_on: Sequence[str] = (),
    files_modified: Sequence[str] | None = None,
    provides: Sequence[str] = (),
    consumes: Sequence[str] = (),
    requirement_ids: Sequence[str] = (),
    gap_closure: bool = False,
) -> str:
    """Write a plan in the contract's form, with its own task ids and the closing summary.

    `must_haves` are lists under "truths", "artifacts" ("path: what it holds") and "key_links"; `files_modified` are by
    default the tasks' files. Texts are put on one line, and what would read as a tag or a fence is set apart (`<file`
    becomes `< file`, which a shell reads alike). Raises InputError with everything that a plan may not hold.
    """
    lists = {"depends_on": depends_on, "files_modified": files_modified, "provides": provides, "consumes": consumes}
    expect_lists(**lists, requirement_ids=requirement_ids, **must_haves)
    problems = [*_plan_problems(phase, plan, wave, must_haves), *_task_problems(tasks)]
    if problems:
        raise InputError(problems)
    named = dict.fromkeys(flat(path) for task in tasks for path in task.files)
    front: dict[str, Any] = {
        "phase": phase,
        "plan": plan,
        "wave": wave,
        "depends_on": depends_on,
        "files_modified": list(named if files_modified is None else files_modified),
        "must_haves": {group: list(must_haves.get(group, ())) for group in MUST_HAVES},
        "provides": provides,
        "consumes": consumes,
        "requirement_ids": requirement_ids,
        **({"gap_closure": True} if gap_closure else {}),
    }
    head = [line for key, value in front.items() for line in front_lines(key, value)]
    goal = _line(objective).lstrip(_MARKDOWN_BEGINNINGS) or "None"
    body = [f"# Plan {plan}", "", "## Objective", "", goal, "", "## Tasks", ""]
    for number, task in enumerate(tasks, 1):
        body += [*_task(f"{plan}-T{number}", task), ""]
    body += ["## Summary", "", *_summary(front, tasks)]
    text = "\n".join(["---", *head, "---", "", *body, ""])
    damaged = read_source(text, "plan").front.problems
    if damaged:
        fix = "give fewer or shorter texts"
        raise InputError(Problem("frontmatter", f"the plan would not read: {why}", fix) for _, why in damaged)
    return text


def _plan_problems(phase: str, plan: str, wave: int, must_haves: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    if not phase.strip():
        yield Problem("phase", "is empty", "name the phase, as in 02-auth")
    if not is_plan_id(plan, phase):
        yield Problem("plan", f"{plan!r} is not the phase's number and the plan's own", "write it as in 02-01")
    if wave < 1:
        yield Problem("wave", f"is {wave}", "count waves from 1")
    for group in must_haves.keys() - MUST_HAVES.keys():
        yield Problem("must_haves", f"there is no list {group!r}", f"use {one_of(MUST_HAVES)}")
    for at, item in enumerate(must_haves.get("artifacts", ())):
        if not is_artifact(item):
            place = f"must_haves: artifact {at + 1}"
            yield Problem(place, f"{item[:80]!r} does not begin with a file and a colon", 'write "path: what it holds"')
    for group in MUST_HAVES:
        if not all(item.strip() for item in must_haves.get(group, ())):
            yield Problem(f"must_haves: {group}", "an item is empty", "say what must hold, or leave it out")


def _task_problems(tasks: Sequence[PlannedTask]) -> Iterator[Problem]:
    if not tasks:
        yield Problem("tasks", "there are none", "give at least one task")
    for number, task in enumerate(tasks, 1):
        place = f"task {number}"
        texts = {"name": [task.name], "files": task.files, "action": task.action}
        texts |= {"verify": [task.verify], "done": [task.done]}
        for name, lines in texts.items():
            if not lines or not all(_line(line) for line in lines):
                yield Problem(f"{place}: {name}", "is empty", "say it")
        if task.complexity not in IMPLIED_MODEL:
            fix = f"use {one_of(IMPLIED_MODEL)}"
            yield Problem(f"{place}: complexity", f"{task.complexity!r} is not a complexity", fix)


def _task(name: str, task: PlannedTask) -> Iterator[str]:
    tdd = "true" if task.tdd else "false"
    yield f'<task id="{name}" type="auto" tdd="{tdd}" complexity="{task.complexity}">'
    yield from _element("name", [task.name])
    yield from _element("files", task.files)
    yield from _element("action", [f"{number}. {step.strip()}" for number, step in enumerate(task.action, 1)])
    yield from _element("verify", [task.verify])
    yield from _element("done", [task.done])
    yield "</task>"


def _element(name: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield an element in one line, or its lines between its tags; a tag behind an open ` would not be a tag."""
    lines = [_line(text) for text in texts]
    if len(lines) == 1 and name != "action" and "`" not in lines[0]:
        yield f"<{name}>{lines[0]}</{name}>"
    else:
        yield from (f"<{name}>", *lines, f"</{name}>")


def _line(text: str) -> str:
    """Return a text as one line that holds no tag, comment or fence."""
    apart = _FENCE.sub(lambda run: " ".join(run.group()), flat(text))
    return _TAG.sub("< ", apart).strip()


def _summary(front: Mapping[str, Any], tasks: Sequence[PlannedTask]) -> Iterator[str]:
    plan = front["plan"]
    counts = ", ".join(counted(len(items), _NOUNS[group]) for group, items in front["must_haves"].items())
    yield f"- Plan: {plan}"
    yield from (f"- Task {plan}-T{number}: {_line(task.name)}" for number, task in enumerate(tasks, 1))
    yield f"- Key files: {_listed(front['files_modified'])}"
    yield f"- Must-haves: {counts}"
    yield f"- Provides: {_listed(front['provides'])}"
    yield f"- Consumes: {_listed(front['consumes'])}"


def _listed(items: Sequence[str]) -> str:
    return ", ".join(map(_line, items)) or "none"

"""Execution summary: what an executor says it did, plan by plan; nothing of it is proof (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import Field, InstanceOf

from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import Part, Table
from verifyplan.documents.reading.entries import entries_of, entry_texts
from verifyplan.documents.reading.form import CONTRACT, Form, other_form
from verifyplan.documents.reading.sections import items, rows_of, table_with
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import text_of
from verifyplan.documents.reading.written import document, item, table
from verifyplan.errors import expect_lists

ClaimState = Literal["DONE", "PARTIAL", "SKIPPED"]
CLAIM_STATES: tuple[ClaimState, ...] = get_args(ClaimState)

_NUMBERED = re.compile(r"\*\*\d{1,4}\.[ ]*(?P<text>[^*]*)\*\*")
_COMMIT = re.compile(r"(?<![\w-])[0-9a-f]{7,40}(?![\w-])")


SUMMARY_FORMS = (
    Form("contract", CONTRACT.meaning, seen_by=("front:must_haves", "front:commits")),
    Form(
        "get-shit-done",
        "a summary with subsystem, requirements-completed, accomplishments and a list of task commits",
        seen_by=("front:requirements-completed",),
        aliases={"Task Results": ("Task Commits",), "Deviations": ("Deviations from Plan",)},
    ),
    Form(
        "get-shit-done-metrics",
        "a summary with subsystem, a dependency graph, metrics and a table of tasks with their commits",
        seen_by=("front:metrics", "front:subsystem", "front:key-files", "front:tech-stack"),
        aliases={"Task Results": ("Tasks Completed",), "Deviations": ("Deviations from Plan",)},
    ),
    Form(
        "outcome",
        "a summary with its status, when the work started or ended, and what came of it",
        seen_by=("front:started", "front:completed", "front:tasks_completed"),
        aliases={"Task Results": ("Tasks Completed", "Results")},
    ),
    Form(
        "key-files",
        "a short summary with provides, requires, key_files and deferred",
        seen_by=("front:key_files", "front:deferred"),
    ),
    Form(
        "headed",
        "a summary without frontmatter: results under a heading for each task",
        seen_by=("part:Results",),
        aliases={"Task Results": ("Results",)},
    ),
    other_form("front:provides", "part:Task Results"),
)


class Claimed(NamedTuple):
    """A must-have and what the executor says of it; `state` is None where it says none of the three words."""

    text: str
    state: ClaimState | None
    line: int


class TaskResult(NamedTuple):
    """A row of the table of task results."""

    task: str
    status: str
    notes: str
    line: int = 0


class Accomplishment(NamedTuple):
    """A statement of a summary that has no must-haves: what it says was done."""

    text: str
    line: int


class ExecutionSummary(Document):
    """What was done of one plan, as its executor says.

    `commits` are those of the frontmatter, else those named in the section of tasks; `accomplishments` are what older
    forms have instead of must-haves, `table` the one of task results.
    Source: document 003, Executor -> Verifier; rule D1.
    """

    FORMS: ClassVar[tuple[Form, ...]] = SUMMARY_FORMS

    kind: Kind = "summary"
    plan: str | None = None
    status: str | None = None
    commits: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    must_haves: tuple[Claimed, ...] = ()
    task_results: tuple[TaskResult, ...] = ()
    deviations: tuple[str, ...] = ()
    requirements_completed: tuple[str, ...] = ()
    accomplishments: tuple[Accomplishment, ...] = ()
    table: InstanceOf[Table] | None = Field(None, repr=False)

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """The typed fields of a summary."""
        front = source.front
        deviations = form.part(source, "Deviations")
        tasks = form.part(source, "Task Results")
        found = table_with(source, tasks, "Task") if tasks else None
        done = source.part("Accomplishments") or source.part("Key Outcomes")
        return {
            "plan": text_of(front, "plan"),
            "status": text_of(front, "status"),
            "commits": _commits(source, form),
            "provides": entry_texts(front, "provides"),
            "must_haves": tuple(claimed(entry.text, entry.line) for entry in entries_of(front, "must_haves")),
            "task_results": tuple(_task_results(found)),
            "table": found,
            "deviations": tuple(_deviations(source, deviations)) if deviations else (),
            "requirements_completed": entry_texts(front, "requirements-completed"),
            "accomplishments": tuple(Accomplishment(bullet.text, bullet.line) for bullet in items(source, done)),
        }


def claimed(text: str, line: int) -> Claimed:
    """A must-have of a summary divided from the word behind its last colon.

    >>> claimed("Users can log in: DONE", 7)
    Claimed(text='Users can log in', state='DONE', line=7)
    >>> claimed("Users can log in: nearly", 7).state is None
    True
    """
    head, colon, word = text.rpartition(":")
    for state in CLAIM_STATES:
        if colon and word.strip() == state:
            return Claimed(head.strip(), state, line)
    return Claimed(text, None, line)


def _commits(source: Source, form: Form) -> tuple[str, ...]:
    """The commits of the frontmatter; without that field those named in the section of tasks, each once."""
    if "commits" in source.front.values:
        return entry_texts(source.front, "commits")
    part = form.part(source, "Task Results")
    text = "\n".join(line for _, line in source.lines_of(part)) if part else ""
    return tuple(dict.fromkeys(_COMMIT.findall(text)))


def _deviations(source: Source, part: Part) -> Iterator[str]:
    """The numbered deviations in bold, as an older form has them; without them the items of the list."""
    numbered = [found["text"] for _, line in source.prose_of(part) if (found := _NUMBERED.match(line))]
    yield from numbered or (bullet.text for bullet in items(source, part))


def _task_results(found: Table | None) -> Iterator[TaskResult]:
    for (task, status, notes), line in rows_of(found, ["Task"], ["Status"], ["Notes"]):
        yield TaskResult(task, status, notes, line)


def write_summary(
    plan: str,
    status: Literal["complete", "partial", "checkpoint"],
    must_haves: Sequence[Claimed],
    task_results: Sequence[TaskResult] = (),
    *,
    commits: Sequence[str] = (),
    provides: Sequence[str] = (),
    deviations: Sequence[str] = (),
) -> str:
    """A new summary of a plan, in document 003's form; texts are written on one line each.

    A must-have without a state is written as SKIPPED: nobody said that it was done.
    """
    expect_lists(commits=commits, provides=provides, deviations=deviations)
    front = {
        "plan": plan,
        "status": status,
        "commits": list(commits),
        "provides": list(provides),
        "must_haves": [f"{claim.text}: {claim.state or 'SKIPPED'}" for claim in must_haves],
    }
    return document(
        front,
        [
            f"# Summary: {plan}",
            "",
            "## Task Results",
            "",
            *table(("Task", "Status", "Notes"), [result[:3] for result in task_results]),
            "",
            "## Deviations",
            "",
            *([item(text) for text in deviations] or ["None"]),
        ],
    )

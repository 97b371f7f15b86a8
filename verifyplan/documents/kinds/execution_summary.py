"""Execution summary: what an executor says it did for one plan; none of it is proof (rules D1, D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, get_args

from pydantic import Field, InstanceOf

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.reading.body import DocumentSection, MarkdownTable, rows_of
from verifyplan.documents.reading.comparing import id_in_name, plan_key
from verifyplan.documents.reading.document import CONTRACT, Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.front import entries_of, entry_texts, text_of
from verifyplan.documents.reading.phrases import LocatedText
from verifyplan.documents.reading.source import Source
from verifyplan.errors import one_of
from verifyplan.text import counted

ClaimState = Literal["DONE", "PARTIAL", "SKIPPED"]
CLAIM_STATES: tuple[ClaimState, ...] = get_args(ClaimState)

COLUMNS = ("Task", "Status", "Notes")

_NUMBERED = re.compile(r"\*\*\d{1,4}\.[ ]*(?P<text>[^*]*)\*\*")
_COMMIT = re.compile(r"(?<![\w-])[0-9a-f]{7,40}(?![\w-])")
_SHA = re.compile(r"[0-9a-fA-F]{7,40}")


class Claimed(NamedTuple):
    """A must-have and the state that the executor gives it; `state` is None for any word but the three."""

    text: str
    state: ClaimState | None
    line: int


class TaskResult(NamedTuple):
    """A row of the table of task results."""

    task: str
    status: str
    notes: str
    line: int = 0


class ExecutionSummary(Document):
    """The work on one plan, as its executor reports it.

    `commits` are those of the frontmatter, else those in the section of tasks; `accomplishments` are what older forms
    have instead of must-haves, `table` is the one of task results.
    """

    FORMS = (
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
    FIELDS = (
        RequiredField("plan", "text"),
        RequiredField("status", "word", ("complete", "partial", "checkpoint")),
        RequiredField("commits", "texts"),
        RequiredField("provides", "texts"),
        RequiredField("must_haves", "texts", shape='["the must-have: DONE", ...], each of DONE, PARTIAL or SKIPPED'),
    )
    SECTIONS = ("Task Results", "Deviations")

    kind: DocumentKind = "summary"
    plan: str | None = None
    status: str | None = None
    commits: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    must_haves: tuple[Claimed, ...] = ()
    task_results: tuple[TaskResult, ...] = ()
    deviations: tuple[str, ...] = ()
    requirements_completed: tuple[str, ...] = ()
    accomplishments: tuple[LocatedText, ...] = ()
    table: InstanceOf[MarkdownTable] | None = Field(None, repr=False)

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """Return the typed fields of a summary."""
        front = source.front
        deviations = form.section(source, "Deviations")
        table = source.table_with(form.section(source, "Task Results"), "Task")
        accomplishments = source.section("Accomplishments") or source.section("Key Outcomes")
        return {
            "commits": _commits(source, form),
            "provides": entry_texts(front, "provides"),
            "must_haves": tuple(claimed(entry.text, entry.line) for entry in entries_of(front, "must_haves")),
            "task_results": tuple(map(TaskResult._make, rows_of(table, *COLUMNS))),
            "table": table,
            "deviations": _deviations(source, deviations) if deviations else (),
            "requirements_completed": entry_texts(front, "requirements-completed"),
            "accomplishments": tuple(LocatedText(b.text, b.line) for b in source.top_bullets(accomplishments)),
        }


def claimed(text: str, line: int) -> Claimed:
    """Split a must-have of a summary from the word behind its last colon.

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
    """Return the commits of the frontmatter; without that field those in the section of tasks, each once."""
    if "commits" in source.front.values:
        return entry_texts(source.front, "commits")
    section = form.section(source, "Task Results")
    text = "\n".join(line for _, line in source.lines_of(section)) if section else ""
    return tuple(dict.fromkeys(_COMMIT.findall(text)))


def _deviations(source: Source, section: DocumentSection) -> tuple[str, ...]:
    """Return the numbered deviations in bold, as an older form has them; without them the list items."""
    numbered = (_NUMBERED.match(line) for _, line in source.prose_of(section))
    bold = tuple(match["text"] for match in numbered if match)
    return bold or tuple(bullet.text for bullet in source.top_bullets(section))


def check_summary(summary: ExecutionSummary) -> Iterator[Violation]:
    """Yield the violations of an execution summary by itself (rule D2)."""
    front = summary.source.front
    yield from check_layout(summary, {"Task Results": (COLUMNS, summary.table)})
    for claim in summary.must_haves:
        if claim.state is None:
            allowed = one_of(CLAIM_STATES)
            yield violation("summary/must-have-state", summary.path, claim.line, must_have=claim.text, allowed=allowed)
    n_open = sum(claim.state in ("PARTIAL", "SKIPPED") for claim in summary.must_haves)
    if summary.status == "complete" and n_open:
        left = f"{counted(n_open, 'must-have')} {'is' if n_open == 1 else 'are'}"
        yield violation("summary/status-above-results", summary.path, front.line("status"), open=left)
    for commit in entries_of(front, "commits"):
        if not _SHA.fullmatch(commit.text):
            yield violation("summary/commit-form", summary.path, commit.line, commit=commit.text)
    deviations = summary.section("Deviations")
    if deviations and summary.source.is_empty(deviations):
        yield violation("summary/deviations-empty", summary.path, deviations.first)
    path = PurePath(summary.path)
    if summary.plan is not None and "summary" in path.stem.lower():
        phase, in_name = text_of(front, "phase") or path.parent.name, id_in_name(summary.path)
        if plan_key(in_name, phase) != plan_key(summary.plan, phase):
            values = {"plan": summary.plan, "in_name": in_name}
            yield violation("summary/file-name", summary.path, front.line("plan"), **values)

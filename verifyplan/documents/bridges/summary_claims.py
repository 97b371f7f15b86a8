"""The claims of an execution summary as findings: the verifier does not trust the summary (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from verifyplan.documents.bridges.must_haves import (
    MAX_TASKS_READ,
    cited,
    document_of,
    evidence_of,
    expect_readable,
    full_paths,
    planned_must_haves,
    statement,
)
from verifyplan.documents.checks.cross_document_plans import planned_task
from verifyplan.documents.dimensions.plan_graph import name_of
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.kinds.plan import MustHave, PlanDocument, named_path
from verifyplan.documents.reading.comparing import id_in_name, matched, paths_in, phase_number
from verifyplan.documents.reading.front import text_of, texts_of, value_of
from verifyplan.documents.reading.phrases import outcome
from verifyplan.documents.reading.writing import one_line
from verifyplan.protocol.vote import Finding

EXECUTOR = "executor"
"""The worker that brings the claims of a summary, unless another is named."""

CATEGORIES = ("must-have", "accomplishment", "provides", "file-created", "file-modified", "commit", "task")
"""The kinds of claims, in their order."""

_SYMBOL = re.compile(r"`?([^\W\d]\w*)(?:\(\))?`?")
_IN_BACKTICKS = re.compile(r"`([^`\n]+)`")


class _SummaryClaim(NamedTuple):
    """A claim: its kind, its text, the places that would show it, and the must-have that it is."""

    category: str
    text: str
    evidence: str
    must_have: str = ""


def claims(
    summary: ExecutionSummary | str | Path, plan: PlanDocument | str | Path | None = None, *, worker: str = EXECUTOR
) -> tuple[Finding, ...]:
    r"""Return what an execution summary says was done, as findings for a cross run against the repository.

    Args:
        summary: the summary or its file, of any known form: must-haves that are DONE, what older forms call
            accomplishments, provided items, files created and modified, commits, tasks done.
        plan: the plan that was executed; with it a claim has the id of the must-have that it is, and cites the
            files of the task where the summary names none.
        worker: the worker that brings the claims; it has to be on the roster of the run, and votes on none of them.

    Returns:
        The findings, `01-01/claim-1` and so on; none where the summary claims nothing. PARTIAL and SKIPPED are
        not claims. The summary itself is never evidence: a claim cites the files that the summary names.

    Raises:
        InputError: where a file or the summary's frontmatter cannot be read, or a file is another document.

    Run them adversarially: otherwise nobody opens a file (rule B4). Source: rule D5.

    >>> from verifyplan.documents.loading import load_text
    >>> text = '---\nplan: "01-01"\ncommits: ["1c5991d"]\nmust_haves: ["api.py: answers pings: DONE"]\n---\n'
    >>> found = claims(load_text(text, "SUMMARY-01-01.md"))
    >>> [(finding.finding_id, finding.category) for finding in found]
    [('01-01/claim-1', 'must-have'), ('01-01/claim-2', 'commit')]
    """
    reported = document_of(summary, ExecutionSummary)
    expect_readable(reported)
    planned = document_of(plan, PlanDocument) if plan is not None else None
    name = one_line(name_of(planned) if planned else _plan_name(reported)) or "summary"
    distinct = dict.fromkeys(_SummaryClaim(*map(one_line, claim)) for claim in _claims(reported, planned))
    return tuple(
        Finding(
            finding_id=f"{name}/claim-{number}",
            summary=claim.text,
            evidence=claim.evidence,
            worker=worker,
            category=claim.category,
            ticket_ids=(claim.must_have,) if claim.must_have else (),
        )
        for number, claim in enumerate((claim for claim in distinct if claim.text), 1)
    )


def _plan_name(summary: ExecutionSummary) -> str:
    """The id of the plan that a summary reports on, with its phase's number where it is a number alone."""
    own = summary.plan or id_in_name(summary.path) or PurePath(summary.path).stem
    phase = (text_of(summary.source.front, "phase") or "").strip()
    return f"{phase.partition('-')[0]}-{own}" if own.isdecimal() and phase_number(phase) else own


def _claims(summary: ExecutionSummary, plan: PlanDocument | None) -> Iterator[_SummaryClaim]:
    files = _files(summary)
    own = (path for claimed in summary.must_haves for path in paths_in(claimed.text))
    known = tuple(dict.fromkeys((*(plan.files_modified if plan else ()), *files, *own)))
    yield from _must_have_claims(summary, plan, known)
    for accomplishment in summary.accomplishments:
        text = one_line(accomplishment.text)
        yield _SummaryClaim("accomplishment", text, _places(text, known))
    for item in summary.provides:
        yield _SummaryClaim("provides", _provided(one_line(item)), _places(item, known))
    for path, category in files.items():
        text = f"The file `{path}` exists, and it was {category.removeprefix('file-')}."
        yield _SummaryClaim(category, text, cited([path]))
    for commit in summary.commits:
        yield _SummaryClaim("commit", f"Commit {commit} is part of the history of the repository.", "")
    tasks = plan.tasks[:MAX_TASKS_READ] if plan else ()
    for result in summary.task_results:
        name = one_line(result.task)
        completed = not result.status.strip() and summary.form != "contract"  # the form lists completed tasks only
        if not name or not (completed or outcome(result.status) == "passed"):
            continue
        task = planned_task(result, tasks)
        done = one_line(task.text("done")) if task else ""
        text = f"Task {name} is done{f': {done}' if done else '.'}"
        yield _SummaryClaim("task", text, cited(task.files if task else paths_in(result.notes)))


def _places(text: str, known: tuple[str, ...]) -> str:
    """The places that a text names, else all known files."""
    return cited(full_paths(paths_in(text), known)) or cited(known)


def _must_have_claims(
    summary: ExecutionSummary, plan: PlanDocument | None, known: tuple[str, ...]
) -> Iterator[_SummaryClaim]:
    """The must-haves that are said to be DONE; the plan's words replace those of the summary where they match."""
    done = [one_line(claimed.text) for claimed in summary.must_haves if claimed.state == "DONE"]
    planned = list(planned_must_haves([plan])) if plan else []
    for text, at in zip(done, matched(done, [must_have.text for must_have in planned]), strict=True):
        if at is None:
            path = named_path(text)
            stated = MustHave(text, "artifact" if path else "truth", 0, path)
            yield _SummaryClaim("must-have", statement(stated), _places(text, known))
        else:
            same = planned[at]
            yield _SummaryClaim("must-have", statement(same.must_have), evidence_of(same), same.id)


def _provided(item: str) -> str:
    """The claim of a provided item; a bare name is one that is defined.

    >>> _provided("check_token"), _provided("token check for all routes")
    ('`check_token` is defined.', 'It provides: token check for all routes')
    """
    symbol = _SYMBOL.fullmatch(item)
    is_code = symbol and any(mark in item for mark in "_`(")
    return f"`{symbol[1]}` is defined." if symbol and is_code else f"It provides: {item}"


def _files(summary: ExecutionSummary) -> dict[str, str]:
    """The category of the claim for each file that a summary says was created or modified."""
    categories: dict[str, str] = {}
    for category, path in _named_files(summary):
        clean = path.strip("`").removeprefix("./").strip()
        if clean and paths_in(clean) == [clean]:
            categories.setdefault(clean, category)
    return categories


def _named_files(summary: ExecutionSummary) -> Iterator[tuple[str, str]]:
    """Files of the frontmatter, and paths in backticks at the head of items under "Files Created/Modified" or so."""
    front = summary.source.front
    for key in ("key-files", "key_files"):
        for word in ("created", "modified"):
            yield from ((f"file-{word}", path) for path in texts_of(front, key, word))
        if isinstance(value_of(front, key), list):
            yield from (("file-modified", path) for path in texts_of(front, key))
    for word in ("created", "modified"):
        yield from ((f"file-{word}", path) for path in texts_of(front, f"files_{word}"))
    section = summary.source.section_where(lambda title: title.startswith(("files ", "key files")))
    for bullet in summary.source.bullets(section) if section else ():
        if path := _IN_BACKTICKS.match(bullet.text):
            yield "file-modified", path[1]

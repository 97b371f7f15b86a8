"""The claims of an execution summary as findings: the verifier does not trust the summary (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from verifyplan.documents.bridges.must_haves import (
    MAX_TASKS_READ,
    cited,
    document_of,
    evidence_of,
    expect_readable,
    known_as,
    one_line,
    statement,
    wanted_of,
)
from verifyplan.documents.checks.cross_document_plans import planned_task
from verifyplan.documents.dimensions.overlap import paths_in
from verifyplan.documents.dimensions.plan_graph import name_of
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.kinds.plan import MustHave, PlanDocument, named_path
from verifyplan.documents.reading.comparing import id_in_name, matched, phase_number
from verifyplan.documents.reading.front import text_of, texts_of, value_of
from verifyplan.documents.reading.phrases import outcome
from verifyplan.protocol.vote import Finding

EXECUTOR = "executor"
"""Who brings the claims of a summary, unless somebody else is named."""

CATEGORIES = ("must-have", "accomplishment", "provides", "file-created", "file-modified", "commit", "task")
"""The kinds of claims, in the order in which they are given."""

_NAME = re.compile(r"`?([^\W\d]\w*)(?:\(\))?`?")
_TICKED = re.compile(r"`([^`\n]+)`")


class _Claim(NamedTuple):
    """What is claimed, the places that would show it, what kind of claim it is, and the must-have that it is."""

    category: str
    text: str
    evidence: str
    must_have: str = ""


def claims(
    summary: ExecutionSummary | str | Path,
    plan: PlanDocument | str | Path | None = None,
    *,
    worker: str = EXECUTOR,
) -> tuple[Finding, ...]:
    r"""What an execution summary says was done, as findings for a cross run against the repository.

    Args:
        summary: the summary or its file, of any known form: must-haves that are DONE, what older forms call
            accomplishments, provided items, files created and modified, commits, tasks done.
        plan: the plan that was executed; with it a claim carries the id of the must-have that it is, and cites the
            files of the task where the summary names none.
        worker: who brings the claims; it has to be on the roster of the run, and votes on none of them.

    Returns:
        The findings, `01-01/claim-1` and so on; none where the summary claims nothing. What is PARTIAL or SKIPPED is
        no claim. The summary itself is never evidence: what is cited is what it says is there.

    Raises:
        InputError: where a file or the summary's frontmatter cannot be read, or a file is another document.

    Run them adversarially: otherwise nobody opens a file (rule B4). Source: rule D5; document 003.

    >>> from verifyplan.documents.loading import load_text
    >>> text = '---\nplan: "01-01"\ncommits: ["1c5991d"]\nmust_haves: ["api.py: answers pings: DONE"]\n---\n'
    >>> [(finding.finding_id, finding.category) for finding in claims(load_text(text, "SUMMARY-01-01.md"))]
    [('01-01/claim-1', 'must-have'), ('01-01/claim-2', 'commit')]
    """
    told = document_of(summary, ExecutionSummary)
    expect_readable(told)
    done = document_of(plan, PlanDocument) if plan is not None else None
    name = one_line(name_of(done) if done else _name(told)) or "summary"
    found = dict.fromkeys(_Claim(*map(one_line, claim)) for claim in _claims(told, done))
    return tuple(
        Finding(
            finding_id=f"{name}/claim-{number}",
            summary=claim.text,
            evidence=claim.evidence,
            worker=worker,
            category=claim.category,
            ticket_ids=(claim.must_have,) if claim.must_have else (),
        )
        for number, claim in enumerate((claim for claim in found if claim.text), 1)
    )


def _name(summary: ExecutionSummary) -> str:
    """The id of the plan that a summary reports on, with its phase's number where it is a number alone."""
    own = summary.plan or id_in_name(summary.path) or PurePath(summary.path).stem
    phase = (text_of(summary.source.front, "phase") or "").strip()
    return f"{phase.partition('-')[0]}-{own}" if own.isdecimal() and phase_number(phase) else own


def _claims(summary: ExecutionSummary, plan: PlanDocument | None) -> Iterator[_Claim]:
    files = _files(summary)
    own = (path for claimed in summary.must_haves for path in paths_in(claimed.text))
    known = tuple(dict.fromkeys((*(plan.files_modified if plan else ()), *files, *own)))

    def shown(text: str) -> str:
        return cited(known_as(paths_in(text), known)) or cited(known)

    yield from _must_haves(summary, plan, shown)
    for accomplishment in summary.accomplishments:
        text = one_line(accomplishment.text)
        yield _Claim("accomplishment", text, shown(text))
    for item in summary.provides:
        yield _Claim("provides", _provided(one_line(item)), shown(item))
    for path, category in files.items():
        yield _Claim(category, f"The file `{path}` exists, and it was {category.removeprefix('file-')}.", cited([path]))
    for commit in summary.commits:
        yield _Claim("commit", f"Commit {commit} is part of the history of the repository.", "")
    yield from _tasks(summary, plan)


def _must_haves(summary: ExecutionSummary, plan: PlanDocument | None, shown: Callable[[str], str]) -> Iterator[_Claim]:
    """The must-haves that are said to be DONE; the plan's words stand for those of the summary where they match."""
    done = [one_line(claimed.text) for claimed in summary.must_haves if claimed.state == "DONE"]
    wanted = wanted_of([plan]) if plan else ()
    for text, at in zip(done, matched(done, [one.text for one in wanted]), strict=True):
        if at is not None:
            yield _Claim("must-have", statement(wanted[at].must_have), evidence_of(wanted[at]), wanted[at].id)
            continue
        path = named_path(text)
        stated = statement(MustHave(text, "artifact" if path else "truth", 0, path))
        yield _Claim("must-have", stated, shown(text))


def _provided(item: str) -> str:
    """What a provided item claims; a bare name is one that is defined.

    >>> _provided("check_token"), _provided("token check for all routes")
    ('`check_token` is defined.', 'It provides: token check for all routes')
    """
    name = _NAME.fullmatch(item)
    return (
        f"`{name[1]}` is defined." if name and ("_" in item or "`" in item or "(" in item) else f"It provides: {item}"
    )


def _files(summary: ExecutionSummary) -> dict[str, str]:
    """The category of the claim for each file that a summary says was created or modified."""
    found: dict[str, str] = {}
    for category, path in (*_listed(summary), *_told(summary)):
        clean = path.strip("`").removeprefix("./").strip()
        if clean and paths_in(clean) == [clean]:
            found.setdefault(clean, category)
    return found


def _listed(summary: ExecutionSummary) -> Iterator[tuple[str, str]]:
    front = summary.source.front
    for key in ("key-files", "key_files"):
        for word in ("created", "modified"):
            yield from ((f"file-{word}", path) for path in texts_of(front, key, word))
        if isinstance(value_of(front, key), list):
            yield from (("file-modified", path) for path in texts_of(front, key))
    for word in ("created", "modified"):
        yield from ((f"file-{word}", path) for path in texts_of(front, f"files_{word}"))


def _told(summary: ExecutionSummary) -> Iterator[tuple[str, str]]:
    """The paths in backticks that the items of a section such as "Files Created/Modified" begin with."""
    part = summary.source.section_where(lambda title: title.startswith(("files ", "key files")))
    for bullet in summary.source.bullets(part) if part else ():
        path = _TICKED.match(bullet.text)
        if path:
            yield "file-modified", path[1]


def _tasks(summary: ExecutionSummary, plan: PlanDocument | None) -> Iterator[_Claim]:
    """The tasks that are said to be done; a form whose table has no status lists what is completed."""
    tasks = plan.tasks[:MAX_TASKS_READ] if plan else ()
    for result in summary.task_results:
        named = one_line(result.task)
        listed = not result.status.strip() and summary.form != "contract"
        if not named or not (listed or outcome(result.status) == "passed"):
            continue
        task = planned_task(result, tasks)
        said = one_line(task.text("done")) if task else ""
        files = task.files if task else paths_in(result.notes)
        yield _Claim("task", f"Task {named} is done{f': {said}' if said else '.'}", cited(files))

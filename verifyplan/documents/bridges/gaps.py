"""The gaps of a verification as the next plan: a task for each, from what was planned and what was found (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from verifyplan.documents.bridges.must_haves import Plans, Wanted, document_of, one_line, plans_of, tasks_of, wanted_of
from verifyplan.documents.dimensions.overlap import paths_in
from verifyplan.documents.dimensions.plan_graph import name_of, phase_of
from verifyplan.documents.kinds.plan import (
    IMPLIED_MODEL,
    MUST_HAVES,
    MustHave,
    PlanDocument,
    Task,
    is_artifact,
    is_plan_id,
)
from verifyplan.documents.kinds.verification import Gap, MustHaveResult, VerificationDocument
from verifyplan.documents.kinds.write_plan import PlannedTask, write_plan
from verifyplan.documents.reading.comparing import matched, phase_number
from verifyplan.documents.reading.front import entry_texts
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem

_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")
_GROUPS = {kind: group for group, kind in MUST_HAVES.items()}
_LONGEST_NAME = 80


class _Closing(NamedTuple):
    """A gap with the must-have that it is, if it is one, and the plan and task that were to bring it about."""

    gap: Gap
    wanted: Wanted | None
    plan: PlanDocument
    task: Task | None

    @property
    def text(self) -> str:
        """What must hold when the gap is closed: the must-have, else what the gap is called."""
        return self.wanted.text if self.wanted else one_line(self.gap.title)


def gap_plan(
    verification: VerificationDocument | str | Path, plan: Plans, *, number: str | None = None, path: str | None = None
) -> PlanDocument:
    """The plan that closes the gaps of a verification: a task for each gap, in their order.

    Args:
        verification: a verification that found gaps, or its file.
        plan: the plan that was verified, or all plans of the phase: each gap's task has the files and the check of the
            task that was to bring its must-have about.
        number: the new plan's id, as "01-03" or "03"; by default the one after the last of `plan`.
        path: the name of the document; by default `PLAN-03.md` or the like beside the plan.

    Returns:
        A plan marked `gap_closure`, in the wave after its plans, whose must-haves are those that failed. It passes its
        own check. Human-needed items are no gaps: a person closes those.

    Raises:
        InputError: where there is no gap, a plan has no number to count on from, or no file is known for a gap.

    Source: rule D5; document 003, Gap Closure Mode.
    """
    told, plans = document_of(verification, VerificationDocument), plans_of(plan)
    closings = _closings(told, plans)
    if not closings:
        named = verification if isinstance(verification, str | Path) else "verification"
        raise InputError(_no_gap(told, str(named)))
    name = _plan_id(number, plans)
    concerned = list(dict.fromkeys(name_of(closing.plan) for closing in closings))
    text = write_plan(
        phase=plans[0].phase or phase_of(plans[0]),
        plan=name,
        wave=max((one.wave or 1) for one in plans) + 1,
        depends_on=concerned,
        objective=f"Close what attempt {told.attempt or 1} of the verification found open in {', '.join(concerned)}.",
        tasks=[_task(closing) for closing in closings],
        must_haves=_must_haves(closings),
        requirement_ids=list(dict.fromkeys(one for closing in closings for one in closing.plan.requirement_ids)),
        gap_closure=True,
    )
    beside = str(PurePath(plans[0].path).parent / f"PLAN-{name.rpartition('-')[2]}.md")
    return PlanDocument.read(read_source(text, path or beside))


def _closings(told: VerificationDocument, plans: Sequence[PlanDocument]) -> list[_Closing]:
    gaps = _gaps(told)
    wanted = wanted_of(plans)
    found = matched([one_line(gap.title) for gap in gaps], [one.text for one in wanted])
    closings = [
        _closing(gap, wanted[at] if at is not None else None, plans) for gap, at in zip(gaps, found, strict=True)
    ]
    problems = [
        Problem(f"gap {closing.text[:80]!r}", "names no file, and neither does its task", "name a file in its evidence")
        for closing in closings
        if not _files(closing)
    ]
    if problems:
        raise InputError(problems)
    return closings


def _gaps(told: VerificationDocument) -> list[Gap]:
    """All gaps of a verification: those told in detail, and what the frontmatter or the table alone says is open.

    What the frontmatter lists as resolved is none, wherever else it is told. Rows that failed count where fewer gaps
    are told than failed: gaps may be told in other words.
    """
    failed = [Gap(row.text, row.evidence, "") for row in told.results if _failed(told, row)]
    closed = [title for title in entry_texts(told.source.front, "gaps") if title not in told.gaps]
    found = [gap for gap in told.gap_details if _is_new(gap, closed)]
    listed = [Gap(title, "", "") for title in told.gaps]
    found += [gap for gap in listed if _is_new(gap, [one.title for one in found])]
    if len(found) < len(failed):
        found += [gap for gap in failed if _is_new(gap, [*closed, *(one.title for one in found)])]
    return found


def _is_new(gap: Gap, known: Sequence[str]) -> bool:
    return matched([one_line(gap.title)], [one_line(title) for title in known]) == [None]


def _failed(told: VerificationDocument, row: MustHaveResult) -> bool:
    return row.outcome == "failed" and not told.overridden(row)


_NEXT = {
    "passed": "all must-haves passed, so that no plan is needed",
    "human_needed": "a person has to look first at what is HUMAN NEEDED; who finds it wrong tells it as a gap",
}


def _no_gap(told: VerificationDocument, named: str) -> Problem:
    """That there is nothing to plan, with the status that says why; `named` is what the caller gave."""
    status = f"its status is {told.status}" if told.status else "it states no status"
    fix = _NEXT.get(told.status or "", "list the gaps in its frontmatter, and tell each under ## Gaps")
    return Problem(named, f"has no gap to close: {status}", fix)


def _closing(gap: Gap, wanted: Wanted | None, plans: Sequence[PlanDocument]) -> _Closing:
    """A gap with its task; one that is no must-have is held against the tasks of all plans by its words."""
    if wanted is not None:
        return _Closing(gap, wanted, wanted.plan, wanted.task)
    told = MustHave(f"{gap.title} {gap.fix}", "truth", 0)
    found = [(plan, task) for plan in plans if (task := tasks_of(plan)(told))]
    return _Closing(gap, None, *(found[0] if found else (plans[0], None)))


def _plan_id(number: str | None, plans: Sequence[PlanDocument]) -> str:
    """The id that is asked for, else the phase's number and the one after the last plan's."""
    phase = plans[0].phase or phase_of(plans[0])
    if number is not None and is_plan_id(number, phase):
        return number
    own = phase.partition("-")[0] if phase_number(phase) else ""
    lasts = [_LAST_NUMBER.search(name_of(plan)) for plan in plans]
    nexts = [int(found[1]) + 1 for found in lasts if found]
    last = number if number is not None and number.isdecimal() else f"{max(nexts):02d}" if nexts and not number else ""
    if not own or not last:
        named = f"number {number!r}" if number else "number"
        message = f"no id can be made for the plan of phase {phase!r}"
        raise InputError(Problem(named, message, 'give it whole, as "01-03", of a phase that begins with its number'))
    return f"{own}-{last}"


def _files(closing: _Closing) -> tuple[str, ...]:
    """The file of an artifact; else the task's files, those that the gap names, or the plan's, whichever there are.

    A gap that is no must-have is no task's either: what it names comes first.
    """
    if closing.wanted and closing.wanted.must_have.kind == "artifact" and closing.wanted.must_have.path:
        return (closing.wanted.must_have.path,)
    planned = closing.task.files if closing.task else ()
    named = tuple(dict.fromkeys(path for path in paths_in(f"{closing.gap.fix} {closing.gap.evidence}") if path))
    return (planned or named if closing.wanted else named or planned) or closing.plan.files_modified


def _task(closing: _Closing) -> PlannedTask:
    task, files = closing.task, _files(closing)
    gap = closing.gap
    found = [f"Look at what was found: {gap.evidence}"] if gap.evidence.strip() else []
    return PlannedTask(
        name=f"Close the gap: {_short(closing.text)}",
        files=files,
        action=(*found, gap.fix.strip() or f"Make it hold in {', '.join(files)}: {closing.text}", "Run the check"),
        verify=(_check(task) if task else "") or _check_of(closing.plan) or f"test -s {files[0]}",
        done=closing.text,
        tdd=bool(task and task.tdd),
        complexity=task.complexity if task and task.complexity in IMPLIED_MODEL else "medium",
    )


def _check(task: Task) -> str:
    """A task's check as one line of shell; its lines are commands that must all succeed."""
    automated = "\n".join(element.text for element in task.elements if element.name == "automated")
    lines = [line.strip() for line in (automated.strip() or task.text("verify")).split("\n")]
    told = [line for line in lines if line and not line.startswith("#")]
    joined = ""
    for line in told:
        open_ended = joined.endswith(_GOES_ON)
        joined = f"{joined.removesuffix(BACKSLASH).rstrip()} {line}" if open_ended else f"{joined} && {line}"
    return joined.removeprefix(" && ").strip()


def _check_of(plan: PlanDocument) -> str:
    """The first check of a plan that runs something; that a file is there does not show that a gap is closed."""
    checks = (_check(task) for task in plan.tasks)
    return next((check for check in checks if check and not check.startswith(("test -", "ls ", "[ "))), "")


BACKSLASH = "\\"
_GOES_ON = (BACKSLASH, "&&", "||", "|", ";", "do", "then", "{", "(")
"""How a line ends on which a command is not yet whole."""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 4].rstrip()} ..."


def _must_haves(closings: Sequence[_Closing]) -> dict[str, list[str]]:
    """What failed, by its kind; what is no must-have, or no artifact as the contract writes them, is a truth."""
    groups: dict[str, list[str]] = {group: [] for group in MUST_HAVES}
    for closing in closings:
        kind = closing.wanted.must_have.kind if closing.wanted else "truth"
        plain = kind != "artifact" or is_artifact(closing.text)
        groups[_GROUPS[kind] if plain else "truths"].append(closing.text)
    return groups

"""The gaps of a verification as the next plan: a task for each, from its plan and its evidence (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from verifyplan.documents.bridges.must_haves import (
    PlannedMustHave,
    PlanOrPlans,
    cut,
    document_of,
    planned_must_haves,
    plans_of,
    task_for,
    words_of_tasks,
)
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
from verifyplan.documents.kinds.verification import Gap, VerificationDocument
from verifyplan.documents.kinds.write_plan import PlannedTask, write_plan
from verifyplan.documents.reading.comparing import matched, paths_in, phase_number
from verifyplan.documents.reading.front import entry_texts
from verifyplan.documents.reading.source import read_source
from verifyplan.documents.reading.writing import one_line
from verifyplan.errors import InputError, Problem

_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")
_GROUPS = {kind: group for group, kind in MUST_HAVES.items()}
_MAX_NAME_CHARACTERS = 80


_GOES_ON = ("\\", "&&", "||", "|", ";", "do", "then", "{", "(")
"""The ends of lines behind which a command goes on."""

_NO_GAP_FIXES = {
    "passed": "all must-haves passed, so that no plan is needed",
    "human_needed": "a person must first look at what is HUMAN NEEDED, and add what is wrong as a gap",
}


class _PlannedGap(NamedTuple):
    """A gap with the must-have that it is, if it is one, and the plan and task that were to bring it about."""

    gap: Gap
    planned: PlannedMustHave | None
    plan: PlanDocument
    task: Task | None

    @property
    def text(self) -> str:
        """The must-have that holds when the gap is closed, else the title of the gap."""
        return self.planned.text if self.planned else one_line(self.gap.title)


def gap_plan(
    verification: VerificationDocument | str | Path,
    plan: PlanOrPlans,
    *,
    number: str | None = None,
    path: str | None = None,
) -> PlanDocument:
    """Return the plan that closes the gaps of a verification: a task for each gap, in their order.

    Args:
        verification: a verification that found gaps, or its file.
        plan: the plan that was verified, or all plans of the phase: each gap's task has the files and the check of the
            task that was to bring its must-have about.
        number: the new plan's id, as "01-03" or "03"; by default the one after the last of `plan`.
        path: the name of the document; by default `PLAN-03.md` or the like beside the plan.

    Returns:
        A plan marked `gap_closure`, in the wave after its plans, whose must-haves are those that failed. It passes its
        own check. Human-needed items are not gaps: a person closes those.

    Raises:
        InputError: where there is no gap, a plan has no number to count on from, or no file is known for a gap.

    Source: rule D5.

    >>> import tempfile, verifyplan as vp
    >>> phase = (
    ...     vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels")
    ...     / ".planning"
    ...     / "phases"
    ...     / "01-tracking"
    ... )
    >>> plan = gap_plan(
    ...     phase / "VERIFICATION.md", [phase / "PLAN-01.md", phase / "PLAN-02.md"]
    ... )
    >>> [task.name for task in plan.tasks]
    ['Close the gap: A recipient is told once that a parcel has arrived']
    """
    verified, plans = document_of(verification, VerificationDocument), plans_of(plan)
    gaps = _planned_gaps(verified, plans)
    if not gaps:
        name = str(verification) if isinstance(verification, str | Path) else "verification"
        status = f"its status is {verified.status}" if verified.status else "it states no status"
        fix = _NO_GAP_FIXES.get(
            verified.status or "", "list the gaps in its frontmatter, and describe each under ## Gaps"
        )
        raise InputError(Problem(name, f"has no gap to close: {status}", fix))
    plan_id = _plan_id(number, plans)
    needed = list(dict.fromkeys(name_of(gap.plan) for gap in gaps))
    text = write_plan(
        phase=plans[0].phase or phase_of(plans[0]),
        plan=plan_id,
        wave=max((each.wave or 1) for each in plans) + 1,
        depends_on=needed,
        objective=f"Close what attempt {verified.attempt or 1} of the verification found open in {', '.join(needed)}.",
        tasks=[_task(gap) for gap in gaps],
        must_haves=_must_haves(gaps),
        requirement_ids=list(dict.fromkeys(each for gap in gaps for each in gap.plan.requirement_ids)),
        gap_closure=True,
    )
    beside = str(PurePath(plans[0].path).parent / f"PLAN-{plan_id.rpartition('-')[2]}.md")
    return PlanDocument.read(read_source(text, path or beside))


def _planned_gaps(verified: VerificationDocument, plans: Sequence[PlanDocument]) -> list[_PlannedGap]:
    """The gaps with their tasks; one that is not a must-have has the first task of all plans that shares its words."""
    planned = list(planned_must_haves(plans))
    gaps: list[_PlannedGap] = []
    all_gaps = _all_gaps(verified)
    places = matched([one_line(gap.title) for gap in all_gaps], [must_have.text for must_have in planned])
    for gap, at in zip(all_gaps, places, strict=True):
        if at is not None:
            gaps.append(_PlannedGap(gap, planned[at], planned[at].plan, planned[at].task))
            continue
        text = MustHave(f"{gap.title} {gap.fix}", "truth", 0)
        tasks = ((plan, task) for plan in plans if (task := task_for(text, words_of_tasks(plan))))
        gaps.append(_PlannedGap(gap, None, *next(tasks, (plans[0], None))))
    problems = [
        Problem(f"gap {gap.text[:80]!r}", "names no file, and neither does its task", "name a file in its evidence")
        for gap in gaps
        if not _files(gap)
    ]
    if problems:
        raise InputError(problems)
    return gaps


def _all_gaps(verified: VerificationDocument) -> list[Gap]:
    """All gaps of a verification: those with details, and those of the frontmatter or the table alone.

    A gap that the frontmatter lists as resolved does not count, wherever else it is. Rows that failed count where fewer
    gaps have details than failed: gaps may be described in other words.
    """
    failed = [
        Gap(row.text, row.evidence, "")
        for row in verified.results
        if row.outcome == "failed" and not verified.overridden(row)
    ]
    resolved = [title for title in entry_texts(verified.source.front, "gaps") if title not in verified.gaps]
    gaps = [gap for gap in verified.gap_details if _is_new(gap, resolved)]
    listed = [Gap(title, "", "") for title in verified.gaps]
    gaps += [gap for gap in listed if _is_new(gap, [known.title for known in gaps])]
    if len(gaps) < len(failed):
        gaps += [gap for gap in failed if _is_new(gap, [*resolved, *(known.title for known in gaps)])]
    return gaps


def _is_new(gap: Gap, known: Sequence[str]) -> bool:
    return matched([one_line(gap.title)], [one_line(title) for title in known]) == [None]


def _plan_id(number: str | None, plans: Sequence[PlanDocument]) -> str:
    """The given id, else the phase's number and the one after the last plan's."""
    phase = plans[0].phase or phase_of(plans[0])
    if number is not None and is_plan_id(number, phase):
        return number
    own = phase.partition("-")[0] if phase_number(phase) else ""
    lasts = [_LAST_NUMBER.search(name_of(plan)) for plan in plans]
    nexts = [int(last[1]) + 1 for last in lasts if last]
    last = number if number is not None and number.isdecimal() else f"{max(nexts):02d}" if nexts and not number else ""
    if not own or not last:
        name = f"number {number!r}" if number else "number"
        message = f"no id can be made for the plan of phase {phase!r}"
        raise InputError(Problem(name, message, 'give it whole, as "01-03", of a phase that begins with its number'))
    return f"{own}-{last}"


def _files(gap: _PlannedGap) -> tuple[str, ...]:
    """The file of an artifact; else the task's files, those that the gap names, or the plan's, whichever there are.

    A gap that is not a must-have belongs to no task: the files that it names come first.
    """
    if gap.planned and gap.planned.must_have.kind == "artifact" and gap.planned.must_have.path:
        return (gap.planned.must_have.path,)
    of_task = gap.task.files if gap.task else ()
    named = tuple(paths_in(f"{gap.gap.fix} {gap.gap.evidence}"))
    return (of_task or named if gap.planned else named or of_task) or gap.plan.files_modified


def _task(gap: _PlannedGap) -> PlannedTask:
    task, files = gap.task, _files(gap)
    evidence = [f"Look at what was found: {gap.gap.evidence}"] if gap.gap.evidence.strip() else []
    # the first check of the plan that runs something: that a file exists does not show that a gap is closed
    of_plan = (_check(each) for each in gap.plan.tasks)
    running = (check for check in of_plan if check and not check.startswith(("test -", "ls ", "[ ")))
    return PlannedTask(
        name=f"Close the gap: {cut(gap.text, _MAX_NAME_CHARACTERS)}",
        files=files,
        action=(*evidence, gap.gap.fix.strip() or f"Make it hold in {', '.join(files)}: {gap.text}", "Run the check"),
        verify=(_check(task) if task else "") or next(running, "") or f"test -s {files[0]}",
        done=gap.text,
        tdd=bool(task and task.tdd),
        complexity=task.complexity if task and task.complexity in IMPLIED_MODEL else "medium",
    )


def _check(task: Task) -> str:
    """A task's check as one line of shell; its lines are commands that must all succeed."""
    automated = "\n".join(element.text for element in task.elements if element.name == "automated")
    lines = [line.strip() for line in (automated.strip() or task.text("verify")).split("\n")]
    joined = ""
    for line in (line for line in lines if line and not line.startswith("#")):
        goes_on = joined.endswith(_GOES_ON)
        joined = f"{joined.removesuffix(_GOES_ON[0]).rstrip()} {line}" if goes_on else f"{joined} && {line}"
    return joined.removeprefix(" && ").strip()


def _must_haves(gaps: Sequence[_PlannedGap]) -> dict[str, list[str]]:
    """The must-haves that failed, by kind; any other gap, or artifact of another form, is a truth."""
    groups: dict[str, list[str]] = {group: [] for group in MUST_HAVES}
    for gap in gaps:
        kind = gap.planned.must_have.kind if gap.planned else "truth"
        well_formed = kind != "artifact" or is_artifact(gap.text)
        groups[_GROUPS[kind] if well_formed else "truths"].append(gap.text)
    return groups

"""Check plans against each other, the requirements, their summaries and their phase's verification (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import Claimed, ExecutionSummary, TaskResult
from verifyplan.documents.kinds.plan import MustHave, PlanDocument, Task
from verifyplan.documents.loading import read_text
from verifyplan.documents.reading.comparing import (
    MAX_COMPARISONS,
    id_in_name,
    phase_number,
    plan_key,
    unmatched,
    wording,
    words_of,
)
from verifyplan.documents.reading.document import CONTRACT
from verifyplan.documents.tree import Phase, Tree
from verifyplan.errors import InputError
from verifyplan.text import counted

MAX_TASKS = 200
"""So many tasks and results of a plan are compared."""
MAX_LISTED_PLANS, MAX_QUOTED_CHARACTERS = 8, 120

_REQUIREMENT_WORD = re.compile(r"[\w.-]+")
_TASK_NUMBER = re.compile(r"(?:Task\s+)?(\d{1,3})(?!\d|-|\.\d)", re.IGNORECASE)
_DENIALS = frozenset({"not", "no", "never", "without", "none", "cannot", "only", "all", "every", "any"})
_MIN_WORDS, _MIN_SHARED = 4, 0.8
"""A text shortens another if it has so many words, and such a share of them is in the other."""


def check_plans(tree: Tree) -> Iterator[Violation]:
    """Yield plan ids that are repeated in a phase, unknown dependencies, and consumed items that no plan provides.

    A dependency may name a plan of its milestone by its id, within its phase also by its number alone, or a phase;
    what a plan consumes may come from an earlier milestone. In a folder that is not a whole `.planning`, names of what
    may lie outside of it are not checked.
    """
    for phases in tree.milestones.values():
        known = frozenset(phase.key_of(plan) for phase in phases for plan in phase.plans)
        names = frozenset(name for phase in phases for name in _phase_names(phase))
        for phase in phases:
            yield from _check_plan_ids(phase)
            for plan in phase.plans:
                yield from _check_dependencies(plan, phase, known, names, whole=tree.whole)
    provided = frozenset(wording(item) for plan in tree.of(PlanDocument) for item in plan.provides)
    for plan in tree.of(PlanDocument) if tree.whole else ():
        for at, item in enumerate(plan.consumes):
            if wording(item) not in provided:
                yield violation(
                    "tree/consumed-unprovided", plan.path, plan.source.front.line("consumes", at), item=item
                )


def _phase_names(phase: Phase) -> Iterator[str]:
    """Yield what a dependency may call a phase: its folder, its number."""
    yield wording(phase.name)
    number = phase_number(phase.name)
    if number:
        yield wording(number)
        yield wording(phase.name.partition("-")[0])


def _check_plan_ids(phase: Phase) -> Iterator[Violation]:
    first: dict[str, PlanDocument] = {}
    for plan in phase.plans:
        before = first.setdefault(phase.key_of(plan), plan)
        if before is not plan:
            values = {"plan": plan.plan or id_in_name(plan.path), "other": PurePath(before.path).name}
            yield violation("tree/plan-id-repeated", plan.path, plan.source.front.line("plan"), **values)


def _check_dependencies(
    plan: PlanDocument, phase: Phase, known: frozenset[str], phases: frozenset[str], *, whole: bool
) -> Iterator[Violation]:
    here = phase_number(phase.name)
    for at, name in enumerate(plan.depends_on):
        stem = id_in_name(name) if name.endswith(".md") else name
        key = plan_key(stem, phase.name)
        if key in known or wording(stem.casefold().removeprefix("phase")) in phases:
            continue
        if whole or (here and key.startswith(f"{here}-")):
            beside = [o.plan or id_in_name(o.path) for o in phase.plans[:MAX_LISTED_PLANS] if o is not plan]
            line, listed = plan.source.front.line("depends_on", at), ", ".join(beside) or "01-01"
            yield violation("tree/dependency-unknown", plan.path, line, name=name, known=listed)


def check_requirements(tree: Tree) -> Iterator[Violation]:
    """Yield requirement ids that no REQUIREMENTS file of the tree, and no other of its overviews (ROADMAP ...), names.

    Nothing is checked without a REQUIREMENTS file, and in a small task under quick/.
    """
    if not any(PurePath(path).stem.upper().endswith("REQUIREMENTS") for path in tree.others):
        return
    known: set[str] = set()
    for path in tree.others:
        with suppress(InputError):  # a file that was readable a moment ago
            known.update(word.strip(".-") for word in _REQUIREMENT_WORD.findall(read_text(Path(path))))
    for plan in tree.of(PlanDocument):
        for at, name in enumerate(plan.requirement_ids if plan.form != "quick" else ()):
            if name.strip() not in known:
                line = plan.source.front.line(plan.the_form.key(plan.source, "requirement_ids"), at)
                yield violation("tree/requirement-unknown", plan.path, line, name=name)


def check_summaries(tree: Tree) -> Iterator[Violation]:
    """Check that a summary has a plan and a plan one summary, their tasks, and what a complete one provides.

    The plan is looked for in the summary's folder, by the `plan` field or else the file's name.
    """
    for phase in tree.phases:
        first: dict[str, ExecutionSummary] = {}
        for summary in phase.summaries:
            line = summary.source.front.line("plan")
            before = first.setdefault(phase.key_of(summary), summary)
            if before is not summary:
                yield violation("tree/summary-repeated", summary.path, line, other=PurePath(before.path).name)
            plan = phase.plan_of(summary)
            if plan is not None:
                yield from _check_tasks(plan, summary)
                yield from _check_provides(plan, summary)
            elif phase.plans or not phase.quick:
                values = {"plan": summary.plan or id_in_name(summary.path), "phase": phase.name or "."}
                yield violation("tree/summary-without-plan", summary.path, line, **values)


def planned_task(result: TaskResult, tasks: Sequence[Task]) -> Task | None:
    """Return the plan's task of a result, by its id, name or number; None where it names none of them."""
    text = result.task.strip("`* ")
    by_id = next((task for task in tasks if task.id and _begins_with_id(text, task.id)), None)
    by_name = next((task for task in tasks if task.name and task.name.casefold() in text.casefold()), None)
    number = _TASK_NUMBER.match(text)
    at = int(number[1]) - 1 if number else -1
    return by_id or by_name or (tasks[at] if 0 <= at < len(tasks) else None)


def _begins_with_id(text: str, task_id: str) -> bool:
    """Whether a text begins with an id, or with its end behind the plan's: "T1" for "01-01-T1", not "01-01-T10"."""
    ends = (task_id, task_id.rpartition("-")[2])
    return any(text.startswith(end) and not text[len(end) : len(end) + 1].isalnum() for end in ends if end)


def _check_tasks(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    """Yield results of unknown tasks, and tasks without a result; in summaries of the contract's form only."""
    if summary.form != CONTRACT.name:
        return
    tasks, results, plan_name = plan.tasks[:MAX_TASKS], summary.task_results[:MAX_TASKS], PurePath(plan.path).name
    reported = [planned_task(result, tasks) for result in results]
    for result, task in zip(results, reported, strict=True):
        if tasks and task is None and result.task.strip("`* -"):
            yield violation("tree/task-unknown", summary.path, result.line, task=result.task, plan=plan_name)
    if plan.form != CONTRACT.name or summary.table is None or summary.status != "complete" or None in reported:
        return
    for task in tasks:
        if task not in reported:
            values = {"task": task.id or task.name, "plan": plan_name}
            yield violation("tree/task-untold", summary.path, summary.table.line, **values)


def _check_provides(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    if summary.status != "complete" or "provides" not in summary.source.front.values:
        return
    missing, _ = unmatched(plan.provides, summary.provides)
    line = summary.source.front.line("provides")
    for at in missing:
        values = {"item": plan.provides[at], "plan": PurePath(plan.path).name}
        yield violation("tree/provides-dropped", summary.path, line, **values)


def check_must_haves(tree: Tree) -> Iterator[Violation]:
    """Check the must-haves of plans against their summaries, and of executed plans against their phase's verification.

    A plan is executed if it has a summary; without any summary in the phase, all plans are. Texts are compared without
    numbering and formatting. Only documents of the contract's own form that list must-haves are compared, and summaries
    whose plan is there.
    """
    for phase in tree.phases:
        for summary in phase.summaries:
            plan = phase.plan_of(summary)
            listed = summary.form == CONTRACT.name and "must_haves" in summary.source.front.values
            if plan is not None and listed:
                yield from _check_summary(plan, summary)
        executed = [plan for plan in phase.plans if phase.summary_of(plan) is not None] or phase.plans
        counts = all(verified.form == CONTRACT.name and verified.results for verified in phase.latest)
        if executed and phase.latest and counts:
            yield from _check_verified(phase, executed)


def _check_summary(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    required, claims = plan.must_haves.all(), summary.must_haves
    known = {wording(must_have.text) for must_have in required}
    missing, extra = _compared([must.text for must in required], [_claimed_text(claim, known) for claim in claims])
    line = summary.source.front.line("must_haves")
    for at in missing:
        text = required[at].text
        values = {"must_have": _quoted(text), "place": _place(plan, required[at]), "text": text}
        yield violation("tree/must-have-not-in-summary", summary.path, line, **values)
    for at in extra:
        values = {"must_have": _quoted(claims[at].text), "reason": f"{PurePath(plan.path).name} has none such"}
        yield violation("tree/must-have-unknown", summary.path, claims[at].line, **values)


def _claimed_text(claim: Claimed, known: set[str]) -> str:
    """Return the must-have that a claim is about, also where it ends with another word than a state."""
    head = claim.text.rpartition(":")[0]
    return head if claim.state is None and wording(claim.text) not in known and wording(head) in known else claim.text


def _compared(required: Sequence[str], claims: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return what is unmatched, without texts that say a must-have in fewer of its own words."""
    missing, extra = unmatched(required, claims)
    if len(missing) * len(extra) > MAX_COMPARISONS:
        return missing, extra
    pairs = [(at, place) for at in missing for place in extra if _shortens(claims[place], required[at])]
    shortened, shorter = {at for at, _ in pairs}, {place for _, place in pairs}
    return [at for at in missing if at not in shortened], [place for place in extra if place not in shorter]


def _shortens(text: str, whole: str) -> bool:
    """Whether a text has nearly all of its words from another, and has the same numbers and denials."""
    short, full = words_of(text), words_of(whole)
    numbers = [{word for word in words if any(map(str.isdigit, word))} for words in (short, full)]
    denials = [{word for word in wording(each).split() if word in _DENIALS} for each in (text, whole)]
    alike = numbers[0] == numbers[1] and denials[0] == denials[1]
    return alike and len(short) >= _MIN_WORDS and len(short & full) >= _MIN_SHARED * len(short)


def _check_verified(phase: Phase, executed: Sequence[PlanDocument]) -> Iterator[Violation]:
    required = [(plan, must_have) for plan in executed for must_have in plan.must_haves.all()]
    every = [must_have.text for plan in phase.plans for must_have in plan.must_haves.all()]
    results = [(verification, result) for verification in phase.latest for result in verification.results]
    texts = [result.text for _, result in results]
    missing, _ = unmatched([must_have.text for _, must_have in required], texts)
    _, extra = unmatched(every, texts)
    first, first_result = results[0]
    for at in missing:
        plan, must_have = required[at]
        values = {"must_have": _quoted(must_have.text), "place": _place(plan, must_have)}
        yield violation("tree/must-have-not-verified", first.path, first_result.line, **values)
    for at in extra:
        verification, result = results[at]
        values = {"must_have": _quoted(result.text), "reason": "no plan of the phase has it"}
        yield violation("tree/must-have-unknown", verification.path, result.line, **values)
    totals = [verification.must_haves_total for verification in phase.latest]
    total, n = sum(count or 0 for count in totals), len(required)
    if None not in totals and total not in (n, len(every)):
        line, counts = first.source.front.line("must_haves_total"), {"stated": total, "n": n}
        yield violation("tree/must-haves-count", first.path, line, required=counted(n, "must-have"), **counts)


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"'{line[:MAX_QUOTED_CHARACTERS]}...'" if len(line) > MAX_QUOTED_CHARACTERS else f"'{line}'"


def _place(plan: PlanDocument, must_have: MustHave) -> str:
    return f"{PurePath(plan.path).name}:{must_have.line}"

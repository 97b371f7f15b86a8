"""Must-haves are the plan's: each is in its summary and in the phase's verification, and no others are (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import Claimed, ExecutionSummary
from verifyplan.documents.kinds.plan import MustHave, PlanDocument
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.reading.comparing import MAX_COMPARISONS, unmatched, wording, words_of
from verifyplan.documents.reading.document import CONTRACT
from verifyplan.documents.tree import Phase, Tree
from verifyplan.text import counted


def check_must_haves(tree: Tree) -> Iterator[Violation]:
    """The must-haves of every plan against its summary, and of every phase's executed plans against its verification.

    Texts are compared without numbering and formatting. Documents of a form that lists no must-haves, or lists what it
    verifies in words of its own, are not asked; neither is a summary whose plan is not there.
    Source: document 003, Executor -> Verifier and Verifier -> Planner; rule D3.
    """
    for phase in tree.phases:
        for summary in phase.summaries:
            plan = phase.plan_of(summary)
            if plan is not None and lists_must_haves(summary):
                yield from _check_summary(plan, summary)
        executed = executed_plans(phase)
        if executed and phase.latest and all(map(counts_must_haves, phase.latest)):
            yield from _check_verified(phase, executed)


def lists_must_haves(summary: ExecutionSummary) -> bool:
    """Whether a summary has the field in which the contract lists must-haves."""
    return summary.form == CONTRACT.name and "must_haves" in summary.source.front.values


def counts_must_haves(verification: VerificationDocument) -> bool:
    """Whether a verification is of a form that verifies the plan's must-haves, one by one, and has the table for it."""
    return verification.form == CONTRACT.name and bool(verification.results)


def executed_plans(phase: Phase) -> tuple[PlanDocument, ...]:
    """The plans that have a summary; all of them where no plan of the phase has one.

    A plan that was not executed yet, as one that is to close gaps, has nothing to verify.
    """
    return tuple(plan for plan in phase.plans if phase.summary_of(plan) is not None) or phase.plans


def _check_summary(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    wanted, given = plan.must_haves.all(), summary.must_haves
    known = {wording(one.text) for one in wanted}
    lacking, extra = _compared([one.text for one in wanted], [_named(claim, known) for claim in given])
    line = summary.source.front.line("must_haves")
    for at in lacking:
        message = f"does not say what became of the must-have {_quoted(wanted[at].text)} ({_place(plan, wanted[at])})"
        fix = f'add "{wanted[at].text}: DONE", or PARTIAL, or SKIPPED'
        yield violation("tree/must-have-not-in-summary", summary.path, line, message, fix)
    for at in extra:
        yield _unknown(summary.path, given[at].line, given[at].text, f"{PurePath(plan.path).name} has none such")


def _compared(wanted: Sequence[str], given: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return what `unmatched` finds, but texts that say a must-have in fewer of its own words."""
    lacking, extra = unmatched(wanted, given)
    if len(lacking) * len(extra) > MAX_COMPARISONS:
        return lacking, extra
    pairs = [(at, place) for at in lacking for place in extra if _shortens(given[place], wanted[at])]
    said, known = {at for at, _ in pairs}, {place for _, place in pairs}
    return [at for at in lacking if at not in said], [place for place in extra if place not in known]


def _shortens(text: str, whole: str) -> bool:
    """Whether a text of several words has nearly all of them from another, and denies what that denies."""
    short, full = words_of(text), words_of(whole)
    exact = [{word for word in words if any(letter.isdigit() for letter in word)} for words in (short, full)]
    denies = [{word for word in wording(one).split() if word in _DENIALS} for one in (text, whole)]
    alike = exact[0] == exact[1] and denies[0] == denies[1]
    return alike and len(short) >= _FEWEST_WORDS and len(short & full) >= _OWN_WORDS * len(short)


_DENIALS = frozenset({"not", "no", "never", "without", "none", "cannot", "only", "all", "every", "any"})
_FEWEST_WORDS, _OWN_WORDS = 4, 0.8


def _named(claim: Claimed, known: set[str]) -> str:
    """The must-have that a claim is about; one that ends with no state, but another word, still names it."""
    head = claim.text.rpartition(":")[0]
    return head if claim.state is None and wording(claim.text) not in known and wording(head) in known else claim.text


def _check_verified(phase: Phase, executed: Sequence[PlanDocument]) -> Iterator[Violation]:
    wanted = [(plan, one) for plan in executed for one in plan.must_haves.all()]
    every = [one.text for plan in phase.plans for one in plan.must_haves.all()]
    given = [(verification, result) for verification in phase.latest for result in verification.results]
    texts = [result.text for _, result in given]
    lacking, _ = unmatched([one.text for _, one in wanted], texts)
    _, extra = unmatched(every, texts)
    first, result = given[0]
    for at in lacking:
        plan, one = wanted[at]
        message = f"does not verify the must-have {_quoted(one.text)} ({_place(plan, one)})"
        fix = "add a row with its status and evidence"
        yield violation("tree/must-have-not-verified", first.path, result.line, message, fix)
    for at in extra:
        verification, result = given[at]
        yield _unknown(verification.path, result.line, result.text, "no plan of the phase has it")
    yield from _check_counted(first, [one.must_haves_total for one in phase.latest], len(wanted), len(every))


def _check_counted(
    first: VerificationDocument, totals: Sequence[int | None], executed: int, every: int
) -> Iterator[Violation]:
    """The totals of the verifications against the must-haves of the executed plans, or of all."""
    total = sum(count or 0 for count in totals)
    if None not in totals and total not in (executed, every):
        message = f"must_haves_total is {total}, but the plans have {counted(executed, 'must-have')}"
        line = first.source.front.line("must_haves_total")
        yield violation("tree/must-haves-count", first.path, line, message, f"write {executed}")


def _unknown(path: str, line: int, text: str, reason: str) -> Violation:
    fix = "take it out, or put it into the plan before it is executed"
    return violation("tree/must-have-unknown", path, line, f"{_quoted(text)} is no must-have: {reason}", fix)


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"'{line[:_LONGEST]}...'" if len(line) > _LONGEST else f"'{line}'"


_LONGEST = 120


def _place(plan: PlanDocument, one: MustHave) -> str:
    return f"{PurePath(plan.path).name}:{one.line}"

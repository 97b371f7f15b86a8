"""Check that each must-have of a plan is in its summary and in the phase's verification, and no other is (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import Claimed, ExecutionSummary
from verifyplan.documents.kinds.plan import MustHave, PlanDocument
from verifyplan.documents.reading.comparing import MAX_COMPARISONS, unmatched, wording, words_of
from verifyplan.documents.reading.document import CONTRACT
from verifyplan.documents.tree import Phase, Tree
from verifyplan.text import counted

MAX_QUOTED_CHARACTERS = 120

_DENIALS = frozenset({"not", "no", "never", "without", "none", "cannot", "only", "all", "every", "any"})
_MIN_WORDS, _MIN_SHARED = 4, 0.8
"""A text shortens another if it has so many words, and such a share of them is in the other."""


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

"""Whether a plan run may end, and with which verdict: counts, never scores (rule A3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.plan_rules import NEUTRAL_RULES, POLICIES, PlanRules, Policy
from verifyplan.protocol.records import UNSETTLED, Challenge, Convergence, ConvergenceStatus, PlanVerdict, Severity


class Ruling(NamedTuple):
    """The ruling on an iteration; `verdict` is None while the run goes on, `strong` belongs to REVISE."""

    status: ConvergenceStatus
    verdict: PlanVerdict | None
    strong: bool
    blocking_open: int
    significant_open: int

    def record(self) -> Convergence:
        """Return the ruling as an iteration state holds it."""
        return Convergence(blocking_open=self.blocking_open, significant_open=self.significant_open, status=self.status)


def evaluate(
    challenges: Sequence[Challenge],
    iteration: int,
    max_iterations: int | None = None,
    policy: Policy | None = None,
    overflow: Sequence[Severity] = (),
    rules: PlanRules = NEUTRAL_RULES,
) -> Ruling:
    """Judge an iteration by counting unsettled BLOCKING and SIGNIFICANT challenges.

    OPEN and UNRESOLVED count; a blank alternative is not a mitigation. Policy `deliberate` goes on while evidence
    is pending: before the last iteration an UNRESOLVED BLOCKING blocks, and any OPEN BLOCKING or SIGNIFICANT
    continues; else, and at the last iteration, it is `protocol`. With a BLOCKING one in `overflow`, which nobody has
    looked at yet, no verdict falls before the last iteration. `rules` say from how many SIGNIFICANT ones on the verdict
    is REVISE and REVISE (strong), and more; `max_iterations` and `policy`, if given, go before theirs. Raises
    SettingsError for an unknown policy and numbers below 1. Source: rules A3, R3.

    >>> evaluate([], 1)
    Ruling(status='CONVERGED', verdict='PROCEED', strong=False, blocking_open=0, significant_open=0)
    >>> evaluate([], 1, overflow=["BLOCKING"]).status
    'CONTINUE'
    """
    max_iterations = rules.max_iterations if max_iterations is None else max_iterations
    policy = rules.policy if policy is None else policy
    _check(iteration, max_iterations, policy)
    last = iteration >= max_iterations
    unsettled = [challenge for challenge in challenges if challenge.status in UNSETTLED]
    blocking = [challenge for challenge in unsettled if challenge.severity == "BLOCKING"]
    significant = [challenge for challenge in unsettled if challenge.severity == "SIGNIFICANT"]
    outcome = _deliberate(blocking, significant) if policy == "deliberate" and not last else None
    outcome = outcome or _protocol(blocking, significant, rules, last=last)
    if outcome[1] is not None and not last and "BLOCKING" in overflow and rules.overflow_continues:
        outcome = ("CONTINUE", None, False)
    return Ruling(*outcome, len(blocking), len(significant))


Outcome = tuple[ConvergenceStatus, PlanVerdict | None, bool]


def _protocol(
    blocking: Sequence[Challenge], significant: Sequence[Challenge], rules: PlanRules, *, last: bool
) -> Outcome:
    if blocking:
        return ("FORCED_EXIT", "RETHINK", False) if last else ("BLOCKED", None, False)
    if len(significant) < rules.revise_from:
        return "CONVERGED", "PROCEED", False
    if len(significant) < rules.strong_from:
        return "CONVERGED", "REVISE", False
    if not rules.needs_alternatives or all(challenge.alternative.strip() for challenge in significant):
        return "CONVERGED", "REVISE", True
    return ("FORCED_EXIT", "REVISE", True) if last else ("CONTINUE", None, False)


def _deliberate(blocking: Sequence[Challenge], significant: Sequence[Challenge]) -> Outcome | None:
    """Return the ruling of pending evidence before the last iteration; None if nothing is pending."""
    if any(challenge.status == "UNRESOLVED" for challenge in blocking):
        return "BLOCKED", None, False
    if any(challenge.status == "OPEN" for challenge in (*blocking, *significant)):
        return "CONTINUE", None, False
    return None


def _check(iteration: int, max_iterations: int, policy: str) -> None:
    problems = [
        Problem(name, f"{value!r} is out of range", "give a whole number from 1")
        for name, value in (("iteration", iteration), ("max_iterations", max_iterations))
        if value < 1
    ]
    if policy not in POLICIES:
        problems.append(Problem("policy", f"{policy!r} is unknown", f"use {one_of(POLICIES)}"))
    if problems:
        raise SettingsError(problems)


def verdict_words(verdict: PlanVerdict | None, strong: bool) -> str:
    """Return a verdict as people read it; `strong` belongs to REVISE, and is lost where overflow makes it worse.

    >>> verdict_words("REVISE", True), verdict_words("RETHINK", True), verdict_words(None, False)
    ('REVISE (strong)', 'RETHINK', 'no verdict')
    """
    return f"{verdict or 'no verdict'}{' (strong)' if strong and verdict == 'REVISE' else ''}"


def override_words(if_overridden: Mapping[str, str]) -> str:
    """Say which verdict an override of each blocking challenge leads to (rule A4); empty without any.

    >>> override_words({"C1": "RETHINK", "C4": "RETHINK"})
    'An override ends the run: of C1 alone with RETHINK, of C4 alone with RETHINK.'
    >>> override_words({"C1": "PROCEED"})
    'An override ends the run: of C1 with PROCEED.'
    """
    alone = " alone" if len(if_overridden) > 1 else ""
    ends = ", ".join(f"of {name}{alone} with {verdict}" for name, verdict in if_overridden.items())
    return f"An override ends the run: {ends}." if ends else ""

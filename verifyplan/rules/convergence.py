"""Whether a plan run may end, and with which verdict: counts, never scores (SPEC A3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.challenge import UNSETTLED, Severity, Status
from verifyplan.protocol.iteration import Convergence, ConvergenceStatus, PlanVerdict
from verifyplan.protocol.settings import POLICIES, Policy

MANY_SIGNIFICANT = 3
"""From so many unsettled SIGNIFICANT challenges on, each needs a mitigation."""


class Judged(Protocol):
    """What the rule reads of a challenge."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""

    @property
    def status(self) -> Status:
        """Where it stands."""

    @property
    def alternative(self) -> str:
        """Its mitigation, blank if there is none."""


class Ruling(NamedTuple):
    """What the counts say of an iteration; `verdict` is None while the run goes on, `strong` goes with REVISE."""

    status: ConvergenceStatus
    verdict: PlanVerdict | None
    strong: bool
    blocking_open: int
    significant_open: int

    def record(self) -> Convergence:
        """The ruling as an iteration state holds it."""
        return Convergence(blocking_open=self.blocking_open, significant_open=self.significant_open, status=self.status)


def evaluate(
    challenges: Sequence[Judged], iteration: int, max_iterations: int = 3, policy: Policy = "protocol"
) -> Ruling:
    """Judge an iteration by counting unsettled BLOCKING and SIGNIFICANT challenges.

    OPEN and UNRESOLVED count; blank alternatives are no mitigation. Policy `deliberate` goes on while evidence
    is pending: before the last iteration an UNRESOLVED BLOCKING blocks, and any OPEN BLOCKING or SIGNIFICANT
    continues; else, and at the last iteration, it is `protocol`. Raises SettingsError for an unknown policy and
    numbers below 1. Source: SPEC A3, document 000 §7.

    >>> evaluate([], 1)
    Ruling(status='CONVERGED', verdict='PROCEED', strong=False, blocking_open=0, significant_open=0)
    """
    _check(iteration, max_iterations, policy)
    last = iteration >= max_iterations
    unsettled = [challenge for challenge in challenges if challenge.status in UNSETTLED]
    blocking = [challenge for challenge in unsettled if challenge.severity == "BLOCKING"]
    significant = [challenge for challenge in unsettled if challenge.severity == "SIGNIFICANT"]
    outcome = _deliberate(blocking, significant) if policy == "deliberate" and not last else None
    return Ruling(*(outcome or _protocol(blocking, significant, last)), len(blocking), len(significant))


Outcome = tuple[ConvergenceStatus, PlanVerdict | None, bool]


def _protocol(blocking: Sequence[Judged], significant: Sequence[Judged], last: bool) -> Outcome:
    if blocking:
        return ("FORCED_EXIT", "RETHINK", False) if last else ("BLOCKED", None, False)
    if not significant:
        return "CONVERGED", "PROCEED", False
    if len(significant) < MANY_SIGNIFICANT:
        return "CONVERGED", "REVISE", False
    if all(challenge.alternative.strip() for challenge in significant):
        return "CONVERGED", "REVISE", True
    return ("FORCED_EXIT", "REVISE", True) if last else ("CONTINUE", None, False)


def _deliberate(blocking: Sequence[Judged], significant: Sequence[Judged]) -> Outcome | None:
    """What pending evidence says before the last iteration; None where nothing is pending."""
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

"""One round of a revision: a debate over what is open, its diff applied, the plan verified again (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from verifyplan.diffs import PatchError, apply
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.challenge import UNSETTLED, Challenge, Severity
from verifyplan.protocol.iteration import PlanVerdict
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun

COUNTED: tuple[Severity, ...] = ("BLOCKING", "SIGNIFICANT")
"""The severities that are debated: MINOR ones bar no plan (rule A3)."""

ChallengeOutcome = Literal["settled", "open again", "new", "not tried"]


class RevisionRow(NamedTuple):
    """What a round made of one challenge."""

    round: int
    challenge: str
    severity: Severity
    claim: str
    outcome: ChallengeOutcome
    debate: str
    adopted: bool


@dataclass(frozen=True)
class Round:
    """A debate, and the run that verified what it made of the plan; None where it made nothing."""

    number: int
    before: PlanRun
    debate: Debate
    plan: str
    """The plan as the debate left it."""
    after: PlanRun | None = None

    @property
    def adopted(self) -> bool:
        """Whether less is open after it: PROCEED, or REVISE with fewer open challenges; else the plan stays as it was.

        It does not matter whether the architect verified the diff: the verification of the plan decides. But a plan
        with fewer steps is only taken over if the architect did, and one with more BLOCKING challenges never.
        """
        if self.after is None or self.after.verdict in (None, "RETHINK") or self.lost:
            return False
        before, after = open_challenges(self.before), open_challenges(self.after)
        blocking = [sum(one.severity == "BLOCKING" for one in them) for them in (before, after)]
        return self.after.verdict == "PROCEED" or (len(after) < len(before) and blocking[1] <= blocking[0])

    @property
    def lost(self) -> int:
        """Steps that the plan had before and has no more, where the architect did not verify the diff."""
        inputs = self.before.started.plan
        before, after = (len(parse_plan(text, inputs.plan_path).steps) for text in (inputs.plan_text, self.plan))
        return max(before - after, 0) if self.debate.status != "CONVERGED" else 0

    @property
    def verdict(self) -> PlanVerdict | None:
        """The verdict on what the debate made; None where it made nothing, or the run has none."""
        return self.after.verdict if self.after else None

    @property
    def ended(self) -> str:
        """How the debate ended, in a word or two."""
        return " ".join(filter(None, (self.debate.status, self.debate.reason))) or "broken off"

    def rows(self) -> list[RevisionRow]:
        """A row for each challenge that was open, and for each that is open now and was not; known by its claim."""
        now = {one.claim: one for one in open_challenges(self.after)} if self.after else {}
        was = {one.claim: one for one in open_challenges(self.before)}
        rows = [self._row(one, self._outcome(one, now)) for one in was.values()]
        return rows + [self._row(one, "new") for claim, one in now.items() if claim not in was]

    def _outcome(self, challenge: Challenge, now: dict[str, Challenge]) -> ChallengeOutcome:
        if self.after is None or self.after.verdict is None:
            return "not tried"
        return "open again" if challenge.claim in now else "settled"

    def _row(self, one: Challenge, outcome: ChallengeOutcome) -> RevisionRow:
        return RevisionRow(self.number, one.id, one.severity, one.claim, outcome, self.ended, self.adopted)


def open_challenges(run: PlanRun) -> tuple[Challenge, ...]:
    """The BLOCKING and SIGNIFICANT challenges that a run left unsettled, those in overflow among them."""
    return tuple(one for one in run.state.challenges.values() if one.status in UNSETTLED and one.severity in COUNTED)


def apply_debate(debate: Debate, name: str, plan: str) -> str:
    """The plan with the diff of a debate applied; as it was where that is blank, does not fit, or is of other files.

    Nothing but the plan is changed, and never to a blank text.
    """
    try:
        changed = apply(debate.diff, {name: plan}.get) if debate.diff.strip() else {}
    except PatchError:
        return plan
    text = changed.get(name)
    return text if text is not None and text.strip() and len(changed) == 1 else plan


def debate_task(run: PlanRun, name: str) -> str:
    """What architect and builder are told: each open challenge with its evidence and what is to be done instead."""
    lines = [f"Revise {name} so that each of its open challenges is settled, and nothing that it asks for is lost.", ""]
    for one in open_challenges(run):
        raised = run.state.raised.get(one.id)
        evidence = " ".join(raised.evidence.split())[:_LONGEST] if raised else ""
        lines.append(f"{one.id} ({one.severity}): {one.claim} {one.concern}".rstrip())
        lines += [f"  evidence: {evidence}"] if evidence else []
        lines += [f"  to be done: {one.alternative}"] if one.alternative.strip() else []
    return "\n".join(lines)


_LONGEST = 500

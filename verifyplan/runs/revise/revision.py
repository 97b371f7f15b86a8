"""Present a revision: the plan, its changes, and what each round settled (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Literal, NamedTuple

import pandas as pd

from verifyplan.diffs import PatchError, apply, diff_of
from verifyplan.field_docs import with_field_docs
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.records import UNSETTLED, Challenge, PlanVerdict, Severity
from verifyplan.reports.plan_grounds import notes
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.text import counted

DEBATED: tuple[Severity, ...] = ("BLOCKING", "SIGNIFICANT")
"""The severities that are debated: MINOR ones bar no plan (rule A3)."""

MAX_EVIDENCE_CHARACTERS = 500
"""Characters of a challenge's evidence in the task of a debate."""

ChallengeOutcome = Literal["settled", "open again", "new", "not tried"]


class RevisionRow(NamedTuple):
    """The outcome of one challenge in one round."""

    round: int
    challenge: str
    severity: Severity
    claim: str
    outcome: ChallengeOutcome
    debate: str
    adopted: bool


@with_field_docs
@dataclass(frozen=True)
class Round:
    """A debate, and the run that verified the plan it made; None where it made none."""

    number: int
    """The number of the round, from 1."""
    before: PlanRun
    """The run whose open challenges were debated."""
    debate: Debate
    """The debate."""
    plan: str
    """The plan as the debate left it."""
    after: PlanRun | None = None
    """The run that verified the plan as the debate left it; None where there was none."""

    @property
    def adopted(self) -> bool:
        """Whether less is open after it: PROCEED, or REVISE with fewer open challenges; else the plan stays as it was.

        It does not matter whether the architect verified the diff: the verification of the plan decides. But a plan
        with fewer steps is only taken over if the architect did, and one with more BLOCKING challenges never.
        """
        if self.after is None or self.after.verdict in (None, "RETHINK") or self.lost:
            return False
        before, after = open_challenges(self.before), open_challenges(self.after)
        blocking = [sum(c.severity == "BLOCKING" for c in challenges) for challenges in (before, after)]
        return self.after.verdict == "PROCEED" or (len(after) < len(before) and blocking[1] <= blocking[0])

    @property
    def lost(self) -> int:
        """How many steps the plan lost, if the architect did not verify the diff; else 0."""
        inputs = self.before.started.plan
        before, after = (len(parse_plan(text, inputs.plan_path).steps) for text in (inputs.plan_text, self.plan))
        return max(before - after, 0) if self.debate.status != "CONVERGED" else 0

    @property
    def verdict(self) -> PlanVerdict | None:
        """The verdict on the debated plan; None where there is none, or the run has none."""
        return self.after.verdict if self.after else None

    def rows(self) -> list[RevisionRow]:
        """Return a row for each challenge that was open, and for each that is newly open; known by its claim."""
        now = {challenge.claim: challenge for challenge in open_challenges(self.after)} if self.after else {}
        before = {challenge.claim: challenge for challenge in open_challenges(self.before)}
        outcomes: list[tuple[Challenge, ChallengeOutcome]] = []
        for claim, challenge in before.items():
            tried = self.after is not None and self.after.verdict is not None
            outcomes.append((challenge, "not tried" if not tried else "open again" if claim in now else "settled"))
        outcomes += [(challenge, "new") for claim, challenge in now.items() if claim not in before]
        return [
            RevisionRow(self.number, c.id, c.severity, c.claim, outcome, self.debate.ending, self.adopted)
            for c, outcome in outcomes
        ]


@with_field_docs
@dataclass(frozen=True, repr=False)
class Revision:
    """A plan run, the rounds that it took to revise its plan, and the plan as it is now."""

    first: PlanRun
    """The run that the revision began with."""
    rounds: tuple[Round, ...] = ()
    """The rounds, in order."""
    why: str = ""
    """Why it ended, or why there was no round."""

    @property
    def original(self) -> str:
        """The plan as the first run has it."""
        return self.first.started.plan.plan_text

    @property
    def last(self) -> PlanRun:
        """The run of the plan as it is now."""
        return next((held.after for held in reversed(self.rounds) if held.adopted and held.after), self.first)

    @property
    def plan(self) -> str:
        """The plan as it is now; where no round was adopted, as it was."""
        return self.last.started.plan.plan_text

    @property
    def revised(self) -> bool:
        """Whether the plan is another than it was."""
        return self.plan != self.original

    @property
    def verdict(self) -> PlanVerdict | None:
        """The verdict on the plan as it is now."""
        return self.last.verdict

    @property
    def diff(self) -> str:
        """The unified diff from the plan as it was to the plan as it is now; blank where nothing changed."""
        return diff_of({self.first.started.plan.plan_name: (self.original, self.plan)})

    @property
    def runs(self) -> tuple[PlanRun, ...]:
        """Every plan run, the first one first; those of rounds that were not adopted, too."""
        return (self.first, *(held.after for held in self.rounds if held.after))

    @property
    def debates(self) -> tuple[Debate, ...]:
        """The debate of each round."""
        return tuple(held.debate for held in self.rounds)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each round and challenge: settled, open again, new, or not tried, as the plan was not changed.

        Columns: `round, challenge, severity, claim, outcome, debate, adopted`. The ids of new ones are those of the
        run that raised them.
        """
        return pd.DataFrame([row for held in self.rounds for row in held.rows()], columns=list(RevisionRow._fields))

    def __repr__(self) -> str:
        """The verdict before and after; the runs themselves would fill screens."""
        rounds = counted(len(self.rounds), "round")
        return f"<Revision {self.first.run_id}: {self.first.verdict} to {self.verdict}, {rounds}>"

    def __str__(self) -> str:
        """The revision round by round."""
        name = self.first.started.plan.plan_name
        verdicts = [verdict or "no verdict" for verdict in (self.first.verdict, self.verdict)]
        ending = f"{' -> '.join(verdicts)}; {self.why}" if self.rounds else f"{verdicts[0]}: {self.why}"
        lines = [f"{name}: {ending}", *(f"  {note}" for note in self.notes)]
        for held in self.rounds:
            kept = "adopted" if held.adopted else "not adopted"
            verified = f"verified again: {held.verdict or 'not'}"
            lines.append(f"round {held.number}: debate {held.debate.ending}; {verified}; {kept}")
            lines += [f"  {row.outcome}: {row.challenge} {row.severity} {row.claim}" for row in held.rows()]
        if left := open_challenges(self.last):
            lines.append(f"open: {counted(len(left), 'challenge')}")
        return "\n".join([*lines, *([self.caution] if self.caution else [])])

    @property
    def notes(self) -> tuple[str, ...]:
        """The grounds of a PROCEED that left nothing to revise, as `verify` words them; none for other revisions."""
        silent = not self.rounds and self.first.verdict == "PROCEED"
        return tuple(notes(self.first.state)) if silent else ()

    @property
    def caution(self) -> str:
        """Why the verdicts before and after cannot be compared: other agents gave them; blank where they can."""
        before, after = (str(run.started.backend.get("name")) for run in (self.first, self.last))
        if before == after:
            return ""
        return f"caution: {before} verified the plan before, and {after} after: they may see other things"

    def _repr_html_(self) -> str:
        """The same for a notebook, with the table and the diff; every text is shown as text."""
        head = "<br>".join(escape(line) for line in str(self).split("\n")[: 1 + len(self.notes)])
        table = self.table.to_html(index=False, escape=True, border=0) if self.rounds else ""
        diff = f"<pre>{escape(self.diff)}</pre>" if self.diff else "<p>The plan was not changed.</p>"
        return f"<p>{head}</p>{table}{diff}"


def open_challenges(run: PlanRun) -> tuple[Challenge, ...]:
    """Return the BLOCKING and SIGNIFICANT challenges that a run left unsettled, those in overflow among them."""
    return tuple(c for c in run.state.challenges.values() if c.status in UNSETTLED and c.severity in DEBATED)


def apply_debate(debate: Debate, name: str, plan: str) -> str:
    """Return the plan with the diff of a debate applied; unchanged where that is blank, misfits, or is of other files.

    Nothing but the plan is changed, and never to a blank text.
    """
    try:
        changed = apply(debate.diff, {name: plan}.get) if debate.diff.strip() else {}
    except PatchError:
        return plan
    text = changed.get(name)
    return text if text is not None and text.strip() and len(changed) == 1 else plan


def debate_task(run: PlanRun, name: str) -> str:
    """Return the task of architect and builder: each open challenge with its evidence and its alternative."""
    lines = [f"Revise {name} so that each of its open challenges is settled, and nothing that it asks for is lost.", ""]
    for challenge in open_challenges(run):
        raised = run.state.raised.get(challenge.id)
        evidence = " ".join(raised.evidence.split())[:MAX_EVIDENCE_CHARACTERS] if raised else ""
        lines.append(f"{challenge.id} ({challenge.severity}): {challenge.claim} {challenge.concern}".rstrip())
        lines += [f"  evidence: {evidence}"] if evidence else []
        lines += [f"  to be done: {challenge.alternative}"] if challenge.alternative.strip() else []
    return "\n".join(lines)

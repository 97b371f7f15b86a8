"""What a revision leaves behind: the plan, what was changed, and what each round settled (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Literal, NamedTuple

import pandas as pd

from verifyplan.diffs import PatchError, apply, diff_of
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.records import UNSETTLED, Challenge, PlanVerdict, Severity
from verifyplan.reports.plan_grounds import notes
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.text import counted

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


@dataclass(frozen=True, repr=False)
class Revision:
    """A plan run, the rounds that it took to revise its plan, and the plan as it is now."""

    first: PlanRun
    """The run that the revision began with."""
    rounds: tuple[Round, ...] = ()
    why: str = ""
    """Why it ended, or why there was no round."""

    @property
    def original(self) -> str:
        """The plan as the first run has it."""
        return self.first.started.plan.plan_text

    @property
    def last(self) -> PlanRun:
        """The run of the plan as it is now."""
        return next((one.after for one in reversed(self.rounds) if one.adopted and one.after), self.first)

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
        return (self.first, *(one.after for one in self.rounds if one.after))

    @property
    def debates(self) -> tuple[Debate, ...]:
        """The debate of each round."""
        return tuple(one.debate for one in self.rounds)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each round and challenge: settled, open again, new, or not tried, as nothing was made of the plan.

        Columns: `round, challenge, severity, claim, outcome, debate, adopted`. The ids of new ones are those of the
        run that raised them.
        """
        return pd.DataFrame([row for one in self.rounds for row in one.rows()], columns=list(RevisionRow._fields))

    def __repr__(self) -> str:
        """The verdict before and after; the runs themselves would fill screens."""
        rounds = counted(len(self.rounds), "round")
        return f"<Revision {self.first.run_id}: {self.first.verdict} to {self.verdict}, {rounds}>"

    def __str__(self) -> str:
        """What became of the plan, round by round."""
        name = self.first.started.plan.plan_name
        verdicts = [one or "no verdict" for one in (self.first.verdict, self.verdict)]
        ending = f"{' -> '.join(verdicts)}; {self.why}" if self.rounds else f"{verdicts[0]}: {self.why}"
        lines = [f"{name}: {ending}", *(f"  {note}" for note in self.notes)]
        for one in self.rounds:
            kept = "adopted" if one.adopted else "not adopted"
            lines.append(f"round {one.number}: debate {one.ended}; verified again: {one.verdict or 'not'}; {kept}")
            lines += [f"  {row.outcome}: {row.challenge} {row.severity} {row.claim}" for row in one.rows()]
        left = open_challenges(self.last)
        lines += [f"open: {counted(len(left), 'challenge')}"] if left else []
        return "\n".join([*lines, *([self.caution] if self.caution else [])])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a PROCEED that left nothing to revise rests on, as `verify` says it; none for other revisions."""
        silent = not self.rounds and self.first.verdict == "PROCEED"
        return tuple(notes(self.first.state)) if silent else ()

    @property
    def caution(self) -> str:
        """Why the verdicts before and after cannot be compared: other agents gave them; blank where they can."""
        before, after = (str(one.started.backend.get("name")) for one in (self.first, self.last))
        return f"caution: {before} verified the plan before, and {after} after: they may see other things" * (
            before != after
        )

    def _repr_html_(self) -> str:
        """The same for a notebook, with the table and the diff; every text is shown as text."""
        head = "<br>".join(escape(line) for line in str(self).split("\n")[: 1 + len(self.notes)])
        table = self.table.to_html(index=False, escape=True, border=0) if self.rounds else ""
        diff = f"<pre>{escape(self.diff)}</pre>" if self.diff else "<p>The plan was not changed.</p>"
        return f"<p>{head}</p>{table}{diff}"

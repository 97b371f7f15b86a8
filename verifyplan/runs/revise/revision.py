"""What a revision leaves behind: the plan, what was changed, and what each round settled (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import pandas as pd

from verifyplan.diffs import diff_of
from verifyplan.protocol.iteration import PlanVerdict
from verifyplan.reports.plan_grounds import notes
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.revise.round import RevisionRow, Round, open_challenges
from verifyplan.text import counted


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

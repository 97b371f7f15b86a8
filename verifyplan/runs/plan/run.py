"""Present a recorded plan run: verdict, score, report, and the question that it waits with (rules A4, A13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from verifyplan.field_docs import with_field_docs
from verifyplan.frames.run_notes import lost_words
from verifyplan.protocol.event_run import PlanOutcome
from verifyplan.protocol.records import ConvergenceStatus, PlanVerdict
from verifyplan.reports.blocks import Page
from verifyplan.reports.pages import page_frame
from verifyplan.reports.plan import plan_page, plan_summary
from verifyplan.runlog.plan_state import PlanState, fold_plan
from verifyplan.runs.plan.pauses import Pause
from verifyplan.runs.run import ReportedRun
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, repr=False)
class PlanRun(ReportedRun):
    """A plan run: ended, waiting for a person, or broken off."""

    @cached_property
    def state(self) -> PlanState:
        """The fold of the events."""
        return fold_plan(self._events, self._log_place)

    @property
    def outcome(self) -> PlanOutcome | None:
        """How the run ended; None while it waits or where it was broken off."""
        return self.state.outcome

    @property
    def verdict(self) -> PlanVerdict | None:
        """PROCEED, REVISE or RETHINK; None for a run that waits, was aborted, broken off, or ended by a failure."""
        return self.outcome.verdict if self.outcome else None

    @property
    def status(self) -> ConvergenceStatus | None:
        """CONVERGED or FORCED_EXIT; BLOCKED while the run waits; None where it was broken off."""
        if self.outcome is not None:
            return self.outcome.status
        return "BLOCKED" if self.waiting else None

    @property
    def ending(self) -> str:
        """How the run ended: its verdict, what ended it without one, or that it waits or was broken off."""
        if self.outcome is None:
            return "waiting" if self.waiting else "broken off"
        return self.verdict or f"ended by {self.outcome.ended_by}"

    @property
    def _counts(self) -> list[str]:
        return [counted(len(self.state.iterations), "iteration")]

    @property
    def score(self) -> int | None:
        """The final quality score, 1-10; it does not affect the verdict."""
        return self.outcome.score if self.outcome else None

    @property
    def waiting(self) -> Pause | None:
        """The question that waits for an answer (`resume`), if one does."""
        point = self.state.waiting
        if point is None or point.pause_id is None:
            return None
        blocking = tuple(self.state.challenges[name] for name in point.items)
        return Pause(point.pause_id, point.iteration, point.message, blocking, point.if_overridden)

    @property
    def _notes(self) -> tuple[str, ...]:
        lost = lost_words(self.frames.runs, self.frames.attempts)
        notes = (self._cut_round, *self.call_notes, f"Beside the replies, {lost}." if lost else None)
        return tuple(note for note in notes if note)

    @property
    def _page(self) -> Page:
        return plan_page(self.state, self._notes)

    def __str__(self) -> str:
        """The outcome in a few lines."""
        return plan_summary(self.state, self._notes)

    def _repr_html_(self) -> str:
        """The report in a frame of its own, for a notebook."""
        return page_frame(self._page)

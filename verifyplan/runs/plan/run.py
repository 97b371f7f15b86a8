"""Hold a plan run as its log has it: verdict, score, report, and the question it waits with (rules A4, A13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, overload

from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.files import write_text
from verifyplan.protocol.event_run import PlanOutcome
from verifyplan.protocol.records import ConvergenceStatus, PlanVerdict
from verifyplan.reports.plan import plan_report, plan_report_frame, plan_report_html, plan_summary
from verifyplan.runlog.plan_state import PlanState, fold_plan
from verifyplan.runs.plan.pauses import Pause
from verifyplan.runs.run import Run
from verifyplan.text import counted

ReportForm = Literal["markdown", "html"]


@with_field_docs
@dataclass(frozen=True, repr=False)
class PlanRun(Run):
    """A plan run: ended, waiting for a person, or broken off."""

    @cached_property
    def state(self) -> PlanState:
        """The fold of the events."""
        return fold_plan(self._events)

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
        """The final quality score, 1-10; it informs and decides nothing."""
        return self.outcome.score if self.outcome else None

    @property
    def waiting(self) -> Pause | None:
        """The question that waits for an answer (`resume`), if one does."""
        point = self.state.waiting
        if point is None or point.pause_id is None:
            return None
        blocking = tuple(self.state.challenges[name] for name in point.items)
        return Pause(point.pause_id, point.iteration, point.message, blocking, point.if_overridden)

    @overload
    def report(self, path: None = None, *, form: ReportForm | None = None) -> str: ...
    @overload
    def report(self, path: str | Path, *, form: ReportForm | None = None) -> Path: ...
    def report(self, path: str | Path | None = None, *, form: ReportForm | None = None) -> str | Path:
        """Write the report and return its path, whose suffix chooses Markdown or HTML; without a path return its text.

        Raises InputError for a path of another suffix, unless `form` says how it is written.
        """
        if form is None and path is not None and Path(path).suffix not in (".md", ".html", ".htm"):
            fix = "name a .md or .html file, or say form="
            raise InputError(Problem("path", f"{str(path)!r} does not say the form of the report", fix))
        html = form == "html" or (form is None and path is not None and Path(path).suffix in (".html", ".htm"))
        text = (plan_report_html if html else plan_report)(self.state, self.call_notes)
        return text if path is None else write_text(path, text)

    def __str__(self) -> str:
        """The outcome in a few lines."""
        return plan_summary(self.state, self.call_notes)

    def _repr_html_(self) -> str:
        """The report in a frame of its own, for a notebook."""
        return plan_report_frame(self.state, self.call_notes)

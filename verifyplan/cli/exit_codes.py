"""Begin and end commands that run agents: check the report, repeat runs, choose the exit code (rule H2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from verifyplan.errors import InputError, Problem
from verifyplan.frames.run_notes import failure_counts
from verifyplan.rules.failed_calls import failed_words
from verifyplan.runlog.current import current
from verifyplan.runs.arguments import check_output
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run

NEGATIVE, USAGE_ERROR, FAILED, BUDGET, PAUSED = 1, 2, 3, 4, 30
"""A check failed; wrong input; agents failed; a budget ended the run; the run is paused or was interrupted."""
OF_VERDICT = {"REVISE": 10, "RETHINK": 20}
"""Exit codes of verdicts, with --exit-code."""


def check_report(report: Path | None, repetitions: int = 1) -> None:
    """Raise InputError, before any agent is called, if the report could not be written."""
    if report is None:
        return
    if repetitions > 1:
        fix = "leave it out; `verifyplan resume LOG --report` writes the report of each run"
        raise InputError(Problem("--report", f"is for one run, got {repetitions}", fix))
    if report.suffix not in (".md", ".html", ".htm"):
        raise InputError(Problem("--report", f"must be a .md or .html file, got {str(report)!r}", "name such a file"))
    check_output("--report", report)


def exit_with(code: int) -> None:
    """End the command with an exit code, unless it is 0."""
    if code:
        raise typer.Exit(code)


def repeat(first: int, times: int, run: Callable[[int], int], *, announce: bool = True) -> int:
    """Make several runs, each with its repetition number; return the first exit code that is not 0, else 0."""
    codes = []
    for repetition in range(first, first + times):
        if announce and times > 1:
            typer.echo(f"repetition {repetition}:")
        codes.append(run(repetition))
    return next(filter(None, codes), 0)


def print_end(run: Run, code: int) -> None:
    """Print the exit code of a cross run with failed calls, and why, as its last line; nothing for other runs."""
    if not isinstance(run, CrossRun) or not (run.shortfall or run.failed_calls):
        return
    kinds, n_calls = failure_counts(run.frames.calls)
    failed = failed_words(kinds, n_calls)
    if code == BUDGET:
        why = "a limit of tokens or dollars kept calls back"
    elif code == FAILED:
        why = "; ".join(filter(None, (None if run.failure else failed, run.shortfall)))
    else:
        gate = "the gate of the plan body failed; " if code == NEGATIVE else ""
        why = f"{gate}{failed}, but each class rests on enough of the votes that were asked for"
    again = f"; to ask them again: {run.retry_command}" if kinds and run.retry_command else ""
    typer.echo(f"exit code {code}: {why}{again}")


def exit_code_of(run: Run, *, by_verdict: bool = False) -> int:
    """Return the exit code of a run of any kind.

    A plan run: 30 without an outcome, 3 or 4 if failures or a budget ended it; `by_verdict` also 10 for REVISE, 20 for
    RETHINK, 1 for no verdict. A cross run: 4 if the budget kept a call back, 3 if every call or a round failed, or if
    classes rest on too few votes (`CrossRun.shortfall`), 1 for a failed gate. A debate: 0 for CONVERGED, 1 for FAILED,
    3 if an agent failed, 4 for a budget, 30 if it has not ended.
    """
    if isinstance(run, CrossRun):
        if any(event.type == "call-failed" and event.status == "budget" for _, _, event in current(run.records)):
            return BUDGET
        if run.shortfall:
            return FAILED
        return NEGATIVE if run.gating and run.gate_passed is False else 0
    if isinstance(run, Debate) and run.outcome is not None:
        if run.status is None:
            return BUDGET if run.reason == "BUDGET" else FAILED
        return 0 if run.status == "CONVERGED" else NEGATIVE
    if not isinstance(run, PlanRun) or run.outcome is None:
        return PAUSED
    code = {"failures": FAILED, "budget": BUDGET}.get(run.outcome.ended_by, 0)
    if code or not by_verdict:
        return code
    return OF_VERDICT.get(str(run.verdict), 0) if run.verdict else NEGATIVE

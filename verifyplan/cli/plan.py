"""`verify`, `resume` and `log`: plan runs, taken up where they were left, read line by line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.cli.cross import exit_code_of
from verifyplan.errors import InputError, Problem
from verifyplan.files import try_to_write
from verifyplan.loops.cross_run import CrossRun
from verifyplan.loops.plan.run import PlanRun
from verifyplan.loops.run import Run
from verifyplan.protocol.settings import PanelSettings
from verifyplan.reports.log import log_text

PAUSED, FAILED, BUDGET, ABORTED = 30, 3, 4, 1
OF_VERDICT = {"REVISE": 10, "RETHINK": 20}
"""Exit codes of verdicts, with --exit-code (SPEC H2)."""


class PolicyName(StrEnum):
    """When to keep looking."""

    protocol = "protocol"
    deliberate = "deliberate"


class Blocked(StrEnum):
    """What to do where a BLOCKING challenge stands."""

    carry_on = "continue"
    pause = "pause"


class Team(StrEnum):
    """Who challenges the plan."""

    base = "base"
    scaled = "scaled"


class ModeName(StrEnum):
    """How votes are asked for."""

    adversarial = "adversarial"
    collaborative = "collaborative"


Report = Annotated[Path | None, typer.Option(help="Write the report here: .md or .html.")]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK, 1 if aborted.")]


def verify(
    plan: Annotated[Path, typer.Argument(help="The plan, in Markdown.")],
    repo: Annotated[Path, typer.Option(help="The folder that the plan is about; it is only read.")] = Path(),
    policy: Annotated[
        PolicyName, typer.Option(help="deliberate keeps looking while evidence is pending.")
    ] = PolicyName.protocol,
    on_blocked: Annotated[
        Blocked, typer.Option(help="pause stops and waits for `verifyplan resume --answer`.")
    ] = Blocked.carry_on,
    team: Annotated[Team | None, typer.Option(help="The team; sized by the plan's complexity if left out.")] = None,
    threshold: Annotated[int, typer.Option(min=0, help="The complexity that asks for the scaled team.")] = 7,
    max_iterations: Annotated[int, typer.Option(min=1, help="The last iteration.")] = 3,
    panel: Annotated[bool, typer.Option(help="Whether a panel votes on the challenges.")] = True,
    panel_mode: Annotated[ModeName, typer.Option(help="How the panel is asked.")] = ModeName.adversarial,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that end the run.")] = None,
    weights: Annotated[
        Path | None, typer.Option(help="A weights file for the score, which informs and never decides the verdict.")
    ] = None,
    log_dir: Annotated[Path, typer.Option(help="The folder of the run log.")] = Path("runs"),
    report: Report = None,
    exit_code: ExitCode = False,
) -> None:
    """Let a team challenge a plan, and say whether it may be executed: PROCEED, REVISE or RETHINK.

    Exit code 3: agents failed; 4: the tokens were used up; 30: the run waits for an answer.

    \b
    Examples:
    verifyplan verify PLAN.md --repo .
    verifyplan verify PLAN.md --repo ../service --report report.html --exit-code
    verifyplan verify PLAN.md --on-blocked pause
    verifyplan verify PLAN.md --weights weights.json
    """
    _check_report(report)
    run = vp.verify(
        plan,
        repo,
        policy=policy.value,
        on_blocked=on_blocked.value,
        team=cast("Literal['base', 'scaled'] | None", team and team.value),
        threshold=threshold,
        max_iterations=max_iterations,
        panel=PanelSettings(mode=panel_mode.value) if panel else None,
        max_tokens=max_tokens,
        weights=weights,
        log_dir=log_dir,
    )
    _finish(run, report, exit_code)


def resume(
    run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")],
    answer: Annotated[
        str | None,
        typer.Option(help="To the question it waits with: acknowledge:C3, override:C3, context, or abort."),
    ] = None,
    note: Annotated[str, typer.Option(help="Your words: the context, or the reason.")] = "",
    root: Annotated[Path | None, typer.Option(help="Where the repository lies now, if it was moved.")] = None,
    report: Report = None,
    exit_code: ExitCode = False,
) -> None:
    """Go on with a run that was broken off or waits; no call whose reply is on disk is made again.

    \b
    Examples:
    verifyplan resume runs/PLAN-001.jsonl
    verifyplan resume runs/PLAN-001.jsonl --answer acknowledge:C3 --note "we accept the downtime"
    verifyplan resume runs/PLAN-001.jsonl --answer context --note "the old file was renamed"
    """
    _check_report(report)
    _finish(vp.resume(run, answer, note=note, root=root), report, exit_code)


def log(run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")]) -> None:
    """Show a run log line by line, in words.

    \b
    Example:
    verifyplan log runs/PLAN-001.jsonl
    """
    for line in log_text(vp.read_run(run).records):
        typer.echo(line)


def _check_report(report: Path | None) -> None:
    """InputError before any agent is called if the report could not be written so."""
    if report is None:
        return
    if report.suffix not in (".md", ".html", ".htm"):
        raise InputError(Problem("--report", f"{str(report)!r} is no page", "name a .md or .html file"))
    try:
        try_to_write(report.parent)
    except OSError as error:
        message = f"{str(report)!r} cannot be written ({error.strerror or error})"
        raise InputError(Problem("--report", message, "name a file in a folder that you may write to")) from None


def _finish(run: Run, report: Path | None, exit_code: bool) -> None:
    """Tell how a run stands, write its report, and exit as it asks for."""
    typer.echo(str(run))
    typer.echo(f"log: {run.log_path}")
    if report is not None:
        if not isinstance(run, PlanRun):
            raise InputError(
                Problem("--report", "is of plan runs alone", "leave it out; the artifact is beside the log")
            )
        run.report(report)
        typer.echo(f"report: {report}")
    code = _code(run, exit_code)
    if code:
        raise typer.Exit(code)


def _code(run: Run, by_verdict: bool) -> int:
    if isinstance(run, CrossRun):
        return exit_code_of(run)
    if not isinstance(run, PlanRun) or run.outcome is None:
        return PAUSED
    code = {"failures": FAILED, "budget": BUDGET}.get(run.outcome.ended_by, 0)
    if code or not by_verdict:
        return code
    return OF_VERDICT.get(str(run.verdict), 0) if run.verdict else ABORTED

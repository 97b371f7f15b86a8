"""`verify`, `resume` and `log`: plan runs, taken up where they were left, read line by line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.cli import debate
from verifyplan.cli.asking import OnBlocked, ask, has_terminal, on_blocked_of
from verifyplan.cli.backends import backend_of_log, backend_of_options, script_of_options
from verifyplan.cli.cross import exit_code_of, names_of
from verifyplan.cli.live import (
    CALL_TIMEOUT,
    NOBODY,
    AgentOptions,
    MaxCost,
    Repetition,
    Repetitions,
    Script,
    Timeout,
    exit_with,
    repeated,
    with_agents,
)
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import try_to_write
from verifyplan.protocol.settings import PanelSettings
from verifyplan.reports.log import log_text
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import CrossRun, Run

PAUSED, FAILED, BUDGET, ABORTED = 30, 3, 4, 1
OF_VERDICT = {"REVISE": 10, "RETHINK": 20}
"""Exit codes of verdicts, with --exit-code (rule H2)."""


class PolicyName(StrEnum):
    """When to keep looking."""

    protocol = "protocol"
    deliberate = "deliberate"


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


@with_agents
def verify(
    plan: Annotated[Path, typer.Argument(help="The plan, in Markdown.")],
    repo: Annotated[Path, typer.Option(help="The folder that the plan is about; it is only read.")] = Path(),
    policy: Annotated[
        PolicyName, typer.Option(help="deliberate keeps looking while evidence is pending.")
    ] = PolicyName.protocol,
    on_blocked: OnBlocked = None,
    team: Annotated[Team | None, typer.Option(help="The team; sized by the plan's complexity if left out.")] = None,
    threshold: Annotated[int, typer.Option(min=0, help="The complexity that asks for the scaled team.")] = 7,
    max_iterations: Annotated[int, typer.Option(min=1, help="The last iteration.")] = 3,
    panel: Annotated[bool, typer.Option(help="Whether a panel votes on the challenges.")] = True,
    panel_mode: Annotated[ModeName, typer.Option(help="How the panel is asked.")] = ModeName.adversarial,
    panel_workers: Annotated[str | None, typer.Option(metavar="NAMES", help="The panel's workers, by comma.")] = None,
    timeout: Timeout = CALL_TIMEOUT,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that end the run.")] = None,
    max_cost: MaxCost = None,
    repetition: Repetition = 1,
    repetitions: Repetitions = 1,
    weights: Annotated[
        Path | None, typer.Option(help="A weights file for the score, which informs and never decides the verdict.")
    ] = None,
    plan_check: Annotated[
        bool, typer.Option("--plan-check", help="Begin with the blockers of a plan check; for PLAN documents.")
    ] = False,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark a generated plan as such.")] = False,
    log_dir: Annotated[Path, typer.Option(help="The folder of the run log.")] = Path("runs"),
    report: Report = None,
    exit_code: ExitCode = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Let a team challenge a plan, and say whether it may be executed: PROCEED, REVISE or RETHINK.

    Exit code 3: agents failed; 4: the tokens or dollars were used up; 30: the run waits for an answer. Of several
    repetitions it is that of the first that is not 0.

    \b
    Examples:
    verifyplan verify PLAN.md --repo .
    verifyplan verify PLAN.md --repo ../service --report report.html --exit-code
    verifyplan verify PLAN.md --on-blocked pause
    verifyplan verify PLAN.md --weights weights.json
    verifyplan verify PLAN.md --model claude-opus-4-5 --model-for worker=claude-haiku-4-5 --max-cost 2.50
    """
    _check_report(report, repetitions)
    voters = _panel(panel, panel_mode, panel_workers)
    blocked = on_blocked_of(on_blocked)
    backend = backend_of_options(agents, timeout=timeout, max_cost=max_cost)

    def run_once(number: int) -> int:
        run = vp.verify(
            plan,
            repo,
            backend=backend,
            policy=policy.value,
            on_blocked=blocked,
            team=cast("Literal['base', 'scaled'] | None", team and team.value),
            threshold=threshold,
            max_iterations=max_iterations,
            panel=voters,
            timeout=timeout,
            max_tokens=max_tokens,
            max_cost=max_cost,
            repetition=number,
            weights=weights,
            plan_check=plan_check,
            log_dir=log_dir,
            synthetic=synthetic,
        )
        return _told(run, report, exit_code)

    exit_with(repeated(repetition, repetitions, run_once))


def _panel(panel: bool, mode: ModeName, workers: str | None) -> PanelSettings | None:
    if not panel:
        if workers is not None:
            raise SettingsError(Problem("--panel-workers", "there is no panel", "leave out --no-panel"))
        return None
    if workers is None:
        return PanelSettings(mode=mode.value)
    return PanelSettings(mode=mode.value, workers=tuple(names_of(workers, "--panel-workers")))


@with_agents
def resume(
    run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")],
    answer: Annotated[
        str | None,
        typer.Option(help="To the question it waits with: acknowledge:C3, override:C3, context, or abort."),
    ] = None,
    note: Annotated[str, typer.Option(help="Your words: the context, or the reason.")] = "",
    root: Annotated[Path | None, typer.Option(help="Where the repository lies now, if it was moved.")] = None,
    script: Script = None,
    report: Report = None,
    exit_code: ExitCode = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Go on with a run that was broken off or waits; no call whose reply is on disk is made again.

    In a terminal, a run that waits asks its question here if there is no --answer, and so do later pauses.

    The agents are those of the log, with a key that is found now; options of agents change what they say of them. A
    run whose answers were a script needs it again.

    \b
    Examples:
    verifyplan resume runs/PLAN-001.jsonl
    verifyplan resume runs/PLAN-001.jsonl --answer acknowledge:C3 --note "we accept the downtime"
    verifyplan resume runs/PLAN-001.jsonl --answer context --note "the old file was renamed"
    """
    _check_report(report)
    if vp.read_run(run).events[-1].type == "run-ended":
        typer.echo(f"{run} has ended: nothing is asked again, and no limit or model is changed", err=True)
    backend = script_of_options(agents, script) if script else backend_of_log(agents, run)
    exit_with(
        _told(
            vp.resume(run, answer, note=note, backend=backend, root=root, on_blocked=ask if has_terminal() else None),
            report,
            exit_code,
        )
    )


def log(run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")]) -> None:
    """Show a run log line by line, in words.

    \b
    Example:
    verifyplan log runs/PLAN-001.jsonl
    """
    for line in log_text(vp.read_run(run).records):
        typer.echo(line)


def _check_report(report: Path | None, repetitions: int = 1) -> None:
    """InputError before any agent is called if the report could not be written so."""
    if report is None:
        return
    if repetitions > 1:
        fix = "leave it out; `verifyplan resume LOG --report` writes that of each run"
        raise InputError(Problem("--report", f"is of one run, not of {repetitions}", fix))
    if report.suffix not in (".md", ".html", ".htm"):
        raise InputError(Problem("--report", f"{str(report)!r} is no page", "name a .md or .html file"))
    try:
        try_to_write(report.parent)
    except OSError as error:
        message = f"{str(report)!r} cannot be written ({error.strerror or error})"
        raise InputError(Problem("--report", message, "name a file in a folder that you may write to")) from None


def _told(run: Run, report: Path | None, exit_code: bool) -> int:
    """Tell how a run stands, write its report; the exit code that it asks for."""
    typer.echo(str(run))
    typer.echo(f"log: {run.log_path}")
    if report is not None:
        if not isinstance(run, PlanRun):
            beside = "the artifact is beside the log" if isinstance(run, CrossRun) else "`verifyplan log` tells of it"
            raise InputError(Problem("--report", "is of plan runs alone", f"leave it out; {beside}"))
        run.report(report)
        typer.echo(f"report: {report}")
    return _code(run, exit_code)


def _code(run: Run, by_verdict: bool) -> int:
    if isinstance(run, CrossRun):
        return exit_code_of(run)
    if isinstance(run, Debate):
        return debate.exit_code_of(run)
    if not isinstance(run, PlanRun) or run.outcome is None:
        return PAUSED
    code = {"failures": FAILED, "budget": BUDGET}.get(run.outcome.ended_by, 0)
    if code or not by_verdict:
        return code
    return OF_VERDICT.get(str(run.verdict), 0) if run.verdict else ABORTED

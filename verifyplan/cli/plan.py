"""`verify`, `resume` and `log`: verify a plan, continue any run, show its log."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.cli import has_terminal, options
from verifyplan.cli.agents import backend_of_log, backend_of_options, previewed_backend, script_of_options
from verifyplan.cli.exit_codes import check_report, exit_code_of, exit_with, print_end, repeat
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.protocol.settings import BlockedWord, OnBlocked
from verifyplan.reports.log import log_text
from verifyplan.reports.visible import lines, one_line
from verifyplan.runs.plan.pauses import Answer, Pause, PauseHandler, answer_event, read_answer
from verifyplan.runs.resume import words_before_resuming
from verifyplan.runs.run import ReportedRun, Run

MAX_CLAIM_CHARACTERS = 200
"""How much is shown of a blocking challenge's claim and concern."""


def on_blocked_of(option: OnBlocked | None) -> BlockedWord | PauseHandler:
    """Return what `--on-blocked` means; without it, ask at a terminal, else continue.

    SettingsError for `ask` without a terminal.
    """
    if option is None:
        return ask if has_terminal() else "continue"
    if option != "ask":
        return option
    if not has_terminal():
        fix = "use pause, and answer with `verifyplan resume RUN --answer ...`; or use continue"
        raise SettingsError(Problem("--on-blocked", "ask needs a terminal, and there is none", fix))
    return ask


def ask(pause: Pause) -> Answer | None:
    """Ask until an answer fits the pause; None (a blank line or Ctrl-C) leaves the run waiting."""
    first = pause.challenges[0].id
    question = [
        f"\nThe run is blocked ({pause.pause_id}).",
        *lines(pause.question),
        *(
            f"  {each.id}: {one_line(f'{each.claim} {each.concern}', MAX_CLAIM_CHARACTERS)}"
            for each in pause.challenges
        ),
        f"Answers: acknowledge:{first} (accept the risk), override:{first} (end the run without it), context (give the",
        "agents information), abort. A blank line leaves the run waiting for `verifyplan resume`.",
    ]
    typer.echo("\n".join(question), err=True)
    while True:
        try:
            words = typer.prompt("Answer", default="", show_default=False, err=True).strip()
            note = typer.prompt("Note", default="", show_default=False, err=True) if words else ""
        except typer.Abort:
            return None
        if not words:
            return None
        try:
            answer = read_answer(words, note)
            answer_event(answer, pause)
        except InputError as error:
            typer.echo(str(error), err=True)
        else:
            return answer


@with_groups
def verify(
    plan: Annotated[Path, typer.Argument(help="The plan, a Markdown file.")],
    repo: Annotated[Path, typer.Option(help="The folder that the plan is about; it is only read.")] = Path(),
    settings: options.PlanOptions = options.DEFAULT_PLAN_OPTIONS,
    on_blocked: options.OnBlocked = None,
    preview: options.Preview = False,
    run_options: options.RunOptions = options.DEFAULT_RUN_OPTIONS,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    plan_check: Annotated[
        bool, typer.Option("--plan-check", help="Start from the blockers of a plan check; for PLAN documents.")
    ] = False,
    report: options.Report = None,
    exit_code: options.ByVerdict = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let agents challenge a plan: PROCEED, REVISE or RETHINK.

    Agents raise what may be wrong with the plan, look it up in the repository, vote, and settle it; rules decide by
    counting what is left.

    Exit code 3: agents failed. 4: the limit of tokens or dollars was reached. 30: the run waits for an answer. With
    several repetitions: the first exit code that is not 0.

    \b
    Examples:
    verifyplan verify PLAN.md --repo .
    verifyplan verify PLAN.md --repo ../service --report report.html --exit-code
    verifyplan verify PLAN.md --on-blocked pause
    verifyplan verify PLAN.md --weights weights.json
    verifyplan verify PLAN.md --rules no-panel-power --max-iterations 2
    verifyplan verify PLAN.md --model claude-opus-5-5 --model-for worker=claude-haiku-5-5 --max-cost 2.50
    """
    check_report(report, repetitions)
    arguments = settings.arguments()
    blocked = on_blocked_of(on_blocked)
    if preview:
        typer.echo(str(vp.preview(vp.verify, plan, repo, backend=previewed_backend(agents), **arguments)))
        return
    backend = backend_of_options(agents, timeout=run_options.timeout, max_cost=run_options.max_cost)
    arguments |= {"backend": backend, "on_blocked": blocked, "plan_check": plan_check, **vars(run_options)}

    def run_once(number: int) -> int:
        return _print_end(vp.verify(plan, repo, repetition=number, **arguments), report, by_verdict=exit_code)

    exit_with(repeat(repetition, repetitions, run_once))


@with_groups
def resume(
    run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")],
    answer: Annotated[
        str | None,
        typer.Option(help="The answer to a paused run: acknowledge:C3, override:C3, context, or abort."),
    ] = None,
    note: Annotated[str, typer.Option(help="The reason for the answer, or the context for the agents.")] = "",
    repo: Annotated[Path | None, typer.Option(help="The folder of the repository, if it was moved.")] = None,
    script: options.Script = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat calls that failed or that a limit kept back.")
    ] = False,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="The seconds that one call may take from now on. Default: as before.")
    ] = None,
    max_retries: Annotated[
        int | None, typer.Option(min=0, help="How often one request is sent again from now on. Default: as before.")
    ] = None,
    report: options.Report = None,
    exit_code: options.ByVerdict = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Continue a run that was interrupted or is paused.

    No call is repeated whose reply is recorded. With --retry-failed, a run that has ended can be continued, too: all
    that followed from failed calls is decided again, and the log keeps both. New limits include what was used before.

    At a terminal, a paused run asks its question here if there is no --answer, and so do later pauses.

    The agents are those of the log, with the key of the current environment; options of agents replace their settings.
    A run that was answered by a script needs its --script again.

    \b
    Examples:
    verifyplan resume runs/PLAN-001.jsonl
    verifyplan resume runs/PLAN-001.jsonl --answer acknowledge:C3 --note "we accept the downtime"
    verifyplan resume runs/PLAN-001.jsonl --answer context --note "the old file was renamed"
    verifyplan resume runs/PLAN-001.jsonl --retry-failed --max-cost 5 --timeout 1200
    """
    check_report(report)
    if not sys.stderr.isatty() and (words := words_before_resuming(run, retry_failed=retry_failed)):
        typer.echo(words, err=True)  # in a terminal, `resume` says it
    backend = script_of_options(agents, script) if script else backend_of_log(agents, run)
    resumed = vp.resume(
        run,
        answer,
        note=note,
        backend=backend,
        repo=repo,
        on_blocked=ask if has_terminal() else None,
        retry_failed=retry_failed,
        max_tokens=max_tokens,
        max_cost=max_cost,
        timeout=timeout,
        max_retries=max_retries,
    )
    exit_with(_print_end(resumed, report, by_verdict=exit_code))


def log(run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")]) -> None:
    """Show a run log in words, one line per event.

    \b
    Example:
    verifyplan log runs/PLAN-001.jsonl
    """
    for line in log_text(vp.read_run(run).records):
        typer.echo(line)


def _print_end(run: Run, report: Path | None, *, by_verdict: bool) -> int:
    """Print how a run ended, write its report, and return its exit code."""
    typer.echo(f"{run}\nlog: {run.log_path}")
    if report is not None:
        if not isinstance(run, ReportedRun):
            fix = "leave it out; `verifyplan log` shows the debate"
            raise InputError(Problem("--report", "is only for plan runs and cross runs", fix))
        try:
            typer.echo(f"report: {run.report(report)}")
        except OSError as error:
            how = f"verifyplan resume {quote(str(run.log_path))} --report {quote(str(report))}"
            error.add_note(f"Nothing is lost; to write the report: {how}")
            raise
    code = exit_code_of(run, by_verdict=by_verdict)
    print_end(run, code)
    return code

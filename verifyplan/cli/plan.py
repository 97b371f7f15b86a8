"""`verify`, `resume` and `log`: plan runs, taken up where they were left, read line by line."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.cli import has_terminal, options
from verifyplan.cli.agents import backend_of_log, backend_of_options, previewed_backend, script_of_options
from verifyplan.cli.choices import OnBlockedName
from verifyplan.cli.exit_codes import exit_code_of, exit_with, print_end, repeat
from verifyplan.cli.inputs import check_report, plan_arguments
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.protocol.settings import BlockedWord
from verifyplan.reports.log import log_text
from verifyplan.reports.visible import lines, one_line
from verifyplan.runs.plan.pauses import Answer, Pause, PauseHandler, answer_event, read_answer
from verifyplan.runs.resume import words_before_resuming
from verifyplan.runs.run import ReportedRun, Run

MAX_CLAIM_CHARACTERS = 200
"""How much is shown of a blocking challenge's claim and concern."""


def on_blocked_of(option: OnBlockedName | None) -> BlockedWord | PauseHandler:
    """Return what `--on-blocked` means; without it, ask where there is a terminal, else continue.

    SettingsError for `ask` where nobody can answer.
    """
    if option is None:
        option = OnBlockedName.ask if has_terminal() else OnBlockedName.carry_on
    if option is OnBlockedName.ask and not has_terminal():
        fix = "use pause, and answer with `verifyplan resume RUN --answer ...`; or continue"
        raise SettingsError(Problem("--on-blocked", "ask needs a terminal, and there is none", fix))
    if option is OnBlockedName.ask:
        return ask
    return "pause" if option is OnBlockedName.pause else "continue"


def ask(pause: Pause) -> Answer | None:
    """Ask until an answer fits the pause; None, by a blank line or Ctrl-C, leaves the run waiting."""
    first = pause.challenges[0].id
    question = [
        f"\nThe run is blocked ({pause.pause_id}).",
        *lines(pause.question),
        *(
            f"  {each.id}: {one_line(f'{each.claim} {each.concern}', MAX_CLAIM_CHARACTERS)}"
            for each in pause.challenges
        ),
        f"Answers: acknowledge:{first} (accept the risk), override:{first} (end the run without it), context (tell the",
        "agents something), abort. A blank line leaves the run waiting, for `verifyplan resume`.",
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
    plan: Annotated[Path, typer.Argument(help="The plan, in Markdown.")],
    repo: Annotated[Path, typer.Option(help="The folder that the plan is about; it is only read.")] = Path(),
    settings: options.PlanOptions = options.DEFAULT_PLAN_OPTIONS,
    on_blocked: options.OnBlocked = None,
    preview: options.Preview = False,
    timeout: options.Timeout = options.CALL_TIMEOUT_S,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    plan_check: Annotated[
        bool, typer.Option("--plan-check", help="Begin with the blockers of a plan check; for PLAN documents.")
    ] = False,
    synthetic: options.Synthetic = False,
    log_dir: options.LogDir = Path("runs"),
    report: options.Report = None,
    exit_code: options.ByVerdict = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
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
    verifyplan verify PLAN.md --rules no-panel-power --max-iterations 2
    verifyplan verify PLAN.md --model claude-opus-4-5 --model-for worker=claude-haiku-4-5 --max-cost 2.50
    """
    check_report(report, repetitions)
    arguments = plan_arguments(settings)
    blocked = on_blocked_of(on_blocked)
    if preview:
        typer.echo(str(vp.preview(vp.verify, plan, repo, backend=previewed_backend(agents), **arguments)))
        return
    backend = backend_of_options(agents, timeout=timeout, max_cost=max_cost)

    def run_once(number: int) -> int:
        run = vp.verify(
            plan,
            repo,
            backend=backend,
            on_blocked=blocked,
            timeout=timeout,
            max_tokens=max_tokens,
            max_cost=max_cost,
            repetition=number,
            plan_check=plan_check,
            log_dir=log_dir,
            synthetic=synthetic,
            **arguments,
        )
        return _print_end(run, report, by_verdict=exit_code)

    exit_with(repeat(repetition, repetitions, run_once))


@with_groups
def resume(
    run: Annotated[Path, typer.Argument(help="The run log (.jsonl).")],
    answer: Annotated[
        str | None,
        typer.Option(help="To the question it waits with: acknowledge:C3, override:C3, context, or abort."),
    ] = None,
    note: Annotated[str, typer.Option(help="Your words: the context, or the reason.")] = "",
    repo: Annotated[Path | None, typer.Option(help="Where the repository lies now, if it was moved.")] = None,
    script: options.Script = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask calls again that failed, or that a limit kept back.")
    ] = False,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds that one call may take from here on; as before if left out.")
    ] = None,
    max_retries: Annotated[
        int | None, typer.Option(min=0, help="How often one request is sent again from here on.")
    ] = None,
    report: options.Report = None,
    exit_code: options.ByVerdict = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Go on with a run that was broken off or waits; no call whose reply is on disk is made again.

    With --retry-failed also with one that has ended: what followed from failed calls is decided anew, and the log
    holds both. New limits count what was used before.

    In a terminal, a run that waits asks its question here if there is no --answer, and so do later pauses.

    The agents are those of the log, with a key that is found now; options of agents change what they say of them. A
    run whose answers were a script needs it again.

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
    """Show a run log line by line, in words.

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
            raise InputError(Problem("--report", "is of plan runs and cross runs alone", fix))
        try:
            typer.echo(f"report: {run.report(report)}")
        except OSError as error:
            how = f"verifyplan resume {quote(str(run.log_path))} --report {quote(str(report))}"
            error.add_note(f"Nothing is lost; the report is written by: {how}")
            raise
    code = exit_code_of(run, by_verdict=by_verdict)
    print_end(run, code)
    return code

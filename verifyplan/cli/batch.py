"""`batch plans` and `batch findings`: many runs through message batches, at half the price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from verifyplan.cli import options
from verifyplan.cli.agents import backend_of_options
from verifyplan.cli.choices import BackendName
from verifyplan.cli.exit_codes import BUDGET, FAILED, NEGATIVE, PAUSED, USAGE_ERROR, exit_code_of, exit_with
from verifyplan.cli.inputs import model_roster, plan_arguments
from verifyplan.cli.option_groups import with_groups
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.batch.result import BatchRuns

BY_PRECEDENCE = (FAILED, BUDGET, USAGE_ERROR, NEGATIVE, PAUSED)
"""Of the exit codes of many runs, the first of these that a run has is the command's."""

batch = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Run many plans or findings in message batches.",
)

Poll = Annotated[float, typer.Option(min=0.01, help="Seconds between two looks at a batch.")]

RetryFailed = Annotated[
    bool,
    typer.Option("--retry-failed", help="Ask calls again that failed, or that a limit kept back, in new batches."),
]


@batch.callback()
def _batch() -> None:
    """Run many plans or findings in message batches, which cost half and may take a day."""


@batch.command(no_args_is_help=True)
@with_groups
def plans(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PLANS...", help="Plans in Markdown, folders of them, or `plans`: those of bench."),
    ],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plans are about; the current one if left out.")
    ] = None,
    settings: options.PlanOptions = options.DEFAULT_PLAN_OPTIONS,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    repetitions: options.Repetitions = 1,
    synthetic: options.Synthetic = False,
    log_dir: options.LogDir = Path("runs"),
    poll: Poll = 60.0,
    retry_failed: RetryFailed = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Verify many plans at once by models, through message batches; the same command again goes on.

    Exit code 3: agents failed in a run; 4: the tokens or dollars of a run were used up; 2: a run could not go on.

    \b
    Examples:
    verifyplan batch plans plans/*.md --repo ../service --model claude-haiku-4-5
    verifyplan batch plans plans --model claude-opus-4-5 --repetitions 3 --log-dir runs/bench
    """
    marked: dict[str, Any] = {"synthetic": True} if synthetic else {}
    runs = batch_verify(
        paths[0] if len(paths) == 1 else paths,
        repo,
        backend=_backend(agents, max_cost),
        repetitions=repetitions,
        log_dir=log_dir,
        poll=poll,
        retry_failed=retry_failed,
        max_tokens=max_tokens,
        max_cost=max_cost,
        **plan_arguments(settings),
        **marked,
    )
    _print_ends(runs)


@batch.command(no_args_is_help=True)
@with_groups
def findings(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="CSV or JSON: finding_id, summary, evidence, worker; a run each."),
    ],
    workers: Annotated[str | None, typer.Option(metavar="NAMES", help="The roster, in order, by comma.")] = None,
    repo: options.EvidenceRepo = Path(),
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    repetitions: options.Repetitions = 1,
    synthetic: options.Synthetic = False,
    log_dir: options.LogDir = Path("runs"),
    poll: Poll = 60.0,
    retry_failed: RetryFailed = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Cross-verify tables of findings at once by models, through message batches; the same command again goes on.

    Exit code 3: calls of a run failed, and a round gave no result or classes rest on too few votes; 4: the tokens or
    dollars of a run were used up; 2: a run could not go on.

    \b
    Examples:
    verifyplan batch findings a.csv b.csv --workers ann,bob,cy --model claude-haiku-4-5
    verifyplan batch findings a.csv --workers ann,bob --model claude-opus-4-5 --repetitions 5 --task-type error-analysis
    """
    runs = batch_crossverify(
        files,
        model_roster(workers),
        backend=_backend(agents, max_cost),
        repetitions=repetitions,
        log_dir=log_dir,
        poll=poll,
        retry_failed=retry_failed,
        repo=repo,
        max_tokens=max_tokens,
        max_cost=max_cost,
        synthetic=synthetic,
        **votes.arguments(),
    )
    _print_ends(runs)


def _backend(agents: options.AgentOptions, max_cost: str | None) -> Any:
    """Return the models that the options name; static agents only where --backend says so."""
    named = agents if agents.backend else replace(agents, backend=BackendName.anthropic)
    return backend_of_options(named, timeout=options.CALL_TIMEOUT_S, max_cost=max_cost)


def _print_ends(runs: BatchRuns) -> None:
    """Print how all runs ended and where their logs are; exit with the worst code."""
    for run in runs:
        typer.echo(f"{run.log_path}: {str(run).splitlines()[0]}")
    typer.echo(f"{runs}\nlogs: {runs.folder}")
    codes = {*map(exit_code_of, runs), *(error.exit_code for error in runs.stopped.values())}
    exit_with(next((code for code in BY_PRECEDENCE if code in codes), 0))

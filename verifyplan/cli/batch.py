"""`batch plans` and `batch findings`: many runs through message batches, at half the price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from verifyplan.cli import options
from verifyplan.cli.agents import backend_of_options
from verifyplan.cli.exit_codes import BUDGET, FAILED, NEGATIVE, PAUSED, USAGE_ERROR, exit_code_of, exit_with
from verifyplan.cli.inputs import model_roster
from verifyplan.cli.listed_commands import command_group
from verifyplan.cli.option_groups import with_groups
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.batch.drive import BatchRuns

BY_PRECEDENCE = (FAILED, BUDGET, USAGE_ERROR, NEGATIVE, PAUSED)
"""The exit code of the command is the first of these that one of its runs has."""

batch = command_group("Run many plans or findings in message batches.")


@dataclass(frozen=True)
class BatchOptions:
    """The options of every batch, by the names of the parameters of `batch_verify` and `batch_crossverify`."""

    max_tokens: options.MaxTokens = None
    max_cost: options.MaxCost = None
    repetitions: options.Repetitions = 1
    synthetic: options.Synthetic = False
    log_dir: options.LogDir = Path("runs")
    poll: Annotated[float, typer.Option(min=0.01, help="The seconds between two looks at a batch.")] = 60.0
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Repeat calls that failed or that a limit kept back, in new batches."),
    ] = False

    def arguments(self, agents: options.AgentOptions) -> dict[str, Any]:
        """Return the options as arguments, with models as the backend unless --backend says otherwise."""
        named = agents if agents.backend else replace(agents, backend="anthropic")
        backend = backend_of_options(named, timeout=options.CALL_TIMEOUT_S, max_cost=self.max_cost)
        return {**vars(self), "backend": backend}


DEFAULT_BATCH_OPTIONS = BatchOptions()


@batch.command(no_args_is_help=True)
@with_groups
def plans(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PLANS", help="Markdown files, folders of them, or `plans`: the plans of bench."),
    ],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plans are about. Default: the current folder.")
    ] = None,
    settings: options.PlanOptions = options.DEFAULT_PLAN_OPTIONS,
    batch_options: BatchOptions = DEFAULT_BATCH_OPTIONS,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Verify many plans by models, through message batches.

    The same command again continues what was interrupted. Exit code 3: agents failed in a run. 4: the limit of tokens
    or dollars of a run was reached. 2: a run could not continue.

    \b
    Examples:
    verifyplan batch plans plans/*.md --repo ../service --model claude-haiku-5-5
    verifyplan batch plans plans --model claude-opus-5-5 --repetitions 3 --log-dir runs/bench
    """
    arguments = batch_options.arguments(agents) | settings.arguments()
    if not batch_options.synthetic:
        del arguments["synthetic"]  # bundled plans say it themselves
    _print_ends(batch_verify(paths[0] if len(paths) == 1 else paths, repo, **arguments))


@batch.command(no_args_is_help=True)
@with_groups
def findings(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="CSV or JSON files with finding_id, summary, evidence and worker; one run for each.",
        ),
    ],
    workers: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The workers in order, separated by commas.")
    ] = None,
    repo: options.EvidenceRepo = Path(),
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    batch_options: BatchOptions = DEFAULT_BATCH_OPTIONS,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let models vote on findings, through message batches.

    The same command again continues what was interrupted. Exit code 3: calls of a run failed, and a round gave no
    result or a class rests on too few votes. 4: the limit of tokens or dollars of a run was reached. 2: a run could
    not continue.

    \b
    Examples:
    verifyplan batch findings a.csv b.csv --workers ann,bob,cy --model claude-haiku-5-5
    verifyplan batch findings a.csv --workers ann,bob --model claude-opus-5-5 --repetitions 5 --task-type error-analysis
    """
    roster = model_roster(workers)
    _print_ends(batch_crossverify(files, roster, repo=repo, **batch_options.arguments(agents), **votes.arguments()))


def _print_ends(runs: BatchRuns) -> None:
    """Print how all runs ended and where their logs are; exit with the worst code."""
    for run in runs:
        typer.echo(f"{run.log_path}: {str(run).splitlines()[0]}")
    typer.echo(f"{runs}\nlogs: {runs.folder}")
    codes = {*map(exit_code_of, runs), *(error.exit_code for error in runs.stopped.values())}
    exit_with(next((code for code in BY_PRECEDENCE if code in codes), 0))

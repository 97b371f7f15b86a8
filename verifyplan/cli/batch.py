"""`batch plans` and `batch findings`: many runs through message batches, at half the price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from verifyplan.cli.backends import backend_of_options
from verifyplan.cli.cross import exit_code_of, model_roster, names_of
from verifyplan.cli.interrupts import interruptible
from verifyplan.cli.live import CALL_TIMEOUT, NOBODY, AgentOptions, BackendName, MaxCost, exit_with, with_agents
from verifyplan.cli.plan import BUDGET, FAILED, PAUSED, ModeName, PolicyName, Team
from verifyplan.protocol.settings import PanelSettings
from verifyplan.runs.batch.findings import batch_crossverify
from verifyplan.runs.batch.plans import batch_verify
from verifyplan.runs.batch.result import BatchRuns
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import CrossRun, Run

USAGE = 2
FIRST_CODES = (FAILED, BUDGET, USAGE, 1, PAUSED)
"""Of the exit codes of many runs, the one that counts: the first of these that one of them has."""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Run many plans or findings in message batches.")

Repetitions = Annotated[int, typer.Option(min=1, help="So many runs of each, each a run of its own.")]
Poll = Annotated[float, typer.Option(min=0.01, help="Seconds between two looks at a batch.")]


@app.callback()
def _batch() -> None:
    """Run many plans or findings in message batches, which cost half and may take a day."""


@app.command(no_args_is_help=True)
@interruptible
@with_agents
def plans(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PLANS...", help="Plans in Markdown, folders of them, or `plans`: those of bench."),
    ],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plans are about; the current one if left out.")
    ] = None,
    policy: Annotated[
        PolicyName, typer.Option(help="deliberate keeps looking while evidence is pending.")
    ] = PolicyName.protocol,
    team: Annotated[Team | None, typer.Option(help="The team; sized by each plan's complexity if left out.")] = None,
    threshold: Annotated[int, typer.Option(min=0, help="The complexity that asks for the scaled team.")] = 7,
    max_iterations: Annotated[int, typer.Option(min=1, help="The last iteration.")] = 3,
    panel: Annotated[bool, typer.Option(help="Whether a panel votes on the challenges.")] = True,
    panel_mode: Annotated[ModeName, typer.Option(help="How the panel is asked.")] = ModeName.adversarial,
    panel_workers: Annotated[str | None, typer.Option(metavar="NAMES", help="The panel's workers, by comma.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that end each run.")] = None,
    max_cost: MaxCost = None,
    repetitions: Repetitions = 1,
    weights: Annotated[Path | None, typer.Option(help="A weights file for the score, which never decides.")] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark generated plans as such.")] = False,
    log_dir: Annotated[Path, typer.Option(help="The folder of the run logs.")] = Path("runs"),
    poll: Poll = 60.0,
    agents: AgentOptions = NOBODY,
) -> None:
    """Verify many plans at once by models, through message batches; the same command again goes on.

    Exit code 3: agents failed in a run; 4: the tokens or dollars of a run were used up; 2: a run could not go on.

    \b
    Examples:
    verifyplan batch plans plans/*.md --repo ../service --model claude-haiku-4-5
    verifyplan batch plans plans --model claude-opus-4-5 --repetitions 3 --log-dir runs/bench
    """
    given: dict[str, Any] = {"synthetic": True} if synthetic else {}
    told = batch_verify(
        paths[0] if len(paths) == 1 else paths,
        repo,
        backend=_backend(agents, max_cost),
        repetitions=repetitions,
        log_dir=log_dir,
        poll=poll,
        policy=policy.value,
        team=team and team.value,
        threshold=threshold,
        max_iterations=max_iterations,
        panel=_panel(panel, panel_mode, panel_workers),
        max_tokens=max_tokens,
        max_cost=max_cost,
        weights=weights,
        **given,
    )
    _tell(told)


@app.command(no_args_is_help=True)
@interruptible
@with_agents
def findings(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="CSV or JSON: finding_id, summary, evidence, worker; a run each."),
    ],
    workers: Annotated[str | None, typer.Option(metavar="NAMES", help="The roster, in order, by comma.")] = None,
    root: Annotated[Path, typer.Option(help="The folder that cited evidence lies in.")] = Path(),
    task_type: Annotated[str | None, typer.Option(help="Chooses the settings, as for crossverify.")] = None,
    adversarial: Annotated[bool | None, typer.Option(help="Overrules the task type's mode.")] = None,
    max_rounds: Annotated[int | None, typer.Option(min=1, max=3, help="Overrules the number of rounds.")] = None,
    items_per_call: Annotated[
        int | None, typer.Option(min=1, help="Findings that one call asks about; all of a round if left out.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of each run after which no call is sent.")
    ] = None,
    max_cost: MaxCost = None,
    repetitions: Repetitions = 1,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark generated findings as such.")] = False,
    out: Annotated[Path, typer.Option(help="Logs and artifacts are written under this folder, in runs/.")] = Path(),
    poll: Poll = 60.0,
    agents: AgentOptions = NOBODY,
) -> None:
    """Cross-verify tables of findings at once by models, through message batches; the same command again goes on.

    Exit code 3: a round of a run gave no result; 4: the tokens or dollars of a run were used up; 2: a run could not
    go on.

    \b
    Examples:
    verifyplan batch findings a.csv b.csv --workers ann,bob,cy --model claude-haiku-4-5
    verifyplan batch findings a.csv --workers ann,bob --model claude-opus-4-5 --repetitions 5 --task-type error-analysis
    """
    overrules = {"adversarial": adversarial, "maxRounds": max_rounds}
    told = batch_crossverify(
        files,
        model_roster(workers),
        backend=_backend(agents, max_cost),
        repetitions=repetitions,
        out=out,
        poll=poll,
        task_type=task_type,
        settings={name: value for name, value in overrules.items() if value is not None},
        root=root,
        items_per_call=items_per_call,
        max_tokens=max_tokens,
        max_cost=max_cost,
        synthetic=synthetic,
    )
    _tell(told)


def _backend(agents: AgentOptions, max_cost: str | None) -> Any:
    """The models that the options ask for, which are needed here; static agents where they are asked for in words."""
    named = agents if agents.backend else replace(agents, backend=BackendName.anthropic)
    return backend_of_options(named, timeout=CALL_TIMEOUT, max_cost=max_cost)


def _panel(panel: bool, mode: ModeName, workers: str | None) -> PanelSettings | None:
    if not panel:
        return None
    names = {} if workers is None else {"workers": tuple(names_of(workers, "--panel-workers"))}
    return PanelSettings(mode=mode.value, **names)


def _tell(batch: BatchRuns) -> None:
    """Tell how all runs ended, and where they lie; the exit code tells the worst."""
    for run in batch:
        typer.echo(f"{run.log_path}: {str(run).splitlines()[0]}")
    typer.echo(str(batch))
    typer.echo(f"logs: {batch.folder}")
    codes = {*map(_code, batch), *(error.exit_code for error in batch.stopped.values())}
    exit_with(_first(codes))


def _first(codes: Iterable[int]) -> int:
    return next((code for code in FIRST_CODES if code in set(codes)), 0)


def _code(run: Run) -> int:
    if isinstance(run, CrossRun):
        return exit_code_of(run)
    if not isinstance(run, PlanRun) or run.outcome is None:
        return PAUSED
    return {"failures": FAILED, "budget": BUDGET}.get(run.outcome.ended_by, 0)

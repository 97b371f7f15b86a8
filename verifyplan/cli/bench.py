"""`bench plans`: a backend scored on the labelled plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.cli.backends import backend_of_options
from verifyplan.cli.interrupts import interruptible
from verifyplan.cli.live import CALL_TIMEOUT, NOBODY, AgentOptions, Timeout, with_agents
from verifyplan.files import replacing

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Score a backend on labelled data.")


@app.callback()
def _bench() -> None:
    """Score a backend on labelled data."""


@app.command()
@interruptible
@with_agents
def plans(
    plans: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="A plan of yours, a folder or a glob, in place of the bundled. Repeatable."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What is wrong with your plans, in JSON as data/plans/labels.json."),
    ] = None,
    repo: Annotated[Path | None, typer.Option(help="The folder that your plans are about.")] = None,
    held_out: Annotated[
        bool | None, typer.Option(help="Only the plans that nothing may be tuned on, or only the others.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=1, help="So many runs of each plan; every share is the mean over runs.")
    ] = 1,
    log_dir: Annotated[Path | None, typer.Option(help="Keep the run logs here.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tables here, as CSV.")] = None,
    timeout: Timeout = CALL_TIMEOUT,
    agents: AgentOptions = NOBODY,
) -> None:
    """Verify every labelled plan: detection by kind, false alarms, verdicts, calls, tokens, time; each run by itself.

    The bundled plans, or yours with --plans, --labels and --repo. Offline, by the static agents, unless options name
    models; `verifyplan estimate plans` says what those would take.

    \b
    Examples:
    verifyplan bench plans
    verifyplan bench plans --held-out --out out/bench
    verifyplan bench plans --plans plans --labels labels.json --repo .
    verifyplan bench plans --model claude-haiku-4-5 --repetitions 3 --log-dir runs/bench
    """
    backend = backend_of_options(agents, timeout=timeout)
    bench = vp.bench_plans(
        backend,
        plans=plans,
        labels=labels,
        repo=repo,
        held_out=held_out,
        repetitions=repetitions,
        log_dir=log_dir,
        timeout=timeout,
    )
    tables = bench.detection
    shares = {name: tables.by_kind[name].map("{:.0%}".format) for name in ("rate", "low", "high")}
    shown = tables.by_kind.assign(**shares)
    typer.echo(shown.to_string(index=False))
    for _, alarm in tables.alarms.iterrows():
        typer.echo(f"on sound {alarm['plan']}: {alarm['severity']} {alarm['place']}: {alarm['concern']}")
    typer.echo(str(bench))
    if out is not None:
        for name in ("defects", "by_kind", "alarms", "on_sound", "verdicts", "cost"):
            with replacing(out / f"{name}.csv") as temporary:
                getattr(tables, name).to_csv(temporary, index=False)
        typer.echo(f"tables: {out}")

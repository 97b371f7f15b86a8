"""`datasets` and `bench plans`: list bundled data, and score a backend on labelled plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.cli import options
from verifyplan.cli.agents import backend_of_options
from verifyplan.cli.listed_commands import command_group
from verifyplan.cli.option_groups import with_groups
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root
from verifyplan.errors import InputError, Problem
from verifyplan.frames import bundled
from verifyplan.frames.csv_tables import write_csv
from verifyplan.protocol.records import TeamMode

bench = command_group("Score a backend on labelled data.")


def datasets(
    name: Annotated[str | None, typer.Argument(help="A bundled set whose folder or file to print.")] = None,
    claims: Annotated[
        int | None, typer.Option(min=1, help="Generate this many claims about Python's standard library.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the claims.")] = 0,
    out: Annotated[Path, typer.Option(help="The file for the claims.")] = Path("claims.csv"),
    stdlib: Annotated[bool, typer.Option("--stdlib-root", help="Print the folder that these claims cite.")] = False,
) -> None:
    """List bundled sets, or generate labelled claims.

    Without arguments, lists the sets; with a name, prints the folder of that set. Half of the generated claims about
    real code are false, and their labels say which.

    \b
    Examples:
    verifyplan datasets
    verifyplan datasets --claims 200 --seed 7 --out claims.csv
    """
    if claims is not None:
        if out.suffix != ".csv":
            raise InputError(Problem("--out", f"must be a .csv file, got {str(out)!r}", "name a .csv file"))
        table = stdlib_claims(claims, seed=seed)
        write_csv(table, out)
        typer.echo(f"{claims} claims, {int(table.groupby('finding_id')['truth'].first().sum())} true: {out}")
    elif stdlib:
        typer.echo(stdlib_root())
    elif name is not None:
        typer.echo(bundled.path(name))
    else:
        for row in bundled.names().itertuples():
            typer.echo(f"{row.name:<28} {row.kind:<6} {row.about}")


@bench.command()
@with_groups
def plans(
    plans: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Your own plans instead of the bundled ones: a file, a folder or a glob. Can be repeated.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The defects of your plans, in JSON; docs/own-material.md has an example."),
    ] = None,
    repo: Annotated[Path | None, typer.Option(help="The folder that your plans are about.")] = None,
    held_out: Annotated[
        bool | None,
        typer.Option(help="Use only the held-out plans, on which nothing may be tuned, or only the others."),
    ] = None,
    team: Annotated[
        TeamMode | None,
        typer.Option(help="The team. Default: chosen by each plan's complexity; no agent sees a trivial plan."),
    ] = None,
    repetitions: options.Repetitions = 1,
    log_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the run logs in this folder.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the tables to this folder, as CSV.")] = None,
    timeout: options.Timeout = options.CALL_TIMEOUT_S,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Verify labelled plans and report what was detected.

    Reports detection by kind of defect, false alarms, verdicts, calls, tokens and time. Uses the bundled plans, or
    yours with --plans, --labels and --repo. The static agents verify offline unless options name models;
    `verifyplan estimate plans` estimates what those would cost.

    \b
    Examples:
    verifyplan bench plans
    verifyplan bench plans --held-out --out out/bench
    verifyplan bench plans --plans plans --labels labels.json --repo .
    verifyplan bench plans --model claude-haiku-5-5 --repetitions 3 --log-dir runs/bench
    """
    backend = backend_of_options(agents, timeout=timeout)
    result = vp.bench_plans(
        backend,
        plans=plans,
        labels=labels,
        repo=repo,
        held_out=held_out,
        team=team,
        repetitions=repetitions,
        log_dir=log_dir,
        timeout=timeout,
    )
    tables = result.detection
    typer.echo(_by_kind_words(tables.by_kind))
    for _, alarm in tables.alarms.iterrows():
        typer.echo(f"on sound {alarm['plan']}: {alarm['severity']} {alarm['place']}: {alarm['concern']}")
    typer.echo(str(result))
    if out is not None:
        for name in ("defects", "by_kind", "alarms", "on_sound", "precision", "verdicts", "cost"):
            write_csv(getattr(tables, name), out / f"{name}.csv")
        typer.echo(f"tables: {out}")


def _by_kind_words(by_kind: pd.DataFrame) -> str:
    """Return the table of detection by kind; the figures without trivial plans only where a plan is trivial."""
    seen = ["in_trivial", "seen_found", "seen_rate", "seen_rate_low", "seen_rate_high"]
    shown = by_kind if by_kind["in_trivial"].any() else by_kind.drop(columns=seen)
    shares = [str(name) for name in shown if str(name).endswith(("rate", "low", "high"))]
    return shown.assign(**{name: shown[name].map("{:.0%}".format, na_action="ignore") for name in shares}).to_string(
        index=False, na_rep=""
    )

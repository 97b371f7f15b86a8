"""`replay`: recorded votes read again, and recorded runs driven again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import verifyplan as vp
from verifyplan.cli import options
from verifyplan.cli.inputs import read_runs
from verifyplan.errors import InputError, Problem
from verifyplan.files import replacing
from verifyplan.runlog.reader import SUFFIX
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.text import counted, filled_words

MAX_SHOWN_DIFFERENCES = 20
"""A run that differs everywhere must not fill the screen."""


def replay(
    runs: options.Runs,
    mode: Annotated[
        options.ReadingName | None,
        typer.Option(help="How votes are read; adversarial if left out, of a plan run as it was."),
    ] = None,
    max_rounds: options.ReadRounds = None,
    missing_basis: options.MissingBasis = options.MissingBasisName.infer,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    policy: Annotated[options.PolicyName | None, typer.Option(help="Of a plan run: another policy.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Of a plan run: another last iteration.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Of a debate: another last turn.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Drive one logged run again; exit with 1 if its events differ.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write all findings to this .csv or .parquet.")] = None,
) -> None:
    """Judge recorded votes again under other rules; or drive a logged run again, as far as its replies reach.

    \b
    Examples:
    verifyplan replay runs --mode adversarial --max-rounds 2
    verifyplan replay stdlib-claims/collaborative --missing-basis burden-not-met --out replayed.csv
    verifyplan replay runs/PLAN-001.jsonl --policy deliberate
    verifyplan replay runs/PLAN-001.jsonl --check
    """
    changes = {"policy": policy.value if policy else None, "max_iterations": max_iterations, "max_turns": max_turns}
    if check or any(changes.values()) or _is_driven_log(runs):
        _refuse_set({"--max-rounds": max_rounds, "--columns": columns, "--verdicts": verdicts, "--out": out})
        _drive(runs, mode, changes, check)
    else:
        _read_again(runs, mode or options.ReadingName.adversarial, max_rounds, missing_basis, columns, verdicts, out)


def _is_driven_log(runs: list[str]) -> bool:
    path = Path(runs[0])
    return (
        len(runs) == 1 and path.suffix == SUFFIX and path.is_file() and isinstance(vp.read_run(path), PlanRun | Debate)
    )


def _refuse_set(options: Mapping[str, object]) -> None:
    """Raise InputError for options that say how votes are read, where a logged run is driven again instead."""
    fix = "leave it out; to read the votes of a plan run's panel, name the folder of the log"
    if names := [name for name, value in options.items() if value is not None]:
        raise InputError(Problem(name, "has no meaning where one logged run is driven again", fix) for name in names)


def _drive(runs: list[str], mode: options.ReadingName | None, changes: dict[str, Any], check: bool) -> None:
    if len(runs) != 1 or Path(runs[0]).suffix != SUFFIX:
        fix = "name one run log (.jsonl), as `verifyplan verify` wrote it"
        raise InputError(
            Problem("runs", "--check, --policy, --max-iterations and --max-turns drive one logged run", fix)
        )
    other_mode = None if mode in (None, options.ReadingName.recorded) else mode.value
    if check and (other_mode or any(changes.values())):
        fix = "leave out --mode, --policy, --max-iterations and --max-turns"
        raise InputError(Problem("--check", "drives the run under its own rules", fix))
    again = vp.replay_run(
        Path(runs[0]),
        **changes,
        mode=other_mode,  # type: ignore[arg-type]  # recorded, the third reading, is None here
    )
    typer.echo(str(again))
    if check and again.same:
        typer.echo("the recorded replies give the recorded events again")
    elif again.same:
        typer.echo("the same events as recorded")
    else:
        typer.echo(f"{counted(len(again.differences), 'event')} of the log came out otherwise")
        for line in again.differences[:MAX_SHOWN_DIFFERENCES]:
            typer.echo(f"  {line[:200]}")
    if check and not again.same:
        raise typer.Exit(1)


def _read_again(
    runs: list[str],
    mode: options.ReadingName,
    max_rounds: int | None,
    missing_basis: options.MissingBasisName,
    columns: str | None,
    verdicts: str | None,
    out: Path | None,
) -> None:
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fix = "name a .csv or .parquet file"
        raise InputError(Problem("--out", f"{out.suffix or 'no suffix'!r} is not a known table", fix))
    table = vp.replay(
        read_runs(runs, columns=columns, words=verdicts),
        mode.value,
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
    )
    typer.echo(f"{counted(len(table), 'finding')}, read as {mode.value}")
    for name, count in table["classification"].value_counts(sort=False).items():
        typer.echo(f"{name:>18}: {count} (n = {len(table)})")
    filled, counter, disagrees = (
        int(table[name].sum()) for name in ("filled_bases", "filled_counter", "disagreements")
    )
    bases = filled_words(filled, counter, disagrees) if filled else "no basis had to be filled in"
    typer.echo(f"{int(table['censored'].sum())} censored; {bases}")
    if out is not None:
        with replacing(out) as temporary:
            (table.to_csv if out.suffix == ".csv" else table.to_parquet)(temporary, index=False)
        typer.echo(f"findings: {out}")
    differing = table[
        table["recorded"].notna() & (table["recorded"].astype(str) != table["classification"].astype(str))
    ]
    if mode is options.ReadingName.recorded and len(differing):
        first = differing.iloc[0]
        typer.echo(
            f"{counted(len(differing), 'recorded class')} differ from what the votes give, the first is "
            f"{first['finding_id']} of {first['run_id']}: {first['recorded']}, not {first['classification']}",
            err=True,
        )
        raise typer.Exit(1)

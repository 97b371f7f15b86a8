"""`compare` and `explain`: recorded votes under two readings, and why a finding ended in its class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.cli.inputs import Missing, MissingBasis, Reading, Rounds, Runs, Truth, VoteColumns, read_runs

_Basis = Literal["infer", "counter-evidence", "burden-not-met", "raise"]
_Mode = Literal["collaborative", "adversarial", "recorded"]


def compare(
    runs: Runs,
    other: Annotated[str | None, typer.Option(help="A second set on the same findings, to be paired.")] = None,
    a: Annotated[Reading | None, typer.Option(help="First reading; collaborative if left out.")] = None,
    b: Annotated[Reading | None, typer.Option(help="Second reading; adversarial if left out.")] = None,
    max_rounds: Rounds = None,
    missing_basis: Missing = MissingBasis.infer,
    truth: Truth = None,
    columns: VoteColumns = None,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples behind the intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write a report with charts and tables here.")] = None,
) -> None:
    """Read the same findings in two ways and say what differs.

    With one set, its votes are judged under two modes; with --other, two real runs are paired.

    \b
    Examples:
    verifyplan compare stdlib-claims/adversarial --out out/compare
    verifyplan compare stdlib-claims/collaborative --other stdlib-claims/adversarial
    verifyplan compare runs/collaborative --other runs/adversarial --truth claims.csv
    verifyplan compare votes.csv --columns item=claim,worker=judge,verdict=vote,basis=basis,truth=label
    """
    comparison = vp.compare(
        read_runs(runs, truth, columns),
        None if other is None else read_runs([other], truth),
        a=cast("_Mode | None", a and a.value),
        b=cast("_Mode | None", b and b.value),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
        resamples=resamples,
        seed=seed,
    )
    typer.echo(str(comparison))
    if out is not None:
        typer.echo(f"report: {vp.report(comparison, out)}")


def explain(
    runs: Annotated[str, typer.Argument(help="An artifact, a folder, a glob, saved tables, or a bundled set.")],
    finding: Annotated[str, typer.Argument(help="The finding's id.")],
    run: Annotated[str | None, typer.Option(help="Its run; needed where several runs have it.")] = None,
    mode: Annotated[Reading | None, typer.Option(help="How the votes are read; as recorded if left out.")] = None,
    max_rounds: Rounds = None,
    missing_basis: Missing = MissingBasis.infer,
    columns: VoteColumns = None,
) -> None:
    """Say in words why a finding ended in its class: the rule, the tally, the votes.

    \b
    Example:
    verifyplan explain stdlib-claims/adversarial F-0001
    """
    explanation = vp.explain(
        read_runs([runs], columns=columns),
        finding,
        run,
        cast("_Mode | None", mode and mode.value),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
    )
    typer.echo(explanation.text)

"""`compare` and `explain`: recorded votes under two readings, and why a finding ended in its class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.cli.inputs import (
    Missing,
    MissingBasis,
    ModeName,
    Reading,
    Rounds,
    Runs,
    Truth,
    VoteColumns,
    Words,
    is_vote_table,
    read_runs,
)
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet

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
    verdicts: Words = None,
    mode: Annotated[
        ModeName | None, typer.Option(help="Of a table of votes: the mode its votes were asked in.")
    ] = None,
    other_mode: Annotated[ModeName | None, typer.Option(help="Of the other table of votes: its mode.")] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples behind the intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write a report with charts and tables here.")] = None,
) -> None:
    """Read the same findings in two ways and say what differs.

    With one set, its votes are judged under two modes; with --other, two real runs are paired. Two tables of votes
    take the same --columns, and --mode and --other-mode unless a column says it.

    \b
    Examples:
    verifyplan compare stdlib-claims/adversarial --out out/compare
    verifyplan compare stdlib-claims/collaborative --other stdlib-claims/adversarial
    verifyplan compare runs/collaborative --other runs/adversarial --truth claims.csv
    verifyplan compare votes.csv --columns item=claim,worker=judge,verdict=vote,basis=basis,truth=label
    verifyplan compare a.csv --other b.csv --columns item=claim,worker=judge,verdict=vote \\
        --mode collaborative --other-mode adversarial
    """
    if other is None and other_mode is not None:
        raise InputError(Problem("--other-mode", "goes with --other", "name the second table, or drop it"))
    first = _Table(columns, verdicts, mode)
    comparison = vp.compare(
        _read(runs, truth, first, alone=other is None or not is_vote_table([other])),
        None if other is None else _read([other], truth, replace(first, mode=other_mode)),
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


@dataclass(frozen=True)
class _Table:
    """What the options of a command say of a table of votes."""

    columns: str | None
    verdicts: str | None
    mode: ModeName | None


def _read(runs: list[str], truth: Path | None, table: _Table, *, alone: bool = False) -> RunSet:
    """The runs, or the table of votes, of one side; options of tables that meet none (`alone`) are refused."""
    mode = table.mode and table.mode.value
    if alone or is_vote_table(runs) or mode is not None:
        return read_runs(runs, truth, table.columns, words=table.verdicts, mode=mode)
    return read_runs(runs, truth)


def explain(
    runs: Annotated[str, typer.Argument(help="An artifact, a folder, a glob, saved tables, or a bundled set.")],
    finding: Annotated[str, typer.Argument(help="The finding's id.")],
    run: Annotated[str | None, typer.Option(help="Its run; needed where several runs have it.")] = None,
    mode: Annotated[Reading | None, typer.Option(help="How the votes are read; as recorded if left out.")] = None,
    max_rounds: Rounds = None,
    missing_basis: Missing = MissingBasis.infer,
    columns: VoteColumns = None,
    verdicts: Words = None,
) -> None:
    """Say in words why a finding ended in its class: the rule, the tally, the votes.

    \b
    Example:
    verifyplan explain stdlib-claims/adversarial F-0001
    """
    explanation = vp.explain(
        read_runs([runs], columns=columns, words=verdicts),
        finding,
        run,
        cast("_Mode | None", mode and mode.value),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
    )
    typer.echo(explanation.text)

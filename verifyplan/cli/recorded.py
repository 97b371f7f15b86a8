"""`compare`, `explain` and `convert`: recorded runs under two readings, one finding in words, all as tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.cli import options
from verifyplan.cli.inputs import is_vote_table, read_runs
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet

_Reading = Literal["collaborative", "adversarial", "recorded"]


class TableFormat(StrEnum):
    """What tables are written as."""

    parquet = "parquet"
    csv = "csv"


def compare(
    runs: options.Runs,
    other: Annotated[str | None, typer.Option(help="A second set on the same findings, to be paired.")] = None,
    a: Annotated[options.ReadingName | None, typer.Option(help="First reading; collaborative if left out.")] = None,
    b: Annotated[options.ReadingName | None, typer.Option(help="Second reading; adversarial if left out.")] = None,
    max_rounds: options.ReadRounds = None,
    missing_basis: options.MissingBasis = options.MissingBasisName.infer,
    truth: options.Truth = None,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    mode: Annotated[
        options.ModeName | None, typer.Option(help="Of a table of votes: the mode its votes were asked in.")
    ] = None,
    other_mode: Annotated[options.ModeName | None, typer.Option(help="Of the other table of votes: its mode.")] = None,
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
    first = _VoteTableOptions(columns, verdicts, mode)
    comparison = vp.compare(
        _read(runs, truth, first, alone=other is None or not is_vote_table([other])),
        None if other is None else _read([other], truth, replace(first, mode=other_mode)),
        a=cast("_Reading | None", a and a.value),
        b=cast("_Reading | None", b and b.value),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
        resamples=resamples,
        seed=seed,
    )
    typer.echo(str(comparison))
    if out is not None:
        typer.echo(f"report: {vp.report(comparison, out)}")


@dataclass(frozen=True)
class _VoteTableOptions:
    """The options of a command that are about a table of votes."""

    columns: str | None
    verdicts: str | None
    mode: options.ModeName | None


def _read(runs: list[str], truth: Path | None, table: _VoteTableOptions, *, alone: bool = False) -> RunSet:
    """Read the runs, or the table of votes, of one side; `alone` refuses options of tables where there is none."""
    mode = table.mode and table.mode.value
    if alone or is_vote_table(runs) or mode is not None:
        return read_runs(runs, truth, table.columns, words=table.verdicts, mode=mode)
    return read_runs(runs, truth)


def explain(
    runs: Annotated[str, typer.Argument(help="An artifact, a folder, a glob, saved tables, or a bundled set.")],
    finding: Annotated[str, typer.Argument(help="The finding's id.")],
    run: Annotated[str | None, typer.Option(help="Its run; needed where several runs have it.")] = None,
    mode: Annotated[
        options.ReadingName | None, typer.Option(help="How the votes are read; as recorded if left out.")
    ] = None,
    max_rounds: options.ReadRounds = None,
    missing_basis: options.MissingBasis = options.MissingBasisName.infer,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
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
        cast("_Reading | None", mode and mode.value),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
    )
    typer.echo(explanation.text)


def convert(
    runs: options.Runs,
    out: Annotated[Path, typer.Option(help="The folder for the tables; it is made.")],
    to: Annotated[
        TableFormat, typer.Option(help="parquet can be loaded again; csv is for other tools.")
    ] = TableFormat.parquet,
    truth: options.Truth = None,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out what cannot be read, and list what is wrong.")
    ] = False,
) -> None:
    """Write runs as tables: runs, findings, votes, rounds, dispatches.

    \b
    Examples:
    verifyplan convert runs --out tables
    verifyplan convert votes.csv --columns item=claim,worker=judge,verdict=vote --out tables --to csv
    """
    if lenient and columns is not None:
        raise InputError(
            Problem("--lenient", "does not go with --columns", "mend the table of votes, or drop --lenient")
        )
    loaded = read_runs(runs, truth, columns, words=verdicts, strict=not lenient)
    if len(loaded.errors) and not len(loaded):
        raise InputError(Problem(row["place"], row["message"], row["fix"]) for row in loaded.errors.to_dict("records"))
    saved = loaded.save(out) if to is TableFormat.parquet else loaded.save_csv(out)
    typer.echo(f"{loaded!r} written to {saved}")
    for row in loaded.errors.to_dict("records"):
        kept = "read all the same" if row["source"] in set(loaded.runs["source"]) else "left out"
        typer.echo(f"{kept}: {row['place']}: {row['message']}. Fix: {row['fix']}.", err=True)
    if len(loaded.errors):
        raise typer.Exit(1)

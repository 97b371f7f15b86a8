"""`convert` and `datasets`: runs as tables in files, and what is bundled."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from verifyplan.cli.inputs import Runs, Truth, VoteColumns, Words, read_runs
from verifyplan.datasets import bundled
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text


class Format(StrEnum):
    """What tables are written as."""

    parquet = "parquet"
    csv = "csv"


def convert(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The folder for the tables; it is made.")],
    to: Annotated[Format, typer.Option(help="parquet can be loaded again; csv is for other tools.")] = Format.parquet,
    truth: Truth = None,
    columns: VoteColumns = None,
    verdicts: Words = None,
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
    saved = loaded.save(out) if to is Format.parquet else loaded.save_csv(out)
    typer.echo(f"{loaded!r} written to {saved}")
    for row in loaded.errors.to_dict("records"):
        kept = "read all the same" if row["source"] in set(loaded.runs["source"]) else "left out"
        typer.echo(f"{kept}: {row['place']}: {row['message']}. Fix: {row['fix']}.", err=True)
    if len(loaded.errors):
        raise typer.Exit(1)


def datasets(
    name: Annotated[str | None, typer.Argument(help="A bundled set: prints its folder.")] = None,
    claims: Annotated[int | None, typer.Option(min=1, help="Make so many claims about this Python's library.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the claims.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the claims are written.")] = Path("claims.csv"),
    stdlib: Annotated[bool, typer.Option("--stdlib-root", help="Print the folder that such claims cite.")] = False,
) -> None:
    """List the bundled sets, print the folder of one, or make labelled claims from real code.

    \b
    Examples:
    verifyplan datasets
    verifyplan datasets --claims 200 --seed 7 --out claims.csv
    """
    if claims is not None:
        if out.suffix != ".csv":
            raise InputError(
                Problem("--out", f"{str(out)!r} is no .csv", "claims are written as CSV: name a .csv file")
            )
        table = stdlib_claims(claims, seed=seed)
        write_text(out, table.to_csv(index=False))
        typer.echo(f"{claims} claims, {int(table.groupby('finding_id')['truth'].first().sum())} true: {out}")
    elif stdlib:
        typer.echo(stdlib_root())
    elif name is not None:
        typer.echo(bundled.path(name))
    else:
        for row in bundled.names().itertuples():
            typer.echo(f"{row.name:<28} {row.about}")

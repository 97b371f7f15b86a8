"""`compile`: a folder of runs as a dataset, brought up to date."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from verifyplan.frames.dataset.compile import compile_dataset


def compile(
    runs: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder, glob or fsspec address of run logs and artifacts.")
    ],
    out: Annotated[str, typer.Option(metavar="DATASET", help="The folder of the dataset, or its fsspec address.")],
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out what cannot be read, and list what is wrong.")
    ] = False,
) -> None:
    """Compile runs into a dataset of Parquet files, or bring it up to date: only what is new or changed is read.

    The dataset is loaded by its folder, wherever runs are taken. If the process dies, the dataset stays as it was. A
    file truth.csv or claims.csv in DIR that has finding_id and truth fills the truth of findings.

    \b
    Examples:
    verifyplan compile runs --out dataset
    verifyplan replay dataset --rules sticky-refutes
    """
    compiled = compile_dataset(runs, out, strict=not lenient)
    typer.echo(str(replace(compiled, errors=())))
    for line in compiled.error_lines():
        typer.echo(line, err=True)
    if lenient and compiled.errors:
        raise typer.Exit(1)

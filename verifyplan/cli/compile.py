"""`compile`: a folder of runs as a dataset, brought up to date."""

from __future__ import annotations

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

    The dataset is loaded by its folder, wherever runs are taken. If the process dies, the dataset stays as it was.

    \b
    Examples:
    verifyplan compile runs --out dataset
    verifyplan replay dataset --rules sticky-refutes
    """
    compiled = compile_dataset(runs, out, strict=not lenient)
    lines = str(compiled).split("\n")
    typer.echo("\n".join(lines[:2]))
    if compiled.errors:
        typer.echo("\n".join(lines[2:]), err=True)
    if lenient and compiled.errors:
        raise typer.Exit(1)

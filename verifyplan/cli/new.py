"""`new study`: a folder to begin with, made whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Annotated

import typer

from verifyplan.errors import InputError, Problem
from verifyplan.files import disk_error

TEMPLATE = Path(__file__).parent / "study"
"""The files of a new study."""

new = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Begin a study: a folder with a notebook, templates and a Makefile.",
)


@new.callback()
def _new() -> None:
    """Begin a study: a folder with a notebook, templates and a Makefile."""


@new.command()
def study(folder: Annotated[Path, typer.Argument(help="The folder; it must not exist, or be empty.")]) -> None:
    """Write a folder for a study of votes: templates of votes and labels, a notebook, a Makefile that works.

    \b
    Example:
    verifyplan new study my-study
    """
    write_study(folder)
    names = ", ".join(sorted(path.name for path in folder.iterdir()))
    typer.echo(f"Written: {folder} with {names}")
    typer.echo(f"Next: cd {folder}, run `make`, then put your votes into votes.csv and your labels into labels.csv")


def write_study(folder: Path) -> None:
    """Fill a new or empty folder with the files of a study, all at once; InputError for any other."""
    target = folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".tmp-{secrets.token_hex(8)}"
    try:
        temporary.mkdir()
        for file in TEMPLATE.iterdir():
            shutil.copyfile(file, temporary / file.name)
        temporary.rename(target)  # which no system does to a folder that holds something
    except OSError as error:
        if temporary.exists() and target.exists():
            fix = "name a folder that does not exist, or an empty one"
            raise InputError(Problem(str(folder), "is there already, and nothing was changed in it", fix)) from None
        raise disk_error(error, target) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)

"""`new study`: a folder to start a study in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from verifyplan.cli.listed_commands import command_group
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text

TEMPLATE = Path(__file__).parent / "study"
"""The files of a new study."""

new = command_group("Create a study: a notebook, templates and a Makefile.")


@new.command()
def study(folder: Annotated[Path, typer.Argument(help="The folder; it must be new or empty.")]) -> None:
    """Create a folder for a study of votes.

    It has templates for votes and labels, a notebook, and a Makefile that compares the votes and writes the results.

    \b
    Example:
    verifyplan new study my-study
    """
    write_study(folder)
    names = ", ".join(sorted(path.name for path in folder.iterdir()))
    typer.echo(f"Written: {folder} with {names}")
    typer.echo(
        f"Next: cd {quote(str(folder))}, run `make`, then put your votes into votes.csv and your labels into labels.csv"
    )


def write_study(folder: Path) -> None:
    """Fill a new or empty folder with the files of a study, all or none; InputError for any other folder.

    Files are written one by one, because on Windows no folder can replace another, not even an empty one.
    """
    target = folder.absolute()
    is_new = not target.exists()
    written: list[Path] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise FileExistsError
        for file in TEMPLATE.iterdir():
            write_text(target / file.name, file.read_text("utf-8"))
            written.append(target / file.name)
    except FileExistsError:
        fix = "name a folder that does not exist, or an empty one"
        raise InputError(Problem(str(folder), "already exists; nothing was changed in it", fix)) from None
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise

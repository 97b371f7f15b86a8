"""How runs are named in a shell: files, folders, globs, bundled sets, and tables of votes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.datasets import bundled
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet


class Reading(StrEnum):
    """How recorded votes are read."""

    collaborative = "collaborative"
    adversarial = "adversarial"
    recorded = "recorded"


class MissingBasis(StrEnum):
    """How an adversarial reading takes a disagree without a basis."""

    infer = "infer"
    counter_evidence = "counter-evidence"
    burden_not_met = "burden-not-met"
    refuse = "raise"


Runs = Annotated[
    list[str],
    typer.Argument(help="Artifacts, folders, globs, saved tables, a bundled set, or a CSV or Parquet of votes."),
]
Rounds = Annotated[int | None, typer.Option("--max-rounds", min=1, help="Rounds allowed; each run's own if left out.")]
Missing = Annotated[MissingBasis, typer.Option("--missing-basis", help="How a disagree without a basis is read.")]
Truth = Annotated[Path | None, typer.Option(help="CSV with finding_id and truth.")]
VoteColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="For a table of votes: which column is what, as item=claim,worker=judge,verdict=vote and, if there, "
        "basis=, round=, run=, truth=, explanation=.",
    ),
]

VOTE_TABLES = (".csv", ".parquet")


def read_runs(
    paths: list[str], truth: Path | None = None, columns: str | None = None, *, strict: bool = True
) -> RunSet:
    """The runs that the arguments of a command name.

    One argument that is no path but the name of a bundled set stands for that set, with its truth. With
    `columns`, the one argument is a CSV or Parquet of votes. Raises InputError for what cannot be read.
    """
    if columns is not None:
        runs = _votes(paths, columns)
    elif len(paths) == 1 and Path(paths[0]).suffix in VOTE_TABLES and Path(paths[0]).is_file():
        fix = "say which column is what: --columns item=claim,worker=judge,verdict=vote"
        raise InputError(Problem(paths[0], "is a table of votes whose columns are not named", fix))
    elif len(paths) == 1 and not Path(paths[0]).exists() and paths[0] in set(bundled.names()["name"]):
        runs = bundled.runs(paths[0])
    else:
        runs = vp.load(paths if len(paths) > 1 else paths[0], strict=strict)
    return runs if truth is None or not len(runs) else runs.with_truth(read_table(truth))


def _votes(paths: list[str], columns: str) -> RunSet:
    if len(paths) != 1 or Path(paths[0]).suffix not in VOTE_TABLES:
        raise InputError(Problem("--columns", "goes with one CSV or Parquet of votes", "name one such file"))
    pairs = [part.partition("=") for part in columns.split(",")]
    wrong = [name for name, sign, value in pairs if not sign or not value or name not in _VOTE_COLUMNS]
    named = {name.strip(): value.strip() for name, _, value in pairs}
    missing = [name for name in ("item", "worker", "verdict") if name not in named]
    if wrong or missing:
        told = f"{wrong[0]!r} is no column's name" if wrong else f"does not say which column is the {missing[0]}"
        fix = f"write name=column for some of {', '.join(_VOTE_COLUMNS)}; item, worker and verdict are needed"
        raise InputError(Problem("--columns", told, fix))
    return vp.from_votes(read_table(Path(paths[0])), **named)


_VOTE_COLUMNS = ("item", "worker", "verdict", "basis", "round", "run", "truth", "explanation")


def read_table(path: Path) -> pd.DataFrame:
    """A CSV or Parquet file as a DataFrame; InputError if it is neither, or damaged."""
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])  # 01 is not 1, NA is a name
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(str(path), message, "name a file that exists")) from None
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(Problem(str(path), f"is no table ({error})", "give a CSV or Parquet file")) from None

"""How runs are named in a shell: files, folders, globs, bundled sets, and tables of votes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.datasets import bundled
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet
from verifyplan.text import did_you_mean


class Reading(StrEnum):
    """How recorded votes are read."""

    collaborative = "collaborative"
    adversarial = "adversarial"
    recorded = "recorded"


class ModeName(StrEnum):
    """How votes were asked for."""

    collaborative = "collaborative"
    adversarial = "adversarial"


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
        "basis=, round=, run=, truth=, explanation=, summary=, category=, discoverers=, mode= (a mode or a column), "
        "max_rounds= (a number).",
    ),
]
Words = Annotated[
    str | None,
    typer.Option(
        "--verdicts",
        help="For a table of votes: its own words for verdicts, as yes=agree,no=disagree; "
        "=verification-error says that empty cells are lost votes.",
    ),
]

VOTE_TABLES = (".csv", ".parquet")


def read_runs(
    paths: list[str],
    truth: Path | None = None,
    columns: str | None = None,
    *,
    words: str | None = None,
    mode: str | None = None,
    strict: bool = True,
) -> RunSet:
    """The runs that the arguments of a command name.

    One argument that is no path but the name of a bundled set stands for that set, with its truth. With
    `columns`, the one argument is a CSV or Parquet of votes; `words` and `mode` are then its words for verdicts and its
    mode. Raises InputError for what cannot be read.
    """
    if columns is not None:
        runs = _votes(paths, columns, words, mode)
    elif words is not None or mode is not None:
        name = "--verdicts" if words is not None else "--mode"
        raise InputError(Problem(name, "goes with a table of votes", "name its columns by --columns, or drop it"))
    elif is_vote_table(paths):
        fix = "say which column is what: --columns item=claim,worker=judge,verdict=vote"
        raise InputError(Problem(paths[0], "is a table of votes whose columns are not named", fix))
    elif len(paths) == 1 and not Path(paths[0]).exists() and paths[0] in set(bundled.names()["name"]):
        runs = bundled.runs(paths[0])
    else:
        runs = vp.load(paths if len(paths) > 1 else paths[0], strict=strict)
    return runs if truth is None or not len(runs) else runs.with_truth(read_table(truth))


def is_vote_table(paths: list[str]) -> bool:
    """Whether the arguments of a command name one CSV or Parquet file."""
    return len(paths) == 1 and Path(paths[0]).suffix in VOTE_TABLES and Path(paths[0]).is_file()


def _votes(paths: list[str], columns: str, words: str | None, mode: str | None) -> RunSet:
    if len(paths) != 1 or Path(paths[0]).suffix not in VOTE_TABLES:
        raise InputError(Problem("--columns", "goes with one CSV or Parquet of votes", "name one such file"))
    named: dict[str, Any] = _pairs("--columns", columns, "name=column", "item=claim,worker=judge,verdict=vote")
    known = f"{', '.join(_VOTE_COLUMNS)}; item, worker and verdict are needed"
    problems = [
        Problem("--columns", f"{name!r} is no column's name{did_you_mean(name, _VOTE_COLUMNS)}", f"use some of {known}")
        for name in named
        if name not in _VOTE_COLUMNS
    ]
    problems += [
        Problem("--columns", f"does not say which column is the {name}", f"write {name}=, with some of {known}")
        for name in ("item", "worker", "verdict")
        if name not in named
    ]
    if not named.get("max_rounds", "1").isdecimal():
        message = f"max_rounds must be an integer of at least 1, got {named['max_rounds']!r}"
        problems.append(Problem("--columns", message, "write a number, as max_rounds=3"))
    if mode is not None and named.get("mode", mode) != mode:
        message = f"says {mode!r}, but --columns says mode={named['mode']}"
        problems.append(Problem("--mode", message, "say it once"))
    if problems:
        raise InputError(problems)
    named |= {"mode": mode} if mode is not None else {}
    named |= {"max_rounds": int(named["max_rounds"])} if "max_rounds" in named else {}
    said = None if words is None else _pairs("--verdicts", words, "word=verdict", "yes=agree,no=disagree", blank=True)
    return vp.from_votes(read_table(Path(paths[0])), **named, verdicts=said)


def _pairs(option: str, text: str, form: str, example: str, *, blank: bool = False) -> dict[str, str]:
    """The pairs of an option such as `a=b,c=d`, with `blank` also `=b`; InputError listing every part that is none."""
    pairs = [(name.strip(), sign, value.strip()) for name, sign, value in (p.partition("=") for p in text.split(","))]
    wrong = [f"{name}{sign}{value}" for name, sign, value in pairs if not (name or blank) or not sign or not value]
    names = [name for name, _, _ in pairs]
    problems = [Problem(option, f"{part!r} is not {form}", f"write it as {example}") for part in wrong]
    problems += [
        Problem(option, f"{name!r} stands {names.count(name)} times", "say it once")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return {name: value for name, _, value in pairs}


_VOTE_COLUMNS = (
    *("item", "worker", "verdict", "basis", "round", "run", "truth", "explanation"),
    *("summary", "category", "discoverers", "mode", "max_rounds"),
)


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

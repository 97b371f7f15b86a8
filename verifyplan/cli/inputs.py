"""The files and workers that the arguments of a command name: recorded runs, tables of votes, rosters, outputs."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.cli.column_fixes import command_fix, pairs_text, shell_fix
from verifyplan.cli.options import NO_TABLE_OPTIONS, VoteTableOptions, names_of
from verifyplan.errors import InputError, Problem, SettingsError, TableError, one_of
from verifyplan.files import CHART_FORMATS, replacing
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.csv_tables import write_csv
from verifyplan.frames.load import as_runs
from verifyplan.frames.own_words import own_truths
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import read_table
from verifyplan.frames.ties import Ties
from verifyplan.frames.vote_files import (
    NEEDED_COLUMNS,
    VOTE_COLUMNS,
    VoteNames,
    column_problems,
    columns_by_own_names,
    has_sidecar,
    is_vote_file,
    read_sidecar,
    sidecar_of,
    votes_as_named,
)
from verifyplan.protocol.vote import Mode
from verifyplan.text import visible

_TABLES = ("csv", "parquet")
"""Suffixes of files of one table, which a result of several tables cannot be written to."""
_REST_OF_COLUMNS = re.compile(rf"[^=]*,({'|'.join(VOTE_COLUMNS)})=.*|\w+")
"""What a shell makes of names of columns behind a space: `judge,verdict=vote` of `worker=my judge,verdict=vote`."""


def read_runs(
    paths: list[str],
    truth: Path | None = None,
    table: VoteTableOptions = NO_TABLE_OPTIONS,
    *,
    mode: Mode | None = None,
    strict: bool = True,
    add: str | None = None,
) -> RunSet:
    """Return the runs that the arguments of a command name.

    A single argument that is not a path may name a bundled set, which has its own truth. A single CSV, TSV or Parquet
    file is a table of votes. Its columns are those that `table` names, else those that the file beside it names, else
    those with known names. A file of `truth` may use the names and words of the votes. `add` names supplementary runs,
    whose votes are added. InputError for what cannot be read.
    """
    options, names = _VoteWords.read(table, mode), VoteNames({})
    if table.columns is not None:
        runs, names = _named_votes(paths, table.columns, options)
    elif is_vote_table(paths):
        runs, names = _unnamed_votes(Path(paths[0]), options)
    elif table.verdicts is not None or mode is not None or table.ties is not None:
        given = {"--verdicts": table.verdicts, "--mode": mode, "--ties": table.ties}
        name = next(option for option, value in given.items() if value is not None)
        raise InputError(Problem(name, "goes with a table of votes", "name its columns by --columns, or leave it out"))
    elif len(paths) == 1 and (strict or is_bundled(paths[0])):
        runs = as_runs(paths[0])
    else:
        runs = vp.load(paths if len(paths) > 1 else paths[0], strict=strict)
    runs = runs if add is None else vp.add_votes(runs, add)
    if truth is None or not len(runs):
        return runs
    return runs.with_truth(_renamed_truth(truth, names), options.truths or names.truths)


def is_vote_table(paths: list[str]) -> bool:
    """Return whether the arguments of a command name one CSV, TSV or Parquet file."""
    return len(paths) == 1 and is_vote_file(paths[0]) and Path(paths[0]).is_file()


def _renamed_truth(truth: Path, names: VoteNames) -> pd.DataFrame:
    """Return a table of truth; columns with the names that they have in the votes are renamed."""
    table = read_table(truth)
    own = {"finding_id": names.columns.get("item"), "truth": names.columns.get("truth")}
    return table.rename(columns={column: name for name, column in own.items() if column and name not in table})


@dataclass(frozen=True)
class _VoteWords:
    """The meanings of a table's words that the options give; None where they give none."""

    verdicts: Mapping[str, str] | None
    truths: Mapping[str, bool | None] | None
    mode: Mode | None
    ties: Ties | None

    @classmethod
    def read(cls, table: VoteTableOptions, mode: Mode | None) -> Self:
        """Return what the options say; InputError listing everything that is wrong with one of them."""
        verdicts = read_pairs("--verdicts", table.verdicts, "word=verdict", "yes=agree,no=disagree", blank=True)
        pairs = read_pairs("--truths", table.truths, "word=truth", "correct=true,wrong=false")
        truths, problems = own_truths(pairs, "--truths")
        if problems:
            raise InputError(replace(problem, fix="use true, false or unknown") for problem in problems)
        words = None if table.verdicts is None else verdicts, None if table.truths is None else truths
        return cls(*words, mode, table.ties)

    def replacing(self, names: VoteNames) -> VoteNames:
        """Return names of columns with the words and the mode of the options in place of their own."""
        columns = dict(names.columns) | ({} if self.mode is None else {"mode": self.mode})
        verdicts = names.verdicts if self.verdicts is None else self.verdicts
        truths = names.truths if self.truths is None else self.truths
        return replace(names, columns=columns, verdicts=verdicts, truths=truths, ties=self.ties or names.ties)


def quotes_fix(paths: list[str]) -> str:
    """Return how to write names of columns of which one has a space and no quotes; blank where none seems to.

    A single path is none of it: the table itself is named beside what was cut off.

    >>> quotes_fix(["votes.csv", "judge,verdict=vote"])
    "put quotes around its names, as one has a space: 'judge,verdict=vote' is read by itself"
    >>> quotes_fix(["gpt=gpt.csv", "claude=claude.csv", "contract"])
    ''
    """
    rests = [path for path in paths if len(paths) > 1 and _REST_OF_COLUMNS.fullmatch(path)]
    split = [path for path in rests if not (Path(path).exists() or is_bundled(path))]
    return f"put quotes around its names, as one has a space: {split[0]!r} is read by itself" if split else ""


def _named_votes(paths: list[str], columns: str, options: _VoteWords) -> tuple[RunSet, VoteNames]:
    """Return a table of votes whose columns are named by --columns, and its names."""
    if len(paths) != 1 or not is_vote_file(paths[0]):
        fix = quotes_fix(paths)
        message = "goes with one CSV, TSV or Parquet file of votes"
        raise InputError(Problem("--columns", message, fix or "name one such file"))
    named = read_pairs("--columns", columns, "name=column", "item=claim,worker=judge,verdict=vote")
    problems = [*column_problems(named, "--columns")]
    if options.mode is not None and named.get("mode", options.mode) != options.mode:
        message = f"is {options.mode!r}, but --columns has mode={named['mode']}"
        problems.append(Problem("--mode", message, "leave one of them out"))
    if problems:
        raise InputError(problems)
    names = options.replacing(VoteNames(named))
    return _read_votes(read_table(Path(paths[0])), names), names


def _unnamed_votes(path: Path, options: _VoteWords) -> tuple[RunSet, VoteNames]:
    """Return a table of votes whose columns no option names, and its names.

    InputError, with the whole command that names them, where nothing says which column is which.
    """
    table = read_table(path)
    if has_sidecar(path):
        names = options.replacing(read_sidecar(path))
        return _read_votes(table, names, sidecar_of(path)), names
    named = columns_by_own_names(list(table))
    missing = [name for name in NEEDED_COLUMNS if name not in named]
    if missing:
        message = f"is a table of votes, and nothing says which column is the {' and which is the '.join(missing)}"
        fix = command_fix(
            table, named, words_named=options.verdicts is not None, truths_named=options.truths is not None
        )
        raise InputError(Problem(str(path), message, fix))
    read = shlex.quote(pairs_text(named))
    typer.echo(f"{visible(path)}: columns by their own names, as --columns {visible(read)}", err=True)
    names = options.replacing(VoteNames(named))
    return _read_votes(table, names), names


def _read_votes(table: pd.DataFrame, names: VoteNames, sidecar: Path | None = None) -> RunSet:
    """Return a table of votes as runs; TableError with fixes for a shell."""
    try:
        return votes_as_named(table, names, sidecar)
    except TableError as error:
        raise TableError(shell_fix(problem, names, table) for problem in error.problems) from None


def read_pairs(option: str, text: str | None, form: str, example: str, *, blank: bool = False) -> dict[str, str]:
    """Return the pairs of an option such as `a=b,c=d`, none of None; InputError listing all other parts.

    With `blank` also `=b` is a pair.
    """
    if text is None:
        return {}
    pairs = [(name.strip(), sign, value.strip()) for name, sign, value in (p.partition("=") for p in text.split(","))]
    wrong = [f"{name}{sign}{value}" for name, sign, value in pairs if not (name or blank) or not sign or not value]
    fix = f"write it as {example}, the whole in quotes if a name has a space"
    problems = [Problem(option, f"{part!r} is not {form}", fix) for part in wrong]
    problems += [
        Problem(option, f"{name!r} is named {times} times", "name it once")
        for name, times in Counter(name for name, _, _ in pairs).items()
        if times > 1
    ]
    if problems:
        raise InputError(problems)
    return {name: value for name, _, value in pairs}


def model_roster(workers: str | None) -> list[str]:
    """Return the names of workers that are models; SettingsError where there are none, or checkers are named."""
    if workers is None:
        fix = "name the workers, including those that found the findings: --workers ann,bob,cy"
        raise SettingsError(Problem("--workers", "no workers are named", fix))
    names = names_of(workers, "--workers")
    if with_checker := [name for name in names if "=" in name]:
        fix = "give only names; --worker-model NAME=MODEL sets the model of one worker"
        raise SettingsError(Problem("--workers", f"{with_checker[0]!r} names a checker, but workers are models", fix))
    return names


def write_table(table: pd.DataFrame, path: Path) -> Path:
    """Write a table in the format that the suffix of the path names (CSV by default), and return the path."""
    if suffix_of(path) not in ("parquet", "json"):
        return write_csv(table, path)
    with replacing(path) as temporary:
        if suffix_of(path) == "parquet":
            table.to_parquet(temporary, index=False)
        else:
            table.to_json(temporary, orient="records", indent=2, force_ascii=False)
    return path


def is_chart_file(out: Path | None, contents: str, *, has_chart: bool = True) -> bool:
    """Return whether --out names a file of a chart; InputError for another file where a folder of `contents` goes."""
    if out is None or suffix_of(out) not in (*CHART_FORMATS, *_TABLES) or out.is_dir():
        return False
    if has_chart and suffix_of(out) in CHART_FORMATS:
        return True
    charts = f", or a chart that ends in {one_of(f'.{name}' for name in CHART_FORMATS)}" if has_chart else ""
    fix = f"name a folder, such as {out.with_suffix('')}{charts}"
    raise InputError(Problem("--out", f"is the folder of {contents}, got the file name {str(out)!r}", fix))


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in small letters, without its dot.

    >>> suffix_of(Path("rules.CSV"))
    'csv'
    """
    return path.suffix.lower().removeprefix(".")

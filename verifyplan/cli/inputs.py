"""The inputs that the arguments of a command name: recorded runs, tables of votes, rosters, a panel."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.cli import has_terminal
from verifyplan.cli.ask_columns import MAX_WORDS, ask_names
from verifyplan.cli.options import PlanOptions
from verifyplan.errors import InputError, Problem, SettingsError, TableError, one_of
from verifyplan.files import try_to_write
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.load import as_runs
from verifyplan.frames.own_words import TRUTHS, own_truths, unread_truths
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import read_table
from verifyplan.frames.table_shape import worker_columns
from verifyplan.frames.vote_files import (
    NEEDED_COLUMNS,
    VoteNames,
    column_problems,
    columns_by_own_names,
    has_sidecar,
    is_vote_file,
    read_sidecar,
    sidecar_of,
    unread_words,
    votes_as_named,
    write_sidecar,
)
from verifyplan.protocol.settings import PanelSettings
from verifyplan.protocol.vote import VERDICTS
from verifyplan.rules.answers import spelling
from verifyplan.text import visible


def read_runs(
    paths: list[str],
    truth: Path | None = None,
    columns: str | None = None,
    *,
    words: str | None = None,
    truths: str | None = None,
    mode: str | None = None,
    strict: bool = True,
    add: str | None = None,
) -> RunSet:
    """Return the runs that the arguments of a command name.

    A single argument that is not a path may name a bundled set, which brings its truth. One that is a CSV or Parquet of
    votes is read by `columns`, its `words` for verdicts, those for `truths` and its `mode`; without `columns`, by the
    file beside it that names them, by their own names, or as somebody at the terminal answers. A file of `truth` may
    have the names and words of the votes. `add` names supplementary runs, whose votes are put beside the recorded
    ones. Raises InputError for what cannot be read.
    """
    options, names = _WordOptions.read(words, truths, mode), VoteNames({})
    if columns is not None:
        runs, names = _votes(paths, columns, options)
    elif is_vote_table(paths):
        runs, names = _unnamed_votes(Path(paths[0]), options)
    elif words is not None or mode is not None:
        name = "--verdicts" if words is not None else "--mode"
        raise InputError(Problem(name, "goes with a table of votes", "name its columns by --columns, or drop it"))
    elif len(paths) == 1 and (strict or is_bundled(paths[0])):
        runs = as_runs(paths[0])
    else:
        runs = vp.load(paths if len(paths) > 1 else paths[0], strict=strict)
    runs = runs if add is None else vp.add_votes(runs, add)
    if truth is None or not len(runs):
        return runs
    return runs.with_truth(_named_as_votes(truth, names), options.truths or names.truths)


def is_vote_table(paths: list[str]) -> bool:
    """Return whether the arguments of a command name one CSV, TSV or Parquet file."""
    return len(paths) == 1 and is_vote_file(paths[0]) and Path(paths[0]).is_file()


def _named_as_votes(truth: Path, names: VoteNames) -> pd.DataFrame:
    """Return a file of truth whose columns may have the names that they have in the votes."""
    table = read_table(truth)
    own = {"finding_id": names.columns.get("item"), "truth": names.columns.get("truth")}
    return table.rename(columns={column: name for name, column in own.items() if column and name not in table})


@dataclass(frozen=True)
class _WordOptions:
    """Options on a table of votes beside its columns: the meanings of its words."""

    verdicts: Mapping[str, str] | None
    truths: Mapping[str, bool | None] | None
    mode: str | None

    @classmethod
    def read(cls, words: str | None, truths: str | None, mode: str | None) -> Self:
        """Return what the options say; InputError listing all that is wrong with one of them."""
        verdicts = read_pairs("--verdicts", words, "word=verdict", "yes=agree,no=disagree", blank=True)
        pairs = read_pairs("--truths", truths, "word=truth", "correct=true,wrong=false")
        meant, problems = own_truths(pairs, "--truths")
        if problems:
            raise InputError(replace(problem, fix="use true, false or unknown") for problem in problems)
        return cls(None if words is None else verdicts, None if truths is None else meant, mode)

    def over(self, names: VoteNames) -> VoteNames:
        """Return names of columns with the words and the mode of the options in place of theirs."""
        columns = dict(names.columns) | ({} if self.mode is None else {"mode": self.mode})
        verdicts = names.verdicts if self.verdicts is None else self.verdicts
        return replace(
            names, columns=columns, verdicts=verdicts, truths=names.truths if self.truths is None else self.truths
        )


def _votes(paths: list[str], columns: str, options: _WordOptions) -> tuple[RunSet, VoteNames]:
    if len(paths) != 1 or not is_vote_file(paths[0]):
        raise InputError(Problem("--columns", "goes with one CSV, TSV or Parquet of votes", "name one such file"))
    named = read_pairs("--columns", columns, "name=column", "item=claim,worker=judge,verdict=vote")
    problems = [*column_problems(named, "--columns")]
    if options.mode is not None and named.get("mode", options.mode) != options.mode:
        message = f"says {options.mode!r}, but --columns says mode={named['mode']}"
        problems.append(Problem("--mode", message, "say it once"))
    if problems:
        raise InputError(problems)
    names = options.over(VoteNames(named))
    return _read_votes(read_table(Path(paths[0])), names), names


def _unnamed_votes(path: Path, options: _WordOptions) -> tuple[RunSet, VoteNames]:
    """Return a table of votes whose columns no option names; what was asked for is written beside it, and returned.

    What was answered is written also where the table cannot be read so: the error names the file.
    InputError where nothing says which column is what, and nobody is at a terminal.
    """
    table = read_table(path)
    if has_sidecar(path):
        names = options.over(read_sidecar(path))
        return _read_votes(table, names, sidecar_of(path)), names
    named = columns_by_own_names(list(table))
    missing = [name for name in NEEDED_COLUMNS if name not in named]
    unread = unread_words(table[named["verdict"]]) if options.verdicts is None and "verdict" in named else {}
    unsure = unread_truths(table[named["truth"]]) if options.truths is None and "truth" in named else {}
    if (missing or unread or unsure) and has_terminal():
        asked = ask_names(
            path, table, named, words_named=options.verdicts is not None, truths_named=options.truths is not None
        )
        typer.echo(_remember(path, asked), err=True)
        names = options.over(asked)
        return _read_votes(table, names, sidecar_of(path) if has_sidecar(path) else None), names
    if missing:
        shown = shlex.quote(_pairs({name: named.get(name, "COLUMN") for name in NEEDED_COLUMNS}))
        fix = (
            f"say which column is what: --columns {shown}, of {one_of(list(table))}; and what your words for "
            f"verdicts mean: {_words_fix(unread, {})}{_shape_fix(table, named)}"
        )
        message = f"is a table of votes whose columns are not named: which is the {' and the '.join(missing)}"
        raise InputError(Problem(str(path), message, fix))
    read = shlex.quote(_pairs(named))
    typer.echo(f"{visible(path)}: columns by their own names, as --columns {visible(read)}", err=True)
    names = options.over(VoteNames(named))
    return _read_votes(table, names), names


def _shape_fix(table: pd.DataFrame, named: Mapping[str, str]) -> str:
    """Return what else may be wrong with a table whose columns are not named: a column a worker."""
    workers = [] if "worker" in named else worker_columns(table, named.values())
    shown = one_of(workers[:4])
    return f"; if {shown} are workers, write a row for each vote (item, worker, verdict)" if workers else ""


def _remember(path: Path, names: VoteNames) -> str:
    """Write the names of columns beside their table; return a line that says so, or how a shell gives them instead."""
    try:
        return f"Remembered in {visible(write_sidecar(path, names))}: delete it to be asked again."
    except OSError as error:
        options = ["--columns", _pairs(names.columns)]
        options += ["--verdicts", _pairs(names.verdicts)] if names.verdicts else []
        options += ["--truths", _pairs(_truth_words(names.truths))] if names.truths else []
        why = f"{sidecar_of(path)} cannot be written ({error.strerror or error})"
        return visible(f"Not remembered: {why}. To be asked nothing: {shlex.join(options)}")


def _read_votes(table: pd.DataFrame, names: VoteNames, sidecar: Path | None = None) -> RunSet:
    """Return a table of votes as runs; TableError says of unknown words for verdicts how a shell names them."""
    try:
        return votes_as_named(table, names, sidecar)
    except TableError as error:
        column, named = names.columns.get("verdict", ""), set(map(spelling, names.verdicts))
        words = unread_words(table[column]) if column in table else ()
        unread = [word for word in words if spelling(word) not in named]
        raise TableError(_for_shell(problem, names, unread, table) for problem in error.problems) from None


def _for_shell(problem: Problem, names: VoteNames, unread: Collection[str], table: pd.DataFrame) -> Problem:
    """Return a problem of a table of votes with the options of a command as its fix, where Python mends it else."""
    if problem.place == "votes: column verdict" and unread:
        return replace(problem, fix=f"say what your words mean: {_words_fix(unread, names.verdicts)}")
    if problem.place == "votes: column truth" and problem.message.startswith("holds "):
        return replace(problem, fix=_truths_fix(list(unread_truths(table[names.columns["truth"]]))))
    if problem.place == "votes: column mode" and names.columns.get("mode"):
        fix = "use collaborative or adversarial, or leave it empty; if they are conditions, write a file for each"
        return replace(problem, fix=f"{fix}, and name another column, or none, as mode=")
    if problem.place == "votes: worker" and "the key of another" in problem.message:
        free = [name for name in ("round", "run") if name not in names.columns]
        option = shlex.quote(_pairs({**names.columns, free[0]: "COLUMN"})) if free else ""
        fixes = [f"name the column of the {' or the '.join(free)}, as --columns {option}"] if free else []
        fixes += ["if the table holds several conditions (modes, prompts), write a file for each"]
        return replace(problem, fix="; ".join([*fixes, "only if a vote really is there twice, drop one"]))
    return problem


def _words_fix(unread: Collection[str], named: Mapping[str, str]) -> str:
    """Return how a shell says what words mean; what each means is left open, as a guess could turn votes round."""
    if not 0 < len(unread) <= MAX_WORDS:
        return "--verdicts yes=agree,no=disagree (your words on the left)"
    pairs = dict(named) | {word: "VERDICT" if word else "verification-error" for word in unread}
    open_ones = f", each VERDICT {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}" if any(unread) else ""
    blank = ", if every empty cell is a lost vote" if "" in unread else ""
    return f"--verdicts {shlex.quote(_pairs(pairs))}{open_ones}{blank}"


def _truths_fix(words: Collection[str]) -> str:
    """Return how a shell says what words for truth mean; which of them is true is left open."""
    pairs = _pairs(dict.fromkeys(words, "TRUTH")) if 0 < len(words) <= MAX_WORDS else "correct=true,wrong=false"
    known = "true/false, yes/no, 1/0, correct/incorrect, right/wrong and valid/invalid are known"
    return f"say what your words mean: --truths {shlex.quote(pairs)}, each TRUTH true, false or unknown; {known}"


def _truth_words(truths: Mapping[str, bool | None]) -> dict[str, str]:
    """Return the words for truth with what they mean as an option has it."""
    names = {value: name for name, value in TRUTHS.items()}
    return {word: names[value] for word, value in truths.items()}


def _pairs(named: Mapping[str, str]) -> str:
    """Return pairs as an option has them."""
    return ",".join(f"{name}={value}" for name, value in named.items())


def read_pairs(option: str, text: str | None, form: str, example: str, *, blank: bool = False) -> dict[str, str]:
    """Return the pairs of an option such as `a=b,c=d`, none of None; InputError listing all other parts.

    With `blank` also `=b` is a pair.
    """
    if text is None:
        return {}
    pairs = [(name.strip(), sign, value.strip()) for name, sign, value in (p.partition("=") for p in text.split(","))]
    wrong = [f"{name}{sign}{value}" for name, sign, value in pairs if not (name or blank) or not sign or not value]
    names = [name for name, _, _ in pairs]
    problems = [Problem(option, f"{part!r} is not {form}", f"write it as {example}") for part in wrong]
    problems += [
        Problem(option, f"{name!r} is named {names.count(name)} times", "say it once")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return {name: value for name, _, value in pairs}


def names_of(text: str, option: str) -> list[str]:
    """Return names with commas between them; SettingsError where there is none, or one is repeated."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        message = "names nobody" if not names else f"a name occurs twice in {text!r}"
        raise SettingsError(Problem(option, message, "name each worker once, by commas"))
    return names


def model_roster(workers: str | None) -> list[str]:
    """Return the names of workers that are models; SettingsError where there are none, or checkers are named."""
    if workers is None:
        fix = "name the workers, those that found the findings among them: --workers ann,bob,cy"
        raise SettingsError(Problem("--workers", "nobody is named to vote", fix))
    names = names_of(workers, "--workers")
    if with_checker := [name for name in names if "=" in name]:
        fix = "give names alone; --worker-model NAME=MODEL gives one a model of its own"
        raise SettingsError(Problem("--workers", f"{with_checker[0]!r} names a checker, which models do not play", fix))
    return names


def plan_arguments(settings: PlanOptions) -> dict[str, Any]:
    """Return the options as arguments of `verify`; SettingsError where workers of no panel are named."""
    panel = None
    if settings.panel:
        workers = settings.panel_workers
        names = {} if workers is None else {"workers": tuple(names_of(workers, "--panel-workers"))}
        panel = PanelSettings(mode=settings.panel_mode.value, **names)
    elif settings.panel_workers is not None:
        raise SettingsError(Problem("--panel-workers", "there is no panel", "leave out --no-panel"))
    return {
        "rules": settings.rules,
        "policy": settings.policy and settings.policy.value,
        "team": settings.team and settings.team.value,
        "threshold": settings.threshold,
        "max_iterations": settings.max_iterations,
        "panel": panel,
        "weights": settings.weights,
    }


def check_report(report: Path | None, repetitions: int = 1) -> None:
    """Raise InputError, before any agent is called, if the report could not be written."""
    if report is None:
        return
    if repetitions > 1:
        fix = "leave it out; `verifyplan resume LOG --report` writes that of each run"
        raise InputError(Problem("--report", f"is of one run, not of {repetitions}", fix))
    if report.suffix not in (".md", ".html", ".htm"):
        raise InputError(Problem("--report", f"{str(report)!r} is not a page", "name a .md or .html file"))
    try:
        try_to_write(report.parent)
    except OSError as error:
        message = f"{str(report)!r} cannot be written ({error.strerror or error})"
        raise InputError(Problem("--report", message, "name a file in a folder that you may write to")) from None

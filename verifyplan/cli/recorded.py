"""`compare`, `explain` and `convert`: recorded runs under conditions, one finding in words, all as tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer

import verifyplan as vp
from verifyplan.analysis.replay import ReplayMode
from verifyplan.cli import options
from verifyplan.cli.choices import MissingBasisName, ModeName, ReplayModeName
from verifyplan.cli.inputs import is_vote_table, read_runs
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet


class TableFormat(StrEnum):
    """The formats that tables are written in."""

    parquet = "parquet"
    csv = "csv"


_NAMED_PATH = re.compile(r"([^/\\=]+)=(.+)")


def compare(
    runs: options.Runs,
    other: Annotated[str | None, typer.Option(help="A second set on the same findings, to be paired.")] = None,
    modes: Annotated[
        str | None,
        typer.Option(
            metavar="MODES",
            help="Modes to compare, by comma: collaborative, adversarial, recorded; of several sets one for each. Left "
            "out: of one set the first two, of several each as recorded.",
        ),
    ] = None,
    rules: options.NamedRules = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.MissingBasis = MissingBasisName.infer,
    truth: options.Truth = None,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    truths: options.TruthWords = None,
    mode: Annotated[
        ModeName | None, typer.Option(help="Of a table of votes: the mode its votes were asked in.")
    ] = None,
    other_mode: Annotated[ModeName | None, typer.Option(help="Of the other table of votes: its mode.")] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Random draws of the tests.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of these draws.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write a report with charts and tables here.")] = None,
) -> None:
    """Compare conditions over the same findings and say what differs.

    With one set, its votes are judged under two modes, or by several --rules; with --other, two real runs are paired;
    with NAME=PATH arguments, two or more, each under its name. Tables of votes take the same --columns, and --mode and
    --other-mode unless a column says it.

    \b
    Examples:
    verifyplan compare stdlib-claims/adversarial --out out/compare
    verifyplan compare stdlib-claims/adversarial --rules run=as-recorded --rules sticky=sticky-refutes
    verifyplan compare stdlib-claims/collaborative --other stdlib-claims/adversarial
    verifyplan compare runs/collaborative --other runs/adversarial --truth claims.csv
    verifyplan compare gpt=runs/gpt claude=runs/claude gemini=runs/gemini --out out/models
    verifyplan compare votes.csv --columns item=claim,worker=judge,verdict=vote,basis=basis,truth=label
    verifyplan compare a.csv --other b.csv --columns item=claim,worker=judge,verdict=vote \\
        --mode collaborative --other-mode adversarial
    """
    if other is None and other_mode is not None:
        raise InputError(Problem("--other-mode", "goes with --other", "name the second table, or drop it"))
    table = _VoteTableOptions(columns, verdicts, truths, mode)
    named = _named_paths(runs)
    comparison = vp.compare(
        {name: _read([path], truth, table) for name, path in named.items()}
        if named
        else _read(runs, truth, table, alone=other is None or not is_vote_table([other])),
        None if other is None else _read([other], truth, replace(table, mode=other_mode)),
        modes=None if modes is None else cast("list[ReplayMode]", [name.strip() for name in modes.split(",")]),
        rules=_compared_rules(rules or [], several=bool(named) or other is not None),
        max_rounds=max_rounds,
        missing_basis=missing_basis.value,
        resamples=resamples,
        seed=seed,
    )
    typer.echo(str(comparison))
    if out is not None:
        typer.echo(f"report: {vp.report(comparison, out)}")


def _compared_rules(rules: list[str], *, several: bool) -> dict[str, str] | list[str] | str | None:
    """Return the rules of --rules options: by name where they have names, else as a list; one is for all sets."""
    named = _named_paths(rules, "--rules")
    if several and len(rules) == 1 and not named:
        return rules[0]
    return named or rules or None


def _named_paths(runs: list[str], argument: str = "runs") -> dict[str, str]:
    """Return the paths of NAME=PATH arguments by their names; none where they are plain paths, InputError for a mix."""
    matches = {text: None if Path(text).exists() else _NAMED_PATH.fullmatch(text) for text in runs}
    pairs = [(match[1], match[2]) for match in matches.values() if match]
    plain = [text for text, match in matches.items() if not match]
    if plain and pairs:
        raise InputError(Problem(argument, f"{plain[0]!r} has no name, and others do", "write each as NAME=PATH"))
    if len(dict(pairs)) < len(pairs):
        message = f"a name occurs twice in {', '.join(name for name, _ in pairs)}"
        raise InputError(Problem(argument, message, "give each a name of its own"))
    return dict(pairs)


@dataclass(frozen=True)
class _VoteTableOptions:
    """The options of a command that are about a table of votes."""

    columns: str | None
    verdicts: str | None
    truths: str | None
    mode: ModeName | None


def _read(runs: list[str], truth: Path | None, table: _VoteTableOptions, *, alone: bool = False) -> RunSet:
    """Read the runs, or the table of votes, of one side; `alone` refuses options of tables where there is none."""
    mode = table.mode and table.mode.value
    if alone or is_vote_table(runs) or mode is not None:
        return read_runs(runs, truth, table.columns, words=table.verdicts, truths=table.truths, mode=mode)
    return read_runs(runs, truth, truths=table.truths)


def explain(
    runs: Annotated[str, typer.Argument(help="An artifact, a folder, a glob, saved tables, or a bundled set.")],
    finding: Annotated[str, typer.Argument(help="The finding's id.")],
    run: Annotated[str | None, typer.Option(help="Its run; needed where several runs have it.")] = None,
    mode: Annotated[
        ReplayModeName | None,
        typer.Option(help="The mode that the votes are judged under; each run's own if left out."),
    ] = None,
    rules: options.RulesSource = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.MissingBasis = MissingBasisName.infer,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    truths: options.TruthWords = None,
) -> None:
    """Say in words why a finding ended in its class: the rule, the tally, the votes.

    With --rules it says, too, what the votes count as under them, and which fields decide.

    \b
    Examples:
    verifyplan explain stdlib-claims/adversarial F-0001
    verifyplan explain stdlib-claims/adversarial F-0001 --run part-01 --rules sticky-refutes
    """
    explanation = vp.explain(
        read_runs([runs], columns=columns, words=verdicts, truths=truths),
        finding,
        run,
        cast("ReplayMode | None", mode and mode.value),
        rules=rules,
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
    raw: Annotated[
        bool, typer.Option("--raw", help="With --to csv: leave formulas and escape codes in texts as they are.")
    ] = False,
    add: options.AddedRuns = None,
    truth: options.Truth = None,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    truths: options.TruthWords = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out what cannot be read, and list what is wrong.")
    ] = False,
) -> None:
    """Write runs as tables: runs, findings, votes, rounds, dispatches.

    \b
    Examples:
    verifyplan convert runs --out tables
    verifyplan convert runs --add more --out tables
    verifyplan convert votes.csv --columns item=claim,worker=judge,verdict=vote --out tables --to csv
    """
    if lenient and columns is not None:
        raise InputError(
            Problem("--lenient", "does not go with --columns", "mend the table of votes, or drop --lenient")
        )
    loaded = read_runs(runs, truth, columns, words=verdicts, truths=truths, strict=not lenient, add=add)
    if len(loaded.errors) and not len(loaded):
        raise InputError(Problem(row["place"], row["message"], row["fix"]) for row in loaded.errors.to_dict("records"))
    saved = loaded.save(out) if to is TableFormat.parquet else loaded.save_csv(out, raw=raw)
    typer.echo(f"{loaded!r} written to {saved}")
    for row in loaded.errors.to_dict("records"):
        kept = "read all the same" if row["source"] in set(loaded.runs["source"]) else "left out"
        typer.echo(f"{kept}: {row['place']}: {row['message']}. Fix: {row['fix']}.", err=True)
    if lenient and len(loaded.errors):
        raise typer.Exit(1)

"""Commands on recorded runs: compare conditions, explain one finding, write runs as tables or as a dataset."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import verifyplan as vp
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.replay import ReplayMode
from verifyplan.cli import options
from verifyplan.cli.inputs import is_chart_file, is_vote_table, quotes_fix, read_runs
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.dataset.compile import compile_dataset
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import Mode

_NAMED_PATH = re.compile(r"([^/\\=]+)=(.+)")

Lenient = Annotated[
    bool, typer.Option("--lenient", help="Leave out what cannot be read, and list what is wrong with it.")
]


@with_groups
def compare(
    runs: options.Runs,
    other: Annotated[
        str | None, typer.Option(metavar="RUNS", help="A second set on the same findings, to compare with.")
    ] = None,
    metric: options.ConcludedMetric = None,
    modes: options.ComparedModes = None,
    rules: options.ComparedRules = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.FillMissingBasis = "infer",
    truth: options.Truth = None,
    table: options.VoteTableOptions = options.NO_TABLE_OPTIONS,
    mode: Annotated[
        Mode | None, typer.Option(help="For a table of votes: the mode in which its workers were asked.")
    ] = None,
    other_mode: Annotated[Mode | None, typer.Option(help="The same for a table of votes given by --other.")] = None,
    pair_by: options.PairBy = "finding",
    cluster_by: options.ClusterBy = None,
    resamples: Annotated[
        int, typer.Option(min=1, help="The number of random draws for the test of all classes.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="The seed of these draws.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="Write a report with charts and tables to this folder; or one chart, of the metrics against truth or "
            "else of the classes, if the name ends in .png, .svg, .pdf or .html.",
        ),
    ] = None,
) -> None:
    """Compare conditions, and conclude on one metric.

    One set: its votes are judged under two modes, or under several --rules. With --other: two sets of runs are paired.
    Sets without a common finding are compared unpaired, by their runs.
    With NAME=PATH arguments: two or more sets, each under its name. Tables of votes all take the same --columns, and
    their modes from --mode and --other-mode unless a column names them.

    \b
    Examples:
    verifyplan compare stdlib-claims/adversarial --out out/compare
    verifyplan compare stdlib-claims/adversarial --rules run=as-recorded --rules sticky=sticky-refutes
    verifyplan compare stdlib-claims/collaborative --other stdlib-claims/adversarial
    verifyplan compare runs/collaborative --other runs/adversarial --truth claims.csv --metric recall
    verifyplan compare debates.csv --other consultancies.csv --cluster-by category \\
        --columns item=debate,worker=judge,verdict=vote,category=story
    verifyplan compare gpt=runs/gpt claude=runs/claude gemini=runs/gemini --out out/models
    verifyplan compare votes.csv --columns item=claim,worker=judge,verdict=vote,basis=basis,truth=label
    verifyplan compare a.csv --other b.csv --columns item=claim,worker=judge,verdict=vote \\
        --mode collaborative --other-mode adversarial
    """
    if other is None and other_mode is not None:
        raise InputError(Problem("--other-mode", "goes with --other", "name the second table, or leave it out"))
    is_chart = is_chart_file(out, "the report")
    named = _named_sets(runs, other, table.columns)
    comparison = vp.compare(
        {name: _read([path], truth, table, mode) for name, path in named.items()}
        if named
        else _read(runs, truth, table, mode, alone=other is None or not is_vote_table([other])),
        None if other is None else _read([other], truth, table, other_mode),
        metric=metric,
        modes=None if modes is None else cast("list[ReplayMode]", [name.strip() for name in modes.split(",")]),
        rules=_compared_rules(rules or [], several=bool(named) or other is not None),
        max_rounds=max_rounds,
        missing_basis=missing_basis,
        pair_by=None if pair_by == "none" else pair_by,
        cluster_by=cluster_by,
        resamples=resamples,
        seed=seed,
    )
    typer.echo(str(comparison))
    if out is not None:
        typer.echo(_written(comparison, out, is_chart=is_chart))


def _written(comparison: Comparison, out: Path, *, is_chart: bool) -> str:
    """Write the chart or the report of a comparison, and say where."""
    if not is_chart:
        return f"report: {vp.report(comparison, out)}"
    chart = vp.charts.class_mix if comparison.truth is None else vp.charts.truth_metrics
    return f"chart: {vp.export(chart(comparison), out)}"


def _named_sets(runs: list[str], other: Path | str | None, columns: str | None) -> dict[str, str]:
    """Return the paths of NAME=PATH arguments by their names.

    InputError for names of columns that a space cut off, and for several sets without names, of which one is a table.
    """
    if columns is not None and (fix := quotes_fix(runs)):
        raise InputError(Problem("--columns", "is cut at a space", fix))
    named = _named_paths(runs)
    if len(runs) > 1 and other is None and any(is_vote_table([path]) for path in runs):
        fix = f"write {' '.join(f'NAME={path}' for path in runs)}, or name the second by --other"
        raise InputError(Problem("runs", "names several sets, and a table of votes among them: each needs a name", fix))
    return named


def _compared_rules(rules: list[str], *, several: bool) -> dict[str, str] | list[str] | str | None:
    """Return the rules of --rules options: by name if they have names, else as a list; one alone is for all sets."""
    named = _named_paths(rules, "--rules")
    if several and len(rules) == 1 and not named:
        return rules[0]
    return named or rules or None


def _named_paths(runs: list[str], argument: str = "runs") -> dict[str, str]:
    """Return the paths of NAME=PATH arguments by their names; none for plain paths, InputError for a mix."""
    matches = {text: None if Path(text).exists() else _NAMED_PATH.fullmatch(text) for text in runs}
    pairs = [(match[1], match[2]) for match in matches.values() if match]
    plain = [text for text, match in matches.items() if not match]
    if plain and pairs:
        raise InputError(Problem(argument, f"{plain[0]!r} has no name, but others do", "write each as NAME=PATH"))
    if len(dict(pairs)) < len(pairs):
        message = f"a name is repeated in {', '.join(name for name, _ in pairs)}"
        raise InputError(Problem(argument, message, "give each a different name"))
    return dict(pairs)


def _read(
    runs: list[str], truth: Path | None, table: options.VoteTableOptions, mode: Mode | None, *, alone: bool = False
) -> RunSet:
    """Read one of the compared sets; options for tables of votes are refused only if no set is one (`alone`).

    Of several tables, an error names the file.
    """
    if alone or is_vote_table(runs) or mode is not None:
        try:
            return read_runs(runs, truth, table, mode=mode)
        except TableError as error:
            if alone:
                raise
            raise TableError(
                replace(problem, place=f"{runs[0]}: {problem.place.removeprefix('votes: ')}")
                for problem in error.problems
            ) from None
    return read_runs(runs, truth, replace(table, columns=None, verdicts=None))


@with_groups
def explain(
    runs: Annotated[str, typer.Argument(help="An artifact, a folder, a glob, saved tables, or a bundled set.")],
    finding: Annotated[str, typer.Argument(help="The id of the finding.")],
    run: Annotated[str | None, typer.Option(help="The run of the finding; needed if several runs have it.")] = None,
    mode: Annotated[
        ReplayMode | None, typer.Option(help="The mode under which votes are judged. Default: the mode of each run.")
    ] = None,
    rules: options.RulesSource = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.FillMissingBasis = "infer",
    table: options.VoteTableOptions = options.NO_TABLE_OPTIONS,
) -> None:
    """Explain why a finding ended in its class.

    Shows the rule, the tally and the votes; with --rules also how the votes count under them and which fields decide.

    \b
    Examples:
    verifyplan explain stdlib-claims/adversarial F-0001
    verifyplan explain stdlib-claims/adversarial F-0001 --run part-01 --rules sticky-refutes
    """
    recorded = read_runs([runs], table=table)
    explanation = vp.explain(
        recorded, finding, run, mode, rules=rules, max_rounds=max_rounds, missing_basis=missing_basis
    )
    typer.echo(explanation.text)


@with_groups
def convert(
    runs: options.Runs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the tables; it is created if needed.")],
    to: Annotated[
        Literal["parquet", "csv"], typer.Option(help="parquet can be loaded again; csv is for other programs.")
    ] = "parquet",
    raw: Annotated[
        bool, typer.Option("--raw", help="With --to csv: do not escape formulas and escape codes in texts.")
    ] = False,
    add: options.AddedRuns = None,
    truth: options.Truth = None,
    table: options.VoteTableOptions = options.NO_TABLE_OPTIONS,
    lenient: Lenient = False,
) -> None:
    """Write runs as tables.

    The tables are runs, findings, votes, rounds and dispatches, and those of plan runs.

    \b
    Examples:
    verifyplan convert runs --out tables
    verifyplan convert runs --add more --out tables
    verifyplan convert votes.csv --columns item=claim,worker=judge,verdict=vote --out tables --to csv
    """
    if lenient and table.columns is not None:
        fix = "correct the table of votes, or leave out --lenient"
        raise InputError(Problem("--lenient", "does not go with --columns", fix))
    loaded = read_runs(runs, truth, table, strict=not lenient, add=add)
    errors = loaded.errors.to_dict("records")
    if errors and not len(loaded):
        raise InputError(Problem(row["place"], row["message"], row["fix"]) for row in errors)
    saved = loaded.save(out) if to == "parquet" else loaded.save_csv(out, raw=raw)
    typer.echo(f"{loaded!r} written to {saved}")
    for row in errors:
        kept = "read all the same" if row["source"] in set(loaded.runs["source"]) else "left out"
        typer.echo(f"{kept}: {row['place']}: {row['message']}. Fix: {row['fix']}.", err=True)
    if lenient and errors:
        raise typer.Exit(1)


def compile(
    runs: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder, glob or fsspec address of run logs and artifacts.")
    ],
    out: Annotated[str, typer.Option(metavar="DATASET", help="The folder of the dataset, or its fsspec address.")],
    lenient: Lenient = False,
) -> None:
    """Compile runs into a dataset of Parquet files, or update it.

    Only new or changed runs are read. Every command that takes runs also takes the folder of the dataset. If the
    process dies, the dataset stays as it was. A file truth.csv or claims.csv in DIR with the columns finding_id and
    truth supplies the truth of the findings.

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

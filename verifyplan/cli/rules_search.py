"""`rules search`: what many rules are worth on recorded votes, what they cost, and which calls would tell more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.charts.export import FORMATS
from verifyplan.cli import options
from verifyplan.cli.inputs import read_runs
from verifyplan.cli.settled_calls import PLANS, SearchedRuns, settled_lines, suffix_of, write_table
from verifyplan.errors import Problem, Problems, SettingsError, one_of
from verifyplan.files import read_json
from verifyplan.runs.arguments import check_output
from verifyplan.text import short_repr

TABLES = ("csv", "parquet")
"""Formats of the table of rules; `charts.export` has those of the picture."""


def search(
    runs: options.Runs,
    quality: Annotated[
        str,
        typer.Option(
            help="What is measured: f1, precision, recall, accuracy, false-consensus-rate or false-demotion-rate."
        ),
    ] = "f1",
    cost: Annotated[
        str | None,
        typer.Option(
            help="What rules cost: votes, calls, tokens or dollars. If left out calls, or votes where no run has calls."
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="What recommended rules may cost at most, on all findings.")
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|PRESET",
            help="Rules to judge beside those of the runs; repeat it. Left out: a few hundred that the votes allow.",
        ),
    ] = None,
    space: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON with fields and their values: every combination of them is judged."),
    ] = None,
    add: options.AddedRuns = None,
    truth: options.Truth = None,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    truths: options.TruthWords = None,
    settle: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Plan the N votes never cast that would narrow the bounds of the frontier most."
        ),
    ] = None,
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The plan of --settle, .csv or .json; of several runs a numbered file each. calls.csv if left out.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the recommended rules here, for --rules.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the table (.csv, .parquet) or the chart (.png, .svg, .pdf, .html, .json); repeat it.",
        ),
    ] = None,
) -> None:
    """Judge many rules on recorded votes, without a call: the frontier of quality against cost, and a recommendation.

    The findings need their truth. Of votes that were never cast, quality has bounds; --settle plans those votes that
    narrow them most, `crossverify --only` asks for them and no others, and --add puts them beside the recorded ones.

    \b
    Examples:
    verifyplan rules search stdlib-claims/adversarial --quality accuracy --max-cost 50 --out rules.png --out rules.csv
    verifyplan rules search runs --truth claims.csv --rules adversarial --rules majority --rules mine.json
    verifyplan rules search runs --truth claims.csv --settle 40 --calls calls.csv --save rules.json
    verifyplan crossverify claims.csv --repo src --mode adversarial --only calls.csv --log-dir more
    verifyplan rules search runs --add more --truth claims.csv
    """
    if calls is not None and settle is None:
        raise SettingsError(Problem("--calls", "goes with --settle", "say how many votes to plan: --settle N"))
    plan = calls or Path("calls.csv")
    pictures, tables = _outputs(out or [], plan if settle else None, save)
    judged = read_runs(runs, truth, columns, words=verdicts, truths=truths, add=add)
    found = vp.search_rules(judged, _space(rules, space), quality=quality, cost=cost)
    recommended = found.recommend(max_cost)
    typer.echo(f"{found}\n{recommended}")
    if save is not None:
        typer.echo(f"rules: {recommended.rules.save(save)}")
    for path in tables:
        typer.echo(f"table: {write_table(found.table, path)}")
    for path in pictures:
        typer.echo(f"chart: {vp.export(found.chart(), path)}")
    if settle is not None:
        same = [*(("--rules", name) for name in rules or ()), ("--space", space), ("--columns", columns)]
        same += [("--verdicts", verdicts), ("--truths", truths), ("--quality", quality), ("--cost", cost)]
        votes = found.settle(settle)
        for line in settled_lines(votes, judged, SearchedRuns(runs, truth, add or "more", same), plan, quality):
            typer.echo(line)


def _outputs(out: list[Path], calls: Path | None, save: Path | None) -> tuple[list[Path], list[Path]]:
    """Return the pictures and the tables to write; InputError listing every file that cannot be written."""
    problems = Problems()
    allowed = {"--out": (*TABLES, *FORMATS), "--calls": PLANS, "--save": ("json",)}
    for option, path in [*(("--out", path) for path in out), ("--calls", calls), ("--save", save)]:
        if path is not None and suffix_of(path) not in allowed[option]:
            message = f"there is no format for the suffix {path.suffix!r} of {str(path)!r}"
            suffixes = one_of(f".{name}" for name in allowed[option])
            problems.append(Problem(option, message, f"end the name in one of {suffixes}"))
        else:
            problems.of(lambda option=option, path=path: check_output(option, path))  # type: ignore[misc]
    if problems:
        raise problems.error()
    return [path for path in out if suffix_of(path) in FORMATS], [path for path in out if suffix_of(path) in TABLES]


def _space(rules: list[str] | None, space: Path | None) -> object:
    """Return the rules to judge: those named, those of a file of fields and values, or None for the default ones."""
    if rules and space:
        raise SettingsError(Problem("--space", "does not go with --rules", "name rules, or a space of them"))
    if space is None:
        return rules or None
    values = read_json(space, fix := 'write {"field": [value, value]}')
    if not isinstance(values, dict):
        raise SettingsError(Problem(str(space), f"holds {short_repr(values)}, not an object", fix))
    return values

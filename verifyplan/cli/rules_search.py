"""`rules search`: what many rules are worth on recorded votes, what they cost, and which calls would tell more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.analysis.voters import roster_of
from verifyplan.cli import options
from verifyplan.cli.inputs import read_runs, suffix_of, write_table
from verifyplan.cli.option_groups import option_of, with_groups
from verifyplan.errors import Problem, Problems, SettingsError, one_of
from verifyplan.files import CHART_FORMATS, read_json
from verifyplan.frames.bundled import is_bundled, path
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import read_table
from verifyplan.protocol.vote import MODES
from verifyplan.runs.arguments import check_output
from verifyplan.text import counted, short_repr

TABLES, PLANS = ("csv", "parquet"), ("csv", "json")
"""Formats of the table of rules, and of a plan of calls; `charts.export` has the formats of the chart."""
UNKNOWN_FINDINGS = "FINDINGS.csv"
"""Shown in a command for the file of findings, if that is not known."""


@dataclass(frozen=True)
class JudgedRules:
    """The options that say which rules are judged, and by what."""

    quality: Annotated[
        str,
        typer.Option(help="The quality: f1, precision, recall, accuracy, false-consensus-rate or false-demotion-rate."),
    ] = "f1"
    cost: Annotated[
        str | None,
        typer.Option(help="The cost: votes, calls, tokens or dollars. Default: calls, or votes if no run has calls."),
    ] = None
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|PRESET",
            help="Rules to judge besides those of the runs. Can be repeated. Default: a few hundred that the votes "
            "allow.",
        ),
    ] = None
    space: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON file with fields and their values; every combination is judged."),
    ] = None

    def read(self) -> object:
        """Return the rules to judge: those named, a file of fields and values, or None for the default ones."""
        if self.rules and self.space:
            raise SettingsError(Problem("--space", "does not go with --rules", "leave one of them out"))
        if self.space is None:
            return self.rules or None
        values = read_json(self.space, fix := 'write {"field": [value, value]}')
        if not isinstance(values, dict):
            raise SettingsError(Problem(str(self.space), f"holds {short_repr(values)}, not an object", fix))
        return values


@dataclass(frozen=True)
class Outputs:
    """The options that name files to write."""

    settle: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Plan N of the votes that were never cast: those that would narrow the bounds of the frontier most.",
        ),
    ] = None
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file for the plan of --settle, .csv or .json; each mode gets its own. Default: calls.csv.",
        ),
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Write the recommended rules to this file, for --rules; undecided: those of the recorded runs.",
        ),
    ] = None
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the table (.csv, .parquet) or the chart (.png, .svg, .pdf, .html, .json). Can be repeated.",
        ),
    ] = None

    @property
    def plan(self) -> Path:
        """The file of the plan of calls."""
        return self.calls or Path("calls.csv")

    def check(self) -> None:
        """Raise InputError listing every file that cannot be written."""
        if self.calls is not None and self.settle is None:
            raise SettingsError(Problem("--calls", "goes with --settle", "say how many votes to plan: --settle N"))
        problems = Problems()
        allowed = {"--out": (*TABLES, *CHART_FORMATS), "--calls": PLANS, "--save": ("json",)}
        plan = self.plan if self.settle else None
        for option, file in [*(("--out", file) for file in self.out or ()), ("--calls", plan), ("--save", self.save)]:
            if file is not None and suffix_of(file) not in allowed[option]:
                message = f"there is no format for the suffix {file.suffix!r} of {str(file)!r}"
                suffixes = one_of(f".{name}" for name in allowed[option])
                problems.append(Problem(option, message, f"end the name in one of {suffixes}"))
            else:
                problems.of(lambda option=option, file=file: check_output(option, file))  # type: ignore[misc]
        if problems:
            raise problems.error()


NO_OUTPUTS, DEFAULT_RULES = Outputs(), JudgedRules()


@with_groups
def search(
    runs: options.Runs,
    judged: JudgedRules = DEFAULT_RULES,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="The most that recommended rules may cost, over all findings.")
    ] = None,
    max_loss: Annotated[
        float,
        typer.Option(help="The most that they may lose of the quality against the best rules; 0.03: three points."),
    ] = 0.03,
    add: options.AddedRuns = None,
    truth: options.Truth = None,
    table: options.VoteTableOptions = options.NO_TABLE_OPTIONS,
    outputs: Outputs = NO_OUTPUTS,
) -> None:
    """Search for rules that are worth their cost on recorded votes.

    Judges many rules on recorded votes, without any call; prints the frontier of quality against cost, and recommends
    the cheapest rules that are shown to lose at most --max-loss, or says how many findings would decide. The truth of
    the findings is needed. Votes that were never cast leave bounds on quality: --settle plans the votes that narrow
    them most, `crossverify --only` asks for exactly those, and --add adds them to the recorded ones.

    \b
    Examples:
    verifyplan rules search stdlib-claims/adversarial --quality accuracy --max-cost 50 --out rules.png --out rules.csv
    verifyplan rules search runs --truth claims.csv --rules adversarial --rules majority --rules mine.json
    verifyplan rules search runs --truth claims.csv --settle 40 --calls calls.csv --save rules.json
    verifyplan crossverify claims.csv --repo src --mode adversarial --only calls.csv --log-dir more
    verifyplan rules search runs --add more --truth claims.csv
    """
    outputs.check()
    recorded = read_runs(runs, truth, table, add=add)
    found = vp.search_rules(recorded, judged.read(), quality=judged.quality, cost=judged.cost)
    recommended = found.recommend(max_cost, max_loss)
    typer.echo(f"{found}\n{recommended}")
    if outputs.save is not None:
        typer.echo(f"rules: {recommended.rules.save(outputs.save)}")
    for file in outputs.out or ():
        if suffix_of(file) in TABLES:
            typer.echo(f"table: {write_table(found.table, file)}")
        else:
            typer.echo(f"chart: {vp.export(found.chart(), file)}")
    if outputs.settle is None:
        return
    votes = found.settle(outputs.settle)
    if votes.empty:
        typer.echo("no call to plan: votes that were never cast leave no bound of the frontier open")
        return
    narrows = f"{100 * votes['narrows'].sum():.1f} points of {judged.quality}"
    typer.echo(f"{counted(len(votes), 'vote')} to ask for, expected to narrow the bounds of the frontier by {narrows}")
    findings, added = _findings_file(runs, truth), add or "more"
    for line in _plan_lines(votes, recorded, outputs.plan, findings, added):
        typer.echo(line)
    same: list[tuple[str, object]] = [("--add", added), ("--truth", truth)]
    same += [*(("--rules", name) for name in judged.rules or ()), ("--space", judged.space)]
    same += [(option_of(name), value) for name, value in vars(table).items()]
    same += [("--quality", judged.quality), ("--cost", judged.cost)]
    words = [word for option, value in same if value is not None for word in (option, str(value))]
    typer.echo(_command("rules", "search", *runs, *words))
    typer.echo(
        "add --repo DIR if cited evidence is in another folder, --model MODEL if workers are models; "
        "write NAME=CHECKER for a worker that plays a checker of another name"
    )
    if findings == UNKNOWN_FINDINGS:
        typer.echo(f"{UNKNOWN_FINDINGS}: the findings that were voted on (finding_id, summary, evidence, worker)")


def _plan_lines(votes: pd.DataFrame, runs: RunSet, plan: Path, findings: str, added: str) -> Iterator[str]:
    """Write a plan of votes, a file for each mode; yield its name, and the command that asks for the votes."""
    modes = runs.runs.set_index("run_id")["mode"].astype("object").fillna(MODES[0])
    by_mode = votes.groupby(votes["run_id"].map(modes).to_numpy(), sort=False)
    for mode, rows in by_mode:
        target = plan if by_mode.ngroups == 1 else plan.with_stem(f"{plan.stem}-{mode}")
        size = f"{counted(len(rows), 'vote')} of {counted(rows['run_id'].nunique(), 'run')}"
        yield f"calls: {write_table(rows, target)} ({size})"
        asked = ["--workers", ",".join(roster_of(runs)), "--mode", str(mode), "--max-rounds", str(rows["round"].max())]
        yield _command("crossverify", findings, *asked, "--only", str(target), "--log-dir", added)


def _findings_file(runs: list[str], truth: Path | None) -> str:
    """Return the file of the findings that were voted on: of a bundled set, the file of truth, or an unknown one."""
    claims = [path(name.partition("/")[0]) / "claims.csv" for name in runs if is_bundled(name)]
    if truth is not None and "summary" in read_table(truth):
        claims.append(truth)
    return next((str(each) for each in claims if each.is_file()), UNKNOWN_FINDINGS)


def _command(*words: str) -> str:
    return f"  {shlex.join(['verifyplan', *words])}"

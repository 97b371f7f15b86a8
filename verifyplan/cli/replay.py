"""`replay`: recorded votes judged again under other rules, or a logged run driven again as far as its replies reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.cli import options
from verifyplan.cli.choices import MissingBasisName, PolicyName, ReplayModeName
from verifyplan.cli.inputs import read_runs
from verifyplan.errors import InputError, Problem
from verifyplan.files import replacing
from verifyplan.frames.csv_tables import write_csv
from verifyplan.frames.run_notes import note_unnamed_mode
from verifyplan.runlog.reader import SUFFIX
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.text import counted, filled_words

MAX_SHOWN_DIFFERENCES = 20
"""A run that differs everywhere must not fill the screen."""


def replay(
    runs: options.Runs,
    mode: Annotated[
        ReplayModeName | None,
        typer.Option(
            help="The mode under which votes are judged; if left out that of --rules, else the one that each run, or "
            "mode= of --columns, names. Of a plan run: of its panel."
        ),
    ] = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.MissingBasis = MissingBasisName.infer,
    columns: options.VoteColumns = None,
    verdicts: options.VerdictWords = None,
    truths: options.TruthWords = None,
    rules: options.RulesSource = None,
    policy: Annotated[PolicyName | None, typer.Option(help="Of a plan run: another policy.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Of a plan run: another last iteration.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Of a debate: another last turn.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Drive one logged run again; exit with 1 if its events differ.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write all findings to this .csv or .parquet.")] = None,
) -> None:
    """Judge recorded votes again under other rules; or drive a logged run again, as far as its replies reach.

    Where nothing else is said, votes are judged as recorded: each run under its own rules. A table that names no mode
    is read as collaborative. A replay changes how votes count, never how workers were asked.

    \b
    Examples:
    verifyplan replay runs --mode adversarial --max-rounds 2
    verifyplan replay runs --rules sticky-refutes
    verifyplan replay stdlib-claims/collaborative --mode adversarial --missing-basis burden-not-met --out replayed.csv
    verifyplan replay votes.csv --columns item=claim,worker=judge,verdict=vote,mode=adversarial
    verifyplan replay runs/PLAN-001.jsonl --policy deliberate
    verifyplan replay runs/PLAN-001.jsonl --rules strict-settlement
    verifyplan replay runs/PLAN-001.jsonl --check
    """
    other_policy = policy.value if policy else None
    changes = {"rules": rules, "policy": other_policy, "max_iterations": max_iterations, "max_turns": max_turns}
    if check or any((policy, max_iterations, max_turns)) or _is_driven_log(runs):
        _refuse_set(
            {"--max-rounds": max_rounds, "--columns": columns, "--verdicts": verdicts, "--truths": truths, "--out": out}
        )
        _drive(runs, mode, changes, check)
    else:
        _check_table(out)
        recorded = read_runs(runs, columns=columns, words=verdicts, truths=truths)
        chosen = chosen_rules(rules, mode and mode.value, max_rounds, missing_basis.value)
        table = vp.replay(recorded, rules=chosen)
        by = [f"as {mode.value}"] if mode else [] if rules else ["as recorded"]
        typer.echo(f"{counted(len(table), 'finding')}, judged {' '.join([*by, *([f'by {rules}'] if rules else [])])}")
        unnamed = None if chosen.mode else note_unnamed_mode(recorded.runs)
        for line in (*_class_lines(table), *([f"note: {unnamed}"] if unnamed else [])):
            typer.echo(line)
        if out is not None:
            typer.echo(f"findings: {_write(table, out)}")
        if not chosen.changed:
            _refuse_other_classes(table)


def _is_driven_log(runs: list[str]) -> bool:
    path = Path(runs[0])
    return (
        len(runs) == 1 and path.suffix == SUFFIX and path.is_file() and isinstance(vp.read_run(path), PlanRun | Debate)
    )


def _refuse_set(options: Mapping[str, object]) -> None:
    """Raise InputError for options that say how votes are judged, where a logged run is driven again instead."""
    fix = "leave it out; to read the votes of a plan run's panel, name the folder of the log"
    if names := [name for name, value in options.items() if value is not None]:
        raise InputError(Problem(name, "has no meaning where one logged run is driven again", fix) for name in names)


def _drive(runs: list[str], mode: ReplayModeName | None, changes: dict[str, Any], check: bool) -> None:
    if len(runs) != 1 or Path(runs[0]).suffix != SUFFIX:
        fix = "name one run log (.jsonl), as `verifyplan verify` wrote it"
        raise InputError(
            Problem("runs", "--check, --rules, --policy, --max-iterations and --max-turns drive one logged run", fix)
        )
    other_mode = None if mode in (None, ReplayModeName.recorded) else mode.value
    if check and (other_mode or any(changes.values())):
        fix = "leave out --mode, --rules, --policy, --max-iterations and --max-turns"
        raise InputError(Problem("--check", "drives the run under its own rules", fix))
    again = vp.replay_run(
        Path(runs[0]),
        **changes,
        mode=other_mode,  # type: ignore[arg-type]  # recorded, the third mode, is None here
    )
    typer.echo(str(again))
    if check and again.same:
        typer.echo("the recorded replies give the recorded events again")
    elif again.same:
        typer.echo("the same events as recorded")
    else:
        typer.echo(f"{counted(len(again.differences), 'event')} of the log came out otherwise")
        for line in again.differences[:MAX_SHOWN_DIFFERENCES]:
            typer.echo(f"  {line[:200]}")
    if check and not again.same:
        raise typer.Exit(1)


def _check_table(out: Path | None) -> None:
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fix = "name a .csv or .parquet file"
        raise InputError(Problem("--out", f"{out.suffix or 'no suffix'!r} is not a known table", fix))


def _class_lines(table: pd.DataFrame) -> Iterator[str]:
    """Yield how many findings have each class, what is censored, which bases were filled in, which classes are open."""
    for name, count in table["classification"].value_counts(sort=False).items():
        yield f"{name:>18}: {count:,} (n = {len(table):,})"
    filled, counter, disagrees = (
        int(table[name].sum()) for name in ("filled_bases", "filled_counter", "disagreements")
    )
    bases = filled_words(filled, counter, disagrees) if filled else "no basis had to be filled in"
    yield f"{int(table['censored'].sum())} censored; {bases}"
    if open_classes := int(table["low"].ne(table["high"]).sum()):
        yield f"votes never cast could change the class of {counted(open_classes, 'finding')}: see low and high"


def _write(table: pd.DataFrame, out: Path) -> Path:
    if out.suffix == ".csv":
        return write_csv(table, out)
    with replacing(out) as temporary:
        table.to_parquet(temporary, index=False)
    return out


def _refuse_other_classes(table: pd.DataFrame) -> None:
    """Say where votes, judged as the run was, give other classes than it recorded, and exit with 1."""
    differing = table[
        table["recorded"].notna() & (table["recorded"].astype(str) != table["classification"].astype(str))
    ]
    if len(differing):
        first = differing.iloc[0]
        typer.echo(
            f"{counted(len(differing), 'recorded class')} differ from what the votes give, the first is "
            f"{first['finding_id']} of {first['run_id']}: {first['recorded']}, not {first['classification']}",
            err=True,
        )
        raise typer.Exit(1)

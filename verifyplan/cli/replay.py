"""`replay`: judge recorded votes under other rules, or run a logged run again from its recorded replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.parts_to_judge import cut_rows
from verifyplan.analysis.replay import ReplayMode
from verifyplan.cli import options
from verifyplan.cli.inputs import read_runs, suffix_of, write_table
from verifyplan.cli.option_groups import option_of, with_groups
from verifyplan.errors import InputError, Problem
from verifyplan.frames.cut_notes import note_replayed_cut_rounds
from verifyplan.frames.run_notes import note_unnamed_mode
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.plan_rules import Policy
from verifyplan.runlog.reader import SUFFIX
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.text import counted, filled_words

MAX_SHOWN_DIFFERENCES = 20
"""A run that differs everywhere must not fill the screen."""


@with_groups
def replay(
    runs: options.Runs,
    mode: Annotated[
        ReplayMode | None,
        typer.Option(
            help="The mode under which votes are judged; for a plan run, those of its panel. Default: the mode of "
            "--rules, else the mode of each run or of the table."
        ),
    ] = None,
    max_rounds: options.ReplayRounds = None,
    missing_basis: options.FillMissingBasis = "infer",
    table: options.VoteTableOptions = options.NO_TABLE_OPTIONS,
    rules: options.RulesSource = None,
    policy: Annotated[Policy | None, typer.Option(help="For a plan run: another policy.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="For a plan run: another last iteration.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="For a debate: another last turn.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Run one logged run again by its own rules; exit with 1 if its events differ."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write all findings to this .csv or .parquet file.")] = None,
) -> None:
    """Judge recorded votes under other rules, or rerun a log.

    Without options, votes are judged as recorded: each run under its own rules. A table that names no mode is read as
    collaborative. A log of a plan run or a debate is run again from its recorded replies, as far as they reach. A
    replay changes how votes count, never how workers were asked.

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
    changes = {"rules": rules, "policy": policy, "max_iterations": max_iterations, "max_turns": max_turns}
    if check or any((policy, max_iterations, max_turns)) or _is_rerun_log(runs):
        _refuse_set({"--max-rounds": max_rounds, "--out": out, **{option_of(n): v for n, v in vars(table).items()}})
        _rerun(runs, mode, changes, check)
        return
    _check_table(out)
    recorded = read_runs(runs, table=table)
    chosen = chosen_rules(rules, mode, max_rounds, missing_basis)
    judged = vp.replay(recorded, rules=chosen)
    by = [f"as {mode}"] if mode else [] if rules else ["as recorded"]
    typer.echo(f"{counted(len(judged), 'finding')}, judged {' '.join([*by, *([f'by {rules}'] if rules else [])])}")
    cut = cut_rows(recorded)
    notes = note_replayed_cut_rounds(cut, cut["limit"]), None if chosen.mode else note_unnamed_mode(recorded.runs)
    for line in (*_class_lines(judged), *(f"note: {note}" for note in notes if note)):
        typer.echo(line)
    if out is not None:
        typer.echo(f"findings: {write_table(judged, out)}")
    if not chosen.changed:
        unjudged = pd.MultiIndex.from_frame(cut[FINDING])
        _refuse_other_classes(judged[~pd.MultiIndex.from_frame(judged[FINDING]).isin(unjudged)])


def _is_rerun_log(runs: list[str]) -> bool:
    """Return whether the argument is a log of a plan run or a debate, which is run again."""
    path = Path(runs[0])
    return (
        len(runs) == 1 and path.suffix == SUFFIX and path.is_file() and isinstance(vp.read_run(path), PlanRun | Debate)
    )


def _refuse_set(options: Mapping[str, object]) -> None:
    """Raise InputError for options that say how votes are judged, where a logged run is run again instead."""
    fix = "leave it out; to read the votes of a plan run's panel, name the folder of the log"
    if names := [name for name, value in options.items() if value is not None]:
        raise InputError(Problem(name, "has no meaning when a logged run is run again", fix) for name in names)


def _rerun(runs: list[str], mode: ReplayMode | None, changes: dict[str, Any], check: bool) -> None:
    """Run one log again and print how its events differ from the recorded ones; with `check`, exit with 1 if any do."""
    if len(runs) != 1 or Path(runs[0]).suffix != SUFFIX:
        fix = "name one run log (.jsonl), as written by `verifyplan verify`"
        raise InputError(Problem("runs", "--check, --policy, --max-iterations and --max-turns need one run log", fix))
    other_mode = None if mode == "recorded" else mode
    if check and (other_mode or any(changes.values())):
        fix = "leave out --mode, --rules, --policy, --max-iterations and --max-turns"
        raise InputError(Problem("--check", "runs the log again under its own rules", fix))
    again = vp.replay_run(Path(runs[0]), **changes, mode=other_mode)
    typer.echo(str(again))
    if check and again.same:
        typer.echo("the recorded replies give the recorded events again")
    elif again.same:
        typer.echo("the same events as recorded")
    else:
        typer.echo(f"{counted(len(again.differences), 'event')} of the log differ")
        for line in again.differences[:MAX_SHOWN_DIFFERENCES]:
            typer.echo(f"  {line[:200]}")
    if check and not again.same:
        raise typer.Exit(1)


def _check_table(out: Path | None) -> None:
    """Raise InputError for a file that is neither CSV nor Parquet by its suffix."""
    if out is not None and suffix_of(out) not in ("csv", "parquet"):
        raise InputError(Problem("--out", f"must be a .csv or .parquet file, got {str(out)!r}", "name such a file"))


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


def _refuse_other_classes(table: pd.DataFrame) -> None:
    """Print where votes, judged as the run judged them, give other classes than it recorded, and exit with 1.

    `table` has no findings whose last round a limit cut off: the run did not judge these votes (rule B8).
    """
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

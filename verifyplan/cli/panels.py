"""`workers`, `panel`, `flips` and `agreement`: analyse the panel that cast recorded votes (rule F3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.charts.figure import Figure
from verifyplan.cli import options
from verifyplan.cli.inputs import is_chart_file, is_vote_table, read_pairs, read_runs
from verifyplan.cli.option_groups import with_groups
from verifyplan.cli.options import VoteTableOptions
from verifyplan.errors import InputError, Problem
from verifyplan.frames.csv_tables import write_csv
from verifyplan.frames.table_files import read_table
from verifyplan.frames.vote_tables import VOTE_TABLES


@dataclass(frozen=True)
class PanelOptions:
    """The votes of a panel, and the folder for the results."""

    runs: Annotated[
        list[str],
        typer.Argument(
            help="Artifacts, folders, globs, saved tables, a bundled set or table, or a CSV or Parquet file of votes."
        ),
    ]
    truth: options.Truth = None
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="For a table: which column is which, such as item=claim,worker=judge,verdict=vote (optional names as "
            "for `verifyplan replay`), or item=question,worker=judge,label=answer for labels with any number of "
            "classes. Optional names with label: truth, round, run, cost, explanation, toward (for flips: the answer "
            "that was pushed).",
        ),
    ] = None
    verdicts: Annotated[
        str | None,
        typer.Option(
            metavar="WORD=VERDICT,...",
            help="For a table: what your words for verdicts or labels mean, such as yes=agree,no=disagree.",
        ),
    ] = None
    truths: options.TruthWords = None
    ties: options.TiesReading = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="Write all tables of the result to this folder, as CSV; or the chart, if the name ends in .png, .svg, "
            ".pdf or .html (not for agreement).",
        ),
    ] = None

    def votes(self) -> Any:
        """Return the votes as analyses of panels take them: runs, a table of labels, or the name of a bundled table."""
        named = read_pairs("--columns", self.columns, "name=column", "item=claim,worker=judge,verdict=vote")
        if len(self.runs) == 1 and self.runs[0] in VOTE_TABLES and self.columns is None:
            return self.runs[0]
        if "label" not in named:
            table = VoteTableOptions(self.columns, self.verdicts, self.truths, self.ties)
            return read_runs(self.runs, self.truth, table)
        if not is_vote_table(self.runs):
            raise InputError(Problem("--columns", "label= goes with one CSV or Parquet file", "name one such file"))
        if self.truth is not None:
            raise InputError(Problem("--truth", "goes with runs", "name the column, as truth=truth in --columns"))
        if self.truths is not None:
            raise InputError(Problem("--truths", "goes with verdicts", "name the words of labels by --verdicts"))
        unknown = [name for name in named if name not in LABEL_COLUMNS]
        if unknown or not {"item", "worker"} <= set(named):
            message = f"names {', '.join(named)}" if unknown else "does not say which columns are item and worker"
            raise InputError(Problem("--columns", message, f"with label=, use some of {', '.join(LABEL_COLUMNS)}"))
        words = read_pairs("--verdicts", self.verdicts, "word=label", "yes=true,no=false") or None
        return vp.from_table(read_table(Path(self.runs[0])), **named, labels=words, ties=self.ties)  # type: ignore[arg-type]

    def show(self, analysis: Callable[..., Any], chart: Callable[..., Figure] | None = None, **options: Any) -> None:
        """Print the result of an analysis of the votes, and write its tables to --out, or its chart if that is a file.

        InputError, before anything is read, for a file that is not a chart.
        """
        is_file = is_chart_file(self.out, "the tables", has_chart=chart is not None)
        result = analysis(self.votes(), **options)
        if isinstance(result, pd.DataFrame):
            tables = {analysis.__name__: result}
            typer.echo(result.to_string(index=False, na_rep=""))
        else:
            fields = vars(result).items()
            tables = {name: value for name, value in fields if isinstance(value, pd.DataFrame)}
            typer.echo(str(result))
        if self.out is None:
            return
        if chart is not None and is_file:
            typer.echo(f"chart: {vp.export(chart(result), self.out)}")
            return
        for name, table in tables.items():
            write_csv(table, self.out / f"{name}.csv")
        typer.echo(f"tables: {', '.join(f'{name}.csv' for name in tables)} in {self.out}")


LABEL_COLUMNS = ("item", "worker", "label", "truth", "round", "run", "cost", "explanation", "toward")
"""The names that --columns takes for a table of labels."""


@with_groups
def workers(data: PanelOptions) -> None:
    """Show who in a panel is unreliable, redundant or decisive.

    \b
    Examples:
    verifyplan workers stdlib-claims/adversarial
    verifyplan workers votes.csv --columns item=claim,worker=judge,verdict=vote,truth=truth --out out/workers
    """
    data.show(vp.workers, vp.charts.workers)


@with_groups
def panel(
    data: PanelOptions,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of random splits and draws; the figures hardly depend on it.")
    ] = 0,
) -> None:
    """Show how many independent votes a panel is worth.

    Also shows whom to drop, and what a smaller panel would lose.

    \b
    Examples:
    verifyplan panel llmbar/natural --out panel.png
    verifyplan panel answers.csv --columns item=question,worker=model,label=answer,truth=right,cost=usd
    """
    data.show(vp.panel, vp.charts.panel, seed=seed)


@with_groups
def flips(data: PanelOptions) -> None:
    """Show what later rounds change, for better or worse.

    Also shows who moves to the side of the majority.

    \b
    Examples:
    verifyplan flips prover-verifier/debate
    verifyplan flips votes.csv --columns item=claim,worker=judge,verdict=vote,round=round,truth=truth
    verifyplan flips answers.csv --columns item=q,worker=model,label=answer,round=round,toward=suggested
    """
    data.show(vp.flips, vp.charts.flips)


@with_groups
def agreement(data: PanelOptions) -> None:
    """Measure how far workers agree beyond chance.

    Prints Krippendorff's alpha, Gwet's AC1 and kappas, with intervals.

    \b
    Examples:
    verifyplan agreement stdlib-claims/adversarial --out out/agreement
    """
    data.show(vp.agreement)

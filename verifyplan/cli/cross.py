"""`crossverify`: workers vote on findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.cli import options
from verifyplan.cli.agents import backend_of_options, previewed_backend
from verifyplan.cli.exit_codes import check_report, exit_code_of, exit_with, print_end, repeat
from verifyplan.cli.inputs import model_roster
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.csv_tables import safe_table
from verifyplan.frames.table_files import read_table
from verifyplan.runs.merges import DEFAULT_MATCHER


@with_groups
def crossverify(
    findings: Annotated[
        Path, typer.Argument(help="A CSV or JSON file with finding_id, summary, evidence and, if known, worker.")
    ],
    repo: options.EvidenceRepo = Path(),
    workers: Annotated[
        str | None,
        typer.Option(
            help="The workers in order, separated by commas: names or, for static agents, also NAME=CHECKER. "
            f"Default: {','.join(CHECKERS)}."
        ),
    ] = None,
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    show_merges: Annotated[
        bool, typer.Option("--show-merges", help="Print which findings would be merged, as CSV, and call no agent.")
    ] = False,
    preview: options.Preview = False,
    run_options: options.RunOptions = options.DEFAULT_RUN_OPTIONS,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    report: options.Report = None,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let workers vote on each other's findings.

    The votes put each finding in a class, which is written as a state artifact beside the run log.

    Exit code 1: the gate of a plan body failed. 3: a round, or every call, gave no result, or a class rests on too few
    votes (fewer than the quorum of the rules; without a quorum, half or fewer of the votes asked for). 4: the limit of
    tokens or dollars kept a call back. With several repetitions: the first exit code that is not 0.

    \b
    Examples:
    verifyplan crossverify findings.csv --repo src --task-type error-analysis
    verifyplan crossverify findings.csv --repo src --rules sticky-refutes --report report.html
    verifyplan crossverify findings.csv --repo src --max-rounds 2 --only calls.csv
    verifyplan crossverify findings.json --workers ann=window,bob=search,cy=syntax-tree
    verifyplan crossverify findings.csv --workers ann,bob --model claude-opus-5-5 --preview
    verifyplan crossverify findings.csv --workers ann,bob --model claude-opus-5-5 --worker-model bob=claude-haiku-5-5
    """
    if preview:
        backend = previewed_backend(agents)
    else:
        backend = backend_of_options(agents, timeout=run_options.timeout, max_cost=run_options.max_cost)
    roster = (
        _static_roster(workers)
        if backend == "static"
        else model_roster(",".join(CHECKERS) if workers is None else workers)
    )
    if show_merges:
        merges = vp.group_findings(findings, roster, matcher=votes.matcher or DEFAULT_MATCHER)
        typer.echo(safe_table(merges).to_csv(index=False), nl=False)
        return

    parts = [{**votes.arguments(), "only": only} for only in _calls_by_run(votes.only)]
    check_report(report, len(parts) * repetitions)
    if preview:
        for part in parts:
            typer.echo(str(vp.preview(vp.crossverify, findings, roster, backend=backend, repo=repo, **part)))
        return
    verify = partial(vp.crossverify, findings, roster, backend=backend, repo=repo, **vars(run_options))
    exit_with(repeat(repetition, repetitions, partial(_run_parts, verify, parts, report)))


def _run_parts(verify: partial[Any], parts: list[dict[str, Any]], report: Path | None, repetition: int) -> int:
    """Make one run for each part of the calls, print how it ended, and return the first exit code that is not 0."""
    codes = []
    for part in parts:
        run = verify(repetition=repetition, **part)
        typer.echo(f"{run}\nartifact: {run.path}\nlog: {run.log_path}")
        if run.gate_passed is not None:
            advice = "" if run.gating else " (advisory)"
            typer.echo(f"plan body: {'passed' if run.gate_passed else 'failed'}{advice}")
        if report is not None:
            typer.echo(f"report: {run.report(report)}")
        codes.append(exit_code_of(run))
        print_end(run, codes[-1])
    return next(filter(None, codes), 0)


def _calls_by_run(only: Path | None) -> list[pd.DataFrame | Path | None]:
    """Return the only calls to make, one part for each run that they name: each gets a supplementary run of its own."""
    if only is None or "run_id" not in (calls := read_table(only)) or calls["run_id"].nunique() < 2:
        return [only]
    return [rows for _, rows in calls.groupby("run_id", sort=False)]


def _static_roster(workers: str | None) -> dict[str, str]:
    """Return each worker's name and the checker it plays; SettingsError if a name is repeated."""
    listed = CHECKERS if workers is None else [part.strip() for part in workers.split(",") if part.strip()]
    pairs = [worker.partition("=") for worker in listed]
    named = {name.strip(): checker.strip() or name.strip() for name, _, checker in pairs}
    if len(named) < len(pairs):
        raise SettingsError(Problem("--workers", f"a name is repeated in {workers!r}", "name each worker once"))
    return named

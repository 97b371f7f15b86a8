"""`crossverify`: workers vote on findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.cli import options
from verifyplan.cli.agents import backend_of_options, previewed_backend
from verifyplan.cli.exit_codes import exit_code_of, exit_with, print_end, repeat
from verifyplan.cli.inputs import check_report, model_roster
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.csv_tables import safe_table
from verifyplan.frames.table_files import read_table
from verifyplan.runs.merges import DEFAULT_MATCHER


@with_groups
def crossverify(
    findings: Annotated[Path, typer.Argument(help="CSV or JSON: finding_id, summary, evidence, worker (if known).")],
    repo: options.EvidenceRepo = Path(),
    workers: Annotated[
        str | None,
        typer.Option(
            help="The roster, in order, by comma: names, of static agents also NAME=CHECKER. "
            f"If left out: {','.join(CHECKERS)}."
        ),
    ] = None,
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    show_merges: Annotated[
        bool, typer.Option("--show-merges", help="Print who would be joined with whom, as CSV, and call nobody.")
    ] = False,
    preview: options.Preview = False,
    timeout: options.Timeout = options.CALL_TIMEOUT_S,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    log_dir: options.LogDir = Path("runs"),
    synthetic: options.Synthetic = False,
    report: options.Report = None,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let workers vote on each other's findings, and write the state artifact.

    Exit code 1: the gate of a plan body failed; 3: a round, or every call, gave no result, or classes rest on too few
    votes: fewer than the quorum of the rules, without one on half or fewer of those asked for; 4: a call was not sent,
    as the tokens or dollars were used up. Of several repetitions it is that of the first that is not 0.

    \b
    Examples:
    verifyplan crossverify findings.csv --repo src --task-type error-analysis
    verifyplan crossverify findings.csv --repo src --rules sticky-refutes --report report.html
    verifyplan crossverify findings.csv --repo src --max-rounds 2 --only calls.csv
    verifyplan crossverify findings.json --workers ann=window,bob=search,cy=syntax-tree
    verifyplan crossverify findings.csv --workers ann,bob --model claude-opus-4-5 --preview
    verifyplan crossverify findings.csv --workers ann,bob --model claude-opus-4-5 --worker-model bob=claude-haiku-4-5
    """
    backend = previewed_backend(agents) if preview else backend_of_options(agents, timeout=timeout, max_cost=max_cost)
    roster = (
        _roster(workers) if backend == "static" else model_roster(",".join(CHECKERS) if workers is None else workers)
    )
    if show_merges:
        merges = vp.group_findings(findings, roster, matcher=votes.matcher or DEFAULT_MATCHER)
        typer.echo(safe_table(merges).to_csv(index=False), nl=False)
        return

    parts = _calls_by_run(votes.only)
    check_report(report, len(parts) * repetitions)
    if preview:
        for only in parts:
            given = {**votes.arguments(), "only": only}
            typer.echo(str(vp.preview(vp.crossverify, findings, roster, backend=backend, repo=repo, **given)))
        return

    def run_once(number: int) -> int:
        codes = []
        for only in parts:
            run = vp.crossverify(
                findings,
                roster,
                backend=backend,
                repo=repo,
                timeout=timeout,
                max_tokens=max_tokens,
                max_cost=max_cost,
                repetition=number,
                log_dir=log_dir,
                synthetic=synthetic,
                **{**votes.arguments(), "only": only},
            )
            typer.echo(f"{run}\nartifact: {run.path}\nlog: {run.log_path}")
            if run.gate_passed is not None:
                advice = "" if run.gating else " (advisory)"
                typer.echo(f"plan body: {'passed' if run.gate_passed else 'failed'}{advice}")
            if report is not None:
                typer.echo(f"report: {run.report(report)}")
            codes.append(exit_code_of(run))
            print_end(run, codes[-1])
        return next(filter(None, codes), 0)

    exit_with(repeat(repetition, repetitions, run_once))


def _calls_by_run(only: Path | None) -> list[pd.DataFrame | Path | None]:
    """Return the only calls to make, of several runs those of each: one supplementary run makes them for each."""
    if only is None or "run_id" not in (calls := read_table(only)) or calls["run_id"].nunique() < 2:
        return [only]
    return [rows for _, rows in calls.groupby("run_id", sort=False)]


def _roster(workers: str | None) -> dict[str, str]:
    """Return each worker's name and the checker it plays; SettingsError if a name is repeated."""
    listed = CHECKERS if workers is None else [part.strip() for part in workers.split(",") if part.strip()]
    pairs = [worker.partition("=") for worker in listed]
    named = {name.strip(): checker.strip() or name.strip() for name, _, checker in pairs}
    if len(named) < len(pairs):
        raise SettingsError(Problem("--workers", f"a name occurs twice in {workers!r}", "name each worker once"))
    return named

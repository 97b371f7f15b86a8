"""`demo`: show what a real panel is worth, compare two modes, and run a verification, in half a minute."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.protocol.vote import MODES, Mode
from verifyplan.results import Comparison, Figure


def demo(
    out: Annotated[Path, typer.Option(help="The folder for charts, tables and reports.")] = Path("out"),
    claims: Annotated[
        int, typer.Option(min=1, help="How many claims about Python's standard library to verify now.")
    ] = 60,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in the browser at the end.")] = False,
) -> None:
    """Show what a panel of judges is worth, on real votes, and how modes are compared.

    Analyses recorded votes of language models, compares modes on claims with known truth, verifies new claims about
    real code, and writes charts, tables and a report to a folder.

    \b
    Example:
    verifyplan demo --open
    """
    _known_truth(claims, out, _real_votes())
    typer.echo(f"Written: {out}/report.html, charts (PNG, SVG, HTML), runs/ and tables/")
    if open_report:
        open_page(out / "report.html")


def open_page(page: Path) -> None:
    """Open a page in the browser and say so; if there is no browser, say where the page is."""
    address = page.absolute().as_uri()
    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    typer.echo(f"Opened in the browser: {page}" if opened else f"There is no browser here; the report is {address}")


def _real_votes() -> dict[str, Figure]:
    """Show what a panel of judges is worth, and what a debate changes; return the charts by the names of files."""
    judges = vp.demo()
    typer.echo(f"{judges.headline} LLMBar, real votes:")
    for line in [*judges.table.to_string(index=False).splitlines(), *judges.notes[:2]]:
        typer.echo(f"  {line}")
    debate = vp.flips(vp.datasets.votes("prover-verifier/debate"))
    typer.echo("Three agents of one LLM debate 198 questions, in two collections (prover-verifier/debate, real votes):")
    typer.echo(f"  {_line(debate, 'the majority is right')}")
    natural, misleading = judges.charts
    return {
        "panel-natural": natural,
        "panel-misleading": misleading,
        "debate": vp.charts.flips(debate, title="Three agents of one LLM debate (real votes)"),
    }


def _known_truth(claims: int, out: Path, more: dict[str, Figure]) -> None:
    """Compare recorded runs over claims with known truth, verify some claims now, and report it with more charts."""
    typer.echo("720 synthetic claims about Python's standard library, 12 runs in each mode by four offline programs:")
    collaborative, adversarial = (vp.datasets.runs(f"stdlib-claims/{mode}") for mode in MODES)
    paired = vp.compare(collaborative, adversarial, metric="false-consensus-rate")
    _echo_metrics(paired)
    for mode in MODES:
        _verify_now(claims, mode, out)
    both = vp.datasets.runs("stdlib-claims")
    more |= {"votes": vp.charts.vote_matrix(adversarial, run_id="part-01"), "rounds": vp.charts.queue(both)}
    vp.report(paired, out, title="Adversarial against collaborative verification", more=more)
    both.save(out / "tables")
    both.save_csv(out / "tables")


def _echo_metrics(comparison: Comparison) -> None:
    for metric in ("false-consensus-rate", "false-demotion-rate"):
        typer.echo(f"  {comparison.in_words(metric)}")


def _verify_now(claims: int, mode: Mode, out: Path) -> None:
    """Verify new claims, and print the outcome in one line."""
    findings = vp.datasets.stdlib_claims(claims, seed=1)
    repo = vp.datasets.stdlib_root()
    run = vp.crossverify(findings, CHECKERS, mode=mode, task_type="demo", repo=repo, log_dir=out / "runs")
    typer.echo(f"  now, {mode}: {_line(run, 'full-consensus')} (n = {len(run.artifact.findings):,})")


def _line(result: object, words: str) -> str:
    """Return the first line of a result's text that contains some words."""
    return next(line for line in str(result).splitlines() if words in line)

"""`crossverify` and `demo`: workers vote on findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.cli.backends import backend_of_options
from verifyplan.cli.live import (
    CALL_TIMEOUT,
    NOBODY,
    AgentOptions,
    MaxCost,
    Repetition,
    Repetitions,
    Timeout,
    exit_with,
    repeated,
    with_agents,
)
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.vote import MODES, MissingBasis
from verifyplan.runs.merges import DEFAULT_MATCHER
from verifyplan.runs.run import CrossRun

Roster = Annotated[
    str | None,
    typer.Option(
        help="The roster, in order, by comma: names, of static agents also NAME=CHECKER. "
        f"If left out: {','.join(CHECKERS)}."
    ),
]
MatcherName = Annotated[
    str, typer.Option(help="Which findings are one: claim (same places and claim) or likeness (like words).")
]
Merges = Annotated[
    Path | None, typer.Option(help="CSV with finding_id and merged_into, followed in place of a matcher.")
]
ShowMerges = Annotated[
    bool, typer.Option("--show-merges", help="Print who would be joined with whom, as CSV, and call nobody.")
]
FilledBasis = Annotated[
    str,
    typer.Option(
        help="The basis of an adversarial disagree without one: infer (from what it cites), counter-evidence, "
        "burden-not-met."
    ),
]


@with_agents
def crossverify(
    findings: Annotated[Path, typer.Argument(help="CSV or JSON: finding_id, summary, evidence, worker (if known).")],
    root: Annotated[Path, typer.Option(help="The folder that cited evidence lies in.")] = Path(),
    workers: Roster = None,
    task_type: Annotated[
        str | None,
        typer.Option(
            help="Chooses the settings: error-analysis and requirements-discovery are adversarial; "
            "implementation-planning, implementation, final-verification, release-handoff and your own are not."
        ),
    ] = None,
    adversarial: Annotated[bool | None, typer.Option(help="Overrules the task type's mode.")] = None,
    max_rounds: Annotated[int | None, typer.Option(min=1, max=3, help="Overrules the number of rounds.")] = None,
    plan_items: Annotated[Path | None, typer.Option(help="Items of a plan body, for implementation-planning.")] = None,
    items_per_call: Annotated[
        int | None, typer.Option(min=1, help="Findings that one call asks about; all of a round if left out.")
    ] = None,
    matcher: MatcherName = DEFAULT_MATCHER,
    merges: Merges = None,
    show_merges: ShowMerges = False,
    missing_basis: FilledBasis = "infer",
    timeout: Timeout = CALL_TIMEOUT,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens after which no call is sent.")] = None,
    max_cost: MaxCost = None,
    repetition: Repetition = 1,
    repetitions: Repetitions = 1,
    out: Annotated[Path, typer.Option(help="The artifact is written under this folder, in runs/.")] = Path(),
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark generated findings as such.")] = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Let workers vote on each other's findings, and write the state artifact.

    Exit code 1: the gate of a plan body failed; 3: a round, or every call, gave no result; 4: a call was not sent, as
    the tokens or dollars were used up. Of several repetitions it is that of the first that is not 0.

    \b
    Examples:
    verifyplan crossverify findings.csv --root src --task-type error-analysis
    verifyplan crossverify findings.json --workers ann=window,bob=search,cy=syntax-tree
    verifyplan crossverify findings.csv --workers ann,bob --model claude-opus-4-5 --worker-model bob=claude-haiku-4-5
    """
    settings = {"adversarial": adversarial, "maxRounds": max_rounds}
    backend = backend_of_options(agents, timeout=timeout, max_cost=max_cost)
    roster = _roster(workers) if backend == "static" else model_roster(workers)
    if show_merges:
        typer.echo(vp.group_findings(findings, roster, matcher=matcher).to_csv(index=False), nl=False)
        return

    def run_once(number: int) -> int:
        run = vp.crossverify(
            findings,
            roster,
            task_type=task_type,
            settings={key: value for key, value in settings.items() if value is not None},
            backend=backend,
            root=root,
            plan_items=plan_items,
            matcher=matcher,
            merges=merges,
            missing_basis=cast(MissingBasis, missing_basis),
            timeout=timeout,
            items_per_call=items_per_call,
            max_tokens=max_tokens,
            max_cost=max_cost,
            repetition=number,
            out=out,
            synthetic=synthetic,
        )
        return _told(run)

    exit_with(repeated(repetition, repetitions, run_once))


def _told(run: CrossRun) -> int:
    """Tell how a run ended, and where it lies; its exit code."""
    typer.echo(str(run))
    typer.echo(f"artifact: {run.path}")
    typer.echo(f"log: {run.log_path}")
    if run.gate_passed is not None:
        advice = "" if run.gating else " (advisory)"
        typer.echo(f"plan body: {'passed' if run.gate_passed else 'failed'}{advice}")
    return exit_code_of(run)


def _roster(workers: str | None) -> dict[str, str]:
    """Each worker's name and the checker it plays; SettingsError if a name stands twice."""
    pairs = [one.partition("=") for one in (CHECKERS if workers is None else _parts(workers))]
    named = {name.strip(): checker.strip() or name.strip() for name, _, checker in pairs}
    if len(named) < len(pairs):
        raise SettingsError(Problem("--workers", f"a name stands twice in {workers!r}", "name each worker once"))
    return named


def model_roster(workers: str | None) -> list[str]:
    """The names of workers that are models; SettingsError where there are none, or checkers are named."""
    if workers is None:
        fix = "name the workers, those that found the findings among them: --workers ann,bob,cy"
        raise SettingsError(Problem("--workers", "nobody is named to vote", fix))
    names = names_of(workers, "--workers")
    if played := [name for name in names if "=" in name]:
        fix = "give names alone; --worker-model NAME=MODEL gives one a model of its own"
        raise SettingsError(Problem("--workers", f"{played[0]!r} names a checker, which models do not play", fix))
    return names


def names_of(text: str, option: str) -> list[str]:
    """Names with commas between them; SettingsError where there is none, or one stands twice."""
    names = _parts(text)
    if not names or len(set(names)) < len(names):
        told = "names nobody" if not names else f"a name stands twice in {text!r}"
        raise SettingsError(Problem(option, told, "name each worker once, by commas"))
    return names


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def exit_code_of(run: CrossRun) -> int:
    """4 where the budget kept a call back, 3 if a round or every call gave no result, 1 for a failed gate, else 0."""
    if any(event.type == "call-failed" and event.status == "budget" for event in run.events):
        return 4
    if run.status == "aborted-non-result" or run.failure:
        return 3
    return 1 if run.gating and run.gate_passed is False else 0


def demo(
    out: Annotated[Path, typer.Option(help="The folder for charts, tables and the report.")] = Path("out"),
    claims: Annotated[int, typer.Option(min=1, help="Claims about this Python's library to verify now.")] = 60,
) -> None:
    """Run the main job: cross-verify claims about real code, compare the modes on recorded runs, write out/.

    \b
    \b
    Example:
    verifyplan demo --out out
    """
    typer.echo("Claims about Python's standard library (synthetic claims, real code), cross-verified:")
    for breaking in (False, True):
        _verify_now(claims, breaking, out)
    collaborative, adversarial = (vp.datasets.runs(f"stdlib-claims/{mode}") for mode in MODES)
    paired = vp.compare(collaborative, adversarial)
    replayed = vp.compare(adversarial)
    told = {"rule, prompt and evidence (two real runs)": paired, "rule alone (one replayed)": replayed}
    for title, comparison in told.items():
        typer.echo(f"{paired.a} against {paired.b}, {title}, {comparison.n_findings} recorded findings:")
        typer.echo(f"  change class:    {comparison.in_words('changed')}")
        for metric in ("false-consensus", "false-demotion"):
            typer.echo(f"  {metric + ':':<16} {comparison.in_words(metric + '-rate')}")
    both = vp.datasets.runs()
    more = {
        "votes": vp.charts.vote_matrix(vp.vote_grid(adversarial, "part-01")),
        "rounds": vp.charts.rounds(vp.queue(both)),
    }
    path = vp.report(paired, out, title="Adversarial against collaborative verification", more=more)
    vp.report(replayed, out / "replay", title="The same votes under the other rule")
    both.save(out / "tables")
    both.save_csv(out / "tables")
    typer.echo(f"Written: {path} and report.html, charts (PNG, SVG, HTML), tables/ (CSV, Parquet), replay/")


def _verify_now(claims: int, adversarial: bool, out: Path) -> None:
    """One live run over fresh claims, told in a line."""
    made = vp.datasets.stdlib_claims(claims, seed=1)
    settings = {"adversarial": adversarial}
    root = vp.datasets.stdlib_root()
    run = vp.crossverify(made, CHECKERS, task_type="demo", settings=settings, root=root, out=out)
    outcome = next(line for line in str(run).split("\n") if line.startswith("full-consensus"))
    typer.echo(f"  now, {MODES[adversarial]}: {outcome} (n = {len(run.artifact.findings)})")

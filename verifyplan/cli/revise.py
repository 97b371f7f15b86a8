"""`revise`: a plan that got REVISE, debated and verified again, from a shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verifyplan.cli.backends import writer_of_options
from verifyplan.cli.live import (
    CALL_TIMEOUT,
    NOBODY,
    AgentOptions,
    MaxCost,
    MaxTurns,
    Script,
    Timeout,
    exit_with,
    with_agents,
)
from verifyplan.files import write_text
from verifyplan.rules.debate import MAX_TURNS
from verifyplan.runs.arguments import check_output
from verifyplan.runs.revise.revise import revise as revise_plan
from verifyplan.runs.revise.revision import Revision

OF_VERDICT = {"REVISE": 10, "RETHINK": 20}
"""Exit codes of verdicts, with --exit-code (rule H2)."""
FAILED, BUDGET = 3, 4


@with_agents
def revise(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run log (.jsonl), or a plan, which is verified first.")],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plan is about; else that of the log. It is only read.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan here if it was revised; its own file stays as it is.")
    ] = None,
    diff: Annotated[Path | None, typer.Option(help="Write the diff of the plan here, if there is one.")] = None,
    script: Script = None,
    max_turns: MaxTurns = MAX_TURNS,
    max_rounds: Annotated[int, typer.Option(min=1, help="The last round of debate and verification.")] = 3,
    timeout: Timeout = CALL_TIMEOUT,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that end a debate or a run.")] = None,
    max_cost: MaxCost = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark a generated plan as such.")] = False,
    log_dir: Annotated[Path, typer.Option(help="The folder of the logs: one a debate, one a run.")] = Path("runs"),
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK.")] = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Let architect and builder settle what is open about a plan that got REVISE, and verify the revised plan again.

    A plan that got PROCEED is never touched; one that got RETHINK is left to whoever decides. Exit code 3: agents
    failed; 4: the tokens or dollars were used up. Models debate and verify; with a script of answers, the static
    agents verify.

    \b
    Examples:
    verifyplan revise runs/PLAN-001.jsonl --model claude-opus-4-5 --out PLAN-revised.md
    verifyplan revise PLAN.md --repo . --script answers.json --diff plan.diff --exit-code
    """
    for name, path in (("--out", out), ("--diff", diff)):
        check_output(name, path)
    writer = writer_of_options(agents, script, timeout=timeout, max_cost=max_cost)
    revision = revise_plan(
        run,
        repo,
        architect=writer,
        backend="static" if script else writer,
        max_turns=max_turns,
        max_rounds=max_rounds,
        log_dir=log_dir,
        out=out,
        timeout=timeout,
        max_tokens=max_tokens,
        max_cost=max_cost,
        synthetic=synthetic,
    )
    _tell(revision, out, diff)
    exit_with(exit_code_of(revision, exit_code))


def exit_code_of(revision: Revision, by_verdict: bool) -> int:
    """3 where agents failed, 4 where a budget ended the last debate or run; else 0, or what the verdict asks for."""
    debates, runs = revision.debates, revision.runs
    if debates and debates[-1].status is None:
        return BUDGET if debates[-1].reason == "BUDGET" else FAILED
    outcome = runs[-1].outcome
    code = {"failures": FAILED, "budget": BUDGET}.get(outcome.ended_by, 0) if outcome else 0
    return code or (OF_VERDICT.get(str(revision.verdict), 0) if by_verdict else 0)


def _tell(revision: Revision, out: Path | None, diff: Path | None) -> None:
    """What became of the plan, where the logs lie, and what was written."""
    typer.echo(str(revision))
    for log in (one.log_path for one in (*revision.runs, *revision.debates)):
        typer.echo(f"log: {log}")
    if out is not None:
        typer.echo(f"plan: {out}" if revision.revised else f"plan: nothing was revised, so {out} was not written")
    if diff is not None and revision.diff:
        write_text(diff, revision.diff)
    if diff is not None:
        typer.echo(f"diff: {diff}" if revision.diff else "diff: none was written, as nothing was changed")

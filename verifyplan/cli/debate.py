"""`debate` and `revise`: an architect and a builder settle a change, or the open challenges of a plan."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.cli import options
from verifyplan.cli.agents import previewed_backend, writer_of_options
from verifyplan.cli.exit_codes import BUDGET, FAILED, OF_VERDICT, exit_code_of, exit_with, repeat
from verifyplan.cli.option_groups import with_groups
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text
from verifyplan.rules.debate import MAX_TURNS
from verifyplan.runs.arguments import check_output
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.revise.revise import revise as revise_plan
from verifyplan.runs.revise.revision import Revision

_FILE_NAME = re.compile(r"\S+\.[A-Za-z][A-Za-z0-9]{0,7}")
_MAX_NAME_CHARACTERS = 1_000


@with_groups
def debate(
    task: Annotated[str, typer.Argument(help="The change to agree on, in words or as a file.")],
    repo: Annotated[Path, typer.Option(help="The folder that the task is about; it is only read.")] = Path(),
    script: options.Script = None,
    max_turns: options.MaxTurns = MAX_TURNS,
    preview: options.Preview = False,
    run_options: options.RunOptions = options.DEFAULT_RUN_OPTIONS,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    diff: Annotated[Path | None, typer.Option(help="Write the builder's last diff, if any, to this file.")] = None,
    as_json: options.AsJson = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let an architect and a builder agree on a change.

    Turn by turn, the architect proposes or criticises and the builder writes a diff, until the debate has CONVERGED or
    FAILED. Models play both roles, or a script gives their answers; static agents cannot play them. No diff is applied.

    Exit code 1: the debate FAILED. 3: an agent failed. 4: the limit of tokens or dollars was reached. With several
    repetitions: the first exit code that is not 0.

    \b
    Examples:
    verifyplan debate "Add an acceptance checklist to README.md" --repo . --model claude-opus-5-5
    verifyplan debate TASK.md --script answers.json --max-turns 2 --diff change.diff
    verifyplan debate TASK.md --model claude-opus-5-5 --model-for builder=claude-haiku-5-5 --max-cost 2.50 --json
    """
    if diff is not None and repetitions > 1:
        raise InputError(
            Problem("--diff", f"is for one debate, got {repetitions}", "leave it out; logs have the diffs")
        )
    check_output("--diff", diff)
    text_or_file = _task(task)
    if preview and script is None:
        shown = vp.preview(vp.debate, text_or_file, previewed_backend(agents), max_turns=max_turns, repo=repo)
        typer.echo(str(shown))
        return
    backend = writer_of_options(agents, script, timeout=run_options.timeout, max_cost=run_options.max_cost)
    arguments = {"max_turns": max_turns, "repo": repo, **vars(run_options)}

    def run_once(number: int) -> int:
        return _print_end(vp.debate(text_or_file, backend, repetition=number, **arguments), diff, as_json)

    exit_with(repeat(repetition, repetitions, run_once, announce=not as_json))


def _task(task: str) -> str | Path:
    """Return the task, or the file that it names; InputError for a blank one, and for a file that does not exist.

    A single word with the suffix of a file is read as the name of a file.
    """
    if not task.strip():
        raise InputError(Problem("task", "is blank", "give the change to agree on, or a file that says it"))
    try:
        if Path(task).is_file():
            return Path(task)
    except (OSError, ValueError):  # too long for a name, or not a name at all
        return task
    if len(task) <= _MAX_NAME_CHARACTERS and _FILE_NAME.fullmatch(task.strip()):
        raise InputError(Problem("task", f"there is no file {task!r}", "give the task in words, or a file that exists"))
    return task


def _print_end(run: Debate, diff: Path | None, as_json: bool) -> int:
    """Print how a debate ended, write its diff, and return its exit code."""
    if diff is not None and run.diff:
        write_text(diff, run.diff)
    if as_json:
        values = {
            "status": run.status,
            "reason": run.reason,
            "turns": run.turns,
            "exitReason": run.outcome.exit_reason if run.outcome else "",
            "messages": [message.as_json() for message in run.log],
            "diff": run.diff,
            "notes": run.notes,
            "log": str(run.log_path),
        }
        typer.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return exit_code_of(run)
    typer.echo(f"{run}\nlog: {run.log_path}")
    if diff is not None:
        typer.echo(f"diff: {diff}" if run.diff else "diff: there is none, so nothing was written")
    return exit_code_of(run)


@with_groups
def revise(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run log (.jsonl), or a plan, which is verified first.")],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plan is about; it is only read. Default: from the log.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the revised plan, if any, to this file; the plan itself is not changed.")
    ] = None,
    diff: Annotated[Path | None, typer.Option(help="Write the diff of the plan, if any, to this file.")] = None,
    script: options.Script = None,
    max_turns: options.MaxTurns = MAX_TURNS,
    max_rounds: Annotated[int, typer.Option(min=1, help="The last round of debate and verification.")] = 3,
    run_options: options.RunOptions = options.DEFAULT_RUN_OPTIONS,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK.")] = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Settle the open challenges of a plan, then verify it again.

    An architect and a builder debate a plan that got REVISE. A plan that got PROCEED is not changed; one that got
    RETHINK is left to you. Models debate and verify; with a script of answers, the static agents verify.

    Exit code 3: agents failed. 4: the limit of tokens or dollars was reached.

    \b
    Examples:
    verifyplan revise runs/PLAN-001.jsonl --model claude-opus-5-5 --out PLAN-revised.md
    verifyplan revise PLAN.md --repo . --script answers.json --diff plan.diff --exit-code
    """
    for name, path in (("--out", out), ("--diff", diff)):
        check_output(name, path)
    writer = writer_of_options(agents, script, timeout=run_options.timeout, max_cost=run_options.max_cost)
    revision = revise_plan(
        run,
        repo,
        architect=writer,
        backend="static" if script else writer,
        max_turns=max_turns,
        max_rounds=max_rounds,
        out=out,
        **vars(run_options),
    )
    _print_revision(revision, out, diff)
    exit_with(_exit_code_of_revision(revision, by_verdict=exit_code))


def _exit_code_of_revision(revision: Revision, *, by_verdict: bool) -> int:
    """Return 3 if agents failed, 4 if a budget ended the last debate or run; else 0, or the code of the verdict."""
    debates, outcome = revision.debates, revision.runs[-1].outcome
    if debates and debates[-1].status is None:
        return BUDGET if debates[-1].reason == "BUDGET" else FAILED
    code = {"failures": FAILED, "budget": BUDGET}.get(outcome.ended_by, 0) if outcome else 0
    return code or (OF_VERDICT.get(str(revision.verdict), 0) if by_verdict else 0)


def _print_revision(revision: Revision, out: Path | None, diff: Path | None) -> None:
    """Print how the revision ended, where the logs are, and which files were written; write the diff."""
    typer.echo(str(revision))
    for run in (*revision.runs, *revision.debates):
        typer.echo(f"log: {run.log_path}")
    if out is not None:
        typer.echo(f"plan: {out}" if revision.revised else f"plan: nothing was revised, so {out} was not written")
    if diff is not None and revision.diff:
        write_text(diff, revision.diff)
    if diff is not None:
        typer.echo(f"diff: {diff}" if revision.diff else "diff: nothing was changed, so nothing was written")

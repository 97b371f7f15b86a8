"""`debate` and `revise`: a change settled by architect and builder, and a plan that got REVISE debated again."""

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
    task: Annotated[str, typer.Argument(help="What is to be settled, or a file that says it.")],
    repo: Annotated[Path, typer.Option(help="The folder that the task is about; it is only read.")] = Path(),
    script: options.Script = None,
    max_turns: options.MaxTurns = MAX_TURNS,
    preview: options.Preview = False,
    timeout: options.Timeout = options.CALL_TIMEOUT_S,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    repetition: options.Repetition = 1,
    repetitions: options.Repetitions = 1,
    synthetic: options.Synthetic = False,
    log_dir: options.LogDir = Path("runs"),
    diff: Annotated[Path | None, typer.Option(help="Write the builder's last diff here, if there is one.")] = None,
    as_json: options.AsJson = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let an architect and a builder settle a change turn by turn: CONVERGED, or FAILED and why.

    Models play both roles, or a script of answers; the static agents write nothing, and play none. No diff is applied
    to anything. Exit code 1: the debate FAILED; 3: an agent failed; 4: the tokens or dollars were used up. Of several
    repetitions it is that of the first that is not 0.

    \b
    Examples:
    verifyplan debate "Add an acceptance checklist to README.md" --repo . --model claude-opus-4-5
    verifyplan debate TASK.md --script answers.json --max-turns 2 --diff change.diff
    verifyplan debate TASK.md --model claude-opus-4-5 --model-for builder=claude-haiku-4-5 --max-cost 2.50 --json
    """
    if diff is not None and repetitions > 1:
        raise InputError(Problem("--diff", f"is of one debate, not of {repetitions}", "leave it out; logs hold diffs"))
    check_output("--diff", diff)
    text_or_file = _task(task)
    if preview and script is None:
        shown = vp.preview(vp.debate, text_or_file, previewed_backend(agents), max_turns=max_turns, repo=repo)
        typer.echo(str(shown))
        return
    backend = writer_of_options(agents, script, timeout=timeout, max_cost=max_cost)

    def run_once(number: int) -> int:
        run = vp.debate(
            text_or_file,
            backend,
            max_turns=max_turns,
            repo=repo,
            timeout=timeout,
            max_tokens=max_tokens,
            max_cost=max_cost,
            repetition=number,
            log_dir=log_dir,
            synthetic=synthetic,
        )
        return _print_end(run, diff, as_json)

    exit_with(repeat(repetition, repetitions, run_once, announce=not as_json))


def _task(task: str) -> str | Path:
    """Return the task, or the file that it names; InputError for a blank one, and for a file that does not exist.

    A single word with the suffix of a file is taken for a file.
    """
    if not task.strip():
        raise InputError(Problem("task", "says nothing", "say what is to be settled, or name a file that does"))
    try:
        if Path(task).is_file():
            return Path(task)
    except (OSError, ValueError):  # too long for a name, or no name at all
        return task
    if len(task) <= _MAX_NAME_CHARACTERS and _FILE_NAME.fullmatch(task.strip()):
        raise InputError(Problem("task", f"{task!r}: no such file", "give the task in words, or a file that exists"))
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
        typer.echo(f"diff: {diff}" if run.diff else "diff: none was written, as there is none")
    return exit_code_of(run)


@with_groups
def revise(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run log (.jsonl), or a plan, which is verified first.")],
    repo: Annotated[
        Path | None, typer.Option(help="The folder that the plan is about; else that of the log. It is only read.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan here if it was revised; its own file stays as it is.")
    ] = None,
    diff: Annotated[Path | None, typer.Option(help="Write the diff of the plan here, if there is one.")] = None,
    script: options.Script = None,
    max_turns: options.MaxTurns = MAX_TURNS,
    max_rounds: Annotated[int, typer.Option(min=1, help="The last round of debate and verification.")] = 3,
    timeout: options.Timeout = options.CALL_TIMEOUT_S,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    synthetic: options.Synthetic = False,
    log_dir: options.LogDir = Path("runs"),
    exit_code: options.ByRevisedVerdict = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Let architect and builder settle what is open about a plan that got REVISE, and verify the plan again.

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
    _print_revision(revision, out, diff)
    exit_with(_exit_code_of_revision(revision, by_verdict=exit_code))


def _exit_code_of_revision(revision: Revision, *, by_verdict: bool) -> int:
    """Return 3 where agents failed, 4 where a budget ended the last debate or run; else 0, or that of the verdict."""
    debates, outcome = revision.debates, revision.runs[-1].outcome
    if debates and debates[-1].status is None:
        return BUDGET if debates[-1].reason == "BUDGET" else FAILED
    code = {"failures": FAILED, "budget": BUDGET}.get(outcome.ended_by, 0) if outcome else 0
    return code or (OF_VERDICT.get(str(revision.verdict), 0) if by_verdict else 0)


def _print_revision(revision: Revision, out: Path | None, diff: Path | None) -> None:
    """Print how the revision ended, where the logs are, and which files were written; write the diff."""
    typer.echo(str(revision))
    for log in (run.log_path for run in (*revision.runs, *revision.debates)):
        typer.echo(f"log: {log}")
    if out is not None:
        typer.echo(f"plan: {out}" if revision.revised else f"plan: nothing was revised, so {out} was not written")
    if diff is not None and revision.diff:
        write_text(diff, revision.diff)
    if diff is not None:
        typer.echo(f"diff: {diff}" if revision.diff else "diff: none was written, as nothing was changed")

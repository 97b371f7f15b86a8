"""`debate`: a change settled by architect and builder, from a shell."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

import verifyplan as vp
from verifyplan.cli.backends import writer_of_options
from verifyplan.cli.live import (
    CALL_TIMEOUT,
    NOBODY,
    AgentOptions,
    MaxCost,
    MaxTurns,
    Repetition,
    Repetitions,
    Script,
    Timeout,
    exit_with,
    repeated,
    with_agents,
)
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text
from verifyplan.rules.debate import MAX_TURNS
from verifyplan.runs.arguments import check_output
from verifyplan.runs.debate.run import Debate

NOT_SETTLED, FAILED, BUDGET, BROKEN_OFF = 1, 3, 4, 30
"""Exit codes of debates that did not converge (rule H2)."""

_FILE_NAME = re.compile(r"\S+\.[A-Za-z][A-Za-z0-9]{0,7}")
_LONGEST_NAME = 1_000


@with_agents
def debate(
    task: Annotated[str, typer.Argument(help="What is to be settled, or a file that says it.")],
    root: Annotated[Path, typer.Option(help="The folder that the task is about; it is only read.")] = Path(),
    script: Script = None,
    max_turns: MaxTurns = MAX_TURNS,
    timeout: Timeout = CALL_TIMEOUT,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that end the debate.")] = None,
    max_cost: MaxCost = None,
    repetition: Repetition = 1,
    repetitions: Repetitions = 1,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Mark a generated task as such.")] = False,
    out: Annotated[Path, typer.Option("--out", "--log-dir", help="The folder of the run log.")] = Path("runs"),
    diff: Annotated[Path | None, typer.Option(help="Write the builder's last diff here, if there is one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Tell the outcome and the messages as JSON.")] = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Let an architect and a builder settle a change turn by turn: CONVERGED, or FAILED and why.

    Models play both roles, or a script of answers; the static agents write nothing, and play none. No diff is applied
    to anything. Exit code 1: the debate FAILED; 3: an agent failed; 4: the tokens or dollars were used up. Of several
    repetitions it is that of the first that is not 0.

    \b
    Examples:
    verifyplan debate "Add an acceptance checklist to README.md" --root . --model claude-opus-4-5
    verifyplan debate TASK.md --script answers.json --max-turns 2 --diff change.diff
    verifyplan debate TASK.md --model claude-opus-4-5 --model-for builder=claude-haiku-4-5 --max-cost 2.50 --json
    """
    _check_diff(diff, repetitions)
    asked = _task(task)
    backend = writer_of_options(agents, script, timeout=timeout, max_cost=max_cost)

    def run_once(number: int) -> int:
        run = vp.debate(
            asked,
            backend,
            max_turns=max_turns,
            root=root,
            timeout=timeout,
            max_tokens=max_tokens,
            max_cost=max_cost,
            repetition=number,
            log_dir=out,
            synthetic=synthetic,
        )
        return _told(run, diff, as_json)

    exit_with(repeated(repetition, repetitions, run_once, told=not as_json))


def exit_code_of(run: Debate) -> int:
    """0 for CONVERGED, 1 for FAILED, 3 where an agent failed, 4 where a budget ended it, 30 where it goes on."""
    if run.outcome is None:
        return BROKEN_OFF
    if run.status is None:
        return BUDGET if run.reason == "BUDGET" else FAILED
    return 0 if run.status == "CONVERGED" else NOT_SETTLED


def _task(task: str) -> str | Path:
    """The task itself, or the file that it names; InputError for nothing, or for the name of a file that is not there.

    A single word with the suffix of a file is no task that anybody means.
    """
    if not task.strip():
        raise InputError(Problem("task", "says nothing", "say what is to be settled, or name a file that does"))
    try:
        if Path(task).is_file():
            return Path(task)
    except (OSError, ValueError):  # too long for a name, or no name at all
        return task
    if len(task) <= _LONGEST_NAME and _FILE_NAME.fullmatch(task.strip()):
        raise InputError(Problem("task", f"{task!r}: no such file", "give the task in words, or a file that exists"))
    return task


def _check_diff(diff: Path | None, repetitions: int) -> None:
    """InputError before any agent is called if the diff could not be written."""
    if diff is not None and repetitions > 1:
        raise InputError(Problem("--diff", f"is of one debate, not of {repetitions}", "leave it out; logs hold diffs"))
    check_output("--diff", diff)


def _told(run: Debate, diff: Path | None, as_json: bool) -> int:
    """Tell how a debate ended, write its diff; the exit code that it asks for."""
    if diff is not None and run.diff:
        write_text(diff, run.diff)
    if as_json:
        typer.echo(json.dumps(_values(run), ensure_ascii=False, indent=2))
        return exit_code_of(run)
    typer.echo(str(run))
    typer.echo(f"log: {run.log_path}")
    if diff is not None:
        typer.echo(f"diff: {diff}" if run.diff else "diff: none was written, as there is none")
    return exit_code_of(run)


def _values(run: Debate) -> dict[str, object]:
    return {
        "status": run.status,
        "reason": run.reason,
        "turns": run.turns,
        "exitReason": run.outcome.exit_reason if run.outcome else "",
        "messages": [message.as_json() for message in run.log],
        "diff": run.diff,
        "notes": run.notes,
        "log": str(run.log_path),
    }

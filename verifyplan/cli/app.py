"""The command line as a whole: its commands, its error messages, its exit codes (rule H2).

The list of commands is data, so that `verifyplan --help` loads neither tables nor charts nor runs.
"""

from __future__ import annotations

import re
import sys
import traceback
from typing import Annotated, Any, ClassVar

import typer

from verifyplan.cli import INTERRUPTED
from verifyplan.cli.listed_commands import ListedCommand, ListedGroup
from verifyplan.errors import VerifyplanError
from verifyplan.redaction import redact
from verifyplan.text import did_you_mean, visible
from verifyplan.version import VERSION

USAGE_ERROR, INTERNAL_ERROR = 2, 1

COMMANDS = {
    "verify": ListedCommand("plan", "Let agents challenge a plan: PROCEED, REVISE or RETHINK."),
    "resume": ListedCommand("plan", "Continue a run that was interrupted or is paused."),
    "log": ListedCommand("plan", "Show a run log in words, one line per event."),
    "crossverify": ListedCommand("cross", "Let workers vote on each other's findings."),
    "debate": ListedCommand("debate", "Let an architect and a builder agree on a change."),
    "revise": ListedCommand("debate", "Settle the open challenges of a plan, then verify it again."),
    "check": ListedCommand("documents", "Check documents against their contracts."),
    "plan-check": ListedCommand("documents", "Check in nine dimensions whether plans can be executed."),
    "claims": ListedCommand("bridges", "Write claims or must-haves of a document as findings."),
    "verification": ListedCommand("bridges", "Write a cross run as the verification of a plan."),
    "gap-plan": ListedCommand("bridges", "Write a plan that closes the gaps of a verification."),
    "estimate": ListedCommand("estimate", "Estimate calls, tokens and dollars of runs; send nothing."),
    "compare": ListedCommand("recorded", "Compare conditions, and conclude on one metric."),
    "replay": ListedCommand("replay", "Judge recorded votes under other rules, or rerun a log."),
    "explain": ListedCommand("recorded", "Explain why a finding ended in its class."),
    "workers": ListedCommand("panels", "Show who in a panel is unreliable, redundant or decisive."),
    "panel": ListedCommand("panels", "Show how many independent votes a panel is worth."),
    "flips": ListedCommand("panels", "Show what later rounds change, for better or worse."),
    "agreement": ListedCommand("panels", "Measure how far workers agree beyond chance."),
    "convert": ListedCommand("recorded", "Write runs as tables."),
    "compile": ListedCommand("recorded", "Compile runs into a dataset of Parquet files, or update it."),
    "rules": ListedCommand("rules", "Show, compare and search rules."),
    "demo": ListedCommand(
        "demo",
        "Show what a panel of judges is worth, on real votes, and how modes are compared.",
        no_args_is_help=False,
    ),
    "new": ListedCommand("new", "Create a study: a notebook, templates and a Makefile."),
    "datasets": ListedCommand("bundled", "List bundled sets, or generate labelled claims.", no_args_is_help=False),
    "doctor": ListedCommand("doctor", "Check the installation, the key and the endpoint.", no_args_is_help=False),
    "batch": ListedCommand("batch", "Run many plans or findings in message batches."),
    "bench": ListedCommand("bundled", "Score a backend on labelled data."),
}


class Commands(ListedGroup):
    """All commands."""

    LISTED: ClassVar = COMMANDS

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command.

        An error about a choice suggests the nearest one; after Ctrl-C, the command that continues the run is printed.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # of pydantic
            refused, is_choice, allowed = error.message.partition(" is not one of ")
            if is_choice:
                error.message += did_you_mean(refused.rstrip("'").rpartition("'")[2], re.findall(r"'([^']+)'", allowed))
            raise
        except KeyboardInterrupt as interrupt:
            hints = getattr(interrupt, "__notes__", [])
            typer.echo("\n".join(["Interrupted; nothing is half-written.", *hints]), err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Commands,
    name="verifyplan",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"verifyplan {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Run verification by LLM agents, and study it: verify plans, vote on findings, replay and compare recorded runs.

    Exit codes: 0 success; 1 a check failed; 2 wrong input or usage; 3 agents failed; 4 a budget ended the run;
    30 the run is paused. With --exit-code: 10 REVISE, 20 RETHINK.
    """


def main() -> None:
    """Run the command line; print errors as messages on standard error, and faults of the program as tracebacks."""
    try:
        app()
    except VerifyplanError as error:
        typer.echo(
            "\n".join(map(visible, [*f"Error: {error}".split("\n"), *getattr(error, "__notes__", [])])), err=True
        )
        sys.exit(error.exit_code)
    except OSError as error:
        message = f"Error: {error.filename or 'file'}: {error.strerror or error}"
        typer.echo(redact("\n".join([message, *getattr(error, "__notes__", [])])), err=True)
        sys.exit(USAGE_ERROR)
    except Exception:  # a fault of this program: show where it happened, with keys redacted
        typer.echo(redact(traceback.format_exc()), err=True)
        sys.exit(INTERNAL_ERROR)

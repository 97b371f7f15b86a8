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
    "verify": ListedCommand(
        "plan", "Let a team challenge a plan, and say whether it may be executed: PROCEED, REVISE or RETHINK."
    ),
    "resume": ListedCommand(
        "plan", "Go on with a run that was broken off or waits; no call whose reply is on disk is made again."
    ),
    "log": ListedCommand("plan", "Show a run log line by line, in words."),
    "crossverify": ListedCommand("cross", "Let workers vote on each other's findings, and write the state artifact."),
    "debate": ListedCommand(
        "debate", "Let an architect and a builder settle a change turn by turn: CONVERGED, or FAILED and why."
    ),
    "revise": ListedCommand(
        "debate",
        "Let architect and builder settle what is open about a plan that got REVISE, and verify the plan again.",
    ),
    "check": ListedCommand(
        "documents",
        "Check handed-over documents against their contracts: every violation with its line, its rule and what to do.",
    ),
    "plan-check": ListedCommand(
        "documents", "Check whether plans can be executed, over nine dimensions, and say what only a judge can say."
    ),
    "claims": ListedCommand(
        "bridges", "Write the claims of an execution summary, or the must-haves of a plan, as findings for crossverify."
    ),
    "verification": ListedCommand(
        "bridges", "Write a cross run as the verification of a plan: its must-haves with evidence, and the gaps."
    ),
    "gap-plan": ListedCommand("bridges", "Write the plan that closes the gaps of a verification: a task for each gap."),
    "estimate": ListedCommand(
        "estimate",
        "Say what runs would take in calls, tokens and dollars: low, as expected, high. Nothing is sent.",
    ),
    "compare": ListedCommand("recorded", "Compare conditions over the same findings and say what differs."),
    "replay": ListedCommand(
        "replay",
        "Judge recorded votes again under other rules; or drive a logged run again, as far as its replies reach.",
    ),
    "explain": ListedCommand(
        "recorded", "Say in words why a finding ended in its class: the rule, the tally, the votes."
    ),
    "workers": ListedCommand(
        "panels",
        "Say what each worker of a panel is worth: who is unreliable, redundant, or changes classes most often.",
    ),
    "panel": ListedCommand(
        "panels", "Say how many independent votes a panel is worth, whom to drop, and what fewer judges lose."
    ),
    "flips": ListedCommand(
        "panels", "Say what later rounds change, for better or worse, and who takes the majority's side."
    ),
    "agreement": ListedCommand(
        "panels", "Say how far workers agree beyond chance: alpha, AC1 and kappas, with intervals."
    ),
    "convert": ListedCommand("recorded", "Write runs as tables: runs, findings, votes, rounds, dispatches."),
    "compile": ListedCommand(
        "compile",
        "Compile runs into a dataset of Parquet files, or bring it up to date: only what is new or changed is read.",
    ),
    "rules": ListedCommand("rules", "Show rules, say how two differ, and search for better ones."),
    "demo": ListedCommand(
        "demo",
        "Run the main job: say what real panels are worth, compare modes, verify claims about real code, write out/.",
        no_args_is_help=False,
    ),
    "new": ListedCommand("new", "Begin a study: a folder with a notebook, templates and a Makefile."),
    "datasets": ListedCommand(
        "bundled",
        "List the bundled sets, print the folder of one, or make labelled claims from real code.",
        no_args_is_help=False,
    ),
    "doctor": ListedCommand(
        "doctor", "Check the installation, the key and the endpoint, and say what to do.", no_args_is_help=False
    ),
    "batch": ListedCommand("batch", "Run many plans or findings in message batches."),
    "bench": ListedCommand("bundled", "Score a backend on labelled data."),
}


class Commands(ListedGroup):
    """All commands."""

    LISTED: ClassVar = COMMANDS

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command.

        A refused choice gets the nearest allowed one as a suggestion; Ctrl-C tells how the run goes on.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
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
    """Run and study verification by agents: verify plans, cross-verify findings, replay the runs, compare the modes.

    Exit codes: 0 done; 1 checked and found wanting; 2 bad input or usage; 3 agents failed; 4 a budget ended the run;
    30 paused; with --exit-code 10 REVISE, 20 RETHINK.
    """


def main() -> None:
    """Run the command line; print an error as a message on standard error, a fault of the program as its traceback."""
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
    except Exception:  # a fault of this program: show where it happened, without keys
        typer.echo(redact(traceback.format_exc()), err=True)
        sys.exit(INTERNAL_ERROR)

"""The command line as a whole: its commands, its errors in words, its exit codes (rule H2)."""

from __future__ import annotations

import re
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from verifyplan.cli import (
    batch,
    bench,
    bridges,
    cross,
    debate,
    doctor,
    documents,
    estimate,
    plan,
    plan_check,
    replaying,
    revise,
    study,
    tables,
)
from verifyplan.cli.interrupts import interruptible
from verifyplan.errors import VerifyplanError
from verifyplan.redaction import redact
from verifyplan.reports.visible import visible
from verifyplan.text import did_you_mean
from verifyplan.version import VERSION

USAGE, FAULT = 2, 1


class Commands(TyperGroup):
    """The commands; where one refuses a choice, the nearest of those that it takes is suggested."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the words name; usage errors as typer, with the suggestion."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            refused, is_choice, allowed = error.message.partition(" is not one of ")
            if is_choice:
                error.message += did_you_mean(refused.rstrip("'").rpartition("'")[2], re.findall(r"'([^']+)'", allowed))
            raise


app = typer.Typer(
    cls=Commands,
    name="verifyplan",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"verifyplan {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Run and study verification by agents: verify plans, cross-verify findings, replay the runs, compare the modes.

    Exit codes: 0 done; 1 checked and found wanting; 2 bad input or usage; 3 agents failed; 4 a budget ended the run;
    30 paused; with --exit-code 10 REVISE, 20 RETHINK.
    """


COMMANDS = (
    plan.verify,
    plan.resume,
    plan.log,
    cross.crossverify,
    debate.debate,
    revise.revise,
    documents.check,
    plan_check.plan_check,
    bridges.claims,
    bridges.verification,
    bridges.gap_plan,
    estimate.estimate,
    study.compare,
    replaying.replay,
    study.explain,
    tables.convert,
)
for command in COMMANDS:
    app.command(no_args_is_help=True)(interruptible(command))
app.command()(interruptible(cross.demo))
app.command()(tables.datasets)
app.command()(interruptible(doctor.doctor))
app.add_typer(batch.app, name="batch")
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line; an error is told in words on standard error, a fault of the program by its traceback."""
    try:
        app()
    except VerifyplanError as error:
        typer.echo("\n".join(map(visible, f"Error: {error}".split("\n"))), err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        typer.echo(redact(f"Error: {error.filename or 'file'}: {error.strerror or error}"), err=True)
        sys.exit(USAGE)
    except Exception:  # a fault of this program: where it happened is wanted, keys are not
        typer.echo(redact(traceback.format_exc()), err=True)
        sys.exit(FAULT)

"""`doctor`: check that everything is in place, and say what to do if it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verifyplan.agents.doctor import TIMEOUT_S, diagnose


def doctor(
    base_url: Annotated[
        str | None,
        typer.Option(help="The address of the endpoint. Default: ANTHROPIC_BASE_URL, else Anthropic's own."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Check that the endpoint has this model, and that it has a price.")
    ] = (None),
    log_dir: Annotated[Path, typer.Option(help="The folder for run logs.")] = Path("runs"),
    network: Annotated[bool, typer.Option("--network/--no-network", help="Whether to call the endpoint.")] = True,
    timeout: Annotated[float, typer.Option(min=0.1, help="The seconds to wait for the endpoint.")] = TIMEOUT_S,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check the installation, the key and the endpoint.

    Every problem is shown with what to do; the key is never shown. Exit code 1: something is wrong. If something is
    only missing, such as the key, the exit code is 0: static agents and analyses do not need it, models do.

    \b
    Examples:
    verifyplan doctor
    verifyplan doctor --model claude-opus-5-5
    verifyplan doctor --base-url http://localhost:8000 --no-network --json
    """
    checks = diagnose(base_url=base_url, model=model, log_dir=log_dir, network=network, timeout=timeout)
    if as_json:
        typer.echo(json.dumps([check.model_dump() for check in checks], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(map(str, checks)))
    if any(check.state == "wrong" for check in checks):
        raise typer.Exit(1)

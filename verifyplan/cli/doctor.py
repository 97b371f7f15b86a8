"""`doctor`: whether all is in place, and what to do where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verifyplan.agents.doctor import TIMEOUT_S, diagnose


def doctor(
    base_url: Annotated[
        str | None, typer.Option(help="The endpoint; else that of ANTHROPIC_BASE_URL, else Anthropic's own.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Say whether this model is there, and has a price.")] = None,
    log_dir: Annotated[Path, typer.Option(help="The folder for run logs.")] = Path("runs"),
    network: Annotated[bool, typer.Option("--network/--no-network", help="Whether the endpoint is called.")] = True,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the endpoint.")] = TIMEOUT_S,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check the installation, the key and the endpoint, and say what to do.

    The key is never shown. Exit code 1: something is wrong. What is only missing, the key too, leaves it at 0: static
    agents and analyses need none of it. Agents that are models need the key.

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

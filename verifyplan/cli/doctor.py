"""`doctor`: check that everything is in place, and say what to do if it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from verifyplan import agents
from verifyplan.agents.doctor import TIMEOUT_S, diagnose
from verifyplan.errors import Problem, SettingsError
from verifyplan.files import write_text


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
    probe: Annotated[
        bool, typer.Option("--probe", help="Test in about a dozen requests which features --model supports there.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the report of the probe to this file, as JSON.")] = None,
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
    verifyplan doctor --base-url http://localhost:8080 --model qwen3 --probe --out out/qwen3.json
    """
    if problems := list(_probe_problems(model, probe=probe, network=network, out=out)):
        raise SettingsError(problems)
    checks = diagnose(base_url=base_url, model=model, log_dir=log_dir, network=network, timeout=timeout)
    listed = [check.model_dump() for check in checks]
    if not as_json:
        typer.echo("\n".join(map(str, checks)))
    if probe and model is not None:
        report = agents.probe(model, base_url=base_url, say=partial(typer.echo, err=True))
        if out is not None:
            write_text(out, report.model_dump_json(indent=2) + "\n")
            typer.echo(
                f"The probe's report is in {out}; agents.Anthropic(..., conformance={str(out)!r}) reads it.", err=True
            )
        if not as_json:
            typer.echo(f"\n{report}")
        message = "; ".join(report.warnings)
        listed.append({"name": "probe", "state": "ok", "message": message, "fix": "", "report": report.model_dump()})
    if as_json:
        typer.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    if any(check.state == "wrong" for check in checks):
        raise typer.Exit(1)


def _probe_problems(model: str | None, *, probe: bool, network: bool, out: Path | None) -> Iterator[Problem]:
    """Yield what is missing for a probe, and options that need one."""
    if probe and model is None:
        yield Problem("--probe", "needs a model", "name it by --model")
    if probe and not network:
        yield Problem("--probe", "calls the endpoint, and --no-network forbids it", "leave one of them out")
    if out is not None and not probe:
        yield Problem("--out", "is for the report of a probe", "add --probe, or leave it out")

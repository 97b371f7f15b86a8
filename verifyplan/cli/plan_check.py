"""`plan-check`: may these plans be executed? Document 003's nine dimensions, without a model (rule D4)."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import verifyplan as vp
from verifyplan.documents.dimensions.check import PlanCheck
from verifyplan.documents.dimensions.check import plan_check as check_plans
from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text
from verifyplan.reports.visible import visible

BLOCKED = 1
GRAPHS = (".png", ".svg", ".pdf", ".html", ".json")


class ReportFormat(StrEnum):
    """What the report is written as."""

    text = "text"
    json = "json"


def plan_check(
    path: Annotated[Path, typer.Argument(help="A plan, a phase's folder, or a tree of phases.")],
    context: Annotated[Path | None, typer.Option(help="The CONTEXT.md; the one beside the plans if left out.")] = None,
    repo: Annotated[
        Path | None, typer.Option(help="The repository; with it, tests that checks run are looked for.")
    ] = None,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="text, or json with files and lines.")
    ] = ReportFormat.text,
    graph: Annotated[Path | None, typer.Option(help="Draw waves and dependencies: .png, .svg, .pdf or .html.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report to this file instead of printing.")] = None,
) -> None:
    """Check whether plans can be executed, over nine dimensions, and say what only a judge can say.

    Exit code 1: there are blockers; warnings and what is left to judge are none.

    \b
    Examples:
    verifyplan plan-check .planning/phases/02-auth
    verifyplan plan-check .planning/phases/02-auth/02-01-PLAN.md --context .planning/CONTEXT.md --repo .
    verifyplan plan-check .planning --format json --out check.json --graph waves.svg
    """
    if graph is not None and graph.suffix.lower() not in GRAPHS:
        raise InputError(
            Problem("--graph", f"{str(graph)!r} is no picture", f"end the name in one of {', '.join(GRAPHS)}")
        )
    check = check_plans(path, context=context, root=repo)
    text = _text(check) if form is ReportFormat.text else f"{json.dumps(as_json(check), indent=2)}\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"report: {write_text(out, text)}")
    if graph is not None:
        written = vp.export(vp.charts.plan_graph(check.graph), graph)
        typer.echo(f"graph: {written}", err=out is None)
    if not check.passed:
        raise typer.Exit(BLOCKED)


def _text(check: PlanCheck) -> str:
    return "".join(f"{visible(line)}\n" for line in check.report().splitlines())


def as_json(check: PlanCheck) -> dict[str, Any]:
    """A plan check as plain values: issues with file and line, the state of each dimension, the graph."""
    names = [node.plan_id for node in check.graph.nodes]
    return {
        "passed": check.passed,
        "plans": [plan.path for plan in check.plans],
        "dimensions": [
            {
                "dimension": f"D{one.number}",
                "name": one.name,
                "state": one.state,
                "judge": one.judge,
                "why_not": one.why_not,
            }
            for one in check.dimensions
        ],
        "issues": [issue._asdict() | {"dimension": f"D{issue.dimension}"} for issue in check.issues],
        "graph": {
            "plans": [node._asdict() for node in check.graph.nodes],
            "dependencies": [{"before": names[edge.before], "after": names[edge.after]} for edge in check.graph.edges],
            "circles": [[names[at] for at in circle] for circle in check.graph.cycles],
            "conflicts": [
                {"file": one.file, "plans": [names[at] for at in one.plans]} for one in check.graph.conflicts
            ],
            "unmet": [{"plan": names[one.plan], "name": one.name} for one in check.graph.unmet],
        },
    }

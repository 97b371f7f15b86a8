"""`estimate`: the calls, tokens and dollars that runs of models would take, without a key and without a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.cli import options
from verifyplan.cli.agents import keyless_of_options
from verifyplan.cli.inputs import model_roster
from verifyplan.cli.option_groups import option_of, with_groups
from verifyplan.errors import InputError, Problem
from verifyplan.frames.csv_tables import write_csv
from verifyplan.protocol.plan_rules import Policy
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.settings import PanelSettings
from verifyplan.protocol.vote import Mode

if TYPE_CHECKING:
    from verifyplan.runs.estimated_use import EstimatedUse

SETS = ("plans", "stdlib-claims")
"""The bundled sets: labelled plans, and findings."""
SHOWN_COLUMNS = ["role", "model", "calls", "requests", "input", "cached", "output", "cost"]


@with_groups
def estimate(
    sources: Annotated[
        list[str],
        typer.Argument(help=f"Plans (Markdown) or findings (CSV, JSON), or a bundled set: {', '.join(SETS)}."),
    ],
    repo: Annotated[Path, typer.Option("--repo", help="The folder that the plans or the evidence are about.")] = Path(),
    max_iterations: Annotated[
        int | None, typer.Option(min=1, help="For plans: the last iteration. Default: from the rules.")
    ] = None,
    policy: Annotated[
        Policy | None, typer.Option(help="For plans: deliberate keeps looking while evidence is pending.")
    ] = None,
    team: Annotated[
        TeamMode | None, typer.Option(help="For plans: the team. Default: chosen by the plan's complexity.")
    ] = None,
    panel: Annotated[bool | None, typer.Option(help="For plans: whether a panel votes on the challenges.")] = None,
    panel_mode: Annotated[Mode | None, typer.Option(help="For plans: how the panel is asked to judge.")] = None,
    panel_workers: Annotated[
        str | None, typer.Option(metavar="NAMES", help="For plans: the panel's workers, separated by commas.")
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help=f"For findings: the workers, separated by commas. Default: {','.join(CHECKERS)}."
        ),
    ] = None,
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    batch: Annotated[bool, typer.Option("--batch", help="Use the prices of Message Batches.")] = False,
    repetitions: options.Repetitions = 1,
    out: Annotated[Path | None, typer.Option(help="Write the table of roles to this file, as CSV.")] = None,
    as_json: options.AsJson = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Estimate calls, tokens and dollars of runs; send nothing.

    Prints a low, an expected and a high estimate. No key is needed. Options of plan runs are for plans, options of
    cross runs for findings; --rules is for both. The first prompt of each role is written and counted; later prompts
    are allowed for (docs/live-agents.md).

    \b
    Examples:
    verifyplan estimate PLAN.md --repo . --model claude-opus-5-5
    verifyplan estimate findings.csv --workers ann,bob,cy --model claude-haiku-5-5 --batch
    verifyplan estimate plans --model claude-haiku-5-5 --rules one-pass
    """
    of_plans = _set(max_iterations=max_iterations, policy=policy, team=team)
    of_plans |= _panel(panel, panel_mode, panel_workers)
    of_findings = votes.arguments()
    findings = _are_findings(sources)
    if findings:
        _refuse("findings", of_plans)
        roster = model_roster(",".join(CHECKERS) if workers is None else workers)
    else:
        of_plans |= _set(rules=of_findings.pop("rules", None))
        _refuse("plans", _set(workers=workers) | of_findings)
        roster = None
    result = vp.estimate(
        sources[0] if len(sources) == 1 else sources,
        repo,
        workers=roster,
        backend=keyless_of_options(agents),
        batch=batch,
        repetitions=repetitions,
        **(of_findings if findings else of_plans),
    )
    typer.echo(json.dumps(_as_json(result), indent=2, ensure_ascii=False) if as_json else _as_text(result))
    if out is not None:
        write_csv(result.table, out)


def _panel(panel: bool | None, mode: Mode | None, workers: str | None) -> dict[str, Any]:
    """Return the argument `panel`, or nothing if no option of the panel is set."""
    if panel is False:
        return {"panel": None}
    settings: dict[str, Any] = {"mode": mode} if mode else {}
    if workers is not None:
        settings["workers"] = tuple(options.names_of(workers, "--panel-workers"))
    return {"panel": PanelSettings(**settings)} if settings else {}


def _are_findings(sources: list[str]) -> bool:
    """Return whether the sources are findings; InputError if they are plans and findings together."""
    kinds = {source == SETS[1] or Path(source).suffix in (".csv", ".json") for source in sources}
    if len(kinds) > 1:
        fix = "estimate plans and findings one after the other"
        raise InputError(Problem("sources", "must be plans or findings, got both", fix))
    return kinds == {True}


def _set(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(kind: str, settings: dict[str, Any]) -> None:
    """Raise InputError for settings of the other kind of run."""
    if settings:
        names = {"panel": "--panel, --panel-mode, --panel-workers"}
        raise InputError(
            Problem(names.get(name, option_of(name)), f"cannot be used for {kind}", "leave it out") for name in settings
        )


def _as_text(result: vp.results.Estimate) -> str:
    """Return the estimate in words, and the expected figures of each role as a table."""
    rows = result.table[result.table["case"] == "expected"]
    if rows.empty:
        return str(result)
    shown = rows.assign(
        input=rows["input_tokens"] + rows["cache_read_tokens"] + rows["cache_write_tokens"],
        cached=rows["cache_read_tokens"],
        output=rows["output_tokens"],
    )
    return f"{result}\nexpected, by role:\n{shown[SHOWN_COLUMNS].to_string(index=False, na_rep='unknown')}"


def _as_json(result: vp.results.Estimate) -> dict[str, Any]:
    cases: dict[str, Any] = {name: _figures(use) for name, use in result.cases.items()}
    return {"runs": result.runs, "batch": result.batch, "unpriced": result.unpriced, **cases}


def _figures(use: EstimatedUse) -> dict[str, Any]:
    roles = [
        {"role": role.role, "model": role.model, "calls": role.calls, "requests": role.requests, "cut": role.cut}
        | role.usage.model_dump(mode="json")
        for role in use.roles
    ]
    totals = {"calls": use.calls, "requests": use.requests, "ended": use.ended, **use.usage.model_dump(mode="json")}
    return totals | {"cost": None if use.cost is None else str(use.cost), "roles": roles}

"""`estimate`: what runs of models would take, without a key and without a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.cli import options
from verifyplan.cli.agents import keyless_of_options
from verifyplan.cli.choices import ModeName, PolicyName, TeamName
from verifyplan.cli.inputs import model_roster, names_of
from verifyplan.cli.option_groups import option_of, with_groups
from verifyplan.errors import InputError, Problem
from verifyplan.frames.csv_tables import write_csv
from verifyplan.protocol.settings import PanelSettings

if TYPE_CHECKING:
    from verifyplan.runs.estimated_use import EstimatedUse

SETS = ("plans", "stdlib-claims")
"""The bundled sets: labelled plans, and findings."""
SHOWN_COLUMNS = ["role", "model", "calls", "requests", "input", "cached", "output", "cost"]


@with_groups
def estimate(
    sources: Annotated[
        list[str],
        typer.Argument(help=f"Plans (Markdown), or findings (CSV, JSON), or a bundled set: {', '.join(SETS)}."),
    ],
    repo: Annotated[Path, typer.Option("--repo", help="The folder that the plans or the evidence are about.")] = Path(),
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Of plans: the last iteration, else 3.")] = None,
    policy: Annotated[PolicyName | None, typer.Option(help="Of plans: when to keep looking.")] = None,
    team: Annotated[TeamName | None, typer.Option(help="Of plans: the team; else sized by complexity.")] = None,
    panel: Annotated[bool | None, typer.Option(help="Of plans: whether a panel votes.")] = None,
    panel_mode: Annotated[ModeName | None, typer.Option(help="Of plans: how the panel is asked.")] = None,
    panel_workers: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Of plans: the panel's workers, by comma.")
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help=f"Of findings: the roster, by comma. If left out: {','.join(CHECKERS)}."),
    ] = None,
    votes: options.VoteOptions = options.NO_VOTE_OPTIONS,
    batch: Annotated[bool, typer.Option("--batch", help="At the price of Message Batches.")] = False,
    repetitions: options.Repetitions = 1,
    out: Annotated[Path | None, typer.Option(help="Write the table of roles here, as CSV.")] = None,
    as_json: options.AsJson = False,
    agents: options.AgentOptions = options.NO_AGENT_OPTIONS,
) -> None:
    """Say what runs would take in calls, tokens and dollars: low, as expected, high. Nothing is sent.

    Options of plan runs are for plans, those of cross runs for findings; --rules are those of either. No key is
    needed. The first prompt of each role is worded and counted; what follows are allowances (docs/live-agents.md).

    \b
    Examples:
    verifyplan estimate PLAN.md --repo . --model claude-opus-4-5
    verifyplan estimate findings.csv --workers ann,bob,cy --model claude-haiku-4-5 --batch
    verifyplan estimate plans --model claude-haiku-4-5 --rules one-pass
    """
    of_plans = _set(max_iterations=max_iterations, policy=policy and policy.value, team=team and team.value)
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


def _panel(panel: bool | None, mode: ModeName | None, workers: str | None) -> dict[str, Any]:
    """Return the argument `panel`, or nothing where no option of the panel is set."""
    if panel is False:
        return {"panel": None}
    settings: dict[str, Any] = {"mode": mode.value} if mode else {}
    if workers is not None:
        settings["workers"] = tuple(names_of(workers, "--panel-workers"))
    return {"panel": PanelSettings(**settings)} if settings else {}


def _are_findings(sources: list[str]) -> bool:
    """Return whether the sources are findings; InputError where some are findings and some are plans."""
    kinds = {source == SETS[1] or Path(source).suffix in (".csv", ".json") for source in sources}
    if len(kinds) > 1:
        fix = "estimate plans and findings one after the other"
        raise InputError(Problem("sources", "are plans and findings together", fix))
    return kinds == {True}


def _set(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(kind: str, settings: dict[str, Any]) -> None:
    """Raise InputError for settings of the other kind of run."""
    if settings:
        names = {"panel": "--panel, --panel-mode, --panel-workers"}
        raise InputError(
            Problem(names.get(name, option_of(name)), f"have no meaning for {kind}", "leave them out")
            for name in settings
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

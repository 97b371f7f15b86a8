"""`estimate`: what runs of models would take, without a key and without asking anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from verifyplan.cli.backends import keyless_of_options
from verifyplan.cli.cross import model_roster, names_of
from verifyplan.cli.live import NOBODY, AgentOptions, Repetitions, option_of, with_agents
from verifyplan.cli.plan import ModeName, PolicyName, Team
from verifyplan.errors import InputError, Problem
from verifyplan.files import replacing
from verifyplan.protocol.settings import PanelSettings
from verifyplan.runs import estimate as estimates
from verifyplan.runs.estimate.courses import COURSES, Course
from verifyplan.runs.estimate.result import Estimate

SETS = ("plans", "stdlib-claims")
"""What is bundled: labelled plans, and findings."""
SHOWN = ["role", "model", "calls", "requests", "input", "cached", "output", "cost"]


@with_agents
def estimate(
    sources: Annotated[
        list[str],
        typer.Argument(help=f"Plans (Markdown), or findings (CSV, JSON), or a bundled set: {', '.join(SETS)}."),
    ],
    root: Annotated[
        Path, typer.Option("--repo", "--root", help="The folder that the plans or the evidence are about.")
    ] = Path(),
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Of plans: the last iteration, else 3.")] = None,
    policy: Annotated[PolicyName | None, typer.Option(help="Of plans: when to keep looking.")] = None,
    team: Annotated[Team | None, typer.Option(help="Of plans: the team, if not sized.")] = None,
    panel: Annotated[bool | None, typer.Option(help="Of plans: whether a panel votes.")] = None,
    panel_mode: Annotated[ModeName | None, typer.Option(help="Of plans: how the panel is asked.")] = None,
    panel_workers: Annotated[str | None, typer.Option(metavar="NAMES", help="Of plans: the panel, by comma.")] = None,
    workers: Annotated[str | None, typer.Option(metavar="NAMES", help="Of findings: the roster, by comma.")] = None,
    task_type: Annotated[str | None, typer.Option(help="Of findings: chooses the settings.")] = None,
    adversarial: Annotated[bool | None, typer.Option(help="Of findings: overrules the task type's mode.")] = None,
    max_rounds: Annotated[int | None, typer.Option(min=1, max=3, help="Of findings: the number of rounds.")] = None,
    items_per_call: Annotated[int | None, typer.Option(min=1, help="Of findings: so many in one call.")] = None,
    batch: Annotated[bool, typer.Option("--batch", help="At the price of Message Batches.")] = False,
    repetitions: Repetitions = 1,
    out: Annotated[Path | None, typer.Option(help="Write the table of roles here, as CSV.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    agents: AgentOptions = NOBODY,
) -> None:
    """Say what runs would take in calls, tokens and dollars: low, as expected, high. Nothing is sent.

    No key is needed. The agents are played by the static ones; what would be sent to models is worded and counted.

    \b
    Examples:
    verifyplan estimate PLAN.md --repo . --model claude-opus-4-5
    verifyplan estimate findings.csv --workers ann,bob,cy --model claude-haiku-4-5 --batch
    verifyplan estimate plans --model claude-haiku-4-5
    """
    of_plans = _given(max_iterations=max_iterations, policy=policy and policy.value, team=team and team.value)
    of_plans |= _panel(panel, panel_mode, panel_workers)
    overrules = _given(adversarial=adversarial, maxRounds=max_rounds)
    of_findings = _given(task_type=task_type, items_per_call=items_per_call, settings=overrules or None)
    findings = _are_findings(sources)
    if findings:
        _refuse("findings", of_plans)
        roster = model_roster(workers) if workers is not None or sources != [SETS[1]] else None
    else:
        _refuse("plans", _given(workers=workers) | of_findings)
        roster = None
    told = estimates.estimate(
        sources[0] if len(sources) == 1 else sources,
        root,
        workers=roster,
        backend=keyless_of_options(agents),
        batch=batch,
        repetitions=repetitions,
        **(of_findings if findings else of_plans),
    )
    _tell(told, as_json)
    if out is not None:
        with replacing(out) as temporary:
            told.table.to_csv(temporary, index=False)


def _panel(panel: bool | None, mode: ModeName | None, workers: str | None) -> dict[str, Any]:
    if panel is False:
        return {"panel": None}
    given: dict[str, Any] = {"mode": mode.value} if mode else {}
    if workers is not None:
        given["workers"] = tuple(names_of(workers, "--panel-workers"))
    return {"panel": PanelSettings(**given)} if given else {}


def _are_findings(sources: list[str]) -> bool:
    """Whether these are findings; InputError where some are, and some are plans."""
    kinds = {source == SETS[1] or Path(source).suffix in (".csv", ".json") for source in sources}
    if len(kinds) > 1:
        fix = "estimate plans and findings one after the other"
        raise InputError(Problem("sources", "are plans and findings together", fix))
    return kinds == {True}


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(kind: str, settings: dict[str, Any]) -> None:
    """InputError for settings of the other kind of run."""
    if settings:
        names = {"settings": "--adversarial, --max-rounds", "panel": "--panel, --panel-mode, --panel-workers"}
        raise InputError(
            Problem(names.get(name, option_of(name)), f"have no meaning for {kind}", "leave them out")
            for name in settings
        )


def _tell(told: Estimate, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_as_json(told), indent=2, ensure_ascii=False))
        return
    typer.echo(str(told))
    rows = told.table[told.table["course"] == "expected"]
    if len(rows):
        shown = rows.assign(
            input=rows["input_tokens"] + rows["cache_read_tokens"] + rows["cache_write_tokens"],
            cached=rows["cache_read_tokens"],
            output=rows["output_tokens"],
        )
        typer.echo(f"expected, by role:\n{shown[SHOWN].to_string(index=False, na_rep='unknown')}")


def _as_json(told: Estimate) -> dict[str, Any]:
    courses = dict(zip(COURSES, map(_figures, told.courses), strict=True))
    return {"runs": told.runs, "batch": told.batch, "unpriced": told.unpriced, **courses}


def _figures(course: Course) -> dict[str, Any]:
    parts = [
        {"role": part.role, "model": part.model, "calls": part.calls, "requests": part.requests, "cut": part.cut}
        | part.usage.model_dump(mode="json")
        for part in course.parts
    ]
    totals = {"calls": course.calls, "requests": course.requests, **course.usage.model_dump(mode="json")}
    return totals | {"cost": None if course.cost is None else str(course.cost), "parts": parts}

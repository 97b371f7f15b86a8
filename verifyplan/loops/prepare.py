"""What a cross run needs before its first call: roster, backend, config, grouped findings (SPEC B1, B2, B10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.loops.intake import Source, read_plan_items
from verifyplan.protocol.event import FindingGrouped
from verifyplan.protocol.finding import Finding, PlanItem
from verifyplan.protocol.settings import ConvergenceBlock
from verifyplan.rules.grouping import Matcher, group
from verifyplan.rules.settings import PLAN_BODY_TASK_TYPE

Workers = Sequence[str] | Mapping[str, str]
"""The roster, in order; or each worker's name with the checker of the backend that it plays."""


def config(block: ConvergenceBlock, analysers: int, synthetic: bool) -> dict[str, Any]:
    """The artifact's `config`: the settings, why they were overruled if they were, and the synthetic mark."""
    config: dict[str, Any] = {key: value for key, value in block.items() if key != "planBodyVerification"}
    if analysers < 2:
        config |= {"enabled": False, "autoDisabled": "fewer-than-two-analysers"}
    return config | ({"synthetic": True} if synthetic else {})


def grouped(
    findings: Sequence[Finding], items: Sequence[PlanItem], roster: Sequence[str], matcher: Matcher | None
) -> list[FindingGrouped]:
    """The findings after grouping (SPEC B2), then the plan items, as the events that announce them."""
    announced = [
        FindingGrouped(
            part="findings",
            finding_id=g.origin.finding_id,
            summary=g.origin.summary,
            evidence=g.origin.evidence,
            category=g.origin.category,
            ticket_ids=tuple(dict.fromkeys(ticket for member in g.findings for ticket in member.ticket_ids)),
            discoverers=g.discoverers,
            merged_ids=tuple(dict.fromkeys(f.finding_id for f in g.findings if f.finding_id != g.origin.finding_id)),
            truth=g.truth,
        )
        for g in group(findings, roster, matcher)
    ]
    return announced + [
        FindingGrouped(
            part="plan-body",
            finding_id=item.finding_id,
            summary=item.summary,
            evidence=item.evidence,
            category="plan-body",
            discoverers=(),
            truth=item.truth,
        )
        for item in items
    ]


def roster_of(workers: Workers) -> list[str]:
    """The names of the workers, in order; SettingsError if one is repeated or empty."""
    names = list(workers)
    twice = sorted({name for name in names if names.count(name) > 1})
    bad = [name for name in names if not isinstance(name, str) or not name.strip()]
    problems = [Problem("workers", f"{name!r} stands twice", "name each worker once") for name in twice]
    problems += [Problem("workers", f"{name!r} is no name", "name each worker by a text") for name in bad]
    if isinstance(workers, str):
        problems = [Problem("workers", f"{workers!r} is one text", "give a list of names")]
    if problems:
        raise SettingsError(problems)
    return names


def backend_of(backend: str | Backend, workers: Workers, root: str | Path) -> Backend:
    """The backend that was named or given; SettingsError for an unknown name, InputError for a bad root."""
    if not isinstance(backend, str):
        return backend
    if backend != "static":
        fix = "use 'static', or pass a backend object such as ScriptedBackend(script)"
        raise SettingsError(Problem("backend", f"{backend!r} is unknown", fix))
    if not Path(root).is_dir():
        raise InputError(Problem("root", f"{str(root)!r} is no folder", "name the folder that evidence cites"))
    return StaticBackend(root, workers if isinstance(workers, Mapping) else None)


def check_workers(backend: Backend, roster: Sequence[str]) -> None:
    """SettingsError that lists every worker the backend cannot play."""
    wrong = [(worker, message) for worker in roster if (message := backend.check_worker(worker))]
    if wrong:
        fix = "rename the worker, or map its name to one that the backend can play"
        raise SettingsError(Problem("workers", message, fix) for _, message in wrong)


def plan_items_of(source: Source | None, task_type: str | None, block: ConvergenceBlock) -> list[PlanItem]:
    """The plan body's items; none where its verification is off, SettingsError in a run of another type."""
    if source is None:
        return []
    if task_type != PLAN_BODY_TASK_TYPE:
        fix = f"set task_type to {PLAN_BODY_TASK_TYPE!r}, or leave plan_items out"
        raise SettingsError(Problem("plan_items", f"have no place in a run of type {task_type!r}", fix))
    return read_plan_items(source) if block["planBodyVerification"]["enabled"] else []

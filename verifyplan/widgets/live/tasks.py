"""The tasks of a live run: a plan to verify, findings to vote on, or a log to resume; and how each is resumed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from verifyplan.plans.plan import Plan
from verifyplan.protocol.event import Event, Sink
from verifyplan.redaction import redact
from verifyplan.reports.visible import one_line
from verifyplan.runs.arguments import Workers
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.pauses import PauseHandler
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.read_findings import RowSource
from verifyplan.runs.resume import resume
from verifyplan.runs.run import Run
from verifyplan.text import counted

MAX_SETTING_CHARACTERS = 120
"""Characters that are shown of a setting."""

_ON_RESUME = ("backend", "matcher")
"""Options of a new run that it needs again when it goes on."""


@dataclass(frozen=True)
class LiveTask:
    """A run that can be started, and taken up again from its log."""

    title: str
    about: Mapping[str, str]
    """Name and value of each input."""
    begin: Callable[[Sink, PauseHandler], Run]
    go_on: Callable[[Path, Sink, PauseHandler], Run]
    retry: Callable[[Path, Sink, PauseHandler], Run]
    """Goes on with a run that ended, and asks its failed calls again."""
    backend: object = None
    """The agents, where they are named; else those of the log."""
    log: Path | None = None
    """The log of a run that is taken up; None for a new one."""


def plan_task(plan: str | Path | Plan, repo: str | Path, options: Mapping[str, Any]) -> LiveTask:
    """A plan run with the options of `verify`; TypeError for an option that it has not."""
    inspect.signature(verify).bind(plan, repo, **options)
    name = plan.title or plan.path if isinstance(plan, Plan) else plan

    def begin(sink: Sink, ask: PauseHandler) -> Run:
        arguments = {"on_blocked": ask} | dict(options) | {"sink": _both(options.get("sink"), sink), "progress": False}
        return verify(plan, repo, **arguments)

    return LiveTask("Plan run", _about(options, plan=name, repo=repo), begin, **_resumptions(options))


def cross_task(findings: RowSource, workers: Workers, options: Mapping[str, Any]) -> LiveTask:
    """A cross run with the options of `crossverify`; TypeError for an option that it has not."""
    inspect.signature(crossverify).bind(findings, workers, **options)
    sized = hasattr(findings, "__len__") and not isinstance(findings, str)
    brought = counted(len(findings), "finding") if sized else findings  # type: ignore[arg-type]  # a path has no length

    def begin(sink: Sink, ask: PauseHandler) -> Run:  # noqa: ARG001  (a cross run asks nobody)
        return crossverify(
            findings, workers, **dict(options) | {"sink": _both(options.get("sink"), sink), "progress": False}
        )

    return LiveTask(
        "Cross run", _about(options, findings=brought, workers=_listed(workers)), begin, **_resumptions(options)
    )


def resume_task(log_path: str | Path, options: Mapping[str, Any]) -> LiveTask:
    """A run that goes on from its log, with the options of `resume`; TypeError for an option that it has not."""
    inspect.signature(resume).bind(log_path, **options)
    path, first = Path(log_path), dict(options)

    def go_on(path: Path, sink: Sink, ask: PauseHandler, **more: Any) -> Run:
        arguments, later = dict(first), {key: value for key, value in first.items() if key not in ("answer", "note")}
        first.clear()
        first.update(later)  # the answer was to the question that the log waited with, not to a later one
        return resume(path, **_asked(arguments, sink, ask) | more)

    return LiveTask(
        "Run from its log",
        _about(options, log=path),
        lambda sink, ask: go_on(path, sink, ask),
        go_on,
        partial(go_on, retry_failed=True),
        options.get("backend"),
        path,
    )


def _resumptions(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a new run with these options goes on, and the agents that it goes on with."""
    kept = {key: options[key] for key in (*_ON_RESUME, "sink") if key in options}
    if callable(options.get("on_blocked")):
        kept["on_blocked"] = options["on_blocked"]

    def go_on(path: Path, sink: Sink, ask: PauseHandler, **more: Any) -> Run:
        return resume(path, **_asked(kept, sink, ask) | more)

    return {"go_on": go_on, "retry": partial(go_on, retry_failed=True), "backend": options.get("backend")}


def _asked(options: Mapping[str, Any], sink: Sink, ask: PauseHandler) -> dict[str, Any]:
    return {"on_blocked": ask} | dict(options) | {"sink": _both(options.get("sink"), sink), "progress": False}


def _both(theirs: Sink | None, ours: Sink) -> Sink:
    """Ours first: it must have seen an event on which theirs ends the run."""
    if theirs is None:
        return ours

    def send(event: Event) -> None:
        ours(event)
        theirs(event)

    return send


def _about(options: Mapping[str, Any], **first: object) -> dict[str, str]:
    settings = first | {name: value for name, value in options.items() if name not in ("sink", "progress")}
    return {name: one_line(redact(str(_plain(value))), MAX_SETTING_CHARACTERS) for name, value in settings.items()}


def _plain(value: object) -> object:
    """Return a setting as it is shown; of an object without a text of its own, its class."""
    if isinstance(value, str | int | float | Path | Mapping | list | tuple) or value is None:
        return value
    return getattr(value, "__name__", None) or (str(value) if hasattr(value, "model_dump") else type(value).__name__)


def _listed(workers: Workers) -> str:
    return ", ".join(map(str, workers)) if not isinstance(workers, str) else workers

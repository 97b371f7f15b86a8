"""The tasks of a live run: a plan to verify, findings to vote on, or a log to resume."""

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
from verifyplan.reports.circumstances import from_here
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
"""Characters of a setting that are shown."""

_ON_RESUME = ("backend", "matcher")
"""Options of a new run that are needed again to resume it."""


@dataclass(frozen=True)
class LiveTask:
    """A run that can be started, and resumed from its log."""

    title: str
    about: Mapping[str, str]
    """Name and value of each input."""
    begin: Callable[[Sink, PauseHandler], Run]
    go_on: Callable[[Path, Sink, PauseHandler], Run]
    retry: Callable[[Path, Sink, PauseHandler], Run]
    """Asks the failed calls of a run that ended again."""
    backend: object = None
    """The agents, if they are given; else those of the log."""
    log: Path | None = None
    """The log of a run that is resumed; None for a new run."""


def plan_task(plan: str | Path | Plan, repo: str | Path, options: Mapping[str, Any]) -> LiveTask:
    """Return a plan run with the options of `verify`; TypeError for an option that it lacks."""
    inspect.signature(verify).bind(plan, repo, **options)
    name = plan.title or plan.path if isinstance(plan, Plan) else plan

    def begin(sink: Sink, ask: PauseHandler) -> Run:
        return verify(plan, repo, **_asked(options, sink, ask))

    return LiveTask("Plan run", _about(options, plan=name, repo=repo), begin, **_resumptions(options))


def cross_task(findings: RowSource, workers: Workers, options: Mapping[str, Any]) -> LiveTask:
    """Return a cross run with the options of `crossverify`; TypeError for an option that it lacks."""
    inspect.signature(crossverify).bind(findings, workers, **options)
    sized = hasattr(findings, "__len__") and not isinstance(findings, str)
    given = counted(len(findings), "finding") if sized else findings  # type: ignore[arg-type]  # a path has no length
    names = workers if isinstance(workers, str) else ", ".join(map(str, workers))

    def begin(sink: Sink, ask: PauseHandler) -> Run:  # noqa: ARG001  (a cross run asks nobody)
        return crossverify(findings, workers, **_shown_here(options, sink))

    return LiveTask("Cross run", _about(options, findings=given, workers=names), begin, **_resumptions(options))


def resume_task(log_path: str | Path, options: Mapping[str, Any]) -> LiveTask:
    """Return a run that goes on from its log, with the options of `resume`; TypeError for an option that it lacks."""
    inspect.signature(resume).bind(log_path, **options)
    path, first = Path(log_path), dict(options)

    def go_on(path: Path, sink: Sink, ask: PauseHandler, **more: Any) -> Run:
        arguments, later = dict(first), {key: value for key, value in first.items() if key not in ("answer", "note")}
        first.clear()
        first.update(later)  # the answer is to the question of the log, not to a later one
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
    """Return how a new run with these options is resumed, and its agents."""
    kept = {key: options[key] for key in (*_ON_RESUME, "sink") if key in options}
    if callable(options.get("on_blocked")):
        kept["on_blocked"] = options["on_blocked"]

    def go_on(path: Path, sink: Sink, ask: PauseHandler, **more: Any) -> Run:
        return resume(path, **_asked(kept, sink, ask) | more)

    return {"go_on": go_on, "retry": partial(go_on, retry_failed=True), "backend": options.get("backend")}


def _asked(options: Mapping[str, Any], sink: Sink, ask: PauseHandler) -> dict[str, Any]:
    return {"on_blocked": ask} | _shown_here(options, sink)


def _shown_here(options: Mapping[str, Any], sink: Sink) -> dict[str, Any]:
    return dict(options) | {"sink": _both(options.get("sink"), sink), "progress": False}


def _both(theirs: Sink | None, ours: Sink) -> Sink:
    """Return a sink that calls both, ours first: it must see an event on which theirs ends the run."""
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
    """Return a setting as it is shown; for an object without a text, its class."""
    if isinstance(value, Path):
        return from_here(str(value))
    if isinstance(value, str | int | float | Mapping | list | tuple) or value is None:
        return value
    return getattr(value, "__name__", None) or (str(value) if hasattr(value, "model_dump") else type(value).__name__)

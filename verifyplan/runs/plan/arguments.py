"""Check the arguments of `verify`: the plan read, the backend made, all problems at once (rules H1, H3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from verifyplan.agents.base import Backend
from verifyplan.documents.dimensions.check_context import tasks_and_features
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem, Problems, SettingsError, one_of
from verifyplan.plans.plan import Plan, parse_plan, read_plan
from verifyplan.protocol.settings import ON_BLOCKED, PanelSettings, PlanSettings
from verifyplan.protocol.weights_file import load, text_of
from verifyplan.rules.scoring import check_weights
from verifyplan.runs.arguments import (
    check_affordable,
    check_log_dir,
    check_workers,
    make_backend,
    read_folder,
    read_roster,
    timeout_problems,
    writable,
)

BY_WORD = tuple(word for word in ON_BLOCKED if word != "ask")
"""The words that `on_blocked` can be; "ask" is how settings say that a function answers."""


class PlanArguments(NamedTuple):
    """Arguments of `verify` that can be used."""

    plan: Plan
    backend: Backend
    settings: PlanSettings


def read_plan_arguments(
    plan: object, repo: object, backend: str | Backend, log_dir: object, options: Mapping[str, object]
) -> PlanArguments:
    """Read the plan, make the backend and the settings; InputError listing everything that is wrong.

    `options` are the arguments of `verify` that become settings, `on_blocked` as a word or a function.
    """
    problems = Problems()
    on_blocked = options["on_blocked"]
    if on_blocked not in BY_WORD and not callable(on_blocked):
        fix = f"use {one_of(BY_WORD)}, or a function that answers"
        problems.append(Problem("on_blocked", f"{on_blocked!r} is unknown", fix))
    weights = problems.of(lambda: _read_weights(options["weights"]))
    panel = problems.of(lambda: _read_panel(options["panel"]))
    read: dict[str, object] = {
        "max_cost": str(options["max_cost"]) if isinstance(options["max_cost"], float) else options["max_cost"],
        "on_blocked": on_blocked if on_blocked in BY_WORD else "ask",
        "weights": weights,
        "panel": panel,
    }
    settings = problems.of(lambda: make_settings(**{**options, **read}))
    parsed = problems.of(lambda: _read_plan(plan))
    folder = problems.of(lambda: read_folder(repo, "repo", "the plan"))
    speaker = problems.of(lambda: make_backend(backend, (), folder or "."))
    problems.of(lambda: check_log_dir(log_dir))
    if parsed is not None and options.get("plan_check") is True:
        problems.of(lambda: _expect_tasks(parsed))
    if speaker is not None and panel is not None:
        problems.of(lambda: check_workers(speaker, panel.workers))
    if speaker is not None and settings is not None:
        problems.of(lambda: check_affordable(speaker, settings))
    if problems or parsed is None or speaker is None or settings is None:
        raise SettingsError(problems) if settings is None else InputError(problems)
    return PlanArguments(parsed, speaker, settings)


def make_settings(**settings: object) -> PlanSettings:
    """Return the settings of a plan run; SettingsError listing everything that does not fit."""
    problems = timeout_problems(settings.get("timeout"))
    try:
        made = PlanSettings.model_validate(settings)
    except ValidationError as error:
        raise SettingsError(problems + _misfits(error)) from None
    problems = problems or timeout_problems(made.timeout)  # "-5" and "nan" are read as numbers
    if problems:
        raise SettingsError(problems)
    return made


def _misfits(error: ValidationError, *above: str) -> list[Problem]:
    return [
        Problem(
            ".".join(str(part) for part in (*above, *detail["loc"])),
            f"{detail['input']!r} does not fit: {detail['msg']}",
            "see the arguments of verify",
        )
        for detail in error.errors(include_url=False)
    ]


def _read_weights(weights: object) -> dict[str, str] | None:
    """Return weights as the log has them, from a mapping or a weights file; InputError listing all that is wrong."""
    if weights is None:
        return None
    if isinstance(weights, str | Path):
        return {name: text_of(weight) for name, weight in load(weights).items()}
    if not isinstance(weights, Mapping):
        fix = "give a mapping of the six dimensions to decimals, or a weights file"
        raise SettingsError(Problem("weights", f"are a {type(weights).__name__}, not a mapping", fix))
    by_name = {str(name): weight for name, weight in weights.items()}
    check_weights(by_name)
    return {name: str(weight) for name, weight in by_name.items()}


def _read_panel(panel: object) -> PanelSettings | None:
    """Return settings or names of workers as settings; SettingsError where they cannot be a panel."""
    if panel is None:
        return None
    if isinstance(panel, Mapping):
        try:
            panel = PanelSettings.model_validate(dict(panel))
        except ValidationError as error:
            raise SettingsError(_misfits(error, "panel")) from None
    fix = "give names of workers, a PanelSettings, or None for no panel"
    names = panel.workers if isinstance(panel, PanelSettings) else panel
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise SettingsError(Problem("panel", f"{names!r} names no workers", fix))
    try:
        workers = tuple(read_roster(names))
    except SettingsError as error:
        raise SettingsError(Problem("panel", problem.message, problem.fix) for problem in error.problems) from None
    return panel if isinstance(panel, PanelSettings) else PanelSettings(workers=workers)


def _read_plan(plan: object) -> Plan:
    """Return the plan, read if it is a file; InputError where it is blank, or holds what no log can."""
    if isinstance(plan, PlanDocument):
        plan = parse_plan(plan.text, plan.path)
    if not isinstance(plan, str | Path | Plan):
        fix = "name a Markdown file, or give what parse_plan reads from a text"
        raise InputError(Problem("plan", f"is a {type(plan).__name__}, not a path", fix))
    path = plan.path if isinstance(plan, Plan) else str(plan)
    if not writable(path):
        raise InputError(Problem("plan", f"{path!r} is a name that cannot be written down", "rename the file"))
    parsed = plan if isinstance(plan, Plan) else read_plan(plan)
    if not parsed.text.strip():
        raise InputError(Problem("plan", f"{path!r} holds no text", "write the plan down, or name another file"))
    if not writable(parsed.text):
        fix = "read the text as UTF-8"
        raise InputError(Problem("plan", "holds halves of surrogate pairs, which cannot be written down", fix))
    return parsed


def _expect_tasks(plan: Plan) -> None:
    """Raise an InputError unless a plan is a PLAN document, with frontmatter or tasks: the check reads no other."""
    document = PlanDocument.read(read_source(plan.text, plan.path))
    if not tasks_and_features(document) and not document.source.front.last:
        fix = "write its tasks as <task> elements, or leave plan_check out"
        raise InputError(Problem("plan_check", f"{plan.path!r} is not a PLAN document: it has no tasks", fix))

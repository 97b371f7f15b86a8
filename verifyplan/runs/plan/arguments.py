"""The arguments of `verify`: each checked, all problems told at once (rules H1, H3)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from verifyplan.agents.base import Backend
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.plans.plan import Plan, parse_plan, read_plan
from verifyplan.protocol.settings import ON_BLOCKED, PanelSettings, PlanSettings
from verifyplan.protocol.weights_file import load, text_of
from verifyplan.rules.scoring import check_weights
from verifyplan.runs.arguments import backend_of, check_affordable, check_workers, roster_of
from verifyplan.runs.plan import checking
from verifyplan.runs.plan.ruling import writable

T = TypeVar("T")

BY_WORD = tuple(word for word in ON_BLOCKED if word != "ask")
"""What `on_blocked` can be by word; "ask" is how settings say that a function answers."""


class PlanArguments(NamedTuple):
    """Arguments that can be used."""

    plan: Plan
    backend: Backend
    settings: PlanSettings


def check_plan_arguments(
    plan: object, repo: object, backend: str | Backend, log_dir: object, given: Mapping[str, object]
) -> PlanArguments:
    """The plan read, the backend made, the settings as one value; InputError listing everything that is wrong.

    `given` are the settings as they were given to `verify`, `on_blocked` as a word or a function.
    """
    problems: list[Problem] = []

    def attempt(check: Callable[[], T]) -> T | None:
        try:
            return check()
        except InputError as error:
            problems.extend(error.problems)
            return None

    attempt(lambda: _check_blocked(given["on_blocked"]))
    weights = attempt(lambda: _weights(given["weights"]))
    asked = dict(given) | {"on_blocked": given["on_blocked"] if given["on_blocked"] in BY_WORD else "ask"}
    asked["weights"] = weights
    panel = attempt(lambda: _panel(given["panel"]))
    settings = attempt(lambda: settings_of(**asked | {"panel": panel}))
    read = attempt(lambda: _plan(plan))
    folder = attempt(lambda: folder_of(repo, "repo", "the plan"))
    speaker = attempt(lambda: backend_of(backend, (), folder or "."))
    attempt(lambda: check_log_dir(log_dir))
    if read is not None and given.get("plan_check") is True:
        attempt(lambda: checking.expect_tasks(read))
    if speaker is not None and panel is not None:
        attempt(lambda: check_workers(speaker, panel.workers))
    if speaker is not None and settings is not None:
        attempt(lambda: check_affordable(speaker, settings))
    if problems or read is None or speaker is None or settings is None:
        raise SettingsError(problems) if settings is None else InputError(problems)
    return PlanArguments(read, speaker, settings)


def settings_of(**given: object) -> PlanSettings:
    """The settings as one value; SettingsError listing everything that does not fit."""
    problems = timeout_problems(given.get("timeout"))
    try:
        settings = PlanSettings.model_validate(given)
    except ValidationError as error:
        raise SettingsError(problems + _misfits(error)) from None
    problems = problems or timeout_problems(settings.timeout)  # "-5" and "nan" are read as numbers
    if problems:
        raise SettingsError(problems)
    return settings


def _misfits(error: ValidationError, *above: str) -> list[Problem]:
    return [
        Problem(
            ".".join(str(part) for part in (*above, *one["loc"])),
            f"{one['input']!r} does not fit: {one['msg']}",
            "see the arguments of verify",
        )
        for one in error.errors(include_url=False)
    ]


def timeout_problems(value: object) -> list[Problem]:
    """What is wrong with a number of seconds; nothing is said here of what is no number."""
    wrong = isinstance(value, int | float) and not (value > 0 and math.isfinite(value))
    fix = "give seconds above 0, or None to wait for ever"
    return [Problem("timeout", f"{value!r} is no time that a call can take", fix)] if wrong else []


def _check_blocked(value: object) -> None:
    if value not in BY_WORD and not callable(value):
        fix = f"use {one_of(BY_WORD)}, or a function that answers"
        raise SettingsError(Problem("on_blocked", f"{value!r} is unknown", fix))


def _weights(weights: object) -> dict[str, str] | None:
    """Weights as the log has them, from a mapping or a weights file; InputError listing all that is wrong."""
    if weights is None:
        return None
    if isinstance(weights, str | Path):
        return {name: text_of(weight) for name, weight in load(weights).items()}
    if not isinstance(weights, Mapping):
        fix = "give a mapping of the six dimensions to decimals, or a weights file"
        raise SettingsError(Problem("weights", f"are a {type(weights).__name__}, not a mapping", fix))
    given = {str(name): weight for name, weight in weights.items()}
    check_weights(given)
    return {name: str(weight) for name, weight in given.items()}


def _panel(panel: object) -> PanelSettings | None:
    """Names of workers as settings; SettingsError where they are none, are repeated, or cannot be written down."""
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
        workers = tuple(roster_of(names))
    except SettingsError as error:
        raise SettingsError(Problem("panel", one.message, one.fix) for one in error.problems) from None
    return panel if isinstance(panel, PanelSettings) else PanelSettings(workers=workers)


def _plan(plan: object) -> Plan:
    """The plan, read if it is a file; InputError where it is none, or holds what no log can."""
    if isinstance(plan, PlanDocument):
        plan = parse_plan(plan.text, plan.path)
    if not isinstance(plan, str | Path | Plan):
        fix = "name a Markdown file, or give what parse_plan reads from a text"
        raise InputError(Problem("plan", f"is a {type(plan).__name__}, not a path", fix))
    path = plan.path if isinstance(plan, Plan) else str(plan)
    if not writable(path):
        raise InputError(Problem("plan", f"{path!r} is a name that cannot be written down", "rename the file"))
    read = plan if isinstance(plan, Plan) else read_plan(plan)
    if not read.text.strip():
        raise InputError(Problem("plan", f"{path!r} holds no text", "write the plan down, or name another file"))
    if not writable(read.text):
        fix = "read the text as UTF-8"
        raise InputError(Problem("plan", "holds halves of surrogate pairs, which cannot be written down", fix))
    return read


def folder_of(value: object, name: str, subject: str) -> Path:
    """A folder that is there and can be named in a log; InputError naming the argument, and what it is about."""
    fix = f"name the folder that {subject} is about"
    if not isinstance(value, str | Path):
        raise InputError(Problem(name, f"is a {type(value).__name__}, not a path", fix))
    if not Path(value).is_dir():
        raise InputError(Problem(name, f"{str(value)!r} is no folder", fix))
    if not writable(str(Path(value).resolve())):
        raise InputError(Problem(name, f"{str(value)!r} is a name that cannot be written down", "rename the folder"))
    return Path(value)


def check_log_dir(log_dir: object) -> None:
    """InputError unless the folder of the log, or the first above it that exists, takes new files; None is fine."""
    if log_dir is None:
        return
    fix = "name a folder, or None for no log"
    if not isinstance(log_dir, str | Path):
        raise InputError(Problem("log_dir", f"is a {type(log_dir).__name__}, not a path", fix))
    if "\0" in str(log_dir) or not writable(str(log_dir)):
        raise InputError(Problem("log_dir", f"{str(log_dir)!r} is no folder's name", fix))
    folder = Path(log_dir).absolute()
    try:
        there = next(one for one in (folder, *folder.parents) if one.exists())
    except OSError as error:  # a name that is too long
        raise InputError(Problem("log_dir", f"{str(log_dir)!r} is no folder ({error})", fix)) from None
    if not there.is_dir():
        raise InputError(Problem("log_dir", f"{str(there)!r} is a file, not a folder", fix))
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(Problem("log_dir", f"{str(there)!r} cannot be written to", fix))

"""Read the settings of a plan run from arguments; every message says what does not fit (rules A3-A12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.settings import BLOCKED_WORDS, PanelSettings, PlanSettings
from verifyplan.protocol.weights_file import load, text_of
from verifyplan.rules.scoring import check_weights
from verifyplan.runs.arguments import read_roster, timeout_problems


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


_EXPECTED = {
    "literal_error": "{expected}",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "an integer of at least {ge}",
    "less_than_equal": "an integer of at most {le}",
    "int": "an integer",
    "float": "a number",
    "decimal": "a number",
    "finite": "a finite number",
    "bool": "True or False",
    "string": "a text",
}
"""What a setting must be, by the type of pydantic's error or the first word of it."""


def _misfits(error: ValidationError, *above: str) -> list[Problem]:
    """Return a problem for each setting that does not fit, in words."""
    problems = []
    for detail in error.errors(include_url=False):
        kind = detail["type"]
        form = _EXPECTED.get(kind) or _EXPECTED.get(kind.partition("_")[0])
        expected = form.format(**detail.get("ctx", {})) if form else detail["msg"].removeprefix("Input should be ")
        message = "is no setting" if kind == "extra_forbidden" else f"must be {expected}, got {detail['input']!r}"
        place = ".".join(str(part) for part in (*above, *detail["loc"]))
        problems.append(Problem(place, message, "see the arguments of verify"))
    return problems


def read_weights(weights: object) -> dict[str, str] | None:
    """Return weights as the log has them, from a mapping or a weights file; InputError listing all that is wrong."""
    if weights is None:
        return None
    if isinstance(weights, str | Path):
        return {name: text_of(weight) for name, weight in load(weights, DIMENSIONS).items()}
    if not isinstance(weights, Mapping):
        fix = "give a mapping of the six dimensions to decimals, or a weights file"
        raise SettingsError(Problem("weights", f"must be a mapping, got a {type(weights).__name__}", fix))
    by_name = {str(name): weight for name, weight in weights.items()}
    check_weights(by_name)
    return {name: str(weight) for name, weight in by_name.items()}


def read_panel(panel: object) -> PanelSettings | None:
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
        raise SettingsError(Problem("panel", f"must name workers, got {names!r}", fix))
    try:
        workers = tuple(read_roster(names))
    except SettingsError as error:
        raise SettingsError(Problem("panel", problem.message, problem.fix) for problem in error.problems) from None
    return panel if isinstance(panel, PanelSettings) else PanelSettings(workers=workers)


def check_on_blocked(on_blocked: object) -> None:
    """Raise a SettingsError unless `on_blocked` is a word that `verify` takes, or a function."""
    if on_blocked not in BLOCKED_WORDS and not callable(on_blocked):
        expected = f"{one_of(BLOCKED_WORDS)}, or a function that answers"
        raise SettingsError(Problem("on_blocked", f"must be {expected}, got {on_blocked!r}", f"use {expected}"))

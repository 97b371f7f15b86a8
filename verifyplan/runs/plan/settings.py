"""Read the settings of a plan run from arguments; every message says what does not fit (rules A3-A12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from verifyplan.errors import Problem, Problems, SettingsError, one_of
from verifyplan.protocol.base import validation_problems
from verifyplan.protocol.plan_rules import PlanRules, Policy, stated_rules
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.settings import BLOCKED_WORDS, PanelSettings, PlanSettings
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.protocol.weights_file import RangedWeights, load, text_of
from verifyplan.rules.scoring import check_weights
from verifyplan.runs.arguments import read_roster, timeout_problems


def read_settings(
    problems: Problems,
    on_blocked: object,
    weights: object,
    panel: object,
    rules: PlanRules | Mapping[str, Any] | str | Path | None,
    *,
    policy: Policy | None,
    max_iterations: int | None,
    threshold: int | None,
    max_cost: object,
    **others: object,
) -> PlanSettings | None:
    """Return the settings of a plan run from the arguments of `verify`, of which `others` need no reading.

    What is wrong is added to `problems`; None where no settings can be made.
    """
    problems.of(lambda: _check_on_blocked(on_blocked))
    decimals = problems.of(lambda: read_weights(weights))
    voters = problems.of(lambda: read_panel(panel))
    stated = problems.of(lambda: stated_rules(rules, policy=policy, max_iterations=max_iterations, threshold=threshold))
    return problems.of(
        lambda: make_settings(
            rules=stated or PlanRules(),
            on_blocked=on_blocked if on_blocked in BLOCKED_WORDS else "ask",
            weights=decimals,
            panel=voters,
            max_cost=str(max_cost) if isinstance(max_cost, float) else max_cost,
            **others,
        )
    )


def _check_on_blocked(on_blocked: object) -> None:
    """Raise a SettingsError unless `on_blocked` is a word that `verify` takes, or a function."""
    if on_blocked not in BLOCKED_WORDS and not callable(on_blocked):
        expected = f"{one_of(BLOCKED_WORDS)}, or a function that answers"
        raise SettingsError(Problem("on_blocked", f"must be {expected}, got {on_blocked!r}", f"use {expected}"))


def make_settings(**settings: object) -> PlanSettings:
    """Return the settings of a plan run; SettingsError listing everything that does not fit."""
    problems = timeout_problems(settings.get("timeout"))
    try:
        made = PlanSettings.model_validate(settings)
    except ValidationError as error:
        misfits = validation_problems(error, PlanSettings.model_fields, "the settings", "see the arguments of verify")
        raise SettingsError(problems + misfits) from None
    problems = problems or timeout_problems(made.timeout)  # "-5" and "nan" are read as numbers
    if problems:
        raise SettingsError(problems)
    return made


def read_weights(weights: object) -> dict[str, str] | None:
    """Return weights as the log has them, from a mapping or a weights file; InputError listing all that is wrong."""
    if weights is None:
        return None
    if isinstance(weights, str | Path):
        weights = load(weights, DIMENSIONS)
        if not (isinstance(weights, RangedWeights) and weights.rescaled):
            return {name: text_of(weight) for name, weight in weights.items()}
    if isinstance(weights, RangedWeights) and weights.rescaled:
        fix = "fit with one range for all dimensions: a run weighs its scores as they are, from 1 to 10"
        raise SettingsError(Problem("weights", "are of dimensions rescaled by different ranges", fix))
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
        panel = _panel_of(panel)
    fix = "give names of workers, a PanelSettings, or None for no panel"
    names = panel.workers if isinstance(panel, PanelSettings) else panel
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise SettingsError(Problem("panel", f"must name workers, got {names!r}", fix))
    try:
        workers = tuple(read_roster(names))
    except SettingsError as error:
        raise SettingsError(Problem("panel", problem.message, problem.fix) for problem in error.problems) from None
    return panel if isinstance(panel, PanelSettings) else PanelSettings(workers=workers)


def _panel_of(fields: Mapping[Any, Any]) -> PanelSettings:
    """Return the panel with these settings, whose rules may be a file, too."""
    problems, values = Problems(), {str(name): value for name, value in fields.items()}
    if values.get("rules") is not None:
        read = problems.of(lambda: read_rules(VotingRules, values["rules"], "panel.rules"))
        values["rules"] = read or VotingRules()
    try:
        made = PanelSettings(**values)
    except SettingsError as error:
        problems += [Problem(f"panel.{problem.place}", problem.message, problem.fix) for problem in error.problems]
    if problems:
        raise problems.error()
    return made

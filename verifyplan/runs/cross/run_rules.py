"""Read the rules of a cross run from its arguments: a value, a preset or a file, and the short forms (rules B1, R2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.settings import ConvergenceBlock
from verifyplan.protocol.vote import MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.settings import cross_settings
from verifyplan.runs.arguments import check_missing_basis

Rules = VotingRules | str | Path | Mapping[str, Any]
"""Rules as a value, the name of a preset, a JSON file, or a mapping of fields."""


def read_run_rules(
    rules: Rules | None, *, mode: object, max_rounds: object, missing_basis: MissingBasis
) -> VotingRules:
    """Return the rules that a run is asked for; mode and rounds are None where only a task type or a setting has them.

    Raises SettingsError, listing all problems, for rules that are none, a parameter that is not neutral and says
    something else than the rules, and `missing_basis="raise"`, which a live run cannot follow.
    """
    chosen, neutral = VotingRules() if rules is None else read_rules(VotingRules, rules), VotingRules()
    twice = [
        Problem(name, f"is {value!r}, but the rules have {getattr(chosen, name)!r}", "say it once")
        for name, value in (("mode", mode), ("max_rounds", max_rounds), ("missing_basis", missing_basis))
        if getattr(neutral, name) not in (value, getattr(chosen, name)) and getattr(chosen, name) != value
    ]
    if twice:
        raise SettingsError(twice)
    basis = missing_basis if chosen.missing_basis == neutral.missing_basis else chosen.missing_basis
    check_missing_basis(basis)
    return chosen.model_copy(update={"missing_basis": basis})


def check_workers_of_rules(rules: VotingRules, roster: Collection[str]) -> None:
    """Raise a SettingsError for each worker that the rules name and the roster lacks."""
    fix = f"name workers of the roster: {', '.join(roster) or 'there are none'}"
    problems = [
        Problem(f"rules.{field}", f"{worker!r} is not a worker of this run", fix)
        for field, workers in rules.not_in(roster).items()
        for worker in workers
    ]
    if problems:
        raise SettingsError(problems)


class RunSettings(NamedTuple):
    """How a cross run is to be run."""

    block: ConvergenceBlock
    """The settings, under the names that artifacts give them."""
    rules: VotingRules
    """The rules that decide, with the mode and the rounds of the settings."""


def read_run_settings(
    rules: Rules | None,
    task_type: str,
    settings: Mapping[str, Any] | None,
    *,
    mode: Mode | None,
    max_rounds: int | None,
    missing_basis: MissingBasis,
    **others: Any,
) -> RunSettings:
    """Return the settings and the rules of a run, from plain parameters, rules and keys of an artifact.

    `others` are the other parameters of `cross_settings`. Raises SettingsError, listing all problems, as
    `read_run_rules` and `cross_settings` do.
    """
    problems = Problems()
    asked = problems.of(lambda: read_run_rules(rules, mode=mode, max_rounds=max_rounds, missing_basis=missing_basis))
    if asked is not None:
        mode, max_rounds = asked.mode or mode, asked.max_rounds or max_rounds
    block = problems.of(lambda: cross_settings(task_type, settings, mode=mode, max_rounds=max_rounds, **others))
    if asked is None or block is None:
        raise problems.error()
    run_mode: Mode = "adversarial" if block["adversarial"] else "collaborative"
    return RunSettings(block, asked.model_copy(update={"mode": run_mode, "max_rounds": block["effectiveMaxRounds"]}))

"""The rules that a caller of an analysis chooses: a value, or its short form of mode, rounds and missing bases."""

from __future__ import annotations

import numpy as np

from verifyplan.errors import Problem, Problems, SettingsError, one_of
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.vote import MISSING_BASES, MODES
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import did_you_mean

RECORDED = "recorded"
"""Names, in place of a mode, the mode of each run."""


def check_settings(mode: str, max_rounds: int | None, missing_basis: str, modes: tuple[str, ...] = MODES) -> None:
    """Raise SettingsError, listing all that is wrong, unless a replay can be made with these settings."""
    problems = []
    if mode not in modes:
        problems.append(Problem("mode", f"{mode!r} is unknown{did_you_mean(mode, modes)}", f"use {one_of(modes)}"))
    if missing_basis not in MISSING_BASES:
        message = f"{missing_basis!r} is unknown{did_you_mean(missing_basis, MISSING_BASES)}"
        problems.append(Problem("missing_basis", message, f"use {one_of(MISSING_BASES)}"))
    whole = isinstance(max_rounds, int | np.integer) and not isinstance(max_rounds, bool)
    if max_rounds is not None and not (whole and max_rounds >= 1):
        problems.append(Problem("max_rounds", f"{max_rounds!r} is out of range", "give a whole number from 1"))
    if problems:
        raise SettingsError(problems)


def chosen_rules(
    rules: object,
    mode: str | None = None,
    max_rounds: int | None = None,
    missing_basis: str = "infer",
    *,
    modes: tuple[str, ...] = (*MODES, RECORDED),
    name: str = "rules",
) -> VotingRules:
    """Return the rules that the arguments of an analysis choose; `recorded` is no mode of rules: each run has its own.

    `name` is the argument that holds the rules. Raises SettingsError, listing all that is wrong, for values that are
    unknown, and where `rules` and the short form say two things.

    >>> print(chosen_rules("sticky-refutes", max_rounds=1))  # doctest: +ELLIPSIS
    VotingRules(mode=adversarial, max_rounds=1, refutes=sticky) [...]
    """
    problems = Problems()
    problems.of(lambda: check_settings(modes[0] if mode is None else mode, max_rounds, missing_basis, modes))
    chosen = VotingRules() if rules is None else problems.of(lambda: read_rules(VotingRules, rules, name))
    if problems or chosen is None:
        raise problems.error()
    short = {
        "mode": None if mode == RECORDED else mode,
        "max_rounds": None if max_rounds is None else int(max_rounds),
        "missing_basis": missing_basis,
    }
    neutral = VotingRules()
    said = {field: value for field, value in short.items() if value != getattr(neutral, field)}
    twice = [
        Problem(field, f"is {value!r}, and {name} say {getattr(chosen, field)!r}", "say it in one place")
        for field, value in {**said, **({"mode": mode} if mode == RECORDED else {})}.items()
        if getattr(chosen, field) not in (getattr(neutral, field), value)
    ]
    if twice:
        raise SettingsError(twice)
    return chosen.model_copy(update=said)

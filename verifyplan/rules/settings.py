"""The settings that a task type implies, and what overrides may change (rule B1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from verifyplan.errors import Problem, SettingsError, expect_mappings, one_of
from verifyplan.protocol.settings import ConvergenceBlock, PlanBodyVerification
from verifyplan.protocol.vote import MODES, VERIFICATION_MODE_OF, VERIFICATION_MODES, Mode, VerificationMode
from verifyplan.text import did_you_mean

ADVERSARIAL_TASK_TYPES = ("requirements-discovery", "error-analysis")
PLAN_BODY_TASK_TYPE = "implementation-planning"
TASK_TYPES = (
    "requirements-discovery",
    "error-analysis",
    "implementation-planning",
    "implementation",
    "final-verification",
    "release-handoff",
)
"""The known task types (rule B1); any other has the settings of the last four."""
ROUND_LIMITS = (1, 3)

_KEYS = (
    "enabled",
    "adversarial",
    "maxRounds",
    "effectiveMaxRounds",
    "verificationMode",
    "planBodyVerification",
)
_PLAN_KEYS = ("enabled", "maxRounds", "gating")
_OR_NONE = "give one of these, or None for what the task type implies"
_NEEDS_EVIDENCE = "'lightweight' cannot serve an adversarial run, whose workers must open the evidence"


def cross_settings(
    task_type: str = "",
    settings: Mapping[str, Any] | None = None,
    *,
    mode: Mode | None = None,
    max_rounds: int | None = None,
    verification: VerificationMode | None = None,
    gating: bool | None = None,
) -> ConvergenceBlock:
    """Return the settings of a cross run, from plain parameters and from `settings` with the keys of an artifact.

    None takes what `settings` says, else what the task type implies. Raises SettingsError, listing all problems, for
    bad values, for a parameter and a key of `settings` that disagree, and for all that `convergence_block` refuses.
    Source: rule B1.

    >>> cross_settings("error-analysis", mode="collaborative", max_rounds=3)["maxRounds"]
    3
    >>> cross_settings(settings={"maxRounds": 1}, max_rounds=2)
    Traceback (most recent call last):
    verifyplan.errors.SettingsError: max_rounds: is 2, but settings has 'maxRounds': 1. Fix: say it once.
    """
    expect_mappings(settings=settings)
    overrides = dict(settings or {})
    problems = _problems(overrides) + _bad_parameters(mode, max_rounds, verification, gating)
    _raise_if(problems)
    plan_body = dict(overrides.get("planBodyVerification", {}))
    for name, value, keys, key, of_key in (
        ("mode", mode, overrides, "adversarial", mode == "adversarial"),
        ("max_rounds", max_rounds, overrides, "maxRounds", max_rounds),
        ("verification", verification, overrides, "verificationMode", verification),
        ("gating", gating, plan_body, "gating", gating),
    ):
        if value is not None and keys.setdefault(key, of_key) != of_key:
            problems.append(Problem(name, f"is {value!r}, but settings has {key!r}: {keys[key]!r}", "say it once"))
    _raise_if(problems)
    adversarial = overrides.get("adversarial", task_type in ADVERSARIAL_TASK_TYPES)
    if verification == "lightweight" and adversarial:
        fix = "use 'full-reanalysis' or leave it out; or set mode to 'collaborative'"
        raise SettingsError(Problem("verification", _NEEDS_EVIDENCE, fix))
    return convergence_block(task_type, overrides=overrides | {"planBodyVerification": plan_body})


def convergence_block(
    task_type: str = "", plan_verification: str = "", overrides: Mapping[str, Any] | None = None
) -> ConvergenceBlock:
    """Return the `convergence` settings of a cross run, from its task type and what a manifest overrides.

    `plan_verification` is the text of that switch: only "false" (spaces and case aside) turns the plan body's
    verification off. An override of `adversarial` also resets `verificationMode`, unless that is given.
    Raises SettingsError, listing all problems, for unknown keys, wrong types, `maxRounds` outside 1-3 and an
    adversarial run that is explicitly lightweight. A whole block is an override of itself.
    Source: rule B1.

    >>> convergence_block("error-analysis")["verificationMode"]
    'full-reanalysis'
    >>> convergence_block("error-analysis", overrides={"maxRounds": 4})
    Traceback (most recent call last):
    verifyplan.errors.SettingsError: maxRounds: 4 is out of range. Fix: give a whole number from 1 to 3.
    """
    chosen = dict(overrides or {})
    _raise_if(_problems(chosen))
    adversarial = bool(chosen.get("adversarial", task_type in ADVERSARIAL_TASK_TYPES))
    verification = chosen.get(
        "verificationMode", VERIFICATION_MODE_OF["adversarial" if adversarial else "collaborative"]
    )
    if adversarial and verification == "lightweight":
        fix = "drop verificationMode, or set adversarial to false"
        raise SettingsError(Problem("verificationMode", _NEEDS_EVIDENCE, fix))
    max_rounds = chosen.get("maxRounds", 1 if task_type == "requirements-discovery" else 2)
    if chosen.get("effectiveMaxRounds", max_rounds) != max_rounds:
        message = f"{chosen['effectiveMaxRounds']!r} is not maxRounds, which is {max_rounds}"
        raise SettingsError(Problem("effectiveMaxRounds", message, "set maxRounds alone: the other follows it"))
    plan_body = PlanBodyVerification(enabled=plan_verification.strip().lower() != "false", maxRounds=1, gating=True)
    plan_body.update(cast(PlanBodyVerification, chosen.get("planBodyVerification", {})))
    return ConvergenceBlock(
        enabled=chosen.get("enabled", True),
        adversarial=adversarial,
        maxRounds=max_rounds,
        effectiveMaxRounds=max_rounds,
        verificationMode=verification,
        planBodyVerification=plan_body,
    )


def note_unknown_task_type(task_type: str) -> str | None:
    """Say that a task type is not known, and which may have been meant; None for a known or an empty one.

    >>> note_unknown_task_type("eror")
    "task type 'eror' is none of the known ones, so collaborative (did you mean 'error-analysis'?)"
    """
    if not task_type or task_type in TASK_TYPES:
        return None
    first_words = {known: did_you_mean(task_type, [known.partition("-")[0]]) for known in TASK_TYPES}
    by_word = next((f" (did you mean {known!r}?)" for known, near in first_words.items() if near), "")
    near = did_you_mean(task_type, TASK_TYPES) or by_word
    return f"task type {task_type!r} is none of the known ones, so collaborative{near}"


def _problems(settings: Mapping[str, Any]) -> list[Problem]:
    problems = _unknown(settings, _KEYS, "") + _not_bool(settings, ("enabled", "adversarial"), "")
    problems += _bad_rounds(settings, "")
    mode = settings.get("verificationMode", VERIFICATION_MODES[0])
    if mode not in VERIFICATION_MODES:
        problems.append(Problem("verificationMode", f"{mode!r} is unknown", f"use {one_of(VERIFICATION_MODES)}"))
    plan = settings.get("planBodyVerification", {})
    if not isinstance(plan, Mapping):
        fix = f"give some of {one_of(_PLAN_KEYS)}"
        return [*problems, Problem("planBodyVerification", f"{plan!r} is not a mapping", fix)]
    place = "planBodyVerification."
    problems += _unknown(plan, _PLAN_KEYS, place) + _not_bool(plan, ("enabled", "gating"), place)
    return problems + _bad_rounds(plan, place)


def _bad_parameters(mode: object, max_rounds: object, verification: object, gating: object) -> list[Problem]:
    problems = []
    for name, value, allowed in (("mode", mode, MODES), ("verification", verification, VERIFICATION_MODES)):
        if value is not None and value not in allowed:
            message = f"must be one of {one_of(allowed)}, got {value!r}{did_you_mean(value, allowed)}"
            problems.append(Problem(name, message, _OR_NONE))
    if max_rounds is not None and not _is_round_limit(max_rounds):
        low, high = ROUND_LIMITS
        problems.append(Problem("max_rounds", f"must be an integer from {low} to {high}, got {max_rounds!r}", _OR_NONE))
    if gating is not None and not isinstance(gating, bool):
        problems.append(Problem("gating", f"must be True or False, got {gating!r}", _OR_NONE))
    return problems


def _is_round_limit(value: object) -> bool:
    low, high = ROUND_LIMITS
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _unknown(settings: Mapping[str, Any], allowed: tuple[str, ...], place: str) -> list[Problem]:
    extra = [key for key in settings if key not in allowed]
    fix = f"use some of {one_of(allowed)}"
    return [Problem(f"{place}{key}", f"is not a setting{did_you_mean(key, allowed)}", fix) for key in extra]


def _not_bool(settings: Mapping[str, Any], keys: tuple[str, ...], place: str) -> list[Problem]:
    wrong = [key for key in keys if not isinstance(settings.get(key, True), bool)]
    return [
        Problem(f"{place}{key}", f"{settings[key]!r} is neither true nor false", "give true or false") for key in wrong
    ]


def _bad_rounds(settings: Mapping[str, Any], place: str) -> list[Problem]:
    rounds = settings.get("maxRounds", 1)
    if _is_round_limit(rounds):
        return []
    fix = "give a whole number from {} to {}".format(*ROUND_LIMITS)
    return [Problem(f"{place}maxRounds", f"{rounds!r} is out of range", fix)]


def _raise_if(problems: list[Problem]) -> None:
    if problems:
        raise SettingsError(problems)

"""The settings that a task type implies, and what overrides may change (rule B1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.settings import ConvergenceBlock, PlanBodyVerification
from verifyplan.protocol.vote import VERIFICATION_MODE_OF, VERIFICATION_MODES
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


def convergence_block(
    task_type: str = "", plan_verification: str = "", overrides: Mapping[str, Any] | None = None
) -> ConvergenceBlock:
    """The `convergence` settings of a cross run, from its task type and what a manifest overrides.

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
    settings = dict(overrides or {})
    _raise_if(_problems(settings))
    adversarial = bool(settings.get("adversarial", task_type in ADVERSARIAL_TASK_TYPES))
    mode = settings.get("verificationMode", VERIFICATION_MODE_OF["adversarial" if adversarial else "collaborative"])
    if adversarial and mode == "lightweight":
        fix = "drop verificationMode, or set adversarial to false"
        message = "'lightweight' cannot serve an adversarial run, whose workers must open the evidence"
        raise SettingsError(Problem("verificationMode", message, fix))
    max_rounds = settings.get("maxRounds", 1 if task_type == "requirements-discovery" else 2)
    if settings.get("effectiveMaxRounds", max_rounds) != max_rounds:
        message = f"{settings['effectiveMaxRounds']!r} is not maxRounds, which is {max_rounds}"
        raise SettingsError(Problem("effectiveMaxRounds", message, "set maxRounds alone: the other follows it"))
    plan = PlanBodyVerification(enabled=plan_verification.strip().lower() != "false", maxRounds=1, gating=True)
    plan.update(cast(PlanBodyVerification, settings.get("planBodyVerification", {})))
    return ConvergenceBlock(
        enabled=settings.get("enabled", True),
        adversarial=adversarial,
        maxRounds=max_rounds,
        effectiveMaxRounds=max_rounds,
        verificationMode=mode,
        planBodyVerification=plan,
    )


def note_unknown_task_type(task_type: str) -> str | None:
    """Say that a task type is none of the known ones, and which may have been meant; None for a known one or none.

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
        return [*problems, Problem("planBodyVerification", f"{plan!r} is no mapping", fix)]
    place = "planBodyVerification."
    problems += _unknown(plan, _PLAN_KEYS, place) + _not_bool(plan, ("enabled", "gating"), place)
    return problems + _bad_rounds(plan, place)


def _unknown(settings: Mapping[str, Any], allowed: tuple[str, ...], place: str) -> list[Problem]:
    extra = [key for key in settings if key not in allowed]
    return [Problem(f"{place}{key}", "is no setting", f"use some of {one_of(allowed)}") for key in extra]


def _not_bool(settings: Mapping[str, Any], keys: tuple[str, ...], place: str) -> list[Problem]:
    wrong = [key for key in keys if not isinstance(settings.get(key, True), bool)]
    return [Problem(f"{place}{key}", f"{settings[key]!r} is no yes or no", "give true or false") for key in wrong]


def _bad_rounds(settings: Mapping[str, Any], place: str) -> list[Problem]:
    rounds = settings.get("maxRounds", 1)
    low, high = ROUND_LIMITS
    if isinstance(rounds, int) and not isinstance(rounds, bool) and low <= rounds <= high:
        return []
    message = f"{rounds!r} is out of range"
    return [Problem(f"{place}maxRounds", message, f"give a whole number from {low} to {high}")]


def _raise_if(problems: list[Problem]) -> None:
    if problems:
        raise SettingsError(problems)

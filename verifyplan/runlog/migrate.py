"""Turn events of older versions into those of today, and say which rules decided an older run (rule E1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event_run import LOG_VERSION, RunStarted
from verifyplan.protocol.plan_rules import SHORT_FORMS
from verifyplan.version import RULES_VERSION, VERSION

Values = dict[str, Any]
Step = Callable[[Values], Values | None]
"""Turns the JSON values of one event into those of the next version; None drops the event."""


def _same(values: Values) -> Values:
    """Return the values as they are: versions 2 and 5 only add.

    Version 2: turns of a call, what a call cost, limits, repetitions; all have defaults. Version 5: `run-reopened`, and
    the limits of `run-resumed`, which have defaults.
    """
    return values


def _by_the_first_rules(values: Values) -> Values:
    """Version 3 says by which rules a run was decided; those of older logs are version 1."""
    return values | {"rules_version": 1} if values.get("type") == "run-started" else values


def _with_rules_as_a_value(values: Values) -> Values:
    """Version 4 holds the rules of a run as one value; those of older logs are neutral but for three fields."""
    inputs = values.get("inputs")
    if values.get("type") != "run-started" or not isinstance(inputs, dict):
        return values
    settings = inputs.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    if inputs.get("kind") == "plan":
        rules = {name: settings[name] for name in SHORT_FORMS if name in settings}
        kept = {name: value for name, value in settings.items() if name not in SHORT_FORMS}
        return values | {"inputs": inputs | {"settings": {"rules": rules, **kept}}}
    if inputs.get("kind") != "cross":
        return values
    rules = {
        "mode": "adversarial" if settings.get("adversarial") else "collaborative",
        "max_rounds": settings.get("effectiveMaxRounds", settings.get("maxRounds")),
        "missing_basis": inputs.get("missing_basis", "infer"),
    }
    kept = {name: value for name, value in inputs.items() if name != "missing_basis"}
    return values | {"inputs": {"rules": rules, **kept}}


STEPS: Mapping[int, Step] = {1: _same, 2: _by_the_first_rules, 3: _with_rules_as_a_value, 4: _same}
"""From each version to the next. To change the model, raise `LOG_VERSION`, add a step here, and keep a small log of
the version that was, in `tests/runlog/logs`."""

OLDEST_RESUMED = 3
"""The oldest version that can be resumed: later steps change only `run-started`, or only add, so events of today can
follow."""


def steps_from(version: object, place: str, steps: Mapping[int, Step] = STEPS, now: int = LOG_VERSION) -> list[Step]:
    """Return the steps that lead from a version to the present one, in order; LogError for an unknown version."""
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= now:
        fix = "read it with the verifyplan that wrote it, or a newer one"
        raise LogError(Problem(place, f"has version {version!r}; this verifyplan reads 1 to {now}", fix))
    return [steps[number] for number in range(version, now)]


def migrate(values: Values, steps: Sequence[Step]) -> Values | None:
    """Return an event's values after all steps; None where a step drops it.

    >>> migrate({"type": "run-started", "version": 1}, [lambda values: values | {"version": 2}])
    {'type': 'run-started', 'version': 2}
    """
    for step in steps:
        changed = step(values)
        if changed is None:
            return None
        values = changed
    return values


def rules_changed(started: RunStarted) -> str | None:
    """Return a sentence if other rules than today's decided a run, with the verifyplan that checks it; else None."""
    if started.rules_version == RULES_VERSION:
        return None
    return (
        f"the rules have changed: version {started.rules_version} decided this run, and verifyplan {VERSION} has "
        f"version {RULES_VERSION}; {writer_of(started)} checks it as it was"
    )


def writer_of(started: RunStarted) -> str:
    """Name the verifyplan that wrote a log."""
    version = started.versions.get("verifyplan")
    return f"verifyplan {version}" if version else "the verifyplan that wrote it"

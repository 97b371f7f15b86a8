"""All checks of the challenger, in the order in which they look."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verifyplan.agents.static.roles.checks import (
    backfill,
    calls,
    contradictions,
    dependents,
    duplicates,
    missing_checks,
    missing_files,
    missing_packages,
    new_routes,
    rule_conflicts,
    shell_lines,
    stale_claims,
    stale_facts,
    step_order,
    wrong_commands,
    wrong_symbols,
)
from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.scene import Scene

Check = Callable[[Scene], Iterable[Issue]]

CHECKS: dict[str, Check] = {
    "missing files": missing_files.check,
    "wrong symbols": wrong_symbols.check,
    "missing packages": missing_packages.check,
    "wrong commands": wrong_commands.check,
    "rule conflicts": rule_conflicts.check,
    "stale claims": stale_claims.check,
    "duplicates": duplicates.check,
    "stale facts": stale_facts.check,
    "calls": calls.check,
    "shell lines": shell_lines.check,
    "step order": step_order.check,
    "contradictions": contradictions.check,
    "dependents": dependents.check,
    "missing checks": missing_checks.check,
    "backfill": backfill.check,
    "new routes": new_routes.check,
}
"""Each check by what it finds."""


def issues(scene: Scene) -> list[Issue]:
    """What all checks find, in their order."""
    return [issue for check in CHECKS.values() for issue in check(scene)]

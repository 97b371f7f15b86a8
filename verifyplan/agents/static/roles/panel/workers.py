"""The panel's workers by name."""

from __future__ import annotations

from collections.abc import Callable

from verifyplan.agents.static.outcome import Outcome
from verifyplan.agents.static.roles.panel import countercase, recheck, reread
from verifyplan.agents.static.roles.panel.case import Case

JUDGES: dict[str, Callable[[Case], Outcome]] = {
    "panel-1": reread.judge,
    "panel-2": recheck.judge,
    "panel-3": countercase.judge,
}
"""Three ways to look at the same challenge."""

"""A program of `test_bounded`: read a hostile plan in every way, or be ended by its own alarm."""

from __future__ import annotations

import signal
from pathlib import Path

from verifyplan.documents import check, frame, plan_check
from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import parse_plan

LIMIT_S = 60
"""Far above what a linear reader needs, far below what these sizes took it by the square."""


def read(name: str) -> None:
    """Check a plan as it is and as the contract has it, and read it as a table, a plan check and free text."""
    signal.alarm(LIMIT_S)
    place = Path(name)
    for strict in (False, True):
        check(place, strict=strict)
    frame(place), plan_check(place), assess(parse_plan(place.read_text()))

"""A rule of the contracts, and a place where a document breaks it (rule D2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Rule:
    """One rule: its id, its severity, the rule of docs/protocol.md behind it, and what it asks, in one sentence."""

    id: str
    severity: Severity
    spec: str
    meaning: str


@dataclass(frozen=True, order=True)
class Violation:
    """A rule that a document breaks: where, what is wrong, and what to do.

    `lines` are all places of a rule that is broken so often that it is told once; empty for one place.

    >>> print(Violation("PLAN-01.md", 7, "plan/task-id", "error", "the task has no id", 'write id="01-01-T1"'))
    PLAN-01.md:7: error: the task has no id [plan/task-id]. Fix: write id="01-01-T1".
    """

    path: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.severity}: {self.message} [{self.rule}]. Fix: {self.fix}."

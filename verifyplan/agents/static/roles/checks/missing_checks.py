"""Plans that change code, data or a running system and never look whether it worked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import Severity

_LOOKS = re.compile(
    r"\btests?\b(?! (?:database|environment|account|user|data|shop|parcel)s?\b)|\b(?:py)?tests?\.|\bpytest\b|\bmake (?:[\w-]+ )*[\w-]*(?:test|check|verify)\b|\b(?:npm|yarn|pnpm) (?:run )?test|\bgo test\b|"
    r"\bcargo test\b|\bmvn\b|\bverif(?:y|ies|ied|ication)\b|\bby hand\b|\bmanual(?:ly)?\b|\bsmoke\b|\bassert\w*\b|\bQA\b|\bgreen\b|\bconfirm\b|\bcompare[sd]?\b|\bcount(?:s|ed)? (?:the|is|first|rows|of)\b|"
    r"\bmust (?:pass|match|equal|agree)\b|\bmake sure\b|\bacceptance\b|\bdry[ -]run\b|"
    r"(?:^|[.;:,] |\bthen |\band )\s*(?:[-*] |\d+[.)] )?(?:\[.\] )?(?:check|look|try|inspect|test|measure)\b",
    re.IGNORECASE,
)
_RISKY = re.compile(
    r"\b(?:deploy|production|prod|release|migrat\w+|delete|drop|token|auth\w*|permission|password|sign|signature|payment|charge|invoice|encrypt|billing|refund|cron|switch|flag|cut ?over|decode|verify_|rollout)\b",
    re.IGNORECASE,
)
_FEWEST = 4
_SOURCE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|kt|swift|sh|sql|tf|ya?ml)$")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue if the plan changes something and no line of a step tests it or looks at it.

    SIGNIFICANT where a step deploys, migrates, deletes, or works on access or money, else MINOR. Silent on plans of
    very few lines, and on plans that change no source file.
    """
    reading = scene.reading
    if len(reading.to_do) < _FEWEST or any(_LOOKS.search(line) for _, line in reading.to_do):
        return
    if any(_LOOKS.search(section.title) for section in scene.plan.sections):
        return
    changed = [one for one in reading.actions("file") if _SOURCE.search(one.name) and reading.block(one.line) is None and one.name.startswith(("scripts/", "bin/")) is False]
    if not changed:
        return
    risky = next(((at, found.group()) for at, line in reading.to_do if (found := _RISKY.search(line))), None)
    first = _changed_line(scene, [one.line for one in changed])
    severity: Severity = "SIGNIFICANT" if risky else "MINOR"
    line = scene.plan.line(first).strip()
    yield Issue(
        statement("unchecked", line[:160]),
        first,
        "No step of the plan runs a test, or looks in another way at what the change does.",
        severity,
        "HIGH" if risky else "MED",
        scenario="A mistake in it is first seen by those who use it.",
        alternative="Add a test of the change, and a look at its effect before it goes on.",
    )


def _changed_line(scene: Scene, lines: list[int]) -> int:
    """The riskiest changed line: the first that names something risky, else the first."""
    return next((at for at in lines if _RISKY.search(scene.plan.line(at))), lines[0])

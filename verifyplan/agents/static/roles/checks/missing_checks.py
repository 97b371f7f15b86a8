"""Plans that change code, data or a running system and never look whether it worked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import Severity

LOOKS = re.compile(
    r"\btests?\b(?! (?:database|environment|account|user|data|shop|parcel)s?\b)|\b(?:py)?tests?\.|\bpytest\b"
    r"|\bmake (?:[\w-]+ )*[\w-]*(?:test|check|verify)\b|\b(?:npm|yarn|pnpm) (?:run )?test|\bgo test\b|"
    r"\bcargo test\b|\bmvn\b|\bverif(?:y|ies|ied|ication)\b|\bby hand\b|\bmanual(?:ly)?\b|\bsmoke\b"
    r"|\bassert\w*\b|\bQA\b|\bgreen\b|\bconfirm\b|\bcompare[sd]?\b|\bcount(?:s|ed)? (?:the|is|first|rows|of)\b"
    r"|"
    r"\bmust (?:pass|match|equal|agree)\b|\bmake sure\b|\bacceptance\b|\bdry[ -]run\b|"
    r"(?:^|[.;:,] |\bthen |\band )\s*(?:[-*] |\d+[.)] )?(?:\[.\] )?(?:check|look|try|inspect|test|measure)\b",
    re.IGNORECASE,
)
_RISKY = re.compile(
    r"\b(?:deploy|production|prod|release|migrat\w+|delete|drop|token|auth\w*|permission|password|sign"
    r"|signature|payment|charge|invoice|encrypt|billing|refund|cron|switch|flag|cut ?over|decode|verify_"
    r"|rollout)\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:was|were|had|did|told|went|came|entered|reported|happened|has been no|have been|today|by hand,? "
    r"(?:before|today)|are made)\b",
    re.IGNORECASE,
)
"""Words of a sentence that tells what was, and so is no look that the plan takes."""
_FEWEST = 4
_ANY = re.compile(
    r"\b(?:all tests|every test|full (?:test )?suite|CI|pipeline|by hand|manual\w*|smoke|all jobs)\b", re.IGNORECASE
)
_AREAS = (
    (
        (".py",),
        re.compile(
            r"\bpytest\b|\bmake (?:[\w-]+ )*test\b|\btests?/\S*\.py\b|\btox\b|\bnox\b|\bunittest\b", re.IGNORECASE
        ),
    ),
    (
        (".go",),
        re.compile(
            r"\bgo test\b|_test\.go\b|\b[\w-]*(?:poller|go|worker)-test\b|\btest-(?:go|worker|poller)\b", re.IGNORECASE
        ),
    ),
    (
        (".ts", ".tsx", ".js", ".jsx"),
        re.compile(
            r"\b(?:npm|yarn|pnpm) (?:run )?test|\bvitest\b|\bjest\b|\.(?:test|spec)\.[jt]sx?\b|\b(?:frontend"
            r"|web|ui|js)-test\b|\btest-(?:frontend|web|ui|js)\b|\bbrowser\b|\bpage\b",
            re.IGNORECASE,
        ),
    ),
)
_SOURCE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|kt|swift|sh|sql|tf|ya?ml)$")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue if the plan changes something and no line of a step tests it or looks at it.

    SIGNIFICANT where a step deploys, migrates, deletes, or works on access or money, else MINOR. Silent on plans of
    very few lines, and on plans that change no source file.
    """
    reading = scene.reading
    if len(reading.to_do) < _FEWEST:
        return
    if any(LOOKS.search(line) and not PAST.search(line) for _, line in reading.to_do):
        yield from by_area(scene)
        return
    if any(LOOKS.search(section.title) for section in scene.plan.sections):
        return
    changed = [
        one
        for one in reading.actions("file")
        if _SOURCE.search(one.name)
        and reading.block(one.line) is None
        and one.name.startswith(("scripts/", "bin/")) is False
    ]
    if not changed:
        return
    risky = next(((at, found.group()) for at, line in reading.to_do if (found := _RISKY.search(line))), None)
    first = _changed_line(scene, [one.line for one in changed])
    severity: Severity = "SIGNIFICANT" if risky else "MINOR"
    line = scene.reading.sentence(first).text
    yield Issue(
        statement("unchecked", line[:160]),
        first,
        "No step of the plan runs a test, or looks in another way at what the change does.",
        severity,
        "HIGH" if risky else "MED",
        scenario="A mistake in it is first seen by those who use it.",
        alternative="Add a test of the change, and a look at its effect before it goes on.",
    )


def by_area(scene: Scene) -> Iterator[Issue]:
    """An issue if code of one language changes and only another language's tests are run.

    Only where the repository has tests of that language, and no line speaks of tests or looks in general.
    """
    reading = scene.reading
    lines = [line for _, line in reading.to_do]
    if any(_ANY.search(line) for line in lines):
        return
    for ends, evidence in _AREAS:
        changed = [
            one
            for one in reading.actions("file")
            if one.name.endswith(ends)
            and one.intent != "use"
            and reading.block(one.line) is None
            and not re.search(r"test|spec", one.name)
        ]
        tested = any(path.endswith(ends) and re.search(r"test|spec", path) for path in scene.repository.files)
        others = any(other.search(line) for own, other in _AREAS if own != ends for line in lines)
        if changed and tested and others and not any(evidence.search(line) for line in lines):
            line = changed[0].line
            yield Issue(
                statement("unchecked", scene.reading.sentence(line).text[:160]),
                line,
                "The tests that the plan runs are of another language, and nothing looks at what this change does.",
                "SIGNIFICANT",
                "MED",
                scenario="A mistake in it is first seen by those who use it.",
                alternative="Run the tests that there are for it, with a case for the change.",
            )


def _changed_line(scene: Scene, lines: list[int]) -> int:
    """The riskiest changed line: the first that names something risky, else the first."""
    return next((at for at in lines if _RISKY.search(scene.reading.sentence(at).text)), lines[0])

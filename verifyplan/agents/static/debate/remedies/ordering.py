"""Steps that use what only a later step makes."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines, put_before
from verifyplan.agents.static.debate.remedies.case import Case

_COMMAND = re.compile(
    r"`([^`\n]*\b(?:migrate|dbmate up|alembic upgrade|flyway migrate)(?![\w-])[^`\n]*)`", re.IGNORECASE
)
_PLACE = re.compile(r"\b(production|staging)\b", re.IGNORECASE)


def bring_forward(case: Case) -> Lines | None:
    """The migration that a later item runs, run in front of the item that needs it, too: there it finds nothing to do.

    Other orders are left: whether a step moves, or what it uses, is for a person to decide.
    """
    later = next((one for one in case.finding.beside if one.path == case.scene.name), None)
    at = later.first if later else 0
    text = case.lines[at - 1] if 0 < at <= len(case.lines) else ""
    command, place = _COMMAND.search(text[:1_000]), _PLACE.search(text[:1_000])
    if command is None or place is None:
        return None
    said = (
        f"{place[1].lower()}: `{command[1]}`, ahead of the release: the next item needs what it creates, "
        "and the later run finds nothing left to do"
    )
    return put_before(case.lines, case.reading, case.finding.line, said)

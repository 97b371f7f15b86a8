"""What the plan itself marks as open, as questions that the resolver can answer by a search (document 000 §2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verifyplan.agents.static.roles.challenges import names_in
from verifyplan.agents.static.roles.issues import Issue, Place, cited, quoted
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.documents import assess
from verifyplan.protocol.plan_call import RaisedUnknown
from verifyplan.protocol.research import UnknownType

MOST = 5
"""Questions in one iteration."""

_DECISION = re.compile(r"\b(?:decid|decision|agree|chose|approv|policy|convention)\w*", re.IGNORECASE)
_OUTSIDE = re.compile(r"\b(?:api|endpoint|webhook|sdk|rate limit|service|provider|third[- ]party)\b", re.IGNORECASE)
_OLD = re.compile(r"\b(?:version|deprecat\w+|still|latest|up to date|supports?|since)\b", re.IGNORECASE)


def unknowns(scene: Scene, raised: Sequence[Issue]) -> list[RaisedUnknown]:
    """The lines that the plan marks as open, one question each, in the order of the plan; at most 5.

    What was asked before is not asked again. `affects` names a challenge of the same answer by its position.
    """
    asked = {unknown.description for unknown in scene.request.unknowns}
    found = (question for question in _questions(scene, raised) if question.description not in asked)
    return list(found)[:MOST]


def _questions(scene: Scene, raised: Sequence[Issue]) -> Iterator[RaisedUnknown]:
    for sign in assess(scene.plan).found.get("unknown", ()):
        line = scene.reading.sentence(sign.line, sign.word).text
        at = next((n for n, issue in enumerate(raised, 1) if issue.line == sign.line), None)
        yield RaisedUnknown(
            description=f"Does it hold what {cited(Place('', sign.line), scene.name)} leaves open: {quoted(line)}",
            type=_type(line),
            affects=f"#{at}" if at else None,
            suggested_query=_query(line),
        )


def _type(line: str) -> UnknownType:
    if any("/" in name and plain(name) for name in names_in(line)):
        return "FILE_MISSING"
    if _DECISION.search(line):
        return "PRIOR_DECISION"
    if _OUTSIDE.search(line):
        return "API_BEHAVIOR"
    return "STALE_KNOWLEDGE" if _OLD.search(line) else "INTEGRATION_UNKNOWN"


def _query(line: str) -> str:
    """The first name in backticks, else the rarest-looking word: what the resolver reads or searches."""
    names = names_in(line)
    if names:
        return names[0] if "/" in names[0] else re.escape(names[0])
    words = sorted(re.findall(r"[A-Za-z][\w-]{4,}", line), key=lambda word: (-_rare(word), -len(word)))
    return re.escape(words[0]) if words else ""


def _rare(word: str) -> int:
    return int("_" in word) + int(any(letter.isupper() for letter in word[1:]))

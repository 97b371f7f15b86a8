"""Whether something holds, by the word that a report says it with: VERIFIED, PASS, FAILED, NEEDS HUMAN, OVERRIDE."""

from __future__ import annotations

import re
from typing import Literal

Outcome = Literal["passed", "failed", "human", "override"]
"""What a status cell says: it holds, it does not, a person must look, a person let it pass."""

_WORDS: dict[Outcome, str] = {
    "passed": "verified pass passed passing done ok yes present wired satisfied complete completed met protected"
    " covered connected working works",
    "failed": "failed fail failing missing partial partially skipped stub broken orphaned no not gap gaps blocked"
    " unwired unverified unprotected uncovered absent incomplete regressed regression error unmet",
    "human": "human needs uncertain manual unclear pending",
    "override": "override overridden waived",
}
_MEANT: dict[str, Outcome] = {word: name for name, meant in _WORDS.items() for word in meant.split()}
_SIGNS: dict[str, Outcome] = {
    **dict.fromkeys("✓✔✅☑", "passed"),
    **dict.fromkeys("✗✘❌✖❎", "failed"),
    **dict.fromkeys("?⚠❓", "human"),
}
_FIRST_WORD = re.compile(r"[a-z]+")


def outcome(status: str) -> Outcome | None:
    """What a status says: by its first word, or by its sign where it has no word; None where neither is known.

    >>> outcome("✓ VERIFIED"), outcome("NOT_WIRED"), outcome("? UNCERTAIN"), outcome("❌"), outcome("blue")
    ('passed', 'failed', 'human', 'failed', None)
    """
    word = _FIRST_WORD.search(status[:200].casefold())
    if word:
        return _MEANT.get(word.group())
    return next((_SIGNS[sign] for sign in status if sign in _SIGNS), None)

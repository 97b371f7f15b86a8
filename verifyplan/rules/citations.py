"""What counts as citing a place: `path.ext:12`, `line 12`, `L12` (SPEC B4, B7)."""

from __future__ import annotations

import re

CITATION = r"[\w./\\-]*[\w-]\.[A-Za-z]\w*:\d+|\bline \d+\b|\bL\d+\b"
"""SPEC B7's pattern of a cited location."""

_CITATION = re.compile(CITATION)


def cites_location(text: str | None) -> bool:
    """Whether `text` names a place that a reader could open; None names none.

    >>> cites_location("src/auth/login.ts:48 already validates"), cites_location("the check is missing")
    (True, False)
    """
    return text is not None and _CITATION.search(text) is not None

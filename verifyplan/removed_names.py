"""Names that were removed, and what to use instead; asking for one says so, and CHANGELOG.md has the same table."""

from __future__ import annotations

REMOVED: dict[str, str] = {
    "ppi": 'use corrected_rate(..., labels="random"), whose default method it is',
}
"""What to use instead of each name that went, as the end of a sentence."""

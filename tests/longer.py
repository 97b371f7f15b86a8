"""How much of what tests repeat is repeated: a part by `make test`, all by `make test-long`."""

from __future__ import annotations

import os

LONG = os.environ.get("VERIFYPLAN_TESTS") == "long"
"""Whether everything is repeated as often as it was ever useful; set by `make test-long`, read only here."""

PART = 4
"""One in so many random examples is tried where not everything is."""


def examples(all_of_them: int) -> int:
    """Return how many random examples a heavy property is tried on."""
    return all_of_them if LONG else max(1, all_of_them // PART)

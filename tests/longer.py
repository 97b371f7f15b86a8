"""How much of what tests repeat is repeated: a part by `make test`, all by `make test-long`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

LONG = os.environ.get("VERIFYPLAN_TESTS") == "long"
"""Whether everything is repeated as often as it was ever useful; set by `make test-long`, read only here."""

PICTURES = LONG or os.environ.get("VERIFYPLAN_PICTURES") != "none"
"""Whether tests of notebooks and widgets leave pictures in out/browser/: with `make browser`, not with `make test`."""

PART = 4
"""One in so many random examples is tried where not everything is."""


def examples(all_of_them: int, every: int = PART) -> int:
    """Return how many random examples a heavy property is tried on: all, or one in `every` of them."""
    return all_of_them if LONG else max(1, all_of_them // every)


def part(items: Sequence[Any], every: int, offset: int = 0) -> Sequence[Any]:
    """Return each item, or (where not everything is tried) one in `every` of them, from `offset` on."""
    return items if LONG else items[offset % every :: every]

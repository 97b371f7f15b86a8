"""Child processes of tests: where they find the package of this checkout and the helpers of its tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the checkout on the path and whatever else is wanted."""
    return os.environ | {"PYTHONPATH": str(ROOT)} | more

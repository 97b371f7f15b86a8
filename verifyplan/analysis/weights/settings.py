"""Settings of the analyses of weights: what is out of range, as problems to be told together."""

from __future__ import annotations

from numbers import Integral

from verifyplan.errors import Problem
from verifyplan.text import short_repr

MAX_FLOAT = 1e300
"""What is beyond this is taken for infinite."""


def within(name: str, value: object, above: float, most: float | None = None) -> list[Problem]:
    """A problem unless `value` is a number above `above` and up to `most` (None: whatever a float can hold)."""
    number = int(value) if isinstance(value, Integral) else value
    if isinstance(number, int | float) and not isinstance(value, bool) and above < number <= (most or MAX_FLOAT):
        return []
    upper = "" if most is None else f" and up to {most:g}"
    return [Problem(name, f"{short_repr(value)} is out of range", f"give a number above {above:g}{upper}")]


def whole(name: str, value: object, least: int, most: int = 10**9) -> list[Problem]:
    """A problem unless `value` is a whole number from `least` to `most`."""
    if isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return []
    return [Problem(name, f"{short_repr(value)} is out of range", f"give a whole number from {least} to {most}")]

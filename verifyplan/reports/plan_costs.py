"""What a plan run is expected to cost in tokens, by team and iterations (rule A12, document 002)."""

from __future__ import annotations

from typing import NamedTuple

from verifyplan.protocol.records import TeamMode
from verifyplan.text import counted


class Tokens(NamedTuple):
    """Tokens of a whole run, in and out."""

    typical: int
    worst: int


TRIVIAL = Tokens(2_000, 2_000)

EXPECTED: dict[TeamMode, dict[int, Tokens]] = {
    "base": {1: Tokens(45_000, 55_000), 3: Tokens(95_000, 150_000)},
    "scaled": {1: Tokens(70_000, 85_000), 3: Tokens(150_000, 215_000)},
}
"""By team and number of iterations; two iterations have no line there."""


def expected(team: TeamMode | None, iterations: int) -> str:
    """What document 002 expects of a scenario, in words; None is the team of a trivial plan.

    Two iterations lie between its lines; of more than three, and of none, it says nothing.

    >>> expected("base", 2)
    'a base team with 2 iterations typically lies between 45K and 95K tokens, at worst between 55K and 150K'
    >>> expected(None, 0)
    'a trivial plan typically takes 2K tokens, at worst 2K'
    """
    if team is None:
        return f"a trivial plan typically takes {_short(TRIVIAL.typical)} tokens, at worst {_short(TRIVIAL.worst)}"
    lines, scenario = EXPECTED[team], f"a {team} team with {counted(iterations, 'iteration')}"
    if line := lines.get(iterations):
        return f"{scenario} typically takes {_short(line.typical)} tokens, at worst {_short(line.worst)}"
    if iterations == 2:
        low, high = lines[1], lines[3]
        typical = f"between {_short(low.typical)} and {_short(high.typical)} tokens"
        return f"{scenario} typically lies {typical}, at worst between {_short(low.worst)} and {_short(high.worst)}"
    return f"there is no expectation for {scenario}"


def worst(team: TeamMode | None, iterations: int) -> int | None:
    """The most that is expected of a scenario; None where nothing is.

    >>> worst("base", 2), worst("scaled", 7)
    (150000, None)
    """
    if team is None:
        return TRIVIAL.worst
    line = EXPECTED[team].get(3 if iterations == 2 else iterations)
    return line.worst if line else None


def _short(tokens: int) -> str:
    return f"{tokens // 1000}K"

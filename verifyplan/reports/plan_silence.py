"""What a run is silent about: that nothing was looked up, and destructive lines that nobody challenged (rule A13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verifyplan.protocol.event_plan import SignFound
from verifyplan.reports.plan_parts import cited_lines
from verifyplan.reports.plan_scores import nothing_seen
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

NO_LOOK_UP = "no look-up was made: in no dimension was anything looked at"
SHOWN_WORDS, SHOWN_RANGES = 8, 8
LOSSES = {
    *("annihilate", "delete", "demolish", "destroy", "drop", "erase", "expunge", "mkfs", "nuke", "obliterate"),
    *("overwrite", "purge", "revoke", "rm", "rmdir", "rmtree", "shred", "truncate", "unlink", "wipe"),
}
"""The orders after which something is gone; other signs of destruction only keep a plan from being trivial."""


def silences(state: PlanState) -> Iterator[str]:
    """Say what stands before all else in a report: that no look-up was made, and the destructive lines to read."""
    if nothing_seen(state):
        yield NO_LOOK_UP
    if words := unread(state):
        kinds = list(dict.fromkeys(one_line(found.word, 40) for found in words))
        more = f" and {len(kinds) - SHOWN_WORDS} more" if len(kinds) > SHOWN_WORDS else ""
        named = f"{lines_of(words)}: {', '.join(kinds[:SHOWN_WORDS])}{more}"
        count = f"{len(words):,} {'word' if len(words) == 1 else 'words'} of destruction"
        pronoun = ("it", "this line") if len({found.line for found in words}) == 1 else ("them", "these lines")
        yield f"{count} ({named}) and no agent raised anything about {pronoun[0]}: read {pronoun[1]} yourself first"


def unread(state: PlanState) -> list[SignFound]:
    """Return the `LOSSES` that a plan with PROCEED orders on lines that no challenge cites."""
    if state.assessed is None or state.outcome is None or state.outcome.verdict != "PROCEED":
        return []
    cited = {line for name in state.raised for line in cited_lines(state, name)}
    signs = state.assessed.found.get("destruction", ())
    return [found for found in signs if found.word.lower() in LOSSES and found.line not in cited]


def lines_of(words: Iterable[SignFound]) -> str:
    """Name the lines of words, adjacent ones as a range.

    >>> lines_of([SignFound(word="rm", line=line) for line in (9, 3, 4, 4)])
    'lines 3-4, 9'
    """
    ranges: list[list[int]] = []
    for line in sorted({found.line for found in words}):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    named = [f"{first}" if first == last else f"{first}-{last}" for first, last in ranges[:SHOWN_RANGES]]
    more = f" and {counted(len(ranges) - SHOWN_RANGES, 'more place')}" if len(ranges) > SHOWN_RANGES else ""
    return f"line{'s' if len(ranges) > 1 or '-' in named[0] else ''} {', '.join(named)}{more}"

"""Say in words what calls used, in tokens and dollars, and what a plan run is expected to use (rule A12)."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from verifyplan.analysis.cost import TOKENS, tokens
from verifyplan.frames.run_notes import lost_words
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.call import Usage
from verifyplan.protocol.records import TeamMode
from verifyplan.text import counted, listed

UNKNOWN_USAGE = "unknown usage"
"""What a reply used whose usage is missing or cannot be read."""
MIN_SHOWN_DOLLARS = Decimal("0.0001")
MAX_EXACT_DOLLARS = 10**9
"""From here on, dollars are rounded to three digits: nobody paid them."""


def dollars(cost: Decimal) -> str:
    """Return US dollars: with cents from one dollar on, with four digits below.

    >>> [dollars(Decimal(text)) for text in ("0", "0.0000004", "0.01234", "1234.567", "1e12")]
    ['$0', 'under $0.0001', '$0.0123', '$1,234.57', '$1.00e+12']
    """
    if not cost:
        return "$0"
    if cost < MIN_SHOWN_DOLLARS:
        return f"under ${MIN_SHOWN_DOLLARS}"
    return f"${cost:.2e}" if cost >= MAX_EXACT_DOLLARS else f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def usage_text(usage: Usage) -> str:
    """Return tokens in and out, those of a cache among those in, and dollars where they are known.

    >>> usage_text(Usage(input_tokens=4, cache_read_tokens=1000, cache_write_tokens=200, output_tokens=88))
    '1,204 in (1,000 cached, 200 put in a cache) + 88 out tokens'
    >>> usage_text(Usage(input_tokens=1)), usage_text(Usage(cost=Decimal("0.5")))
    ('1 in + 0 out tokens', '0 in + 0 out tokens, $0.5000')
    >>> usage_text(Usage(uncounted=1)), usage_text(Usage(input_tokens=9, uncounted=2))
    ('unknown usage', '9 in + 0 out tokens, and unknown usage (2 times)')
    """
    if usage.uncounted and not usage.total:
        return UNKNOWN_USAGE
    parts = [f"{usage.cache_read_tokens:,} cached"] if usage.cache_read_tokens else []
    parts += [f"{usage.cache_write_tokens:,} put in a cache"] if usage.cache_write_tokens else []
    cached = f" ({', '.join(parts)})" if parts else ""
    cost = f", {dollars(usage.cost)}" if usage.cost is not None else ""
    cost += f", and {UNKNOWN_USAGE} ({counted(usage.uncounted, 'time')})" if usage.uncounted else ""
    return f"{usage.total_input:,} in{cached} + {usage.output_tokens:,} out tokens{cost}"


class ExpectedTokens(NamedTuple):
    """Tokens of a whole run, in and out."""

    typical: int
    worst: int


TRIVIAL = ExpectedTokens(2_000, 2_000)
EXPECTED: dict[TeamMode, dict[int, ExpectedTokens]] = {
    "base": {1: ExpectedTokens(45_000, 55_000), 3: ExpectedTokens(95_000, 150_000)},
    "scaled": {1: ExpectedTokens(70_000, 85_000), 3: ExpectedTokens(150_000, 215_000)},
}
"""By team and number of iterations; two iterations lie between the entries, more than three have none."""


def expected_usage(team: TeamMode | None, iterations: int) -> str:
    """Say what a run of a team and a number of iterations is expected to use; None is the team of a trivial plan.

    >>> expected_usage("base", 2)
    'a base team with 2 iterations typically lies between 45K and 95K tokens, at worst between 55K and 150K'
    >>> expected_usage(None, 0)
    'a trivial plan typically takes 2K tokens, at worst 2K'
    """
    if team is None:
        scenario, row = "a trivial plan", TRIVIAL
    else:
        scenario, rows = f"a {team} team with {counted(iterations, 'iteration')}", EXPECTED[team]
        if iterations == 2:
            low, high = rows[1], rows[3]
            typical = f"between {low.typical // 1000}K and {high.typical // 1000}K tokens"
            worst = f"between {low.worst // 1000}K and {high.worst // 1000}K"
            return f"{scenario} typically lies {typical}, at worst {worst}"
        if iterations not in rows:
            return f"there is no expectation for {scenario}"
        row = rows[iterations]
    return f"{scenario} typically takes {row.typical // 1000}K tokens, at worst {row.worst // 1000}K"


def max_expected_tokens(team: TeamMode | None, iterations: int) -> int | None:
    """Return the most tokens that are expected; None where nothing is.

    >>> max_expected_tokens("base", 2), max_expected_tokens("scaled", 7)
    (150000, None)
    """
    if team is None:
        return TRIVIAL.worst
    row = EXPECTED[team].get(3 if iterations == 2 else iterations)
    return row.worst if row else None


def cost_words(runs: RunSet) -> str:
    """Return what runs cost, in US dollars, or that no price is known; blank where no model was asked.

    Booked are the replies on disk, those that a reopening superseded included. Requests whose answer was lost may be
    billed, too, each by the estimate of its turn.

    A reply whose usage is missing or cannot be read is in no sum, and is said: the cost is then unknown.

    >>> cost_words(RunSet())
    ''
    """
    used = tokens(runs.calls)
    if runs.turns.empty and not used.any():
        return ""
    uncounted = int((runs.turns["status"].eq("completed") & runs.turns["input_tokens"].isna()).sum())
    summed = usage_text(Usage(**{name: int(runs.calls[name].sum()) for name in TOKENS}, uncounted=uncounted))
    alone = runs.calls[runs.calls["n_turns"].fillna(0).eq(0)]
    unpriced = [
        model
        for table in (runs.turns, alone)
        for model in table.loc[tokens(table).gt(0) & table["cost"].isna(), "model"].dropna().unique()
    ]
    named = f" for {listed(unpriced)}" if unpriced else ""
    unknown = [f"no price is known{named} (prices= or --prices gives one)"] if unpriced or not uncounted else []
    if uncounted:
        requests = counted(uncounted, "request")
        unknown.append(f"the usage of {requests} is missing or cannot be read, so that no limit of it can be kept")
    booked = runs.runs["cost"].sum(min_count=1)
    lost = lost_words(runs.runs, runs.attempts)
    if not booked and lost and not uncounted:
        words = f"cost: nothing booked, for {summed}"
    elif booked != booked:
        words = f"cost: unknown, {' and '.join(unknown)}; {summed}" if uncounted else f"cost: {unknown[0]}; {summed}"
    else:
        also = f"; unknown beside it, {' and '.join(unknown)}" if uncounted else f"; {unknown[0]}" if unpriced else ""
        words = f"cost: {dollars(Decimal(str(booked)))} booked, in US dollars, for {summed}{also}"
    return "; beside it, ".join(filter(None, (words, lost)))

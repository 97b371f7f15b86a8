"""Say in a line what the models of runs cost: what was booked, what may be billed beside it, tokens (rule A12)."""

from __future__ import annotations

from decimal import Decimal

from verifyplan.analysis.cost import TOKENS, tokens
from verifyplan.frames.run_notes import lost_words
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.call import Usage
from verifyplan.reports.usage import dollars, usage_text
from verifyplan.text import listed


def cost_words(runs: RunSet) -> str:
    """Return what runs cost, in US dollars, or that no price is known; blank where no model was asked.

    Booked are the replies on disk, those that a reopening superseded included. Requests whose answer was lost may be
    billed, too, each by the estimate of its turn.

    >>> cost_words(RunSet())
    ''
    """
    used = tokens(runs.calls)
    if runs.turns.empty and not used.any():
        return ""
    summed = Usage(**{name: int(runs.calls[name].sum()) for name in TOKENS})
    unpriced = runs.calls.loc[used.gt(0) & runs.calls["cost"].isna(), "model"].dropna().unique()
    unknown = f"no price is known{f' for {listed(unpriced)}' if len(unpriced) else ''} (prices= or --prices gives one)"
    booked = runs.runs["cost"].sum(min_count=1)
    if booked != booked:
        words = f"cost: {unknown}; {usage_text(summed)}"
    else:
        also = f"; {unknown}" if len(unpriced) else ""
        words = f"cost: {dollars(Decimal(str(booked)))} booked, in US dollars, for {usage_text(summed)}{also}"
    return "; beside it, ".join(filter(None, (words, lost_words(runs.runs, runs.attempts))))

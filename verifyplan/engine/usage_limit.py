"""Count the usage of a run, booked and perhaps billed, and hold calls back that could pass its limits (rule A12)."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import Attempt, CallFailed, CallReplied, TurnReplied, TurnSent
from verifyplan.protocol.settings import Limits
from verifyplan.rules.going_on import CANNOT_BE_KEPT


class UsageLimit:
    """Adds up the usage of a run and reserves that of what is under way, so that limits hold at any concurrency.

    Turns count at once, calls without turns when they end, attempts whose answer is lost by the estimate of their turn.
    What is sent reserves its estimate first (`reserve`) and waits, in order, where that does not fit beside what is
    used and reserved, until it fits or nothing else is under way. So a run uses at most one estimate more than its
    limit, if estimates are not too low. What nobody estimated reserves the largest use seen so far; before any was
    seen, it goes alone.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent, self.perhaps = limits, Usage(), Usage()
        """What was booked, and what may be billed beside it: attempts that were sent and whose answer is lost."""
        self._calls_in_turns: set[str] = set()
        self._estimates: dict[str, Usage] = {}
        self._uncounted, self._unpriced = "", False
        self._largest: Usage | None = None
        self._reserved: dict[str, Usage | None] = {}
        self._in_order, self._changed = asyncio.Lock(), asyncio.Event()

    def add(self, event: Event) -> None:
        """Add the usage of an event, if it has any."""
        match event:
            case TurnSent():
                if event.estimate is not None:
                    self._estimates[event.call_id] = event.estimate
            case Attempt() if event.perhaps_billed:
                self.perhaps += self._estimates.get(event.call_id, Usage())
            case TurnReplied():
                self._calls_in_turns.add(event.of_call)
                self._estimates.pop(event.call_id, None)
                self._book(event)
                self._unpriced |= event.usage.cost is None
            case CallReplied() | CallFailed():
                if event.call_id in self._calls_in_turns:
                    self._calls_in_turns.remove(event.call_id)  # no other event of it follows
                else:
                    self._book(event)

    def _book(self, event: TurnReplied | CallReplied | CallFailed) -> None:
        """Add the usage of an event; that of a failed call says how much others may use only if it has any."""
        usage = event.usage
        self.spent += usage
        if usage.uncounted:
            self._uncounted = self._uncounted or event.call_id
        if event.type != "call-failed" or usage.total:
            self._largest = _larger(usage, self._largest or Usage())

    def refusal(self, next_call: str) -> str:
        """Return why nothing more may be sent; empty if it may (rule A12).

        A limit that cannot be kept is as good as used up: a reply's usage cannot be read, or has no price.
        """
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        limit = "max_tokens" if tokens is not None else "max_cost" if cost is not None else ""
        used, perhaps = self.spent.total + self.perhaps.total, ""
        if tokens is not None and used >= tokens:
            perhaps = f" ({self.perhaps.total:,} of them perhaps, for lost answers)" if self.perhaps.total else ""
            return f"max_tokens: {used:,} tokens of {tokens:,} were used{perhaps} before {next_call} was called"
        if limit and self._uncounted:
            why = f"the usage of {self._uncounted} is missing or cannot be read, so what was used is unknown"
            return f"{limit} {CANNOT_BE_KEPT}: {why}; {next_call} was not called"
        if cost is not None and self._unpriced:
            return f"max_cost {CANNOT_BE_KEPT}: a reply has no price; {next_call} was not called"
        spent, billed = self.spent.cost or Decimal(0), self.perhaps.cost or Decimal(0)
        if cost is not None and spent + billed >= cost:
            perhaps = f" ({billed:.4f} of them perhaps, for lost answers)" if billed else ""
            return f"max_cost: {spent + billed:.4f} dollars of {cost} were spent{perhaps} before {next_call} was called"
        return ""

    async def reserve(self, name: str, estimate: Usage | None) -> str:
        """Reserve the estimate of what is about to be sent, when there is room for it; return why there is none.

        Reservations are made in the order of these calls. `release` ends one, once its usage is added.
        """
        if self.limits.max_tokens is None and self.limits.max_cost is None:
            return ""
        async with self._in_order:
            while True:
                if refusal := self.refusal(name):
                    return refusal
                if not self._reserved or self._fits(estimate):
                    self._reserved[name] = estimate
                    return ""
                self._changed.clear()
                await self._changed.wait()

    def release(self, name: str) -> None:
        """End a reservation, if there is one."""
        self._reserved.pop(name, None)
        self._changed.set()

    def _fits(self, estimate: Usage | None) -> bool:
        """Return whether an estimate fits beside all that is used and reserved; an unknown one does not."""
        known = [self._largest if usage is None else usage for usage in (*self._reserved.values(), estimate)]
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        if any(usage is None or (cost is not None and usage.total and usage.cost is None) for usage in known):
            return False
        parts = [self.spent, self.perhaps, *(usage for usage in known if usage is not None)]
        fits = tokens is None or sum(usage.total for usage in parts) <= tokens
        return fits and (cost is None or sum((usage.cost or Decimal(0) for usage in parts), Decimal(0)) <= cost)


def _larger(one: Usage, other: Usage) -> Usage:
    """Return a usage of the larger number of tokens and the larger cost of both."""
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(input_tokens=max(one.total, other.total), cost=max(costs, default=None))

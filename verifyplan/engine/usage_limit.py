"""Count the usage of a run, and say when it has used what it may use (rule A12)."""

from __future__ import annotations

from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import CallFailed, CallReplied, TurnReplied
from verifyplan.protocol.settings import Limits


class UsageLimit:
    """Adds up the usage of a run, turns at once and calls without turns when they end, and says when it is used up.

    Calls under way are not counted yet: calls that are made at once may together go beyond a limit by what they use.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent = limits, Usage()
        self._calls_in_turns: set[str] = set()
        self._uncounted = self._unpriced = False

    def add(self, event: Event) -> None:
        """Add the usage of an event, if it has any."""
        if isinstance(event, TurnReplied):
            self._calls_in_turns.add(event.of_call)
            self.spent += event.usage
            self._uncounted |= not event.usage.total
            self._unpriced |= event.usage.cost is None
        elif isinstance(event, CallReplied | CallFailed):
            if event.call_id in self._calls_in_turns:
                self._calls_in_turns.remove(event.call_id)  # no other event of it follows
            else:
                self.spent += event.usage

    def refusal(self, next_call: str) -> str:
        """Return why nothing more may be sent; empty if it may (rule A12).

        A limit that cannot be kept, as a model's reply came without counts or has no price, is as good as used up.
        """
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        if tokens is not None and self.spent.total >= tokens:
            return f"max_tokens: {self.spent.total:,} tokens of {tokens:,} were used before {next_call} was called"
        if tokens is not None and self._uncounted:
            return f"max_tokens cannot be kept: the endpoint counts no tokens; {next_call} was not called"
        if cost is not None and self._unpriced:
            return f"max_cost cannot be kept: a reply has no price, or no count; {next_call} was not called"
        if cost is not None and self.spent.cost is not None and self.spent.cost >= cost:
            return f"max_cost: {self.spent.cost:.4f} dollars of {cost} were spent before {next_call} was called"
        return ""

"""What a run has used, and whether it may send one more call (rule A12)."""

from __future__ import annotations

from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import CallFailed, CallReplied
from verifyplan.protocol.event_turn import TurnReplied
from verifyplan.protocol.settings import Limits


class UsageBudget:
    """Adds up usage as events tell it, turns at once and calls without turns when they end.

    What is under way is not counted yet: calls that are made at once may together go beyond a limit, by what they
    use.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent = limits, Usage()
        self._in_turns: set[str] = set()
        self._uncounted = self._unpriced = False

    def take(self, event: Event) -> None:
        """Add what an event says was used."""
        if isinstance(event, TurnReplied):
            self._in_turns.add(event.of_call)
            self.spent += event.usage
            self._uncounted |= not event.usage.total
            self._unpriced |= event.usage.cost is None
        elif isinstance(event, CallReplied | CallFailed) and event.call_id not in self._in_turns:
            self.spent += event.usage

    def refusal(self, next_call: str) -> str:
        """Why nothing more may be sent, in words; empty if it may.

        A limit that cannot be kept, as a model's reply came without counts or has no price, is as good as used up.
        """
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        if tokens is not None and self.spent.total >= tokens:
            return f"max_tokens: {self.spent.total:,} tokens of {tokens:,} were used before {next_call} was called"
        if tokens is not None and self._uncounted:
            return f"max_tokens cannot be kept: the endpoint counts no tokens; {next_call} was not called"
        if cost is not None and self._unpriced:
            return f"max_cost cannot be kept: a reply has no price, or no count; {next_call} was not called"
        spent = self.spent.cost
        if cost is not None and spent is not None and spent >= cost:
            return f"max_cost: {spent:.4f} dollars of {cost} were spent before {next_call} was called"
        return ""

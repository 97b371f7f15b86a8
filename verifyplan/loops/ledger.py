"""What a run has used, and whether it may send one more call (SPEC A12)."""

from __future__ import annotations

from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import CallFailed, CallReplied
from verifyplan.protocol.event_turn import TurnReplied
from verifyplan.protocol.settings import Limits


class Ledger:
    """Adds up usage as events tell it, turns at once and calls without turns when they end.

    What is under way is not counted yet: calls that are made at once may together go beyond a limit, by what they
    use.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent = limits, Usage()
        self._in_turns: set[str] = set()

    def take(self, event: Event) -> None:
        """Add what an event says was used."""
        if isinstance(event, TurnReplied):
            self._in_turns.add(event.of_call)
            self.spent += event.usage
        elif isinstance(event, CallReplied | CallFailed) and event.call_id not in self._in_turns:
            self.spent += event.usage

    def refusal(self, next_call: str) -> str:
        """Why nothing more may be sent, in words; empty if it may."""
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        if tokens is not None and self.spent.total >= tokens:
            return f"max_tokens: {self.spent.total:,} tokens of {tokens:,} were used before {next_call} was called"
        spent = self.spent.cost
        if cost is not None and spent is not None and spent >= cost:
            return f"max_cost: {spent:.4f} dollars of {cost} were spent before {next_call} was called"
        return ""

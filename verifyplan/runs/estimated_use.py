"""Present an estimate: the use of runs in three cases, as values, as a table, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from html import escape
from typing import NamedTuple

import pandas as pd

from verifyplan.agents.prices import Price, cost, price_fix
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.call import Usage
from verifyplan.protocol.role_call import ROLES
from verifyplan.protocol.settings import Limits
from verifyplan.runs.call_use import CASES, CHARACTERS_PER_TOKEN, CallUse, Case, CaseName, PlayedRole
from verifyplan.text import counted

_ORDER = (*ROLES, "worker")
_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "web_searches")


class RoleUse(NamedTuple):
    """The use of one role, played by one model; `worker` is the role of all who vote."""

    role: PlayedRole
    model: str
    calls: int
    requests: int
    """Requests to the endpoint: one for each turn of a call, and for each look at the web."""
    usage: Usage
    cut: int = 0
    """Answers that are likely to be cut off, being longer than `max_tokens`."""
    first_input: int = 0
    """Tokens in of the first request of each call."""


@dataclass(frozen=True)
class EstimatedUse:
    """The use of runs in one case: low, expected or high."""

    roles: tuple[RoleUse, ...] = ()
    """A row for each role and model, in the order of a plan run."""
    iterations: int = 0
    """Iterations of all plan runs together."""
    rounds: int = 0
    """Rounds of all cross runs together."""
    ended: int = 0
    """Runs that `max_tokens` or `max_cost` would end before their last call."""

    @property
    def calls(self) -> int:
        """Calls of agents."""
        return sum(role.calls for role in self.roles)

    @property
    def requests(self) -> int:
        """Requests to the endpoint."""
        return sum(role.requests for role in self.roles)

    @property
    def usage(self) -> Usage:
        """All tokens, and their cost if every model has a price."""
        return reduce(Usage.__add__, (role.usage for role in self.roles), Usage())

    @property
    def input_tokens(self) -> int:
        """Tokens in, cached ones included."""
        return self.usage.total_input

    @property
    def cached_tokens(self) -> int:
        """Tokens in that are read from a cache."""
        return self.usage.cache_read_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens out, thoughts included."""
        return self.usage.output_tokens

    @property
    def cost(self) -> Decimal | None:
        """US dollars; None where a model has no price, 0 where nothing is asked."""
        return self.usage.cost if self.roles else Decimal(0)

    @property
    def cut(self) -> int:
        """Answers that are likely to be cut off, and lost."""
        return sum(role.cut for role in self.roles)


def use_of_calls(
    calls: Iterable[tuple[PlayedRole, CallUse]], prices: Mapping[str, Price | None], *, batch: bool, limits: Limits
) -> EstimatedUse:
    """Return the use of a run's calls at these prices, and whether a limit of the run would end it."""
    roles = []
    for role, call in calls:
        usage, price = reduce(Usage.__add__, call.requests), prices.get(call.model)
        if price is not None:  # the price of a request depends on its length
            dollars = sum((cost(request, price, batch=batch) for request in call.requests), Decimal(0))
            usage = usage.model_copy(update={"cost": dollars})
        roles.append(
            RoleUse(role, call.model, 1, len(call.requests), usage, int(call.cut), call.requests[0].total_input)
        )
    use = total([EstimatedUse(tuple(roles))])
    over_tokens = limits.max_tokens is not None and use.usage.total > limits.max_tokens
    over_cost = limits.max_cost is not None and (use.cost or 0) > limits.max_cost
    return replace(use, ended=int(over_tokens or over_cost))


def total(uses: Iterable[EstimatedUse]) -> EstimatedUse:
    """Return the use of several runs together: one row for each role and model."""
    merged: dict[tuple[str, str], RoleUse] = {}
    every = list(uses)
    for role in (role for use in every for role in use.roles):
        before = merged.get(
            (role.role, role.model), role._replace(calls=0, requests=0, usage=Usage(), cut=0, first_input=0)
        )
        merged[role.role, role.model] = role._replace(
            calls=before.calls + role.calls,
            requests=before.requests + role.requests,
            usage=before.usage + role.usage,
            cut=before.cut + role.cut,
            first_input=before.first_input + role.first_input,
        )
    roles = sorted(merged.values(), key=lambda role: (_ORDER.index(role.role), role.model))
    iterations, rounds, ended = (sum(getattr(use, name) for use in every) for name in ("iterations", "rounds", "ended"))
    return EstimatedUse(tuple(roles), iterations, rounds, ended)


@with_field_docs
@dataclass(frozen=True)
class Estimate:
    """The use of runs if models drove them, in three cases; nothing was sent to find out.

    `low`, `expected` and `high` have `.calls`, `.requests`, `.input_tokens`, `.cached_tokens`, `.output_tokens`,
    `.cost` (None where a model has no price) and `.roles`, a row for each role and model.
    """

    low: EstimatedUse
    """The use if nothing is challenged: one iteration or round, no tool calls, short answers."""
    expected: EstimatedUse
    """The use of a usual run: a third of the iterations, 3 challenges at first, answers of typical length."""
    high: EstimatedUse
    """The use if every limit is reached: all iterations, rounds and tool calls."""
    runs: int
    """How many runs these are together."""
    unpriced: tuple[str, ...] = ()
    """Models that no table of prices has."""
    batch: bool = False
    """Whether the prices are those of Message Batches."""

    @property
    def cases(self) -> dict[CaseName, EstimatedUse]:
        """The three cases by name."""
        return {"low": self.low, "expected": self.expected, "high": self.high}

    @property
    def table(self) -> pd.DataFrame:
        """A row for each case, role and model: calls, requests, tokens by kind, cost."""
        rows = [
            {"case": name, "role": role.role, "model": role.model, "calls": role.calls, "requests": role.requests}
            | {field: getattr(role.usage, field) for field in _TOKENS}
            | {"cost": None if role.usage.cost is None else float(role.usage.cost)}
            for name, use in self.cases.items()
            for role in use.roles
        ]
        columns = ["case", "role", "model", "calls", "requests", *_TOKENS, "cost"]
        return pd.DataFrame(rows, columns=columns).astype({"cost": "float64"})

    def __str__(self) -> str:
        """Return the three cases, what they assume, and what the figures leave out."""
        models = sorted({role.model for use in self.cases.values() for role in use.roles})
        if not models:
            return f"{counted(self.runs, 'run')}: nothing would be asked of a model, and nothing would be paid"
        lines = [f"{counted(self.runs, 'run')} by {', '.join(models)}{' in message batches' if self.batch else ''}:"]
        lines += [f"  {name + ':':<9} {_in_words(use)}" for name, use in self.cases.items()]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return the words and the table, for a notebook."""
        words = escape(str(self)).replace("\n", "<br>")
        return f"<p>{words}</p>{self.table.to_html(index=False)}"

    def _notes(self) -> list[str]:
        notes = [f"{name}: {'; '.join(self._meanings(case))}." for name, case in CASES.items()]
        if note := self._rereading():
            notes.append(note)
        if self.high.ended:
            cases = ", ".join(f"{use.ended} in the {name} case" for name, use in self.cases.items())
            notes.append(f"max_tokens or max_cost would end runs before they have a result: {cases}.")
        if self.expected.cut:
            fix = "give the model more max_tokens, or ask about fewer findings a call (items_per_call)"
            notes.append(f"{counted(self.expected.cut, 'answer')} would be cut off at max_tokens, and lost: {fix}.")
        if self.unpriced:
            notes.append(f"No price is known for {', '.join(self.unpriced)}: {price_fix(*self.unpriced)}\n")
        granted = ", and tool calls that a synthesizer grants" if self.high.iterations else ""
        return [
            *notes,
            f"Estimated at {CHARACTERS_PER_TOKEN} characters a token, which differs by model, by up to a third. "
            f"Retries{',' if granted else ' and'} repairs of answers{granted} are not in it; max_cost ends a run "
            "in time. Nothing was sent.",
        ]

    def _meanings(self, case: Case) -> list[str]:
        """Return the assumptions of a case about the kinds of runs that these are."""
        by_kind = ((self.high.iterations, case.meaning), (self.high.rounds, case.votes))
        return [meaning for number, meaning in by_kind if number]

    def _rereading(self) -> str:
        """Return which allowance makes most of the tokens in of the high case; blank where first requests do."""
        use = self.high
        again, turns = use.input_tokens - sum(role.first_input for role in use.roles), use.requests - use.calls
        if 2 * again < use.input_tokens or not turns:
            return ""
        looks = sum(role.usage.web_searches for role in use.roles)
        web = ", looks at the web among them" if looks else ""
        return (
            f"{again / use.input_tokens:.0%} of the tokens in of the high case come from the {turns:,} tool calls that "
            f"the rules allow{web}: each is a separate request, which repeats all that its call contains so far. "
            "max_tokens or max_cost bounds it."
        )


def _in_words(use: EstimatedUse) -> str:
    used = use.usage
    cached = f" ({used.cache_read_tokens / used.total_input:.0%} from the cache)" if used.cache_read_tokens else ""
    steps = [counted(n, noun) for n, noun in ((use.iterations, "iteration"), (use.rounds, "round")) if n]
    return (
        f"{_cost(use.cost)}, {counted(use.calls, 'call')}, {counted(use.requests, 'request')}, "
        f"{used.total_input:,} tokens in{cached}, {used.output_tokens:,} out{'; ' if steps else ''}{', '.join(steps)}"
    )


def _cost(cost: Decimal | None) -> str:
    """Return dollars to the cent, small sums to two digits.

    >>> _cost(Decimal("1.236")), _cost(Decimal("0.00347")), _cost(None)
    ('$1.24', '$0.0035', 'cost unknown')
    """
    if cost is None:
        return "cost unknown"
    digits = 2 if cost >= Decimal("0.1") or not cost else 1 - cost.adjusted()
    return f"${cost.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}"

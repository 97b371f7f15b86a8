"""The result of dry runs: three courses of the same runs, as values, as a table, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from html import escape

import pandas as pd

from verifyplan.agents.prices import unknown_price
from verifyplan.reports.usage import expected_usage, max_expected_tokens
from verifyplan.runs.estimate.courses import COURSES, Course, table_of
from verifyplan.runs.estimate.sizes import CHARACTERS_PER_TOKEN
from verifyplan.text import counted

MEANT = {
    "low": "one iteration or round, no tool calls, brief answers",
    "expected": "as far as the static agents go, with the tools that they call, answers of typical length",
    "high": "nothing is settled before the last iteration or round, every tool call is used, answers are long",
}
"""The assumptions of each course."""


@dataclass(frozen=True)
class Estimate:
    """The use of runs if models drove them; nothing was sent to find out.

    `low`, `expected` and `high` are courses with `.calls`, `.requests`, `.input_tokens`, `.cached_tokens`,
    `.output_tokens`, `.cost` (None where a model has no price) and `.parts`, a part for each role and model.
    """

    low: Course
    expected: Course
    high: Course
    runs: int
    """How many runs these are together."""
    unpriced: tuple[str, ...] = ()
    """Models that no table of prices has."""
    batch: bool = False
    """Whether the prices are those of Message Batches."""

    @property
    def courses(self) -> tuple[Course, Course, Course]:
        """Low, expected, high."""
        return self.low, self.expected, self.high

    @property
    def table(self) -> pd.DataFrame:
        """A row for each course, role and model: calls, requests, tokens by kind, cost."""
        return table_of(self.courses)

    def __str__(self) -> str:
        """Return the three courses, the expected tokens of rule A12, and what the figures leave out."""
        models = sorted({part.model for course in self.courses for part in course.parts})
        if not models:
            return f"{counted(self.runs, 'run')}: nothing would be asked of a model, and nothing would be paid"
        lines = [f"{counted(self.runs, 'run')} by {', '.join(models)}{' in message batches' if self.batch else ''}:"]
        lines += [f"  {name + ':':<9} {_told(one)}" for name, one in zip(COURSES, self.courses, strict=True)]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """The words and the table, for a notebook."""
        told = escape(str(self)).replace("\n", "<br>")
        return f"<p>{told}</p>{self.table.to_html(index=False)}"

    def _notes(self) -> list[str]:
        notes = [f"{name}: {meant}." for name, meant in MEANT.items()]
        if self.expected.scenarios:
            expected = _expected_tokens(self.expected)
            notes.append(f"Expected by rule A12, without the repeated conversation of tool calls: {expected}.")
        if self.expected.cut:
            fix = "give the model more max_tokens, or ask about fewer findings a call (items_per_call)"
            notes.append(f"{counted(self.expected.cut, 'answer')} would be cut off at max_tokens, and lost: {fix}.")
        if self.unpriced:
            how = unknown_price(self.unpriced[0]).problems[0].fix.partition("\n\nor ")[0]
            notes.append(f"No price is known for {', '.join(self.unpriced)}: {how}\n")
        return [
            *notes,
            f"Estimated at {CHARACTERS_PER_TOKEN} characters a token; models differ, by a third and more. Retries, "
            "repairs of answers, and tool calls that a synthesizer grants are not in it; max_cost ends a run in time. "
            "Nothing was sent.",
        ]


def _told(course: Course) -> str:
    used = course.usage
    cached = f" ({used.cache_read_tokens / used.total_input:.0%} from the cache)" if used.cache_read_tokens else ""
    return (
        f"{_cost(course.cost)}, {counted(course.calls, 'call')}, {counted(course.requests, 'request')}, "
        f"{used.total_input:,} tokens in{cached}, {used.output_tokens:,} out{_length(course)}"
    )


def _cost(cost: Decimal | None) -> str:
    """Dollars to the cent, small sums to two digits.

    >>> _cost(Decimal("1.236")), _cost(Decimal("0.00347")), _cost(None)
    ('$1.24', '$0.0035', 'cost unknown')
    """
    if cost is None:
        return "cost unknown"
    digits = 2 if cost >= Decimal("0.1") or not cost else 1 - cost.adjusted()
    return f"${cost.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}"


def _length(course: Course) -> str:
    told = [counted(n, noun) for n, noun in ((course.iterations, "iteration"), (course.rounds, "round")) if n]
    return f"; {', '.join(told)}" if told else ""


def _expected_tokens(course: Course) -> str:
    """Return the expected tokens of the same teams and iterations."""
    if len(course.scenarios) == 1:
        return expected_usage(*course.scenarios[0])
    known = [tokens for scenario in course.scenarios if (tokens := max_expected_tokens(*scenario)) is not None]
    return f"{counted(len(known), 'plan')} of these teams and iterations take at worst {sum(known):,} tokens"

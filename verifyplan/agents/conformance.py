"""Test in a few small requests which features an endpoint supports, and report the results (rule G3)."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from verifyplan.agents.anthropic.key import Key, address_of, check_address, check_model, find_key, missing_key
from verifyplan.agents.prices import Price, PriceSource, cost, price_of
from verifyplan.errors import Problem, SettingsError, without_keys_in_tracebacks
from verifyplan.files import read_json
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Usage
from verifyplan.text import counted

AT_ONCE = 4
"""Requests that are sent at once, to see whether they are answered at once."""
MIN_TIMED_S = 0.1
"""A request answered in less time is shorter than it takes to send several: it cannot show that they wait."""
TOO_FAST = "at once: answered too fast to tell, so that max_concurrency is left out"
"""The note of a probe whose requests were answered too fast to overlap."""
PROBE_TIMEOUT_S = 60.0
"""Seconds that one request may take."""

Held = Literal["held", "ignored", "refused", "unknown"]
"""Whether an endpoint did what a request asked for; `unknown` where it gave no answer that says so."""


class ProbeStep(NamedTuple):
    """Requests that a probe sends at once, and the most that they may use."""

    question: str
    requests: int
    input_tokens: int
    """Of all its requests together, about."""
    output_tokens: int
    """Of all its requests together, at most."""

    def line(self, price: Price | None) -> str:
        """Return the question with what its answer may cost, as one line."""
        used = Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        if not self.input_tokens:
            return f"{self.question} {counted(self.requests, 'request')}, no tokens"
        dollars = f", about ${cost(used, price):.4f}" if price else ""
        tokens = f"about {self.input_tokens:,} tokens in, at most {self.output_tokens:,} out"
        return f"{self.question} {counted(self.requests, 'request')}, {tokens}{dollars}"


STEPS: Mapping[str, ProbeStep] = {
    "alone": ProbeStep("Does it answer?", 1, 60, 20),
    "twice": ProbeStep("Does the same request get a reply of its own?", 1, 60, 20),
    "models": ProbeStep("Does its list of models say how large the context is?", 1, 0, 0),
    "count": ProbeStep("Does it count tokens?", 1, 0, 0),
    "schema": ProbeStep("Does it hold an answer to a schema?", 1, 300, 200),
    "counts": ProbeStep("Does it hold lists to a number of entries?", 1, 350, 200),
    "tools": ProbeStep("Does it call tools?", 1, 700, 200),
    "cache": ProbeStep("Does it cache prompts?", 2, 14_000, 40),
    "context": ProbeStep("How large is the context, by its refusal of a huge max_tokens?", 1, 60, 200),
    "at once": ProbeStep(f"Does it answer {AT_ONCE} requests at once?", AT_ONCE + 1, 300, 100),
}
"""What is asked, in this order; `context` only where neither the list of models nor a refusal has said it before."""


class ConformanceReport(Model):
    """The answers of an endpoint and a model to a probe; in runs they may behave otherwise."""

    address: str = Field(description="The address of the endpoint.")
    model: str = Field(description="The model that was asked.")
    date: str = Field(description="The day of the probe.")
    verifyplan: str = Field(description="The version that probed.")
    answer_schema: Held = Field(description="Whether an answer is held to its JSON Schema.")
    counts: Held = Field(description="Whether lists are held to minItems and maxItems.")
    tools: Held = Field(description="Whether a tool is called.")
    token_count: bool | None = Field(description="Whether it counts the tokens of a request; null if it did not say.")
    prompt_cache: bool | None = Field(description="Whether the second of two equal prompts was read from a cache.")
    reply_cache: bool | None = Field(
        description="Whether the second of two equal requests got the first one's reply: repetitions are then no "
        "independent runs."
    )
    context: int | None = Field(description="Tokens of prompt and answer together, as the endpoint says.")
    at_once: int | None = Field(description=f"Requests answered at once, of {AT_ONCE}: about, by their time.")
    notes: tuple[str, ...] = Field(
        default=(), description="What was refused, in the endpoint's words; what was too fast."
    )
    requests: int = Field(description="Requests that the probe sent.")
    input_tokens: int = Field(description="Tokens in, as the endpoint counted them, cached ones included.")
    output_tokens: int = Field(description="Tokens out, as the endpoint counted them.")

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `agents.Anthropic` that fit this endpoint; without those that its defaults fit."""
        fitting: dict[str, Any] = {"context": self.context} if self.context else {}
        if self.answer_schema in ("ignored", "refused"):
            fitting["structured"] = False
        elif self.counts == "held":
            fitting["structured"] = "counts"
        return fitting | ({"max_concurrency": self.at_once} if self.at_once and self.at_once < AT_ONCE else {})

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before runs: a cache of whole replies, answers that an outage left unknown."""
        warnings = []
        if self.reply_cache:
            warnings.append(
                "two equal requests got one reply, with one message id: this endpoint keeps whole replies. Votes that "
                "come from such a cache are no independent ones. Switch it off; where it leaves out `metadata`, "
                "workers and repetitions share replies (calls.id_repeated says which)"
            )
        unknown = [name for name, answer in self.rows if answer == "unknown" and name != "context"]
        if unknown and set(self.notes) - {TOO_FAST}:
            warnings.append(
                f"unknown is still: {', '.join(unknown)}; the refusals below say why, and another probe may find out"
            )
        return tuple(warnings)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Each question in short with its answer in words."""
        return [
            ("holds answers to a schema", self.answer_schema),
            ("holds lists to a number of entries", self.counts),
            ("calls tools", self.tools),
            ("counts tokens", _yes_or_no(self.token_count)),
            ("caches prompts", _yes_or_no(self.prompt_cache)),
            ("caches whole replies", _yes_or_no(self.reply_cache)),
            ("context", f"{self.context:,} tokens" if self.context else "unknown"),
            ("at once", self._at_once_in_words),
        ]

    @property
    def _at_once_in_words(self) -> str:
        if TOO_FAST in self.notes:
            return "answered too fast to tell"
        return f"{self.at_once} of {AT_ONCE}" if self.at_once else "unknown"

    def __str__(self) -> str:
        """Return the answers, a line each, and the settings that fit."""
        width = max(len(name) for name, _ in self.rows)
        used = f"{counted(self.requests, 'request')}, {self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        fitting = ", ".join(f"{name}={value!r}" for name, value in self.settings.items()) or "the defaults"
        return "\n".join(
            [
                f"{self.model} at {self.address}, probed {self.date} ({used})",
                *(f"  {name:<{width}}  {answer}" for name, answer in self.rows),
                f"settings that fit: {fitting}",
                *(f"warning: {warning}" for warning in self.warnings),
                *self.notes,
            ]
        )


def _yes_or_no(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


ReportSource = ConformanceReport | Mapping[str, Any] | str | Path
"""A conformance report, its JSON value, or the file that holds it."""


def read_conformance(source: ReportSource) -> ConformanceReport:
    """Return a report from its JSON value or its file; SettingsError if it is not one."""
    if isinstance(source, ConformanceReport):
        return source
    fix = "give what `verifyplan doctor --probe --out FILE` wrote, or what agents.probe returned"
    value = source if isinstance(source, Mapping) else read_json(Path(source), fix)
    try:
        return ConformanceReport.model_validate(value)
    except ValidationError as error:
        place = "conformance" if isinstance(source, Mapping) else str(source)
        first = error.errors(include_url=False, include_input=False)[0]
        message = f"is not a conformance report: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
        raise SettingsError(Problem(place, message, fix)) from None


@without_keys_in_tracebacks
def probe(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | Key | None = None,
    prices: PriceSource | None = None,
    timeout: float = PROBE_TIMEOUT_S,
    say: Callable[[str], object] | None = None,
) -> ConformanceReport:
    """Test in about a dozen small requests which features an endpoint supports, and return its conformance report.

    Args:
        model: the model to test.
        base_url: the endpoint; by default ANTHROPIC_BASE_URL, else Anthropic's own.
        api_key: its key, found as by `agents.Anthropic`.
        prices: a price table of your own, for the lines before each request.
        timeout: seconds that one request may take.
        say: called with a line before each step: the question, how many tokens it takes and, if the price is known,
            dollars; the steps are `conformance.STEPS`.

    SettingsError if the endpoint cannot be reached, or refuses the key or the model; AgentError if it is down,
    overloaded or too slow. Source: rule G3.

    >>> ConformanceReport.model_fields["at_once"].description
    'Requests answered at once, of 4: about, by their time.'
    """
    address = address_of(base_url)
    check_address(address)
    if problem := check_model(model):
        raise SettingsError(problem)
    key = find_key(api_key, base_url=address)
    if problem := missing_key(key, address):
        raise SettingsError(problem)
    price = price_of(model, prices)
    probing = importlib.import_module("verifyplan.agents.anthropic.probe")  # the SDK takes over a second

    def begin(step: str) -> None:
        if say is not None:
            say(STEPS[step].line(price))

    # A thread has no event loop of its own yet: this works in notebooks, too, whose loop is running.
    with ThreadPoolExecutor(1) as threads:
        report: ConformanceReport = threads.submit(
            asyncio.run, probing.probe_endpoint(address, key, model, timeout, begin)
        ).result()
    return report

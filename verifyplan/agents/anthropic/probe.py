"""Send the requests of a probe to an endpoint, and read from its answers what it holds to (rule G3)."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import anthropic
import httpx2
from pydantic_core import from_json

from verifyplan.agents.anthropic.client import (
    MAX_LISTED_MODELS,
    Endpoint,
    fix_of_lost_connection,
    fix_of_outage,
    fix_of_refusal,
)
from verifyplan.agents.anthropic.context_errors import context_limit
from verifyplan.agents.anthropic.conversation import message_text
from verifyplan.agents.anthropic.key import Key
from verifyplan.agents.anthropic.transport import RETRIED_STATUSES, asked_wait, may_be_sent_again
from verifyplan.agents.conformance import AT_ONCE, MIN_TIMED_S, TOO_FAST, ConformanceReport, Held
from verifyplan.agents.prices import usage_of
from verifyplan.errors import AgentError, Problem, SettingsError
from verifyplan.protocol.call import Usage
from verifyplan.redaction import redact
from verifyplan.text import counted, span, truncate
from verifyplan.version import VERSION

MAX_NOTE_CHARACTERS = 300
"""Characters of a refusal that a note shows."""
CACHED_LINES = 700
"""Lines of the prompt that is sent twice: over 4,096 tokens, below which some models cache none."""
HUGE_MAX_TOKENS = 10_000_000
"""An answer longer than any context: who refuses it may say how long the context is."""

_WORDS = ("k7-amber", "q2-slate", "z9-coral")
"""Words that no model writes of its own accord."""
_CONTEXT_KEYS = ("max_input_tokens", "max_model_len", "context_length", "context_window", "n_ctx")
"""The names by which lists of models tell the context of one: Anthropic's, vLLM's, gateways', llama.cpp's."""
_FIRST = "Say the number 200."
_PROSE = "Write one sentence about the sea, in plain words."


class Answered(NamedTuple):
    """The outcome of one request: a message, or the status and the reason of a refusal, and what may help."""

    message: dict[str, Any] | None = None
    status: int = 200
    reason: str = ""
    seconds: float = 0.0
    used: Usage = Usage()
    asked_wait_s: float | None = None
    fix: str = "name an endpoint of the Messages API"

    @property
    def is_outage(self) -> bool:
        """Whether neither the request nor the settings are the cause: the endpoint is down, overloaded or too slow."""
        return self.fix == fix_of_outage(self.asked_wait_s)

    @property
    def note(self) -> str:
        """The refusal in words, with the wait that the endpoint asks for."""
        wait = f"; it asks to wait {span(self.asked_wait_s)}" if self.asked_wait_s else ""
        return f"{self.status or 'no answer'}: {self.reason}{wait}"

    def refused(self, words: str) -> Held:
        """Return whether a request without a message was refused for itself; unknown in an outage.

        A server's fault (5xx) is a refusal where it names one of the words of what was asked.
        """
        if self.status >= 500:
            return "refused" if re.search(words, self.reason, re.IGNORECASE) else "unknown"
        return "refused" if self.status >= 400 and self.status not in RETRIED_STATUSES else "unknown"

    @property
    def text(self) -> str:
        """The text of the message; blank without one."""
        return message_text(self.message) if self.message is not None else ""


class _Probe:
    """Asks one model of one endpoint, and adds up what that used."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.sdk, self.model = endpoint.sdk, model
        self.notes: list[str] = []
        self.requests, self.used = 0, Usage()
        self.context: int | None = None

    async def ask(self, said: str, max_tokens: int = 20, **more: Any) -> Answered:
        """Send one request for a message; a refusal is noted, and so is a context that it names."""
        self.requests += 1
        began = time.monotonic()
        body = {"model": self.model, "max_tokens": max_tokens, "messages": [{"role": "user", "content": said}], **more}
        answered = await _answered(self.sdk.messages.with_raw_response.create(**body))
        if answered.message is not None and not isinstance(answered.message.get("content"), list):
            answered = Answered(None, answered.status, "the reply is not a message")
        if answered.message is None:
            self.context = self.context or context_limit(answered.reason)
            self.notes.append(answered.note)
        else:
            answered = answered._replace(used=usage_of(answered.message, body, None))
            self.used += answered.used
        return answered._replace(seconds=time.monotonic() - began)

    async def listed_context(self) -> int | None:
        """Return the context of the model as the list of models has it."""
        self.requests += 1
        answered = await _answered(self.sdk.get(f"/v1/models?limit={MAX_LISTED_MODELS}", cast_to=httpx2.Response))
        data = (answered.message or {}).get("data")
        listed = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
        entries = [entry for entry in listed if entry.get("id") == self.model] or (listed if len(listed) == 1 else [])
        return next((size for entry in entries for size in _sizes(entry)), None)

    async def counts_tokens(self) -> bool | None:
        """Return whether the tokens of a request are counted; None where there was no answer."""
        self.requests += 1
        count_tokens: Any = self.sdk.messages.with_raw_response.count_tokens
        answered = await _answered(count_tokens(model=self.model, messages=[{"role": "user", "content": _PROSE}]))
        count = (answered.message or {}).get("input_tokens")
        return None if not answered.status else isinstance(count, int) and count > 0

    async def holds_schema(self, size: int | None = None) -> Held:
        """Return whether an answer to a plain wish comes in the form of a schema, its list with so many entries."""
        entries: dict[str, Any] = {"type": "array", "items": {"enum": list(_WORDS)}}
        entries |= {} if size is None else {"minItems": size, "maxItems": size}
        schema = {"type": "object", "properties": {"words": entries}, "required": ["words"]}
        held = {"format": {"type": "json_schema", "schema": schema | {"additionalProperties": False}}}
        answered = await self.ask(_PROSE, 200, output_config=held)
        if answered.message is None:
            return answered.refused("schema|grammar|output_|response_format|structured")
        try:
            words = from_json(answered.text)["words"]
        except (ValueError, KeyError, TypeError, IndexError):
            return "ignored"
        fits = isinstance(words, list) and all(word in _WORDS for word in words) and len(words) == (size or len(words))
        return "held" if fits else "ignored"

    async def calls_tools(self) -> Held:
        """Return whether a tool is called that the model is asked to call."""
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        tool = {"name": "look_up", "description": "Look a word up.", "input_schema": schema}
        answered = await self.ask(
            "Call the tool look_up once, with the word 'tide', and say nothing.", 200, tools=[tool]
        )
        if answered.message is None:
            return answered.refused("tool")
        blocks = [block for block in answered.message["content"] if isinstance(block, dict)]
        called = any(block.get("type") == "tool_use" and block.get("name") == "look_up" for block in blocks)
        return "held" if called else "ignored"

    async def repeats(self, first: Answered) -> bool | None:
        """Return whether the first request, sent again, gets the very reply; None where none came."""
        return _is_same(first, await self.ask(_FIRST))

    async def caches(self) -> tuple[bool | None, bool | None]:
        """Return whether a long prompt that is sent twice is read from a cache, and whether its reply is the same."""
        lines = "\n".join(f"{number}. The tide comes in, and goes." for number in range(CACHED_LINES))
        system = [{"type": "text", "text": lines, "cache_control": {"type": "ephemeral"}}]
        first = await self.ask("Say OK.", system=system)
        second = await self.ask("Say OK.", system=system) if first.message is not None else first
        if first.message is None or second.message is None:
            return None, None
        return second.used.cache_read_tokens > 0, _is_same(first, second)

    async def at_once(self) -> int | None:
        """Return how many requests are answered at once, about: those answered, or what their time allows.

        None if none is answered, or if all are answered too fast to tell, which is noted.
        """
        alone = (await self.ask("Say the number 100.")).seconds
        began = time.monotonic()
        answers = await asyncio.gather(*(self.ask(f"Say the number {number}.") for number in range(AT_ONCE)))
        together = time.monotonic() - began
        answered = sum(each.message is not None for each in answers)
        if not answered:
            return None
        fitting = max(1, min(AT_ONCE, round(AT_ONCE * alone / together)))
        if answered == AT_ONCE and fitting < AT_ONCE and alone < MIN_TIMED_S:
            self.notes.append(TOO_FAST)
            return None
        return min(answered, fitting)


async def probe_endpoint(
    address: str, key: Key, model: str, timeout: float, begin: Callable[[str], None]
) -> ConformanceReport:
    """Return the report of one model of an endpoint; `begin` is called before each step of `STEPS`.

    SettingsError where it cannot be reached, or refuses the first request; AgentError in an outage.
    """
    endpoint = Endpoint(address, key, timeout=timeout, max_retries=0)
    asking = _Probe(endpoint, model)
    try:
        begin("alone")
        alone = await asking.ask(_FIRST)
        if alone.message is None:
            fix = fix_of_refusal(alone.status, key, address) or alone.fix
            problem = Problem(f"endpoint {address}", alone.note, fix)
            raise AgentError(str(problem)) if alone.is_outage else SettingsError(problem)
        begin("twice")
        repeated = await asking.repeats(alone)
        begin("models")
        asking.context = await asking.listed_context()
        begin("count")
        token_count = await asking.counts_tokens()
        begin("schema")
        schema = counts = await asking.holds_schema()
        if schema == "held":
            begin("counts")
            counts = await asking.holds_schema(size=len(_WORDS))
        begin("tools")
        tools = await asking.calls_tools()
        begin("cache")
        prompt_cache, reply_cache = await asking.caches()
        if asking.context is None:
            begin("context")
            await asking.ask("Say OK.", HUGE_MAX_TOKENS)
        begin("at once")
        at_once = await asking.at_once()
    finally:
        await endpoint.close()
    if number := asking.used.uncounted:
        wrong = f"the usage is missing or cannot be read ({counted(number, 'time')})"
        asking.notes.append(f"{wrong}: a run with max_tokens or max_cost ends at the first")
    return ConformanceReport(
        address=address,
        model=model,
        date=datetime.now(UTC).date().isoformat(),
        verifyplan=VERSION,
        answer_schema=schema,
        counts=counts,
        tools=tools,
        token_count=token_count,
        prompt_cache=prompt_cache,
        reply_cache=reply_cache if repeated is None else repeated or bool(reply_cache),
        context=asking.context,
        at_once=at_once,
        notes=tuple(dict.fromkeys(asking.notes)),
        requests=asking.requests,
        input_tokens=asking.used.total_input,
        output_tokens=asking.used.output_tokens,
    )


async def _answered(request: Any) -> Answered:
    """Return what a request of the SDK comes to, whatever the endpoint does."""
    try:
        raw = await request
        value = from_json(getattr(raw, "http_response", raw).content)
        return Answered(value) if isinstance(value, dict) else Answered(None, reason="the reply is not an object")
    except anthropic.APIStatusError as error:
        wait = asked_wait(error.response.headers)
        fix = fix_of_outage(wait) if may_be_sent_again(error.response) else "see what the endpoint says of the request"
        return Answered(None, error.status_code, _short(error.response.text), asked_wait_s=wait, fix=fix)
    except anthropic.APITimeoutError:
        return Answered(None, 0, "no answer in time", fix=fix_of_outage())
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        cause = error.__cause__ or error
        return Answered(None, 0, f"no connection ({type(cause).__name__})", fix=fix_of_lost_connection(cause))
    except ValueError:
        return Answered(None, reason="the reply is not JSON")


def _is_same(first: Answered, second: Answered) -> bool | None:
    """Return whether two messages have one id, and so are one reply; None where one of them is missing."""
    if first.message is None or second.message is None:
        return None
    return first.message.get("id") is not None and first.message.get("id") == second.message.get("id")


def _short(body: str) -> str:
    return truncate(redact(" ".join(body.split())), MAX_NOTE_CHARACTERS)


def _sizes(entry: Mapping[str, Any]) -> Iterator[int]:
    """Yield the contexts that an entry of a list of models names, in itself or in its `meta`."""
    for holder in (entry, entry.get("meta")):
        for name in _CONTEXT_KEYS if isinstance(holder, Mapping) else ():
            size = holder.get(name) if isinstance(holder, Mapping) else None
            if isinstance(size, int) and not isinstance(size, bool) and size > 0:
                yield size

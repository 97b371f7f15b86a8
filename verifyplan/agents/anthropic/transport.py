"""Send HTTP requests: read replies within bounds, measure, decide what is sent again and when (rules A12, G3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from math import isfinite
from random import random
from typing import Any

import anthropic
import httpx2
from pydantic_core import from_json, to_json

from verifyplan.errors import AgentError
from verifyplan.protocol.event_run import Attempt
from verifyplan.runlog.chain import now

RETRIED_STATUSES = (408, 409, 429)
"""Statuses beside 5xx after which the same request is sent again."""

RETRIED_ERRORS = ("overloaded_error", "api_error", "rate_limit_error")
"""Errors in a reply of status 200 after which the same request is sent again."""

FIRST_BACKOFF_S = 0.5
"""Seconds before the first request that is sent again, if the endpoint names none; they double with each."""

MAX_BACKOFF_S = 8.0

MAX_WAIT_S = 3_600.0
"""The longest wait that an endpoint may ask for, where the call has no timeout of its own."""

MAX_ASKED_S = 10.0**9
"""Longer waits, of more than thirty years, are recorded as this."""


@dataclass
class HttpAttempt:
    """One HTTP request under way: what was sent and what came back so far."""

    waited_s: float = 0.0
    started: str = field(default_factory=now)
    body_bytes: int = 0
    is_sent: bool = False
    """Whether all of it was sent, or may have been: of one that is cancelled while it is sent, nobody knows."""
    response: httpx2.Response | None = None
    """What came back; its body may have been cut off."""
    _began: float = field(default_factory=time.monotonic)

    @property
    def asked_wait_s(self) -> float | None:
        """The seconds that the endpoint asks to wait; None where it names none that make sense."""
        return None if self.response is None else asked_wait(self.response.headers)

    def event(self, turn: str, error: str = "", *, lost: bool = False, retry_in_s: float | None = None) -> Attempt:
        """Return the request as the log has it, ended now; `lost` if no answer came that can be used."""
        response = self.response
        return Attempt(
            call_id=turn,
            number=1,
            status=response.status_code if response is not None else None,
            error=error,
            started=self.started,
            duration_ms=round((time.monotonic() - self._began) * 1000),
            waited_s=round(self.waited_s, 3),
            asked_wait_s=self.asked_wait_s,
            retry_in_s=retry_in_s,
            sent_bytes=self.body_bytes if self.is_sent else 0,
            received_bytes=response.num_bytes_downloaded if response is not None else 0,
            request_id=response.headers.get("request-id") if response is not None else None,
            perhaps_billed=lost and self.is_sent and (response is None or response.is_success),
        )


def reply_json(body: bytes) -> Any:
    """Return the JSON of a reply as a log can hold it; ValueError where it cannot.

    >>> reply_json(b'{"content": [], "usage": {"input_tokens": NaN}}')
    {'content': [], 'usage': {'input_tokens': 'NaN'}}
    """
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        value = from_json(body)
        return from_json(to_json(with_finite_usage(value) if isinstance(value, dict) else value), allow_inf_nan=False)


def with_finite_usage(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose usage has NaN and infinities as texts: a log holds these, and they are no counts."""
    if "usage" not in message:
        return message
    return message | {"usage": from_json(to_json(message["usage"], inf_nan_mode="strings"))}


CURRENT: ContextVar[HttpAttempt] = ContextVar("current HTTP attempt")


async def watch_request(request: httpx2.Request) -> None:
    """Note when the request of the current attempt is sent: a hook, the last before it is."""
    attempt = CURRENT.get(None)
    if attempt is None:
        return
    attempt.body_bytes = len(request.content)

    async def trace(event: str, details: Mapping[str, Any]) -> None:
        if "send_request_body." in event:
            attempt.is_sent = not isinstance(details.get("exception"), Exception)

    request.extensions["trace"] = trace


async def watch_response(response: httpx2.Response) -> None:
    """Note the response of the current attempt, whose body is still to come: a hook."""
    if attempt := CURRENT.get(None):
        attempt.response = response


def may_be_sent_again(response: httpx2.Response) -> bool:
    """Return whether a refused request may succeed later, as the official SDK decides it.

    >>> [may_be_sent_again(httpx2.Response(status)) for status in (400, 408, 429, 529)]
    [False, True, True, True]
    """
    said = response.headers.get("x-should-retry")
    if said in ("true", "false"):
        return bool(said == "true")
    return response.status_code in RETRIED_STATUSES or response.status_code >= 500


def backoff(retry: int) -> float:
    """Return the seconds before a request is sent again for the so manieth time, from 0, drawn up to a quarter shorter.

    >>> 0.375 <= backoff(0) <= 0.5, 6 <= backoff(20) <= 8
    (True, True)
    """
    return float(min(FIRST_BACKOFF_S * 2**retry, MAX_BACKOFF_S) * (1 - 0.25 * random()))  # noqa: S311


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, by seconds, milliseconds or a date; None for nonsense.

    >>> [asked_wait({"retry-after": text}) for text in ("3", "inf", "nan", "-1", "soon", "1e300")]
    [3.0, None, None, None, None, 1000000000.0]
    """
    seconds: float | None = None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            seconds = float(headers.get(name, "")) * unit
            break
    else:
        with suppress(ValueError, OverflowError, TypeError):
            date = parsedate_tz(headers.get("retry-after", ""))
            seconds = mktime_tz(date) - time.time() if date else None
    return min(seconds, MAX_ASKED_S) if seconds is not None and isfinite(seconds) and seconds > 0 else None


MAX_REPLY_BYTES = 16 * 2**20
"""Bytes of one reply, decompressed. The longest answer of a model has some 4 MB, web pages that it fetched included."""
MAX_RESULTS_BYTES = 2**30
"""Bytes of the results of one batch: some 100 kB for each of its requests, of which there are 10,000 at most."""

_CLOCK = "verifyplan-clock"
_DECODED_HEADERS = ("content-encoding", "content-length", "transfer-encoding")


class ReplyTooLargeError(AgentError, anthropic.AnthropicError):
    """A reply has more bytes than are read; of this kind, so that the SDK does not ask for it again."""


class ReplyEncodedTwiceError(AgentError, anthropic.AnthropicError):
    """A reply is compressed more than once: a kilobyte may then take hours to read, without a byte to count."""


class BoundedClient(anthropic.DefaultAsyncHttpxClient):
    """Sends requests as the SDK's own client does, and reads no reply beyond its bounds.

    A request may take the seconds of its read timeout, from the end of the hooks `before` it (which may wait until the
    endpoint takes requests) to the last byte of its reply: httpx alone allows them anew for each byte that drips in.
    """

    def __init__(self, *, before: list[Any], after: list[Any], **options: Any) -> None:
        super().__init__(event_hooks={"request": [*before, _start_clock], "response": after}, **options)

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:  # noqa: ARG002  (the SDK streams nothing here)
        """Return the reply, read to its end; ReadTimeout if it takes too long, ReplyTooLargeError if it is too long."""
        try:
            async with asyncio.timeout(None) as clock:
                request.extensions[_CLOCK] = clock
                response = await super().send(request, stream=True, **options)
                try:
                    return await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("the reply did not end in time", request=request) from None


async def _start_clock(request: httpx2.Request) -> None:
    seconds = request.extensions.get("timeout", {}).get("read")
    if seconds is not None:
        request.extensions[_CLOCK].reschedule(asyncio.get_running_loop().time() + seconds)


async def _read(response: httpx2.Response) -> httpx2.Response:
    """Return a response whose body is read and decompressed."""
    of_batch = response.request.url.path.endswith("/results")
    name, limit = ("MAX_RESULTS_BYTES", MAX_RESULTS_BYTES) if of_batch else ("MAX_REPLY_BYTES", MAX_REPLY_BYTES)
    codings = response.headers.get("content-encoding", "")
    if "," in codings:
        message = f"the endpoint's reply is compressed more than once ({codings[:60]!r}), and is not read"
        raise ReplyEncodedTwiceError(message)
    parts, size = [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > limit:
            message = f"the endpoint's reply has more than {limit / 2**20:,.0f} MB ({name}), and is not read further"
            raise ReplyTooLargeError(message)
    headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _DECODED_HEADERS]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=b"".join(parts),
        request=response.request,
        extensions=response.extensions,
    )

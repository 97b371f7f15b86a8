"""Read the replies of an endpoint within bounds: of bytes, decompressed, and of time, even if they drip (rule G3)."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import httpx2

from verifyplan.errors import AgentError

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

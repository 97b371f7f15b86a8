"""Every outgoing HTTP call: a timeout, retries with a growing pause, and one error."""

import time
from typing import Any

import httpx

TIMEOUT = 5.0  # seconds, for connecting and reading each
RETRIES = 3
BACKOFF = 0.5  # seconds before the second attempt, doubled after that

_transport: httpx.BaseTransport | None = None  # tests put a fake one here


class UpstreamError(Exception):
    """The other side refused, or did not answer usably after all attempts."""


def use_transport(transport: httpx.BaseTransport | None) -> None:
    """Send all calls through `transport`; None goes back to the network."""
    global _transport
    _transport = transport


def get_json(url: str, headers: dict[str, str] | None = None) -> Any:
    """GET, and the JSON of the answer."""
    return _send("GET", url, headers=headers)


def post_json(url: str, body: Any, headers: dict[str, str] | None = None) -> Any:
    """POST a JSON body, and the JSON of the answer. Retried too: pass an `Idempotency-Key` header."""
    return _send("POST", url, json=body, headers=headers)


def _send(method: str, url: str, **options: Any) -> Any:
    problem = ""
    for attempt in range(RETRIES):
        if attempt:
            time.sleep(BACKOFF * 2 ** (attempt - 1))
        try:
            with httpx.Client(timeout=TIMEOUT, transport=_transport) as client:
                answer = client.request(method, url, **options)
        except httpx.TransportError as error:
            problem = str(error)
            continue
        if answer.status_code < 400:
            return answer.json()
        problem = f"status {answer.status_code}"
        if answer.status_code < 500:
            break  # asking again would not help
    raise UpstreamError(f"{method} {url}: {problem}")

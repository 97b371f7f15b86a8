"""Requests to endpoints over HTTP, through the official SDK: the only module that imports it for single messages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import anthropic
import httpx2

from verifyplan.agents.anthropic.key import OFFLINE, Key, is_forbidden
from verifyplan.errors import AgentError, Problem, SettingsError

TURN = "x-verifyplan-turn"
"""The header that names the turn of a request."""


class Pause:
    """What an endpoint asked all its callers to wait, by `retry-after`; the SDK alone would only hold back one."""

    def __init__(self) -> None:
        self._until = 0.0

    async def before(self, _: httpx2.Request) -> None:
        """Wait until the endpoint may be asked again."""
        while (left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def after(self, response: httpx2.Response) -> None:
        """Note how long the endpoint asks to be left alone."""
        told = response.headers.get("retry-after", "") if response.status_code in (429, 503, 529) else ""
        if told.replace(".", "", 1).isdigit():
            self._until = max(self._until, time.monotonic() + float(told))


class Endpoint:
    """One address with one key; connections are kept until it is closed."""

    def __init__(self, base_url: str, key: Key, *, timeout: float, max_retries: int) -> None:
        self.base_url = base_url
        if is_forbidden(base_url):
            fix = f"point base_url to a server on this machine, or unset {OFFLINE}"
            raise SettingsError(Problem("base_url", f"{base_url} is not asked while {OFFLINE} is set", fix))
        self._retries, pause = max_retries, Pause()
        self.sdk = anthropic.AsyncAnthropic(
            api_key=key.reveal(),
            base_url=self.base_url,
            timeout=anthropic.Timeout(timeout, connect=min(timeout, 10.0)),
            max_retries=max_retries,
            http_client=anthropic.DefaultAsyncHttpxClient(
                event_hooks={"request": [pause.before], "response": [pause.after]}
            ),
        )

    async def close(self) -> None:
        """Give the connections back."""
        await self.sdk.close()

    async def send(self, turn: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The endpoint's message for one request, with all retries; it is a message, whatever it says.

        A header names the turn, for the logs of whatever stands in between.
        The SDK asks again after 408, 409, 429, 5xx and lost connections, after the time that `retry-after` says;
        here, a body that is no JSON is asked for again, too. TimeoutError and AgentError when that did not help.
        """
        known = dict(body)
        extra = {"temperature": known.pop("temperature")} if "temperature" in known else None  # the SDK has it no more
        headers = {TURN: quote(turn)}
        for attempt in range(self._retries + 1):
            try:
                raw = await self.sdk.messages.with_raw_response.create(**known, extra_body=extra, extra_headers=headers)
                return _message(json.loads(raw.http_response.content))
            except ValueError as error:
                if attempt == self._retries:
                    raise AgentError(f"the endpoint's reply is no JSON ({error})") from None
            except anthropic.APITimeoutError:
                raise TimeoutError("the endpoint gave no answer in time, retries included") from None
            except anthropic.APIStatusError as error:
                raise AgentError(f"the endpoint answered {error.status_code}: {_reason(error)}") from None
            except (anthropic.APIConnectionError, httpx2.TransportError) as error:
                cause = error.__cause__ or error
                raise AgentError(f"the connection failed ({type(cause).__name__}: {cause})") from None
        raise AssertionError  # the last attempt returns or raises


def _reason(error: anthropic.APIStatusError) -> str:
    """What an endpoint says of a refusal, without its HTML."""
    body = error.body
    told = body.get("error") if isinstance(body, dict) else None
    if isinstance(told, dict) and isinstance(told.get("message"), str):
        return f"{told.get('type')}: {told['message']}"
    return "no reason given"


def _message(value: Any) -> dict[str, Any]:
    """A reply that is a message; AgentError for an error in a reply of status 200, and for anything else."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return value
    told = value.get("error") if isinstance(value, dict) else None
    if isinstance(told, dict):
        raise AgentError(f"the endpoint answered with an error: {told.get('type')}: {told.get('message')}")
    raise AgentError("the endpoint's reply is no message")

"""Send requests to endpoints over HTTP, through the official SDK (rule G3)."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from functools import cache
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import quote

import anthropic
import httpx2
from pydantic_core import from_json

from verifyplan.agents.anthropic.bounded_transport import BoundedClient
from verifyplan.agents.anthropic.key import OFFLINE_VARIABLE, Key, custom_headers, is_forbidden
from verifyplan.errors import AgentError, Problem, SettingsError
from verifyplan.redaction import redact

MAX_LISTED_MODELS = 1000
"""Models of the one page that is asked for."""
TURN_HEADER = "x-verifyplan-turn"
"""The header that names the turn of a request."""

FIX_BY_STATUS = {
    401: "check the key; `verifyplan doctor` says where it comes from",
    402: "see to the account's credit",
    403: "check what the key may do",
    404: "check the model's name and base_url; `verifyplan doctor` lists the models of an endpoint",
}
"""The fix by status, for answers about settings, which would be the same for every request."""


class RetryPause:
    """The wait that an endpoint asks of all callers by `retry-after`; the SDK alone holds back one request."""

    def __init__(self) -> None:
        self._until = 0.0

    async def before(self, _: httpx2.Request) -> None:
        """Wait until the endpoint takes requests again."""
        while (left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def after(self, response: httpx2.Response) -> None:
        """Note how long the endpoint asks to wait."""
        if response.status_code in (429, 503, 529):
            self._until = max(self._until, time.monotonic() + _seconds(response.headers))


class Endpoint:
    """One address with one key; connections are kept until it is closed."""

    def __init__(self, base_url: str, key: Key, *, timeout: float, max_retries: int, first: bool = True) -> None:
        """Send headers of the environment, which may hold keys, to the `first` endpoint of a backend alone."""
        self.base_url, headers = base_url, custom_headers()
        if is_forbidden(base_url):
            fix = f"point base_url to a server on this machine, or unset {OFFLINE_VARIABLE}"
            raise SettingsError(Problem("base_url", f"{base_url} is not asked while {OFFLINE_VARIABLE} is set", fix))
        self._retries, pause = max_retries, RetryPause()
        self._origin = httpx2.URL(base_url).origin
        self.sdk = anthropic.AsyncAnthropic(
            api_key=key.reveal(),
            base_url=self.base_url,
            timeout=anthropic.Timeout(timeout, connect=min(timeout, 10.0)),
            max_retries=max_retries,
            default_headers={} if first else dict.fromkeys(headers, anthropic.Omit()),  # type: ignore[arg-type]
            http_client=BoundedClient(
                before=[self._check_origin, pause.before],
                after=[pause.after],
                follow_redirects=False,
                verify=trusted_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
            ),
        )

    async def close(self) -> None:
        """Give the connections back."""
        await self.sdk.close()

    async def _check_origin(self, request: httpx2.Request) -> None:
        """Refuse requests to another origin than that of the key, also where a reply names one to ask next."""
        if request.url.origin != self._origin:
            raise anthropic.AnthropicError("the endpoint names another address to be asked, which is not given its key")

    async def send(self, turn: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the endpoint's message for one request, with all retries.

        A header names the turn, for the logs of proxies.
        The SDK sends again after 408, 409, 429, 5xx and lost connections, after the time that `retry-after` says;
        here, the same is done after a body that is no JSON. TimeoutError and AgentError when that did not help.
        """
        left = self._retries
        while True:
            content, retries = await self._send_once(turn, body, left)
            left -= retries + 1
            try:
                return _message(from_json(content, allow_inf_nan=False))  # by what reads the log: it must be able to
            except ValueError as error:
                if left < 0:
                    raise AgentError(f"the endpoint's reply is no JSON ({error})") from None

    async def _send_once(self, turn: str, body: Mapping[str, Any], retries: int) -> tuple[bytes, int]:
        """Return the body of a reply, and how often the SDK sent the request again to get it."""
        arguments = dict(body)
        temperature = arguments.pop("temperature", None)  # the SDK has no such argument any more
        extra = None if temperature is None else {"temperature": temperature}
        sdk = self.sdk if retries == self._retries else self.sdk.with_options(max_retries=retries)
        headers = {TURN_HEADER: quote(turn)}
        try:
            raw = await sdk.messages.with_raw_response.create(**arguments, extra_body=extra, extra_headers=headers)
        except anthropic.APITimeoutError:
            raise TimeoutError("the endpoint gave no answer in time, retries included") from None
        except anthropic.APIStatusError as error:
            message = redact(f"answered {error.status_code}: {_reason(error)}")  # a refusal may quote the key
            if error.status_code in FIX_BY_STATUS:
                fix = FIX_BY_STATUS[error.status_code]
                raise SettingsError(Problem(f"endpoint {self.base_url}", message, fix)) from None
            raise AgentError(f"the endpoint {message}") from None
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            cause = error.__cause__ or error
            raise AgentError(f"the connection failed ({type(cause).__name__}: {cause})") from None
        return raw.http_response.content, raw.retries_taken


@cache
def trusted_certificates(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Return whose certificates are trusted, as these variables say; to read them takes long, and once is enough."""
    return httpx2.create_ssl_context()


def _seconds(headers: Mapping[str, str]) -> float:
    """Return the seconds that an endpoint asks to wait, by the headers that the SDK obeys, too; 0 without them."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            seconds = float(headers.get(name, "")) * unit
            return seconds if isfinite(seconds) else 0.0
    date = parsedate_tz(headers.get("retry-after", ""))
    return mktime_tz(date) - time.time() if date else 0.0


def _reason(error: anthropic.APIStatusError) -> str:
    """Return the reason of a refusal, without HTML."""
    if error.status_code in range(300, 400):
        return "it leads to another address, which is not given its key; set base_url to where it leads"
    body = error.body
    details = body.get("error") if isinstance(body, dict) else None
    if isinstance(details, dict) and isinstance(details.get("message"), str):
        return f"{details.get('type')}: {details['message']}"
    return "no reason given"


def _message(value: Any) -> dict[str, Any]:
    """Return a reply that is a message; AgentError for an error in a reply of status 200, and for anything else."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return value
    details = value.get("error") if isinstance(value, dict) else None
    if isinstance(details, dict):
        raise AgentError(f"the endpoint answered with an error: {details.get('type')}: {details.get('message')}")
    raise AgentError("the endpoint's reply is no message")


class ModelList(NamedTuple):
    """The ids of an endpoint's models; without them its status, or why there was no usable answer."""

    ids: tuple[str, ...] = ()
    status: int = 200
    failure: str = ""
    fix: str = "check the address, and the way there"


async def list_models(address: str, key: Key, timeout: float) -> ModelList:
    """Return the models of an endpoint, asked for once within the timeout, whatever it answers."""
    endpoint = Endpoint(address, key, timeout=timeout, max_retries=0)
    try:
        async with asyncio.timeout(timeout):
            page = await endpoint.sdk.models.list(limit=MAX_LISTED_MODELS)
        ids = tuple(model.id for model in page.data)
        if all(isinstance(name, str) for name in ids):  # the SDK gives what came, whatever its types say
            return ModelList(ids)
    except (TimeoutError, anthropic.APITimeoutError):
        return ModelList(failure=f"no answer within {timeout:g} s")
    except anthropic.APIStatusError as error:
        return ModelList(status=error.status_code)
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        return ModelList(failure=f"no connection ({type(error.__cause__ or error).__name__})")
    except Exception:  # noqa: S110  (HTML, or JSON of another kind, which the SDK does not check and trips over)
        pass
    finally:
        await endpoint.close()
    return ModelList(failure="what it answers is no list of models", fix="name an endpoint of the Messages API")

"""Send requests to endpoints over HTTP, through the official SDK (rule G3)."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import anthropic
import httpx2

from verifyplan.agents.anthropic.key import (
    KEY_HEADERS,
    OFFLINE_VARIABLE,
    PLACEHOLDER,
    Key,
    custom_headers,
    fix_of_refused_key,
    is_forbidden,
    key_header,
)
from verifyplan.agents.anthropic.transport import (
    CURRENT,
    MAX_WAIT_S,
    RETRIED_ERRORS,
    BoundedClient,
    HttpAttempt,
    asked_wait,
    backoff,
    may_be_sent_again,
    reply_json,
    watch_request,
    watch_response,
)
from verifyplan.agents.base import Sending
from verifyplan.errors import AgentError, Problem, SettingsError
from verifyplan.redaction import redact
from verifyplan.text import span

MAX_LISTED_MODELS = 1000
"""Models of the one page that is asked for."""
TURN_HEADER = "x-verifyplan-turn"
"""The header that names the turn of a request."""

FIX_BY_STATUS = {
    402: "see to the account's credit",
    403: "check what the key may do",
    404: "check the model's name and base_url; `verifyplan doctor` lists the models of an endpoint",
}
"""The fix by status, for answers about settings, the same for every request; 401 has words of its own."""


def fix_of_refusal(status: int, key: Key, address: str) -> str:
    """Return the fix where an endpoint refuses a request for the settings; blank where they are not the cause."""
    if status == 401 or (status == 403 and key.reveal() == PLACEHOLDER):
        return fix_of_refused_key(key, address)
    if status == 404 and (fix := fix_of_version(address)):
        return fix
    return FIX_BY_STATUS.get(status, "")


def fix_of_version(address: str) -> str:
    """Return the fix for an address that ends in /v1, to which requests add it again; blank for any other.

    >>> fix_of_version("http://localhost:8080/v1/"), fix_of_version("http://localhost:8080")
    ("write base_url='http://localhost:8080': /v1/messages is added to it", '')
    """
    base = address.rstrip("/").removesuffix("/v1")
    return "" if base == address.rstrip("/") else f"write base_url={base!r}: /v1/messages is added to it"


def fix_of_outage(asked_wait_s: float | None = None) -> str:
    """Return the fix where an endpoint is down, overloaded or limits its callers: to wait, as long as it asks."""
    wait = "later" if asked_wait_s is None else f"in {span(asked_wait_s)}, as the endpoint asks"
    return f"try again {wait}, or ask who runs it; key and address may be right"


def fix_of_lost_connection(cause: BaseException) -> str:
    """Return the fix where a connection was never made, or broke off."""
    unreachable = isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
    return "check the address, and that a server answers there" if unreachable else fix_of_outage()


class RetryPause:
    """The wait that an endpoint asks of all callers by `retry-after`."""

    def __init__(self) -> None:
        self._until = 0.0

    def extend(self, seconds: float) -> None:
        """Hold all callers back for so long from now on, if they are not held back for longer already."""
        self._until = max(self._until, time.monotonic() + seconds)

    async def before(self, sending: Sending) -> float:
        """Wait until the endpoint takes requests again, and return the seconds that it took.

        A call that cannot wait so long is not held back: it is sent, and hears the endpoint's own answer.
        """
        began = time.monotonic()
        while 0 < (left := self._until - time.monotonic()) <= longest_wait(sending):
            await sending.pause(left)
        return time.monotonic() - began


def longest_wait(sending: Sending) -> float:
    """Return the seconds that a turn may wait before it is sent again."""
    left = sending.seconds_left
    return MAX_WAIT_S if left is None else left


class Failure(NamedTuple):
    """Why an HTTP request brought no message, and whether sending it again may help."""

    name: str
    """The endpoint's name of the error, or the class of the fault."""
    error: Exception
    """What the call fails by, if it is not sent again."""
    again: bool
    lost: bool = False
    """Whether an answer may have been made and did not come through."""


class Endpoint:
    """One address with one key; connections are kept until it is closed."""

    def __init__(self, base_url: str, key: Key, *, timeout: float, max_retries: int, first: bool = True) -> None:
        """Send headers of the environment, which may hold keys, to the `first` endpoint of a backend alone."""
        self.base_url, headers = base_url, custom_headers()
        self._key, self._key_header = key, key_header()
        if is_forbidden(base_url):
            fix = f"point base_url to a server on this machine, or unset {OFFLINE_VARIABLE}"
            raise SettingsError(Problem("base_url", f"{base_url} is not asked while {OFFLINE_VARIABLE} is set", fix))
        self._retries, self._pause = max_retries, RetryPause()
        self._origin = httpx2.URL(base_url).origin
        self.sdk = anthropic.AsyncAnthropic(
            api_key=key.reveal(),
            base_url=self.base_url,
            timeout=anthropic.Timeout(timeout, connect=min(timeout, 10.0)),
            max_retries=0,  # what is sent again is recorded, and so is decided here
            default_headers={} if first else dict.fromkeys(headers, anthropic.Omit()),  # type: ignore[arg-type]
            http_client=BoundedClient(
                before=[self._check_origin, self._place_key, watch_request],
                after=[watch_response],
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

    async def _place_key(self, request: httpx2.Request) -> None:
        """Send the key in the header that VERIFYPLAN_KEY_HEADER names, where that is another than the SDK's."""
        name = KEY_HEADERS[0]
        if self._key_header != name and request.headers.get(name) == f"Bearer {self._key.reveal()}":
            del request.headers[name]
            request.headers[self._key_header] = self._key.reveal()

    async def send(self, turn: str, body: Mapping[str, Any], sending: Sending | None = None) -> dict[str, Any]:
        """Return the endpoint's message for one request, sent again where that may help; `sending` notes each time.

        A header names the turn, for the logs of proxies. It is sent again after 408, 409, 429, 5xx, lost connections,
        bodies that are not JSON, and errors of an overloaded endpoint in a reply of status 200: after the time that
        `retry-after` says, else after a growing one. TimeoutError and AgentError when that did not help, or when the
        wait is longer than the call may take. LimitError where the run may not send any more.
        """
        sending = sending or Sending()
        await sending.begin()
        retry, waited = 0, 0.0
        while True:
            waited += await self._pause.before(sending)
            attempt = HttpAttempt(waited)
            try:
                reply = await self._post(turn, body, retry, attempt)
            except BaseException as error:  # the call's time is over, or the run ends
                sending.note(attempt.event(turn, type(error).__name__, lost=True))
                raise
            if isinstance(reply, dict):
                sending.note(attempt.event(turn))
                return reply
            wait = self._wait(reply, attempt, retry, sending)
            sending.note(attempt.event(turn, reply.name, lost=reply.lost, retry_in_s=wait))
            if wait is None:
                raise _with_wait(reply.error, attempt.asked_wait_s, sending) from None
            began = time.monotonic()
            await sending.pause(wait)
            retry, waited = retry + 1, time.monotonic() - began

    def _wait(self, failure: Failure, attempt: HttpAttempt, retry: int, sending: Sending) -> float | None:
        """Return the seconds until a request is sent again; None if it is not.

        What the endpoint asks for holds all callers back, unless it is longer than this call may take.
        """
        wait, longest = round(attempt.asked_wait_s or backoff(retry), 3), longest_wait(sending)
        status = None if attempt.response is None else attempt.response.status_code
        if attempt.asked_wait_s and wait <= longest and status in (429, 503, 529):
            self._pause.extend(wait)
        return wait if failure.again and retry < self._retries and wait <= longest else None

    async def _post(self, turn: str, body: Mapping[str, Any], retry: int, attempt: HttpAttempt) -> Any:
        """Send a request once; return the message, or the Failure."""
        arguments = dict(body)
        temperature = arguments.pop("temperature", None)  # the SDK has no such argument any more
        extra = None if temperature is None else {"temperature": temperature}
        headers = {TURN_HEADER: quote(turn), "x-stainless-retry-count": str(retry)}
        CURRENT.set(attempt)
        try:
            raw = await self.sdk.messages.with_raw_response.create(**arguments, extra_body=extra, extra_headers=headers)
        except anthropic.APITimeoutError as error:
            tries = f", sent {retry + 1} times" if retry else ""
            cause = TimeoutError(f"the endpoint gave no answer in time{tries}")
            return Failure(type(error.__cause__ or error).__name__, cause, again=True, lost=True)
        except anthropic.APIStatusError as error:
            return self._refusal(error)
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            reason = error.__cause__ or error
            name = type(reason).__name__
            return Failure(name, AgentError(f"the connection failed ({name}: {reason})"), again=True, lost=True)
        try:  # by what reads the log: it must be able to
            return _message(reply_json(raw.http_response.content))
        except ValueError as error:
            reason = AgentError(f"the endpoint's reply is not JSON ({error})")
            return Failure("no JSON", reason, again=True, lost=True)

    def _refusal(self, error: anthropic.APIStatusError) -> Failure:
        status, message = (
            error.status_code,
            redact(f"answered {error.status_code}: {_reason(error)}"),
        )  # it may quote the key
        name = str(error.type or "no reason given")
        if fix := fix_of_refusal(status, self._key, self.base_url):
            problem = Problem(f"endpoint {self.base_url}", message, fix)
            return Failure(name, SettingsError(problem), again=False)
        return Failure(name, AgentError(f"the endpoint {message}"), again=may_be_sent_again(error.response))


@cache
def trusted_certificates(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Return whose certificates are trusted, as these variables say; to read them takes long, and once is enough."""
    return httpx2.create_ssl_context()


def _with_wait(error: Exception, asked: float | None, sending: Sending) -> Exception:
    """Return an error that names the wait that the endpoint asks for, if it is one of seconds."""
    if asked is None or asked < 1 or not isinstance(error, AgentError):
        return error
    longest = longest_wait(sending)
    why = f", and this call may wait {span(round(longest))}" if asked > longest else ""
    return AgentError(f"{error}; it asks to wait {span(asked)}{why}: `verifyplan resume RUN --retry-failed` asks again")


def _reason(error: anthropic.APIStatusError) -> str:
    """Return the reason of a refusal, without HTML."""
    if error.status_code in range(300, 400):
        return "it leads to another address, which is not given its key; set base_url to where it leads"
    body = error.body
    details = body.get("error") if isinstance(body, dict) else None
    if isinstance(details, dict) and isinstance(details.get("message"), str):
        sizes = ", ".join(f"{name} {details[name]}" for name in ("n_prompt_tokens", "n_ctx") if name in details)
        return f"{details.get('type')}: {details['message']}{f' ({sizes})' if sizes else ''}"  # so llama.cpp says it
    return "no reason given"


def _message(value: Any) -> dict[str, Any] | Failure:
    """Return a reply that is a message; the failure of an error in a reply of status 200, and of anything else."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return value
    details = value.get("error") if isinstance(value, dict) else None
    if isinstance(details, dict):
        kind = details.get("type")
        reason = f"the endpoint answered with an error: {kind}: {details.get('message')}"
        return Failure(str(kind), AgentError(reason), again=kind in RETRIED_ERRORS)
    return Failure("no message", AgentError("the endpoint's reply is not a message"), again=False, lost=True)


class ModelList(NamedTuple):
    """The ids of an endpoint's models; without them its status, or why there was no usable answer."""

    ids: tuple[str, ...] = ()
    status: int = 200
    failure: str = ""
    fix: str = ""


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
        return ModelList(failure=f"no answer within {timeout:g} s", fix=fix_of_outage())
    except anthropic.APIStatusError as error:
        fix = fix_of_refusal(error.status_code, key, address) or fix_of_outage(asked_wait(error.response.headers))
        return ModelList(status=error.status_code, fix=fix)
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        cause = error.__cause__ or error
        return ModelList(failure=f"no connection ({type(cause).__name__})", fix=fix_of_lost_connection(cause))
    except Exception:  # noqa: S110  (HTML, or JSON of another kind, which the SDK does not check and trips over)
        pass
    finally:
        await endpoint.close()
    return ModelList(failure="the answer is not a list of models", fix="name an endpoint of the Messages API")

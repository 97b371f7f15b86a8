"""Send, watch and read the Message Batches of an endpoint through the official SDK, at half the price (rule G3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
from pydantic import AwareDatetime, BaseModel, Field
from pydantic_core import from_json

from verifyplan.agents.anthropic.client import Endpoint
from verifyplan.agents.anthropic.transport import with_finite_usage
from verifyplan.agents.base import BatchResult, BatchStatus, NoAnswerError, RefusedError

RETRY_STATUSES = (408, 409, 425, 429)
"""Statuses beside 5xx after which the same request may succeed in a while."""

FINAL_ERRORS = (
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
)
"""Errors of a request that would be the same in another batch."""

BATCHES_PER_PAGE = 100
"""Batches of one page of the list."""


class _RequestCounts(BaseModel):
    """The number of requests of a batch by their state."""

    processing: int = Field(ge=0)
    succeeded: int = Field(ge=0)
    errored: int = Field(ge=0)
    canceled: int = Field(ge=0)
    expired: int = Field(ge=0)


class _Batch(BaseModel):
    """A batch as the endpoint describes it."""

    id: str = Field(min_length=1)
    processing_status: str
    request_counts: _RequestCounts
    expires_at: AwareDatetime | None = None

    def status(self) -> BatchStatus:
        """Return its state."""
        requests = sum(self.request_counts.model_dump().values())
        done = requests - self.request_counts.processing
        return BatchStatus(self.id, requests, done, self.processing_status == "ended", self.expires_at)


class _BatchPage(BaseModel):
    data: list[_Batch]
    has_more: bool = False


class AnthropicBatches:
    """The batches of one endpoint, a `BatchClient`; every request is sent once."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._sdk = endpoint.sdk

    async def submit(self, requests: Sequence[Mapping[str, Any]]) -> str:
        """Send requests (`custom_id`, `params`) as one batch, once, and return its id."""
        with _translated_errors():
            raw = await self._sdk.messages.batches.with_raw_response.create(requests=requests)  # type: ignore[arg-type]
            return _Batch.model_validate_json(raw.http_response.content).id

    async def look(self, batch: str) -> BatchStatus:
        """Return the state of a batch."""
        with _translated_errors():
            raw = await self._sdk.messages.batches.with_raw_response.retrieve(batch)
            return _Batch.model_validate_json(raw.http_response.content).status()

    async def newest(self) -> str | None:
        """Return the id of the youngest batch; None if there is none yet."""
        page = await self._page(limit=1)
        return page.data[0].id if page.data else None

    async def since(self, batch: str | None) -> list[BatchStatus]:
        """Return all batches that are younger than one, the youngest first; all if that one is gone."""
        younger: list[BatchStatus] = []
        page = await self._page(limit=BATCHES_PER_PAGE)
        while page.data:
            for listed in page.data:
                if listed.id == batch:
                    return younger
                younger.append(listed.status())
            if not page.has_more:
                break
            page = await self._page(limit=BATCHES_PER_PAGE, after_id=page.data[-1].id)
        return younger

    async def results(self, batch: str) -> list[BatchResult]:
        """Return the results of a batch that has ended, in the order in which they come.

        They are read at this endpoint, not at the address that the batch names: the key goes nowhere else.
        """
        with _translated_errors():
            response = await self._sdk.get(
                f"/v1/messages/batches/{batch}/results",
                cast_to=httpx2.Response,
                options={"headers": {"Accept": "application/binary"}},
            )
            return [_result(from_json(line)) for line in response.content.splitlines() if line.strip()]

    async def _page(self, **query: Any) -> _BatchPage:
        with _translated_errors():
            raw = await self._sdk.messages.batches.with_raw_response.list(**query)
            return _BatchPage.model_validate_json(raw.http_response.content)


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Raise all errors of a request as NoAnswerError, where sending it again may help, or RefusedError."""
    try:
        yield
    except anthropic.APIStatusError as error:
        reason = f"{error.type}: {error.api_message}" if error.api_message else "no reason given"
        if error.status_code in RETRY_STATUSES or error.status_code >= 500:
            raise NoAnswerError(f"the endpoint answered {error.status_code}: {reason}") from None
        raise RefusedError(error.status_code, reason) from None
    except anthropic.APITimeoutError:
        raise NoAnswerError("the endpoint gave no answer in time") from None
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        cause = error.__cause__ or error
        raise NoAnswerError(f"the connection failed ({type(cause).__name__}: {cause})") from None
    except ValueError as error:  # of JSON and of pydantic alike
        raise NoAnswerError(f"the endpoint's answer tells of no batch ({type(error).__name__})") from None


def _result(line: Any) -> BatchResult:
    """Return one line of the results; ValueError if it is not one."""
    try:
        name, result = line["custom_id"], line["result"]
        kind = result["type"]
        if not isinstance(name, str):
            raise ValueError("a result without a custom_id")
        if kind == "succeeded":
            message = result["message"]
            if isinstance(message, dict) and isinstance(message.get("content"), list):
                return BatchResult(name, with_finite_usage(message))
            return BatchResult(name, None, "the endpoint's reply is not a message", final=True)
    except (KeyError, TypeError):
        raise ValueError("a line that is not a result") from None
    if kind != "errored":
        return BatchResult(name, None, str(kind))
    error = (result.get("error") or {}).get("error") or {}
    return BatchResult(name, None, f"{error.get('type')}: {error.get('message')}", error.get("type") in FINAL_ERRORS)

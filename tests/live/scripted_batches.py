"""Message Batches of the scripted server: kept in memory, ended after so many looks at them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.live.scripted_checks import ApiError
from tests.live.scripted_http import Reply, Request, json_reply

CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CREATED, EXPIRES = "2026-01-01T00:00:00Z", "2999-01-02T00:00:00Z"
Decide = Callable[[dict[str, Any], str, int], Awaitable[dict[str, Any]]]  # params, custom id, batch number -> result


@dataclass
class Batch:
    """One batch, with what was asked in it."""

    number: int
    params: dict[str, dict[str, Any]]  # by custom id
    status: str = "in_progress"
    looks: int = 0  # how often it was retrieved
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"msgbatch_{self.number:04}"

    def as_json(self, url: str) -> dict[str, Any]:
        ended = self.status == "ended"
        counts = Counter(result["result"]["type"] for result in self.results)
        counts["processing"] = 0 if ended else len(self.params)
        names = ("processing", "succeeded", "errored", "canceled", "expired")
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": self.status,
            "request_counts": {name: counts[name] for name in names},
            "created_at": CREATED,
            "expires_at": EXPIRES,
            "ended_at": CREATED if ended else None,
            "cancel_initiated_at": CREATED if self.status == "canceling" else None,
            "archived_at": None,
            "results_url": f"{url}/v1/messages/batches/{self.id}/results" if ended else None,
        }

    def as_lines(self) -> bytes:
        """The results, the last request first: nobody may rely on their order."""
        return b"".join(json.dumps(result).encode() + b"\n" for result in reversed(self.results))


class Batches:
    """All batches, oldest first; each stays in progress for `polls` retrieves."""

    def __init__(self, decide: Decide, polls: int, lose_create: int) -> None:
        self._decide, self._polls, self._to_lose = decide, polls, lose_create
        self.all: list[Batch] = []

    async def answer(self, request: Request, body: dict[str, Any], url: str) -> Reply:
        match request.method, *request.path.strip("/").split("/")[3:]:
            case ("POST",):
                batch = self._create(body)
                self._to_lose -= 1
                return Reply(sent=-1) if self._to_lose >= 0 else json_reply(batch.as_json(url))
            case ("GET",):
                return json_reply(self._page(request.query, url))
            case "GET", name:
                await self._look(self._find(name))
            case "POST", name, "cancel":
                if self._find(name).status == "in_progress":
                    self._find(name).status = "canceling"
            case "GET", name, "results" if self._find(name).status == "ended":
                return Reply(self._find(name).as_lines(), headers={"content-type": "application/x-jsonl"})
            case _:
                raise ApiError(404, f"Not found: {request.method} {request.path}")
        return json_reply(self._find(name).as_json(url))

    def _create(self, body: dict[str, Any]) -> Batch:
        requests = body.get("requests")
        if not isinstance(requests, list) or not requests or body.keys() != {"requests"}:
            raise ApiError(400, "requests: Field required, not empty, nothing else")
        for place, one in enumerate(requests):
            if one.keys() != {"custom_id", "params"} or not CUSTOM_ID.fullmatch(one["custom_id"]):
                raise ApiError(400, f"requests.{place}: needs params and a custom_id like {CUSTOM_ID.pattern}")
        params = {one["custom_id"]: one["params"] for one in requests}
        if len(params) < len(requests):
            raise ApiError(400, "requests: custom_id must be unique within a batch")
        self.all.append(Batch(len(self.all) + 1, params))
        return self.all[-1]

    def _find(self, name: str) -> Batch:
        for batch in self.all:
            if batch.id == name:
                return batch
        raise ApiError(404, f"Message Batch {name} not found")

    def _page(self, query: dict[str, str], url: str) -> dict[str, Any]:
        """The newest first, `limit` of them, after the batch `after_id`."""
        newest = self.all[::-1]
        start = newest.index(self._find(query["after_id"])) + 1 if "after_id" in query else 0
        end = start + int(query.get("limit", 20))
        return page_of([batch.as_json(url) for batch in newest[start:end]], more=end < len(newest))

    async def _look(self, batch: Batch) -> None:
        """One retrieve; it ends the batch when there were enough, or when it is being canceled."""
        batch.looks += 1
        if batch.status == "ended" or (batch.status == "in_progress" and batch.looks <= self._polls):
            return
        over = {"type": "canceled"} if batch.status == "canceling" else None
        batch.results = [
            {"custom_id": name, "result": over or await self._decide(params, name, batch.number)}
            for name, params in batch.params.items()
        ]
        batch.status = "ended"


def page_of(found: list[dict[str, Any]], more: bool = False) -> dict[str, Any]:
    """A page of a list, as the API gives it."""
    ends = {"first_id": found[0]["id"], "last_id": found[-1]["id"]} if found else {"first_id": None, "last_id": None}
    return {"data": found, "has_more": more} | ends

"""A server on loopback that speaks the Messages API with replies that a test scripts, over real HTTP.

    from tests.live.scripted_replies import calls, says, status
    from tests.live.scripted_server import ScriptedServer

    with ScriptedServer(lambda asked: says(f"you said {asked.last}")) as server:
        client = AsyncAnthropic(base_url=server.url, api_key="any", max_retries=0)
        ...
    assert len(server.requests) == 3

The script is a function of `Asked` (scripted_asked.py; it may be a coroutine function), or a list of replies that are
handed out in order. A reply is an `Answer` made by the functions of scripted_replies.py, or a str (`says`), or a dict
(`says_json`). The function runs in the thread of the server: it should not block. A reply that depends on the request
serves concurrent clients; a list serves whoever asks first.

    says("text"), says_json({...}), cut("text"), refuses(), calls("Read", path="a.py") + calls("Grep", pattern="x"),
    searches("query", ("https://a.example", "A"), text="found"), fetches("https://a.example", "the page")
    status(429, retry_after=1), resets(), truncates(), hangs(), empty(), html(), error_in_200(), raw("body"), closes(),
    drips(says("slowly"), 0.1), chatter(), endless(), bomb()
    of batched requests: status(500) is the outcome errored, expires() and cancels() are those of their names
    any of them: .using(input_tokens=7), .after(seconds), .stopping("pause_turn")

Requests are checked as the API checks them: what is wrong is answered by 400 and listed in `server.refused`. A script
that fails, or has no reply left, is a 500 that the SDK does not repeat, and is raised when the `with` ends.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

from tests.live.scripted_asked import SECRET_HEADERS, Asked
from tests.live.scripted_batches import CREATED, Batches, page_of
from tests.live.scripted_checks import ApiError, check
from tests.live.scripted_http import LoopbackServer, Reply, Request, json_reply
from tests.live.scripted_replies import Answer, error, says, says_json
from tests.live.scripted_usage import PromptCache

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")
Scripted = Answer | dict[str, Any] | str
Script = Callable[[Asked], Scripted | Awaitable[Scripted]] | Sequence[Scripted]


class ScriptError(AssertionError):
    """The script has no reply left, or gave one that cannot be."""


class ScriptedServer(LoopbackServer):
    """Serves from `with` to its end; all that it saw can be read then and later, from any thread.

    `latency` is that of every message; `models` those it knows, () for any; `key` the only one it takes, None for
    any or none; a batch stays in progress for `polls` retrieves; the answers to the first `lose_create` creations
    of a batch are lost though the batch is kept; `log` is a file that gets a JSON line for each request;
    `ids` stands in the ids of its messages, which count from 1.
    """

    def __init__(
        self, reply: Script, latency: float = 0.0, models: Sequence[str] = MODELS, *, key: str | None = None,
        polls: int = 1, lose_create: int = 0, log: Path | None = None, ids: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self._script = reply if callable(reply) else _in_order(reply)
        self._latency, self._models, self._key, self._log, self._ids = latency, models, key, log, ids
        self._requests: list[Asked] = []
        self._paths: list[tuple[str, str]] = []
        self._failures: list[Exception] = []
        self._asked = 0
        self._cache = PromptCache()
        self._batches = Batches(self._outcome, polls, int(lose_create))
        self.batches = self._batches.all  # oldest first
        self.refused: list[str] = []  # what clients did wrong

    @property
    def requests(self) -> list[Asked]:
        """Every POST to /v1/messages so far, repeated and refused ones included."""
        return list(self._requests)

    def count(self, path: str = "/v1/messages", method: str = "POST") -> int:
        """How many requests came to a path, which may hold `*`."""
        return sum(verb == method and fnmatchcase(seen, path) for verb, seen in list(self._paths))

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        super().__exit__(kind, raised, trace)
        for failure in self._failures:
            if raised is None:
                raise failure
            raised.add_note(f"The script of the server had failed: {type(failure).__name__}: {failure}")

    async def answer(self, request: Request) -> Reply:
        self._paths.append((request.method, request.path))
        try:
            body = self._admit(request)
            if request.path.startswith("/v1/messages/batches"):
                return await self._batches.answer(request, body, self.url)
            return await self._route(request, body)
        except ApiError as problem:
            self.refused.append(str(problem))
            return json_reply(error(problem.code, str(problem)), problem.code)
        except Exception as failure:  # of the script
            self._failures.append(failure)
            return json_reply(error(500, f"{type(failure).__name__}: {failure}"), 500, **{"x-should-retry": "false"})

    def _admit(self, request: Request) -> dict[str, Any]:
        """The body of a request that has what any request needs."""
        try:
            body = json.loads(request.body or b"{}")
        except ValueError:
            body = None
        if self._log:
            self._write(request, body)
        if not isinstance(body, dict):
            raise ApiError(400, "The request body is not a JSON object")
        came = request.headers.get("authorization", "").removeprefix("Bearer "), request.headers.get("x-api-key")
        if self._key is not None and self._key not in came:
            raise ApiError(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            raise ApiError(400, "anthropic-version: header is required")
        return body

    def _write(self, request: Request, body: Any) -> None:
        line = {"number": len(self._paths), "method": request.method, "path": request.path}
        line["sha256"] = sha256(request.body).hexdigest()
        line["custom_ids"] = [one["custom_id"] for one in (body or {}).get("requests", ())]
        with self._log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    async def _route(self, request: Request, body: dict[str, Any]) -> Reply:
        match request.method, *request.path.strip("/").split("/"):
            case "POST", "v1", "messages":
                return await self._message(request, body)
            case "GET", "v1", "models":
                return json_reply(page_of([_model(name) for name in self._models]))
            case "GET", "v1", "models", name if name in self._models:
                return json_reply(_model(name))
        raise ApiError(404, f"Not found: {request.method} {request.path}")

    async def _message(self, request: Request, body: dict[str, Any]) -> Reply:
        headers = {name: value for name, value in request.headers.items() if name not in SECRET_HEADERS}
        self._asked += 1
        asked = Asked(
            self._asked, body, headers, keyed=len(headers) < len(request.headers), at=monotonic(), ids=self._ids
        )
        self._requests.append(asked)
        check(body, self._models)
        answer = await self._scripted(asked)
        if answer.outcome:
            raise ScriptError(f"request {asked.number} is not in a batch: it cannot be {answer.outcome}")
        spent = self._cache.split(body)
        await asyncio.sleep(self._latency + answer.seconds)
        if answer.reply:
            return answer.reply
        self._cache.keep(spent)
        text = json.dumps(answer.message(asked, spent)).encode()
        return Reply(text[: len(text) // 2] if answer.truncated else text, sent=answer.sent, **answer.way)

    async def _scripted(self, asked: Asked) -> Answer:
        given = self._script(asked)
        given = await given if inspect.isawaitable(given) else given
        if isinstance(given, Answer):
            return given
        return says(given) if isinstance(given, str) else says_json(given)

    async def _outcome(self, params: dict[str, Any], custom_id: str, batch: int) -> dict[str, Any]:
        """The result of one batched request."""
        self._asked += 1
        asked = Asked(self._asked, params, custom_id=custom_id, batch=batch, keyed=True, at=monotonic(), ids=self._ids)
        try:
            check(params, self._models)
        except ApiError as problem:
            return {"type": "errored", "error": error(problem.code, str(problem))}
        answer = await self._scripted(asked)
        if answer.outcome:
            return {"type": answer.outcome}
        if answer.reply:
            return {"type": "errored", "error": error(max(answer.reply.status, 400))}
        spent = self._cache.split(params)
        self._cache.keep(spent)
        return {"type": "succeeded", "message": answer.message(asked, spent, "batch")}


def _in_order(replies: Sequence[Scripted]) -> Callable[[Asked], Scripted]:
    left = iter(replies)

    def reply(asked: Asked) -> Scripted:
        for one in left:
            return one
        raise ScriptError(f"no reply is left for request {asked.number}, which says {asked.last[:200]!r}")

    return reply


def _model(name: str) -> dict[str, Any]:
    return {
        "id": name, "type": "model", "display_name": name, "created_at": CREATED, "lifecycle": "active",
        "max_input_tokens": 200_000, "max_tokens": 64_000,
    }  # fmt: skip

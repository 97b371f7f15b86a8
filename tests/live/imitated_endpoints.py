"""Servers that imitate kinds of endpoints: a llama.cpp-like one, a vLLM-like one, a gateway, and the API itself.

They answer as such endpoints are known to answer, over real HTTP; no real one was at hand.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.live.scripted_asked import SECRET_HEADERS, Asked
from tests.live.scripted_checks import ApiError, check
from tests.live.scripted_http import Reply, Request, json_reply
from tests.live.scripted_replies import Answer, calls, error, says, says_json
from tests.live.scripted_server import ScriptedServer
from tests.live.scripted_usage import tokens_asked


@dataclass(frozen=True)
class Kind:
    """How one kind of endpoint behaves."""

    title: str
    schemas: str = "held"  # or counts (lists, too), ignored, refused
    tools: bool = True
    counts_tokens: bool = True
    caches_prompts: bool = True
    caches_replies: bool = False
    context: int = 200_000
    context_key: str = "max_input_tokens"  # in its list of models; blank where it does not say
    dialect: str = "anthropic"  # of its refusals of long requests
    slots: int = 8
    seconds: float = 0.0  # that one request takes


API = Kind("Anthropic's API, by the scripted server")
LLAMA = Kind(
    "llama.cpp-like server", schemas="ignored", tools=False, counts_tokens=False, caches_prompts=False, context=8192,
    context_key="", dialect="llama.cpp", slots=1, seconds=0.1,
)  # fmt: skip
VLLM = Kind(
    "vLLM-like server", schemas="counts", counts_tokens=True, caches_prompts=False, context=32_768,
    context_key="max_model_len", dialect="vllm",
)  # fmt: skip
GATEWAY = Kind(
    "gateway with a cache of replies", schemas="refused", counts_tokens=False, caches_prompts=False,
    caches_replies=True, context=128_000, context_key="", dialect="anthropic",
)  # fmt: skip
KINDS = (API, LLAMA, VLLM, GATEWAY)
MODEL = "claude-haiku-5-5"


class ImitatedEndpoint(ScriptedServer):
    """A server of one kind; `reply` answers requests that are none of a probe's."""

    def __init__(self, kind: Kind, reply: Any = None) -> None:
        super().__init__(reply or (lambda asked: probed(asked, kind)), models=(MODEL,))
        self.kind, self._kept = kind, dict[str, Reply]()
        self._slots = asyncio.Semaphore(kind.slots)

    async def _route(self, request: Request, body: dict[str, Any]) -> Reply:
        if request.path.endswith("count_tokens") and not self.kind.counts_tokens:
            raise ApiError(404, "Not found")
        if request.path == "/v1/models":
            named = {self.kind.context_key: self.kind.context} if self.kind.context_key else {}
            return json_reply({"data": [{"id": MODEL, "object": "model"} | named]})
        return await super()._route(request, body)

    async def _message(self, request: Request, body: dict[str, Any]) -> Reply:
        for refusal in self._refusals(body):
            return refusal
        key = json.dumps(body, sort_keys=True)
        if self.kind.caches_replies and key in self._kept:
            return self._kept[key]
        if self.kind.schemas != "counts":  # the scripted server takes the schemas that Anthropic's API takes
            check(body, (MODEL,))
        self._asked += 1
        headers = {name: value for name, value in request.headers.items() if name not in SECRET_HEADERS}
        asked = Asked(self._asked, body, headers)
        self._requests.append(asked)
        async with self._slots:
            await asyncio.sleep(self.kind.seconds)
        answer = await self._scripted(asked)
        if answer.reply:
            return answer.reply
        spent = self._cache.split(body if self.kind.caches_prompts else {**body, "system": asked.system or "-"})
        self._cache.keep(spent)
        self._kept[key] = json_reply(answer.message(asked, spent))
        return self._kept[key]

    def _refusals(self, body: dict[str, Any]) -> Iterator[Reply]:
        prompt, answer, context = tokens_asked(body), int(body["max_tokens"]), self.kind.context
        if self.kind.schemas == "refused" and "format" in body.get("output_config", {}):
            yield json_reply(error(400, "output_config: Extra inputs are not permitted"), 400)
        if self.kind.dialect == "llama.cpp" and prompt > context:
            words = "the request exceeds the available context size, try increasing it"
            told = {"code": 400, "message": words, "type": "exceed_context_size_error"}
            yield json_reply({"error": told | {"n_prompt_tokens": prompt, "n_ctx": context}}, 400)
        elif self.kind.dialect == "vllm" and prompt + answer > context:
            words = (
                f"This model's maximum context length is {context} tokens. However, you requested {prompt + answer} "
                f"tokens ({prompt} in the messages, {answer} in the completion). Please reduce the length of the "
                "messages or completion."
            )
            yield json_reply({"type": "error", "error": {"type": "BadRequestError", "message": words}}, 400)
        elif self.kind.dialect == "anthropic" and prompt + answer > context:
            words = f"input length and `max_tokens` exceed context limit: {prompt} + {answer} > {context}, decrease"
            yield json_reply(error(400, f"{words} input length or `max_tokens` and try again"), 400)


def probed(asked: Asked, kind: Kind) -> Answer:
    """What a model of that kind answers to the requests of a probe."""
    schema = asked.body.get("output_config", {}).get("format", {}).get("schema")
    if schema and kind.schemas in ("held", "counts"):
        words = schema["properties"]["words"]
        return says_json({"words": words["items"]["enum"][: words.get("minItems", 1)]})
    if asked.tools and kind.tools:
        return calls("look_up", word="tide")
    return says("Sure! The sea is wide.\n```json\n{}\n```" if schema else "OK.")

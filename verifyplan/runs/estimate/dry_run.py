"""A backend that sends nothing: requests are worded as they would be sent, and a stand-in answers for the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from pydantic_core import to_json

from verifyplan.agents.base import ModelBackend, ModelReply, Turns, UnrecordedTurns
from verifyplan.protocol.call import Reply, Tool, Usage
from verifyplan.protocol.event_run import call_of
from verifyplan.runs.estimate.kits import DryKit
from verifyplan.runs.estimate.prompt_cache import CallCache, PromptCache
from verifyplan.runs.estimate.sizes import CUT, LOOKED_UP, TOOL_CALL, Asked, UsageProfile, answer_tokens, thought_tokens

BATCH = "dry-run"
"""The batch id of an exchange, where a run would go through Message Batches."""

ToolCall = tuple[Tool, dict[str, Any]]
"""A tool, and the arguments that it is called with."""


class Play(NamedTuple):
    """The actions of a stand-in in one call: it calls tools, then answers."""

    answer: Mapping[str, Any]
    calls: tuple[ToolCall, ...] = ()


class StandIn(Protocol):
    """Answers in place of a model, offline."""

    async def play(self, request: Asked) -> Play:
        """Return its actions in one call."""

    def at(self, root: Path) -> Self:
        """The same for a run over another folder."""


class DryRun:
    """A backend of models with everything but the endpoint: prompts, tools, conversations, prices.

    Usage is estimated from what would have been sent. Safe for one run at a time.
    """

    def __init__(self, backend: ModelBackend, stand_in: StandIn, profile: UsageProfile, *, batch: bool = False) -> None:
        self.max_concurrency = backend.max_concurrency
        self._backend, self._stand_in, self._profile, self._batch = backend, stand_in, profile, batch
        self._cache = PromptCache()

    def describe(self) -> dict[str, Any]:
        """Its name, and what decides what a run asks for."""
        return {"name": "dry-run", "memory": str(self._backend.memory) if self._backend.memory else None}

    def check_worker(self, worker: str) -> str | None:
        """None if the worker has a model, else what is missing."""
        return self._backend.check_worker(worker)

    def budget_problem(self, limit: str) -> str | None:
        """None if every model has a price, where a run is to end at a cost."""
        return self._backend.budget_problem(limit)

    def at(self, root: str | Path) -> DryRun:
        """The same for a run over another folder, with a cache of its own."""
        moved, stand_in = self._backend.at(root).with_tools(DryKit), self._stand_in.at(Path(root))
        return DryRun(moved, stand_in, self._profile, batch=self._batch)

    def session(self) -> AbstractAsyncContextManager[object]:
        """Nothing is held: there are no connections."""
        return nullcontext()

    async def answer(self, request: Asked) -> Reply:
        """The stand-in's answer to one request."""
        return await self.converse(request, UnrecordedTurns())

    async def converse(self, request: Asked, turns: Turns) -> Reply:
        """The stand-in's answer to one request, by way of all turns that a model would take."""
        cache = self._cache.begin()
        play = await self._stand_in.play(request)
        model = _Model(request, play, cache, self._profile, BATCH if self._batch else None)
        return await self._backend.through(model.reply).converse(request, turns)


class _Model:
    """The replies of an endpoint in one call."""

    def __init__(self, request: Asked, play: Play, cache: CallCache, profile: UsageProfile, batch: str | None) -> None:
        self._request, self._cache, self._profile, self._batch = request, cache, profile, batch
        self._text = to_json(play.answer).decode()
        self._calls = iter(play.calls if profile.at_once else ())

    async def reply(self, address: str | None, turn: str, body: dict[str, Any]) -> ModelReply:  # noqa: ARG002  (no endpoint)
        """The message to one request, with the usage that an endpoint would tell."""
        if turn.removeprefix(call_of(turn)).count("/") > 1:
            return self._looked_up(body)
        calls = [*self._next_calls({tool["name"] for tool in body.get("tools", ())})]
        if calls and "tool_choice" not in body:
            thoughts = thought_tokens(body, self._profile)
            blocks = [
                {"type": "tool_use", "id": f"{turn}/{number}", "name": tool, "input": arguments}
                for number, (tool, arguments) in enumerate(calls, 1)
            ]
            return self._message(body, blocks, "tool_use", len(calls) * TOOL_CALL + thoughts)
        tokens = answer_tokens(self._request, self._text, body, self._profile)
        return self._message(body, [{"type": "text", "text": self._text}], "end_turn", tokens)

    def _next_calls(self, tools: set[str]) -> Iterator[ToolCall]:
        """The tool calls of one message: the next of those whose tools there are."""
        left = self._profile.at_once
        for tool, arguments in self._calls:
            if tool in tools:
                yield tool, arguments
                left -= 1
                if not left:
                    return

    def _looked_up(self, body: dict[str, Any]) -> ModelReply:
        text = [{"type": "text", "text": "What the web says."}]
        extra = {"server_tool_use": {"web_search_requests": int("search" in body["tools"][0]["name"])}}
        exchanged = self._message(body, text, "end_turn", TOOL_CALL, extra)
        exchanged.message["usage"]["input_tokens"] += LOOKED_UP
        return exchanged

    def _message(
        self, body: dict[str, Any], content: list[dict[str, Any]], reason: str, tokens: int, extra: Any = None
    ) -> ModelReply:
        asked, limit = self._cache.take(body), int(body["max_tokens"])
        usage = {
            "input_tokens": asked.fresh,
            "cache_creation_input_tokens": asked.written,
            "cache_read_input_tokens": asked.read,
            "output_tokens": min(tokens, limit),
            **(extra or {}),
        }
        message = {"type": "message", "content": content, "stop_reason": reason, "usage": usage, CUT: tokens > limit}
        return ModelReply(message, Usage(), self._batch)

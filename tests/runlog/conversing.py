"""A scripted backend that speaks in turns, as a model does, for the tests of what a log holds of them."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from verifyplan.agents.base import ModelReply, Turns
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.call import Reply, ToolUse, Usage
from verifyplan.protocol.event_run import TurnReplied, TurnSent

MODEL = "a-model"
LOOK = ToolUse(tool="Read", argument="store.py", results=9)
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "def read(): ..."}
FIRST = Usage(input_tokens=40, cache_write_tokens=1000, output_tokens=10, cost=Decimal("0.0052"))
SECOND = Usage(input_tokens=60, cache_read_tokens=1000, output_tokens=30, cost=Decimal("0.0016"))


class TalkingBackend(ScriptedBackend):
    """Opens a file in a first turn and answers as the script says behind a second: a call that fails has cost both.

    `asked` are the exchanges that were sent, in order; those that a log had already are not among them.
    """

    max_concurrency = 4

    def __init__(self, script: dict[Any, Any], *, silent: bool = False) -> None:
        super().__init__(script, silent=silent)
        self.asked: list[str] = []

    def describe(self) -> dict[str, Any]:
        return {"name": "talking", "model": MODEL, "prices": {MODEL: {"input": "5"}}}

    def session(self) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    def at(self, root: str | Path) -> Self:  # noqa: ARG002  (it opens nothing)
        return self

    def budget_problem(self, limit: str) -> str | None:  # noqa: ARG002  (its model has a price)
        return None

    async def converse(self, request: Any, turns: Turns) -> Reply:
        first = await self._turn(turns, f"{request.call_id}/t1", FIRST, "tool_use")
        second = await self._turn(turns, f"{request.call_id}/t2", SECOND, "end_turn", (RESULT,), (LOOK,))
        reply = await super().answer(request)
        return reply.model_copy(update={"usage": first.usage + second.usage, "tools": (LOOK,)})

    async def _turn(self, turns: Turns, name: str, usage: Usage, stop: str, *added: Any) -> TurnReplied:
        blocks, tools = added or ((), ())
        sent = TurnSent(call_id=name, model=MODEL, request_sha256="ab" * 32, added=blocks, tools=tools)

        async def send() -> ModelReply:
            self.asked.append(name)
            content = [{"type": "text", "text": f"turn {name[-1]}"}]
            return ModelReply({"id": f"msg-{len(self.asked)}", "content": content, "stop_reason": stop}, usage)

        return await turns.exchange(sent, send)

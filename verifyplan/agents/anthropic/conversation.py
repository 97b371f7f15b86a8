"""One call of an agent as a conversation with a model: ask, run its tool calls, read the answer (rules A11, A12)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from verifyplan.agents.anthropic.answers import AnswerError, merge_repair, parse_answer
from verifyplan.agents.anthropic.exchange import Block, PostTurn, check_message, message_text
from verifyplan.agents.anthropic.rendering import repair_prompt
from verifyplan.agents.anthropic.web import look_up, recall_look_up, web_tool
from verifyplan.agents.base import Request, Turns, request_digest
from verifyplan.agents.tools import ModelToolkit, WebCall
from verifyplan.errors import AgentError
from verifyplan.protocol.call import Reply, ToolUse, Usage
from verifyplan.protocol.event_turn import TurnSent

SPARE_TURNS = 4
"""Turns beyond the calls that the budgets allow: the answer, its repair, and calls that were refused."""

Added = tuple[tuple[Block, ...], tuple[ToolUse, ...]]
"""The blocks that a turn adds, and the tool calls behind them."""


@dataclass
class Conversation:
    """What is said in one call; `run` says it, once."""

    request: Request
    turns: Turns
    post: PostTurn
    head: dict[str, Any]
    """What every request of the call has: model, limits, system, schema, tools."""
    opening: list[Block]
    """The blocks of the first message."""
    opened: tuple[ToolUse, ...] = ()
    """What was read before the first message, which shows it."""
    kit: ModelToolkit | None = None
    """The tools that run here; None for an agent that has none."""
    paid_calls: int = 0
    """Tool calls that the budgets allow."""
    cache: bool = True
    """Whether what was said so far is marked to be cached."""
    usage: Usage = field(default_factory=Usage)

    async def run(self) -> Reply:
        """The answer, with all that was used for it; AgentError where the model gave none, even when asked again."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": self.opening}]
        added: Added = ((), self.opened)
        used = self.opened
        most = SPARE_TURNS + self.paid_calls
        broken: str | None = None  # the answer that is being repaired
        for number in range(1, most + 1):
            last = number == most or (self.kit is not None and not self.kit.allowed())  # with nothing left to call
            try:
                message = await self._turn(number, messages, added, last=last)
            except (AgentError, TimeoutError):
                if broken is not None and (kept := merge_repair(self.request, broken, "")) is not None:
                    return Reply(value=kept, usage=self.usage, tools=used)
                raise
            if self.kit is not None and (calls := _of_type("tool_use", message)):
                if last:
                    break
                added = await self._tools(self.kit, calls, number)
            else:
                text = message_text(message)
                try:
                    value = self._value(broken, text, last=number == most)
                except AnswerError as error:
                    if broken is not None or number == most:
                        raise
                    added, broken = (({"type": "text", "text": repair_prompt(str(error))},), ()), text
                else:
                    return Reply(value=value, usage=self.usage, tools=used)
            messages += [{"role": "assistant", "content": self._said(message)}]
            messages += [{"role": "user", "content": list(added[0])}]
            used += added[1]
        raise AgentError(f"the model called tools to its last turn, {number}, and gave no answer")

    def _value(self, broken: str | None, text: str, *, last: bool) -> dict[str, Any]:
        """Return what an answer says, or, where it cannot be repaired any more, what of it can be used."""
        kept = merge_repair(self.request, broken or "", text) if broken is not None or last else None
        return kept or parse_answer(self.request, text)

    async def _turn(self, number: int, messages: list[Any], added: Added, *, last: bool) -> dict[str, Any]:
        """The message of one turn; AgentError where it did not come to its end."""
        body = {**self.head, "messages": _marked(messages) if self.cache and "tools" in self.head else messages}
        if last and "tools" in body:
            body["tool_choice"] = {"type": "none"}
        sent = TurnSent(
            call_id=self._turn_id(number),
            model=str(body["model"]),
            request_sha256=request_digest(body),
            added=added[0],
            tools=added[1],
        )
        replied = await self.turns.exchange(sent, lambda: self.post(sent.call_id, body))
        self.usage += replied.usage
        check_message(replied.message, int(body["max_tokens"]))
        return replied.message

    async def _tools(self, kit: ModelToolkit, calls: list[Block], number: int) -> Added:
        """What tool calls gave: as it is on disk, where the run was broken off after them, else by running them."""
        recorded = self.turns.sent(self._turn_id(number + 1))
        web_turns = [f"{self._turn_id(number)}/w{at}" for at in range(1, len(calls) + 1)]
        if recorded is not None:
            kit.count(recorded.tools)
            for turn in web_turns:
                self.usage += await recall_look_up(turn, self.turns)
            return recorded.added, recorded.tools
        done = [await self._tool(kit, call, turn) for call, turn in zip(calls, web_turns, strict=True)]
        return tuple(block for block, _ in done), tuple(use for _, use in done if use is not None)

    async def _tool(self, kit: ModelToolkit, call: Block, web_turn: str) -> tuple[Block, ToolUse | None]:
        """One tool call: the block that answers it, and what is recorded of it; an unknown tool is no use of one."""
        name, arguments = str(call["name"]), call.get("input")
        tool = web_tool(name)
        if tool is None:
            result = await asyncio.to_thread(kit.run, name, arguments)
            return _result(call, result.text, result.failed), result.use
        asked = kit.check_web(tool, arguments)
        if not isinstance(asked, WebCall):
            return _result(call, asked, failed=True), kit.uses[-1]
        found = await look_up(asked, web_turn, str(self.head["model"]), self.turns, self.post)
        self.usage += found.usage
        use = kit.record_web(asked, found.results, found.refused)
        return _result(call, found.text or found.refused, failed=bool(found.refused)), use

    def _said(self, message: dict[str, Any]) -> list[Block]:
        """A message as the next request holds it: without what endpoints refuse there, and never without a word."""
        has_tools = self.kit is not None
        said = [one for one in message["content"] if not _is_blank(one) and (has_tools or one["type"] != "tool_use")]
        spoken = any(one["type"] in ("text", "tool_use") for one in said)
        return said if spoken else [*said, {"type": "text", "text": "(nothing)"}]

    def _turn_id(self, number: int) -> str:
        return f"{self.request.call_id}/t{number}"


def _of_type(kind: str, message: dict[str, Any]) -> list[Block]:
    return [block for block in message["content"] if block["type"] == kind]


def _is_blank(block: Block) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def _result(call: Block, text: str, failed: bool) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": call["id"], "content": text or "(nothing)"}
    return block | {"is_error": True} if failed else block


def _marked(messages: list[Any]) -> list[Any]:
    """The messages with their last block marked, so that the next turn reads all before it from the cache."""
    *before, last = messages
    *blocks, block = last["content"]
    return [*before, {**last, "content": [*blocks, {**block, "cache_control": {"type": "ephemeral"}}]}]

"""The tools that a model calls: whatever it writes, one text comes back, counted and recorded (rules A12, G4, H3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from verifyplan.agents.tools.answers import LookupResult
from verifyplan.agents.tools.arguments import (
    MAX_ARGUMENT_CHARACTERS,
    Arguments,
    ArgumentsError,
    ReadArguments,
    WebFetchArguments,
    WebSearchArguments,
    parse_arguments,
)
from verifyplan.agents.tools.memory import Memory
from verifyplan.agents.tools.places import NotOpenedError
from verifyplan.agents.tools.sources import ToolSources
from verifyplan.agents.tools.web import WEB_OFF, WebCall, WebRules, WebTool, web_call_refusal
from verifyplan.agents.tools.wording import bounded_answer, one_line
from verifyplan.protocol.call import TOOLS, Tool, ToolUse
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget, refusal

MAX_UNCOUNTED_CALLS = 20
"""Calls that were refused or free after which the tools are closed, so that no model can call for ever."""

_CLOSED = f"no more tools in this call: {MAX_UNCOUNTED_CALLS} calls were refused or free"
_ELSEWHERE = "a web call is not made here: ask check_web"


class ToolResult(NamedTuple):
    """What a call gave: the text for the model, the record for the log, and whether it failed.

    `use` is None where the log needs none: for a tool that does not exist, and for what the model had already.
    """

    text: str
    use: ToolUse | None
    failed: bool = False


class ToolKit:
    """Runs the tool calls of one model in one call of an agent; `uses` are the recorded ones in their order.

    `documents` are texts that the model was handed, by name: to read them is free, as is to ask for the same lines of
    a file again. All other calls count, also those that find nothing; refused ones do not. After 20 calls that were
    free or refused all tools are closed. Without a memory its share of the budget lapses.
    Not safe to use from several threads at once. Source: rules A12, G4, H3.
    """

    def __init__(
        self,
        repository: Repository,
        documents: Mapping[str, str],
        budget: Budget,
        memory: Memory | None = None,
        web: WebRules | None = None,
    ) -> None:
        self.uses: list[ToolUse] = []
        self._sources = ToolSources(repository, documents, memory)
        self._budget = replace(budget, memory=memory is not None)
        self._web = web
        self._used: Counter[Tool] = Counter()
        self._unpaid = 0
        self._read: set[str] = set()

    def run(self, name: str, arguments: Any) -> ToolResult:
        """Run one call as a model wrote it; never raises, whatever the name and the arguments are.

        Web calls are refused: the conversation makes them, see `check_web`.
        """
        tool = next((tool for tool in TOOLS if tool == name), None)
        if tool is None:
            self._unpaid += 1
            has = ", ".join(self._granted()) or "none"
            return ToolResult(
                bounded_answer(f"There is no tool {one_line(name)!r}. The tools here: {has}."), None, failed=True
            )
        try:
            asked = parse_arguments(tool, arguments)
        except ArgumentsError as error:
            return self._refused(tool, _written(arguments), "", str(error))
        if isinstance(asked, WebSearchArguments | WebFetchArguments):
            return self._refused(tool, asked.argument, asked.purpose, self._web_refusal(tool, asked) or _ELSEWHERE)
        return self._run(tool, asked)

    def count(self, uses: Iterable[ToolUse]) -> None:
        """Count calls that a log holds already, as if they had been made here; they are not run again."""
        for use in uses:
            self._record(use)

    def allowed(self) -> tuple[Tool, ...]:
        """The tools that have a call left; none once 20 calls were free or refused."""
        return tuple(tool for tool in self._granted() if not self._refusal(tool))

    def check_web(self, tool: WebTool, arguments: Any) -> str | WebCall:
        """The web call that the conversation is to make, or why it is refused, which `uses` then holds as its last."""
        try:
            asked = parse_arguments(tool, arguments)
        except ArgumentsError as error:
            return self._refused(tool, _written(arguments), "", str(error)).text
        why = self._web_refusal(tool, asked)
        if why:
            return self._refused(tool, asked.argument, asked.purpose, why).text
        return WebCall(tool, asked.argument, asked.purpose)

    def record_web(self, call: WebCall, results: int, refused: str = "") -> ToolUse:
        """Count and record a web call that was made; `refused` says why the endpoint did not make it."""
        return self._record(_use(call.tool, call.argument, call.serves, refused=refused, results=results))

    def _run(self, tool: Tool, asked: Arguments) -> ToolResult:
        """A call whose arguments fit: answered, free or counted, or refused."""
        free = isinstance(asked, ReadArguments) and self._had(asked)
        why = self._closed() if free else self._refusal(tool)
        if why:
            return self._refused(tool, asked.argument, asked.purpose, why)
        try:
            answer = self._sources.answer(asked)
        except NotOpenedError as error:
            if not error.answers:
                return self._refused(tool, asked.argument, asked.purpose, str(error))
            answer = LookupResult(str(error), error.results, failed=True)
        self._unpaid += free
        use = None if free else self._record(_use(tool, asked.argument, asked.purpose, results=answer.results))
        return ToolResult(bounded_answer(answer.text), use, answer.failed)

    def _had(self, asked: ReadArguments) -> bool:
        """Whether the model has these very lines already."""
        return self._sources.is_document(asked.path) or _told(asked.argument) in self._read

    def _granted(self) -> list[Tool]:
        """The tools that this agent has at all, whether they are used up or not."""
        web = self._web is not None and self._web.enabled
        there = [tool for tool in TOOLS if web or tool not in ("WebSearch", "WebFetch")]
        return [tool for tool in there if not refusal(tool, {}, self._budget)]

    def _closed(self) -> str:
        return _CLOSED if self._unpaid >= MAX_UNCOUNTED_CALLS else ""

    def _refusal(self, tool: Tool) -> str:
        return self._closed() or refusal(tool, self._used, self._budget)

    def _web_refusal(self, tool: Tool, asked: Arguments) -> str:
        why = web_call_refusal(asked, self._web)
        return why if why == WEB_OFF else self._refusal(tool) or why

    def _refused(self, tool: Tool, argument: str, serves: str, why: str) -> ToolResult:
        text = bounded_answer(why)
        return ToolResult(text, self._record(_use(tool, argument, serves, refused=text)), failed=True)

    def _record(self, use: ToolUse) -> ToolUse:
        self.uses.append(use)
        if use.refused:
            self._unpaid += 1
            return use
        self._used[use.tool] += 1
        if use.tool == "Read":
            self._read.add(use.argument)
        return use


def _use(tool: Tool, argument: str, serves: str, refused: str = "", results: int = 0) -> ToolUse:
    return ToolUse(tool=tool, argument=_told(argument), serves=one_line(serves), refused=refused, results=results)


def _told(argument: str) -> str:
    """An argument as the log holds it: a path is never cut, or two of them could look the same."""
    return one_line(argument, longest=2 * MAX_ARGUMENT_CHARACTERS)


def _written(arguments: Any) -> str:
    """Arguments that do not fit, as the log holds them."""
    try:
        return json.dumps(arguments, ensure_ascii=False, sort_keys=True)[:MAX_ARGUMENT_CHARACTERS]
    except (TypeError, ValueError, RecursionError):
        return type(arguments).__name__
